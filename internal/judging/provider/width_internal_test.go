package provider

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// crowd is a provider that serves so many calls at once, each in a second, and
// tells the others to slow down.
type crowd struct {
	mu         sync.Mutex
	most, busy int
	refused    int
	peak       int // of calls at once
	wait       time.Duration
}

func (c *crowd) call() (verdict, time.Duration) {
	c.mu.Lock()
	c.busy++
	c.peak = max(c.peak, c.busy)
	ok := c.busy <= c.most
	if !ok {
		c.refused++
	}
	wait := c.wait
	c.mu.Unlock()
	if ok {
		time.Sleep(time.Second)
	}
	c.mu.Lock()
	c.busy--
	c.mu.Unlock()
	if !ok {
		return overloaded, wait
	}
	return served, 0
}

func (c *crowd) set(most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most, c.refused, c.peak = most, 0, 0
}

func (c *crowd) figures() (refused, peak int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused, c.peak
}

// ask calls again and again until ctx ends, as several callers would.
func ask(ctx context.Context, w *width, c *crowd, callers int) {
	for n := range callers {
		go func() {
			for {
				round, err := w.enter(ctx, n, nil)
				if err != nil {
					return
				}
				v, wait := c.call()
				w.leave(round, v, wait)
			}
		}()
	}
}

func (w *width) now() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit
}

func TestWidth(t *testing.T) {
	t.Parallel()

	t.Run("falls in a storm and recovers", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer func() {
				cancel()
				time.Sleep(2 * time.Second) // until the last calls end
			}()
			w, c := newWidth(time.Now), &crowd{most: 1000, wait: time.Second}
			ask(ctx, w, c, 200)
			time.Sleep(10 * time.Second)
			require.GreaterOrEqual(t, w.now(), 199.0, "all of them call at once")

			c.set(0) // everything is refused
			time.Sleep(30 * time.Second)
			require.InDelta(t, 1, w.now(), 0.5)
			refused, _ := c.figures()
			require.Less(t, refused, 450, "the storm is not fed: the first hundreds were on their way")

			c.set(20)
			time.Sleep(5 * time.Minute)
			refused, peak := c.figures()
			require.InDelta(t, 15, w.now(), 7, "it saws below what the provider takes")
			require.LessOrEqual(t, peak, 22)
			require.Less(t, refused, 60, "of about 4,000")

			c.set(1000)
			time.Sleep(5 * time.Minute)
			require.Greater(t, w.now(), 190.0)
		})
	})

	t.Run("a wait that one call is asked for holds all", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWidth(time.Now)
			round, err := w.enter(t.Context(), "a", nil)
			require.NoError(t, err)
			w.leave(round, overloaded, 7*time.Second)
			began := time.Now()
			_, err = w.enter(t.Context(), "b", nil)
			require.NoError(t, err)
			require.Equal(t, 7*time.Second, time.Since(began))
		})
	})

	t.Run("a burst of refusals of one round takes half once", func(t *testing.T) {
		t.Parallel()
		w := newWidth(time.Now)
		rounds := []int{}
		for range startWidth {
			round, err := w.enter(t.Context(), "a", nil)
			require.NoError(t, err)
			rounds = append(rounds, round)
		}
		for _, round := range rounds {
			w.leave(round, overloaded, 0)
		}
		require.InDelta(t, startWidth/2, w.now(), 0)
	})

	t.Run("callers take turns", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWidth(time.Now)
			w.limit = 1
			round, err := w.enter(t.Context(), "first", nil)
			require.NoError(t, err)
			var mu sync.Mutex
			var order []string
			wait := func(caller string) {
				go func() {
					round, err := w.enter(t.Context(), caller, nil)
					if err != nil {
						return
					}
					mu.Lock()
					order = append(order, caller)
					mu.Unlock()
					w.leave(round, unclear, 0)
				}()
				synctest.Wait()
			}
			for range 50 {
				wait("many")
			}
			wait("one")
			w.leave(round, unclear, 0)
			synctest.Wait()
			require.Len(t, order, 51)
			require.Equal(t, []string{"many", "one", "many"}, order[:3])
		})
	})

	t.Run("whoever leaves the queue leaves no hole", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWidth(time.Now)
			w.limit = 1
			round, err := w.enter(t.Context(), "a", nil)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			stop := make(chan struct{})
			errs := make(chan error, 2)
			go func() { _, err := w.enter(ctx, "b", nil); errs <- err }()
			synctest.Wait()
			cancel()
			require.ErrorIs(t, <-errs, context.Canceled)
			go func() { _, err := w.enter(t.Context(), "b", stop); errs <- err }()
			synctest.Wait()
			close(stop)
			require.ErrorIs(t, <-errs, ErrStopped)
			w.leave(round, unclear, 0)
			require.True(t, w.idle())
			_, err = w.enter(t.Context(), "c", nil)
			require.NoError(t, err)
		})
	})
}
