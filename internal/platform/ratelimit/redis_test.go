package ratelimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

func TestRedis(t *testing.T) {
	t.Parallel()

	// run compares random schedules with the oracle, and with Memory. Made-up
	// time starts with the real one, so that no log expires before its window.
	run := func(t *testing.T, limits *rapid.Generator[int], exact bool) {
		t.Helper()
		client := dial(t)
		r := replica(t, client, window)
		h := &hand{}
		r.SetClock(func() int64 { return h.now })
		start := time.Now().Truncate(time.Microsecond).UnixNano()
		asked, refused := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			key := uuid.NewString() + "/key"
			defer client.Del(t.Context(), r.Key(key))
			h.now = start
			m := ratelimit.NewMemory(window, ratelimit.Options{Clock: h.time})
			o := &oracle{window: int64(window)}
			if !exact {
				o.slack = m.Step()
			}
			asked += 60
			refused += drive(t, o, limits, start, int64(time.Microsecond), 60, func(now int64, limit, cost int) (ratelimit.Decision, int64, error) {
				h.now = now
				d, at, err := r.TakeAt(t.Context(), key, limit, cost)
				if want, _ := m.Take(t.Context(), key, limit, cost); err == nil && d != want {
					err = fmt.Errorf("redis says %+v, memory %+v", d, want)
				}
				return d, at, err
			})
		})
		t.Logf("asked %d refused %d", asked, refused)
		require.Greater(t, refused, asked/20, "both answers are common")
		require.Less(t, refused, asked*19/20, "both answers are common")
	}

	t.Run("agrees with a list of all admissions", func(t *testing.T) {
		t.Parallel()
		run(t, small(), true)
	})

	t.Run("counts large limits at most a step too long and never too short", func(t *testing.T) {
		t.Parallel()
		run(t, large(), false)
	})

	t.Run("keeps its promise when plans change", func(t *testing.T) {
		t.Parallel()
		run(t, mixed(), false)
	})

	t.Run("a log expires with its newest request", func(t *testing.T) {
		t.Parallel()
		client := dial(t)
		key, r := newKey(t, client, window), replica(t, client, window)
		_, err := r.Take(t.Context(), key, 100, 1)
		require.NoError(t, err)
		left, err := client.PTTL(t.Context(), r.Key(key)).Result()
		require.NoError(t, err)
		require.InDelta(t, window.Milliseconds(), left.Milliseconds(), 10_000)
	})

	t.Run("loads its script when Redis has lost it", func(t *testing.T) {
		t.Parallel()
		client := dial(t)
		key, r := newKey(t, client, window), replica(t, client, window)
		for range 2 {
			require.NoError(t, client.ScriptFlush(t.Context()).Err())
			d, err := r.Take(t.Context(), key, 100, 1)
			require.NoError(t, err)
			require.True(t, d.Allowed)
		}
	})

	t.Run("starts its sums over before doubles become coarse", func(t *testing.T) {
		t.Parallel()
		client := dial(t)
		key, r := newKey(t, client, window), replica(t, client, window)
		now := time.Now().UnixMicro()
		require.NoError(t, client.RPush(t.Context(), r.Key(key), 0, int64(1)<<51+1, now-2, int64(1)<<51+3, now-1, int64(1)<<51+6).Err())
		d, err := r.Take(t.Context(), key, 10, 1)
		require.NoError(t, err)
		require.True(t, d.Allowed)
		require.Equal(t, 4, d.Remaining)
		sums, err := client.LRange(t.Context(), r.Key(key), 0, -1).Result()
		require.NoError(t, err)
		require.Equal(t, []string{"0", "2", "5", "6"}, []string{sums[1], sums[3], sums[5], sums[7]})
	})

	t.Run("takes little memory", func(t *testing.T) {
		t.Parallel()
		client := dial(t)
		key, r := newKey(t, client, window), replica(t, client, window)
		now := time.Now().UnixNano()
		r.SetClock(func() int64 { now += int64(time.Millisecond); return now })
		for range 1000 {
			_, err := r.Take(t.Context(), key, 1000, 1)
			require.NoError(t, err)
		}
		bytes, err := client.MemoryUsage(t.Context(), r.Key(key), 0).Result()
		require.NoError(t, err)
		t.Logf("%.1f bytes an entry", float64(bytes)/1000)
		require.Less(t, bytes, int64(20_000))
	})

	t.Run("refuses a negative cost", func(t *testing.T) {
		t.Parallel()
		_, err := replica(t, dial(t), window).Take(t.Context(), "org/key", 1, -1)
		require.ErrorIs(t, err, ratelimit.ErrCost)
	})
}
