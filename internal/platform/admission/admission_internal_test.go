package admission

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	require.NoError(t, Config{Bytes: 64 << 20}.Validate())
	require.ErrorContains(t, Config{Bytes: 1}.Validate(), "give 67108864 or more")
	require.ErrorContains(t, Config{Bytes: 64 << 20, Processors: -1}.Validate(), "0 for all processors but one")
}

func TestBytes(t *testing.T) {
	t.Parallel()
	ours, theirs, third := principal.NewOrgID(), principal.NewOrgID(), principal.NewOrgID()

	t.Run("an organization alone has half, and two that flood have a third each", func(t *testing.T) {
		t.Parallel()
		b := New(Config{Bytes: 300})
		first, second := b.Request(ours), b.Request(theirs)
		require.Equal(t, 150, greedy(first))
		require.Equal(t, 75, greedy(second))
		first.Give(75)
		greedy(second)
		greedy(first)
		for range 10 { // whoever gives back a little takes no more than its part
			first.Give(10)
			greedy(second)
			greedy(first)
		}
		require.InDelta(t, 100, b.orgs[ours], 15)
		require.InDelta(t, 100, b.orgs[theirs], 15)
		require.NoError(t, b.Request(third).Take(40), "there is room for one that has nothing")
	})

	t.Run("a refusal says whose fault it is", func(t *testing.T) {
		t.Parallel()
		b := New(Config{Bytes: 100})
		a := b.Request(ours)
		require.NoError(t, a.Take(40))
		require.ErrorIs(t, a.Take(40), ErrShare)
		require.ErrorIs(t, b.Request(theirs).Take(40), ErrFull)
	})

	t.Run("what is closed is free", func(t *testing.T) {
		t.Parallel()
		b := New(Config{Bytes: 100})
		a := b.Request(ours)
		require.NoError(t, a.Take(50))
		a.Close()
		a.Close()
		require.NoError(t, b.Request(theirs).Take(50))
		require.Len(t, b.orgs, 1)
	})

	t.Run("an activity waits until there is room", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := New(Config{Bytes: 100})
			first, second := b.Request(ours), b.Activity(theirs)
			require.NoError(t, first.Take(50))
			got := make(chan error, 1)
			go func() { got <- second.Wait(t.Context(), 50) }()
			synctest.Wait()
			require.Empty(t, got)
			first.Close()
			require.NoError(t, <-got)

			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorIs(t, second.Wait(ctx, 1), context.DeadlineExceeded)
			require.ErrorIs(t, b.Activity(third).Wait(t.Context(), 51), ErrShare, "no wait helps what is too large")
		})
	})

	t.Run("memory is looked for once a second while requests are refused", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := New(Config{Bytes: 2})
			a := b.Request(ours)
			collecting := func() bool {
				b.mu.Lock()
				defer b.mu.Unlock()
				return b.collecting
			}
			require.NoError(t, a.Take(1))
			for range 10 {
				require.ErrorIs(t, a.Take(1), ErrShare)
				require.True(t, collecting())
			}
			time.Sleep(time.Second)
			synctest.Wait()
			require.False(t, collecting())
		})
	})
}

// greedy takes what it can get, byte by byte.
func greedy(a *Account) (got int) {
	for a.Take(1) == nil {
		got++
	}
	return got
}

