package ratelimit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// moody is a shared limiter that fails at once, hangs, or refuses everything.
type moody struct {
	err   error
	hang  bool
	asked int
}

func (m *moody) Take(ctx context.Context, key string, limit, cost int) (ratelimit.Decision, error) {
	all, err := m.TakeAll(ctx, ratelimit.Want{Key: key, Limit: limit, Cost: cost})
	return all[0], err
}

func (m *moody) TakeAll(ctx context.Context, wants ...ratelimit.Want) ([]ratelimit.Decision, error) {
	m.asked++
	out := make([]ratelimit.Decision, len(wants))
	if m.hang {
		<-ctx.Done()
		return out, ctx.Err()
	}
	for i, w := range wants {
		out[i].Limit = w.Limit
	}
	return out, m.err
}

// soften puts a fresh memory behind the shared limiter. What it admits was
// decided locally, since moody admits nothing.
func soften(shared ratelimit.Limiter) (*ratelimit.Soft, *bytes.Buffer) {
	var out bytes.Buffer
	o := ratelimit.Options{Log: slog.New(slog.NewTextHandler(&out, nil))}
	return ratelimit.NewSoft(shared, ratelimit.NewMemory(window, o), o), &out
}

func TestSoft(t *testing.T) {
	t.Parallel()
	allowed := func(t *testing.T, s *ratelimit.Soft, limit int) bool {
		t.Helper()
		d, err := s.Take(t.Context(), "org/key", limit, 1)
		require.NoError(t, err)
		return d.Allowed
	}

	t.Run("a shared limiter that hangs costs one timeout a pause", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			shared := &moody{hang: true}
			s, _ := soften(shared)
			start := time.Now()
			require.True(t, allowed(t, s, 1000))
			require.Equal(t, 50*time.Millisecond, time.Since(start))
			for range 100 {
				require.True(t, allowed(t, s, 1000))
			}
			require.Equal(t, 50*time.Millisecond, time.Since(start))
			require.Equal(t, 1, shared.asked)
			time.Sleep(900 * time.Millisecond)
			require.True(t, allowed(t, s, 1000))
			require.Equal(t, 1000*time.Millisecond, time.Since(start))
			require.Equal(t, 2, shared.asked)
		})
	})

	t.Run("the local limit is the whole limit", func(t *testing.T) {
		t.Parallel()
		s, _ := soften(&moody{err: errors.New("away")})
		for range 7 {
			require.True(t, allowed(t, s, 7))
		}
		require.False(t, allowed(t, s, 7))
	})

	t.Run("a shared limiter that returns is used within a second", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			shared := &moody{hang: true}
			s, _ := soften(shared)
			require.True(t, allowed(t, s, 1000))
			shared.hang = false
			back := time.Now()
			for allowed(t, s, 1_000_000) {
				time.Sleep(time.Millisecond)
			}
			require.LessOrEqual(t, time.Since(back), time.Second)
			require.False(t, allowed(t, s, 1000), "it stays in use")
		})
	})

	t.Run("only one request asks whether it is back", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			shared := &moody{hang: true}
			s, _ := soften(shared)
			require.True(t, allowed(t, s, 1000))
			time.Sleep(time.Second)
			for range 20 {
				go func() { _, _ = s.Take(t.Context(), "org/key", 1000, 1) }()
			}
			synctest.Wait()
			require.Equal(t, 2, shared.asked)
			time.Sleep(time.Second)
		})
	})

	t.Run("a caller that leaves says nothing about the shared limiter", func(t *testing.T) {
		t.Parallel()
		shared := &moody{hang: true}
		s, out := soften(shared)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Take(ctx, "org/key", 1, 1)
		require.ErrorIs(t, err, context.Canceled)
		shared.hang = false
		require.False(t, allowed(t, s, 1), "it is still asked")
		require.Empty(t, out.String())
	})

	t.Run("an outage is logged once a minute, and its end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			shared := &moody{err: errors.New("no route")}
			s, out := soften(shared)
			for range 6000 { // ten minutes
				allowed(t, s, 1000)
				time.Sleep(100 * time.Millisecond)
			}
			shared.err = nil
			for range 20 {
				allowed(t, s, 1000)
				time.Sleep(100 * time.Millisecond)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			require.InDelta(t, 11, len(lines), 1)
			require.Contains(t, lines[0], "no route")
			require.Contains(t, lines[len(lines)-1], "shared again")
		})
	})

	t.Run("refuses a negative cost", func(t *testing.T) {
		t.Parallel()
		s, _ := soften(&moody{})
		_, err := s.Take(t.Context(), "org/key", 1, -1)
		require.ErrorIs(t, err, ratelimit.ErrCost)
	})
}
