package ratelimit_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// timed decides a request and tells when.
type timed func(ctx context.Context) (ratelimit.Decision, int64, error)

// rush lets every replica ask for as long as the windows last. A replica that
// is refused comes back when the next slot is free, as all others do.
func rush(t *testing.T, replicas []timed, length time.Duration, windows int64) (admitted []admission, refused int, passed int64) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, ask := range replicas {
		all.Go(func() {
			var mine []admission
			late := 0
			for first := int64(0); ; {
				d, at, err := ask(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if d.Allowed {
					mine = append(mine, admission{at, 1})
				} else {
					late++
					time.Sleep(d.RetryAfter) // the time of Redis must pass
				}
				if first == 0 {
					first = at
				}
				if passed := (at - first) / int64(length); passed >= windows {
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			admitted, refused = append(admitted, mine...), refused+late
		})
	}
	all.Wait()
	require.NotEmpty(t, admitted)
	slices.SortFunc(admitted, byTime)
	return admitted, refused, (admitted[len(admitted)-1].at - admitted[0].at) / int64(length)
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	const limit, length = 10, 20 * time.Millisecond
	key := newKey(t, dial(t), length)
	replicas := make([]timed, 8)
	for i := range replicas {
		r := replica(t, dial(t), length)
		replicas[i] = func(ctx context.Context) (ratelimit.Decision, int64, error) {
			return r.TakeAt(ctx, key, limit, 1)
		}
	}
	admitted, refused, windows := rush(t, replicas, length, 202)
	over := overAdmitted(admitted, int64(length), limit)
	t.Logf("limiter windows %d replicas %d over-admitted %d", windows, len(replicas), over)
	require.GreaterOrEqual(t, windows, int64(200))
	require.Zero(t, over)
	require.Positive(t, refused, "the limit is worth rushing for")
}

// gcra is what the oracle must catch: it admits a burst of the limit and then
// one more with every share of the window.
type gcra struct {
	mu   sync.Mutex
	next int64
}

func (g *gcra) take(now, length int64, limit int) (ratelimit.Decision, int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next = max(g.next, now)
	if wait := g.next + length/int64(limit) - length - now; wait > 0 {
		return ratelimit.Decision{Limit: limit, RetryAfter: time.Duration(wait)}, now, nil
	}
	g.next += length / int64(limit)
	return ratelimit.Decision{Allowed: true, Limit: limit}, now, nil
}

// fixed is what the oracle must catch: it starts over at every full window.
type fixed struct {
	window int64
	used   int
}

func (f *fixed) take(now, length int64, limit int) (ratelimit.Decision, int64, error) {
	if w := now / length; w != f.window {
		f.window, f.used = w, 0
	}
	if f.used >= limit {
		return ratelimit.Decision{Limit: limit}, now, nil
	}
	f.used++
	return ratelimit.Decision{Allowed: true, Limit: limit}, now, nil
}

func TestOracle(t *testing.T) {
	t.Parallel()

	// caught counts the admissions over the limit in random schedules.
	caught := func(t *testing.T, fresh func() func(now, length int64, limit int) (ratelimit.Decision, int64, error)) (over int) {
		t.Helper()
		rapid.Check(t, func(t *rapid.T) {
			take, now, admitted := fresh(), begin, []admission(nil)
			for range 100 {
				now += rapid.Int64Range(int64(window)/30, int64(window)/10).Draw(t, "gap")
				if d, at, _ := take(now, int64(window), 10); d.Allowed {
					admitted = append(admitted, admission{at, 1})
				}
			}
			over += overAdmitted(admitted, int64(window), 10)
		})
		return over
	}

	t.Run("catches a leaky bucket", func(t *testing.T) {
		t.Parallel()
		require.Positive(t, caught(t, func() func(int64, int64, int) (ratelimit.Decision, int64, error) { return new(gcra).take }))
	})

	t.Run("catches a fixed window", func(t *testing.T) {
		t.Parallel()
		require.Positive(t, caught(t, func() func(int64, int64, int) (ratelimit.Decision, int64, error) { return new(fixed).take }))
	})

	t.Run("catches a leaky bucket of eight replicas", func(t *testing.T) {
		t.Parallel()
		g, replicas := new(gcra), make([]timed, 8)
		const length = 20 * time.Millisecond
		for i := range replicas {
			replicas[i] = func(context.Context) (ratelimit.Decision, int64, error) {
				return g.take(time.Now().UnixNano(), int64(length), 10)
			}
		}
		admitted, _, _ := rush(t, replicas, length, 10)
		require.Positive(t, overAdmitted(admitted, int64(length), 10))
	})
}
