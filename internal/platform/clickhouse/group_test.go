package clickhouse_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// numbersBlock collects numbers.
type numbersBlock struct{ values []int }

func (b *numbersBlock) Rows() int  { return len(b.values) }
func (b *numbersBlock) Bytes() int { return len(b.values) }
func (b *numbersBlock) Reset()     { b.values = b.values[:0] }

// table is what was written, a list for each write.
type table struct {
	mu     sync.Mutex
	writes [][]int
	tokens map[string]bool
	take   time.Duration
	fail   func(values []int) error
	later  bool
}

func (w *table) write(ctx context.Context, b *numbersBlock, token string) (bool, error) {
	select {
	case <-time.After(w.take):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		if err := w.fail(b.values); err != nil {
			return false, err
		}
	}
	if w.tokens == nil {
		w.tokens = map[string]bool{}
	}
	w.tokens[token] = true
	w.writes = append(w.writes, append([]int(nil), b.values...))
	return w.later, nil
}

func (w *table) count() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, values := range w.writes {
		n += len(values)
	}
	return n
}

func add(g *clickhouse.Group[*numbersBlock], values ...int) func() (bool, error) {
	return func() (bool, error) {
		return g.Add(context.Background(), func(b *numbersBlock) error {
			b.values = append(b.values, values...)
			return nil
		})
	}
}

var groupConfig = clickhouse.GroupConfig{
	Lanes: 1, Interval: 200 * time.Millisecond, EnoughRows: 1000, EnoughBytes: 1000, MaxBytes: 2000, WriteTimeout: 10 * time.Second,
}

func newGroup(cfg clickhouse.GroupConfig, w *table) *clickhouse.Group[*numbersBlock] {
	return clickhouse.NewGroup(cfg, func() *numbersBlock { return new(numbersBlock) }, w.write)
}

func TestGroup(t *testing.T) {
	t.Parallel()

	t.Run("many callers share few writes, and each is written once when its call returns", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := &table{take: 50 * time.Millisecond}
			g := newGroup(groupConfig, w)
			var wg sync.WaitGroup
			for i := range 500 {
				wg.Go(func() {
					_, err := add(g, i, i)()
					require.NoError(t, err)
					w.mu.Lock()
					defer w.mu.Unlock()
					seen := 0
					for _, values := range w.writes {
						for _, v := range values {
							if v == i {
								seen++
							}
						}
					}
					require.Equal(t, 2, seen)
				})
			}
			wg.Wait()
			require.Equal(t, 1000, w.count())
			require.LessOrEqual(t, len(w.writes), 3)
			require.Len(t, w.tokens, len(w.writes), "every block has a token of its own")
		})
	})

	t.Run("the first caller after a pause does not wait, the next ones wait an interval", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := &table{}
			g := newGroup(groupConfig, w)
			began := time.Now()
			_, err := add(g, 1)()
			require.NoError(t, err)
			require.Zero(t, time.Since(began))
			_, err = add(g, 2)()
			require.NoError(t, err)
			require.Equal(t, 200*time.Millisecond, time.Since(began))
		})
	})

	t.Run("rows that find no room in a block go into the next one", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := &table{}
			g := newGroup(groupConfig, w)
			alone := func(v int) func() {
				return func() {
					_, err := g.Add(t.Context(), func(b *numbersBlock) error {
						if len(b.values) > 0 {
							return clickhouse.ErrFull
						}
						b.values = append(b.values, v)
						return nil
					})
					require.NoError(t, err)
				}
			}
			var wg sync.WaitGroup
			began := time.Now()
			for v := range 5 {
				wg.Go(alone(v))
			}
			wg.Wait()
			require.Equal(t, 4*groupConfig.Interval, time.Since(began))
			require.Len(t, w.writes, 5)
			require.Equal(t, 5, w.count())
		})
	})

	t.Run("a fill that panics holds nobody up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := &table{}
			g := newGroup(groupConfig, w)
			require.Panics(t, func() { _, _ = g.Add(t.Context(), func(*numbersBlock) error { panic("a fault") }) })
			_, err := add(g, 1)()
			require.NoError(t, err)
			require.Equal(t, [][]int{{1}}, w.writes)
		})
	})

	t.Run("a large block does not wait for the interval", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := &table{}
			g := newGroup(groupConfig, w)
			_, err := add(g, 1)()
			require.NoError(t, err)
			began := time.Now()
			_, err = add(g, make([]int, 1000)...)()
			require.NoError(t, err)
			require.Zero(t, time.Since(began))
		})
	})

	t.Run("a full block makes callers wait and loses none of them", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := &table{take: time.Second}
			g := newGroup(groupConfig, w)
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					_, err := add(g, make([]int, 500)...)()
					require.NoError(t, err)
				})
			}
			wg.Wait()
			require.Equal(t, 10_000, w.count())
			for _, values := range w.writes {
				require.Less(t, len(values), 2500, "a block takes one request above its limit and no more")
			}
		})
	})

	t.Run("a failed write reaches exactly the callers whose rows it held", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			broken := errors.New("broken")
			w := &table{take: 10 * time.Millisecond, fail: func(values []int) error {
				for _, v := range values {
					if v == 13 {
						return broken
					}
				}
				return nil
			}}
			g := newGroup(groupConfig, w)
			_, err := add(g, 1)()
			require.NoError(t, err)
			_, err = add(g, 13)()
			require.ErrorIs(t, err, broken)
			_, err = add(g, 2)()
			require.NoError(t, err)
			require.Equal(t, 2, w.count())
		})
	})

	t.Run("a caller whose rows cannot be read leaves the others alone", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			bad := errors.New("bad")
			w := &table{take: 10 * time.Millisecond}
			g := newGroup(groupConfig, w)
			var wg sync.WaitGroup
			wg.Go(func() {
				_, err := add(g, 1)()
				require.NoError(t, err)
			})
			_, err := g.Add(t.Context(), func(*numbersBlock) error { return bad })
			require.ErrorIs(t, err, bad)
			wg.Wait()
			require.Equal(t, 1, w.count())
		})
	})

	t.Run("a caller that adds nothing waits for nothing", func(t *testing.T) {
		t.Parallel()
		w := &table{}
		_, err := newGroup(groupConfig, w).Add(t.Context(), func(*numbersBlock) error { return nil })
		require.NoError(t, err)
		require.Empty(t, w.writes)
	})

	t.Run("a caller learns that its rows are deferred", func(t *testing.T) {
		t.Parallel()
		deferred, err := add(newGroup(groupConfig, &table{later: true}), 1)()
		require.NoError(t, err)
		require.True(t, deferred)
	})

	t.Run("a caller that gives up does not take its rows back", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := &table{take: time.Second}
			g := newGroup(groupConfig, w)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := g.Add(ctx, func(b *numbersBlock) error { b.values = append(b.values, 1); return nil })
			require.ErrorIs(t, err, context.DeadlineExceeded)
			_, err = add(g, 2)()
			require.NoError(t, err)
			require.Equal(t, 2, w.count())
		})
	})

	t.Run("a panic while filling frees the lane", func(t *testing.T) {
		t.Parallel()
		w := &table{}
		g := newGroup(groupConfig, w)
		require.Panics(t, func() { _, _ = g.Add(t.Context(), func(*numbersBlock) error { panic("no") }) })
		_, err := add(g, 1)()
		require.NoError(t, err)
		require.Equal(t, 1, w.count())
	})
}
