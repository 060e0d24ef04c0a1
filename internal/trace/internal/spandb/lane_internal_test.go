package spandb

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/span"
)

// laneWorld is two lanes whose writes take as long as a test says.
type laneWorld struct {
	lanes
	live, imports atomic.Int64 // rows that were written
	took          time.Duration
}

func newLaneWorld(importTakes time.Duration) *laneWorld {
	w := &laneWorld{took: importTakes}
	w.lanes = newLanes(Config{QueueBytes: 1000, GroupInterval: 200 * time.Millisecond, InsertTimeout: 6 * time.Second},
		func(_ context.Context, b *Block, _ string) (bool, error) {
			w.live.Add(int64(b.Rows()))
			return false, nil
		},
		func(_ context.Context, b *Block, _ string) (bool, error) {
			time.Sleep(w.took)
			w.imports.Add(int64(b.Rows()))
			return false, nil
		})
	return w
}

// send adds one row for each age.
func (w *laneWorld) send(t testing.TB, size int, ages ...time.Duration) error {
	t.Helper()
	now := time.Now().UnixMicro()
	_, err := w.add(t.Context(), now, size, func(b *Block, p Pass) (later bool, err error) {
		for _, age := range ages {
			start := now - age.Microseconds()
			if !p.Takes(start) {
				later = true
				continue
			}
			b.AppendSpan(&span.Record{Fields: span.Fields{TraceID: span.TraceID{1}, ID: span.ID{2}, Start: start}}, Stamp{})
		}
		return later, nil
	})
	return err
}

func TestLanes(t *testing.T) {
	t.Parallel()
	const years = 3 * 365 * 24 * time.Hour

	t.Run("an import does not hold up live telemetry", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(5 * time.Second)
			imported := make(chan error, 1)
			go func() { imported <- w.send(t, 100, years) }()
			synctest.Wait()
			began := time.Now()
			for range 10 {
				require.NoError(t, w.send(t, 100, 0))
			}
			require.Less(t, time.Since(began), 2*time.Second)
			require.EqualValues(t, 10, w.live.Load())
			require.Zero(t, w.imports.Load(), "it is still being written")
			require.NoError(t, <-imported)
			require.EqualValues(t, 1, w.imports.Load())
		})
	})

	t.Run("a request with both is stored when it returns, each row once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(time.Second)
			require.NoError(t, w.send(t, 100, 0, years, time.Hour, 2*years, 34*24*time.Hour, 36*24*time.Hour))
			require.EqualValues(t, 3, w.live.Load())
			require.EqualValues(t, 3, w.imports.Load())
		})
	})

	t.Run("the more days a block has, the longer the next one waits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(0)
			pause := func(ages ...time.Duration) time.Duration {
				require.NoError(t, w.send(t, 100, ages...))
				began := time.Now()
				require.NoError(t, w.send(t, 100, years))
				time.Sleep(LongestPause)
				return time.Since(began) - LongestPause
			}
			days := func(n int) (ages []time.Duration) {
				for i := range n {
					ages = append(ages, years+time.Duration(i)*24*time.Hour)
				}
				return ages
			}
			require.Equal(t, importPause, pause(days(1)...))
			require.Equal(t, 3*time.Second, pause(days(300)...))
			require.Equal(t, LongestPause, pause(days(3000)...))
		})
	})

	t.Run("a full queue is refused, and a large request goes alone", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(time.Second)
			done := make(chan error, 1)
			go func() { done <- w.send(t, 5000, years) }()
			synctest.Wait()
			require.ErrorIs(t, w.send(t, 1, 0, years), ErrImportBusy)
			require.Zero(t, w.live.Load(), "nothing of a refused request is stored, so it can be sent again")
			require.NoError(t, <-done)
			require.NoError(t, w.send(t, 1, years))
		})
	})
}
