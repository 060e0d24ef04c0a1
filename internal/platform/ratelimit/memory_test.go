package ratelimit_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// hand is a clock that a test moves.
type hand struct{ now int64 }

func (h *hand) time() time.Time { return time.Unix(0, h.now) }

const begin = int64(1_800_000_000_000_000_000)

func TestMemory(t *testing.T) {
	t.Parallel()

	// run compares random schedules with the oracle.
	run := func(t *testing.T, limits *rapid.Generator[int], exact bool) {
		t.Helper()
		asked, refused := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			h := &hand{now: begin}
			m := ratelimit.NewMemory(window, ratelimit.Options{Clock: h.time})
			o := &oracle{window: int64(window)}
			if !exact {
				o.slack = m.Step()
			}
			asked += 150
			refused += drive(t, o, limits, begin, 1, 150, func(now int64, limit, cost int) (ratelimit.Decision, int64, error) {
				h.now = now
				return m.TakeAt(t.Context(), "org/key", limit, cost)
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

	t.Run("is exact at the highest exact limit", func(t *testing.T) {
		t.Parallel()
		h := &hand{now: begin}
		m := ratelimit.NewMemory(window, ratelimit.Options{Clock: h.time})
		for i := range 3 * ratelimit.ExactLimit {
			d, err := m.Take(t.Context(), "org/key", ratelimit.ExactLimit, 1)
			require.NoError(t, err)
			require.Equal(t, i < ratelimit.ExactLimit || i >= 2*ratelimit.ExactLimit, d.Allowed, i)
			h.now += int64(window) / (2 * ratelimit.ExactLimit)
		}
	})

	t.Run("stands still while its clock is behind", func(t *testing.T) {
		t.Parallel()
		h := &hand{now: begin}
		m := ratelimit.NewMemory(window, ratelimit.Options{Clock: h.time})
		_, err := m.Take(t.Context(), "org/key", 1, 1)
		require.NoError(t, err)
		h.now -= int64(10 * window)
		d, at, err := m.TakeAt(t.Context(), "org/key", 1, 1)
		require.NoError(t, err)
		require.Equal(t, begin, at)
		require.Equal(t, ratelimit.Decision{Limit: 1, ResetAfter: window, RetryAfter: window}, d)
	})

	t.Run("refuses a negative cost", func(t *testing.T) {
		t.Parallel()
		_, err := ratelimit.NewMemory(window, ratelimit.Options{}).Take(t.Context(), "org/key", 1, -1)
		require.ErrorIs(t, err, ratelimit.ErrCost)
	})

	t.Run("admits exactly the limit under concurrency", func(t *testing.T) {
		t.Parallel()
		m := ratelimit.NewMemory(window, ratelimit.Options{})
		var all sync.WaitGroup
		counts := make([]int, 8)
		for i := range counts {
			all.Go(func() {
				for range 2000 {
					if d, _ := m.Take(t.Context(), "org/key", 9000, 1); d.Allowed {
						counts[i]++
					}
				}
			})
		}
		all.Wait()
		sum := 0
		for _, c := range counts {
			sum += c
		}
		require.Equal(t, 9000, sum)
	})
}

func TestMemoryBounds(t *testing.T) {
	t.Parallel()

	t.Run("forgets idle keys", func(t *testing.T) {
		t.Parallel()
		h := &hand{now: begin}
		m := ratelimit.NewMemory(window, ratelimit.Options{Clock: h.time, MaxEntries: 1 << 20})
		for i := range 2000 {
			_, err := m.Take(t.Context(), "org/"+strconv.Itoa(i), 100, 1)
			require.NoError(t, err)
		}
		h.now += int64(window) + m.Step()
		for i := range 4000 { // twice, for parts that met few new keys
			_, err := m.Take(t.Context(), "org/new/"+strconv.Itoa(i%2000), 100, 1)
			require.NoError(t, err)
		}
		keys, left := m.Size()
		require.Equal(t, 2000, keys)
		require.Equal(t, int64(1<<20), left)
	})

	t.Run("remembers no more keys than it may", func(t *testing.T) {
		t.Parallel()
		m := ratelimit.NewMemory(window, ratelimit.Options{MaxKeys: 640})
		for i := range 5000 {
			_, err := m.Take(t.Context(), "org/"+strconv.Itoa(i), 100, 1)
			require.NoError(t, err)
		}
		keys, _ := m.Size()
		require.LessOrEqual(t, keys, 640)
	})

	t.Run("never admits too much when its budget is spent", func(t *testing.T) {
		t.Parallel()
		h := &hand{now: begin}
		m := ratelimit.NewMemory(window, ratelimit.Options{Clock: h.time, MaxEntries: 100})
		var admitted []admission
		for range 20_000 {
			d, at, err := m.TakeAt(t.Context(), "org/key", 1000, 1)
			require.NoError(t, err)
			if d.Allowed {
				admitted = append(admitted, admission{at, 1})
			}
			h.now += int64(window) / 1500
		}
		_, left := m.Size()
		require.GreaterOrEqual(t, left, int64(0))
		require.Zero(t, overAdmitted(admitted, int64(window), 1000))
		require.Greater(t, len(admitted), 13_333/2, "most of what fits is admitted")
	})
}