func TestTurns(t *testing.T) {
	t.Parallel()
	ours, theirs := principal.NewOrgID(), principal.NewOrgID()
	const step = 10 * time.Millisecond

	// work does steps of some length, and notes when each of them ended.
	work := func(ctx context.Context, a *Account, steps int, done func()) error {
		return a.Work(ctx, func(pause func() error) error {
			for range steps {
				time.Sleep(step)
				done()
				if err := pause(); err != nil {
					return err
				}
			}
			return nil
		})
	}

	t.Run("an organization that comes later waits for one step, not for the line", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := New(Config{Bytes: 1, Processors: 1})
			for range 50 {
				go func() { _ = work(t.Context(), b.Activity(ours), 100, func() {}) }()
			}
			time.Sleep(time.Second + step/2)
			began := time.Now()
			require.NoError(t, work(t.Context(), b.Request(theirs), 1, func() {}))
			require.LessOrEqual(t, time.Since(began), 2*step)
			time.Sleep(time.Hour)
			synctest.Wait()
			require.Empty(t, b.turns.lines)
			require.Equal(t, 1, b.turns.free)
		})
	})

	t.Run("two that always have work share the time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := New(Config{Bytes: 1, Processors: 2})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var steps [2]atomic.Int64
			for i, org := range []principal.OrgID{ours, theirs} {
				for range 20 - 18*i { // the one has twenty tasks at a time, the other two
					go func() {
						for ctx.Err() == nil {
							_ = work(ctx, b.Activity(org), 5, func() { steps[i].Add(1) })
						}
					}()
				}
			}
			<-ctx.Done()
			time.Sleep(time.Second)
			require.InEpsilon(t, steps[0].Load(), steps[1].Load(), 0.1)
		})
	})

	t.Run("a request waits for some seconds and in a short line", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := New(Config{Bytes: 1, Processors: 1})
			hold := make(chan struct{})
			go func() {
				_ = b.Activity(ours).Work(t.Context(), func(func() error) error { <-hold; return nil })
			}()
			synctest.Wait()
			refused := make(chan error, 100)
			for range longestLine + 1 {
				go func() { refused <- work(t.Context(), b.Request(theirs), 1, func() {}) }()
			}
			synctest.Wait()
			require.ErrorIs(t, <-refused, ErrShare)
			require.Empty(t, refused)
			time.Sleep(patience)
			for range longestLine {
				require.ErrorIs(t, <-refused, ErrFull)
			}
			close(hold)
			require.NoError(t, work(t.Context(), b.Request(theirs), 1, func() {}))
		})
	})

	t.Run("a caller that leaves leaves the line, and a task ends with it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := New(Config{Bytes: 1, Processors: 1})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 2)
			for range 2 {
				go func() { ended <- work(ctx, b.Request(ours), 1000, func() {}) }()
			}
			time.Sleep(step / 2)
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			require.ErrorIs(t, <-ended, context.Canceled)
			require.Empty(t, b.turns.lines)
			require.Equal(t, 1, b.turns.free)
		})
	})

	t.Run("a task that panics or fails gives its turn back", func(t *testing.T) {
		t.Parallel()
		b := New(Config{Bytes: 1, Processors: 1})
		require.Panics(t, func() {
			_ = b.Request(ours).Work(t.Context(), func(func() error) error { panic("broken") })
		})
		wrong := errors.New("wrong")
		require.ErrorIs(t, b.Request(ours).Work(t.Context(), func(func() error) error { return wrong }), wrong)
		require.NoError(t, b.Request(theirs).Work(t.Context(), func(pause func() error) error { return pause() }))
	})
}

func TestTurnsForPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := principal.NewOrgID(), principal.NewOrgID()
		turns := NewTurns(4)
		for n := range 2 {
			nth, err := turns.Begin(t.Context(), ours)
			require.NoError(t, err)
			require.Equal(t, n+1, nth)
		}
		waits := make(chan error, 1)
		go func() {
			_, err := turns.Begin(t.Context(), ours)
			waits <- err
		}()
		synctest.Wait()
		require.Empty(t, waits, "half is left for others")
		_, err := turns.Begin(t.Context(), theirs)
		require.NoError(t, err)
		turns.End(theirs, time.Second)
		synctest.Wait()
		require.Empty(t, waits)
		turns.End(ours, time.Second)
		require.NoError(t, <-waits)
	})
}

// Organizations that hold what they can and never end leave places for others.
func TestPlacesAreLeft(t *testing.T) {
	t.Parallel()
	turns := NewTurns(32)
	for _, share := range []int{16, 8, 4, 2, 1, 1} {
		org, got := principal.NewOrgID(), 0
		for turns.Try(org) {
			got++
		}
		require.Equal(t, share, got)
	}
	require.False(t, turns.Try(principal.NewOrgID()), "now there is none")
}

func TestRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := New(Config{Bytes: 100})
		a := b.Request(principal.NewOrgID())
		require.NoError(t, a.Read(t.Context(), 40, func() (int, error) { return 10, nil }))
		require.Equal(t, 10, b.total, "what the read did not bring is given back")
		require.NoError(t, a.Read(t.Context(), 20, func() (int, error) { return 30, nil }))
		require.Equal(t, 40, b.total)
		asked := time.Now()
		require.ErrorIs(t, a.Read(t.Context(), 40, func() (int, error) { panic("there is no room") }), ErrShare)
		require.Equal(t, patience, time.Since(asked))
		wrong := errors.New("wrong")
		part := a.Part()
		require.ErrorIs(t, part.Read(t.Context(), 5, func() (int, error) { return 0, wrong }), wrong)
		part.Close()
		require.Equal(t, 40, b.total)
		a.Close()
		require.Zero(t, b.total)
	})
}

func TestContext(t *testing.T) {
	t.Parallel()
	a := New(Config{Bytes: 10}).Request(principal.NewOrgID())
	require.Same(t, a, From(With(t.Context(), a)))

	free := From(t.Context())
	require.NoError(t, free.Take(1<<40))
	require.NoError(t, free.Wait(t.Context(), 1<<40))
	require.NoError(t, free.Work(t.Context(), func(pause func() error) error { return pause() }))
	free.Give(1)
	free.Close()
}
