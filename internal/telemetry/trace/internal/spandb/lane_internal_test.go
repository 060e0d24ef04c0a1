package spandb

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// laneWorld is two lanes whose writes take as long as a test says.
type laneWorld struct {
	lanes
	live, imports atomic.Int64 // rows that were written
	blocks        []int        // partitions of each block of imports
	took          time.Duration
}

func newLaneWorld(importTakes time.Duration) *laneWorld {
	w := &laneWorld{took: importTakes}
	w.lanes = newLanes(Config{GroupInterval: 200 * time.Millisecond, InsertTimeout: 6 * time.Second},
		func(_ context.Context, b *Block, _ string) (bool, error) {
			w.live.Add(int64(b.Rows()))
			return false, nil
		},
		func(_ context.Context, b *Block, _ string) (bool, error) {
			time.Sleep(w.took)
			w.imports.Add(int64(b.Rows()))
			w.blocks = append(w.blocks, len(b.partitions))
			return false, nil
		})
	return w
}

// send adds one row for each age.
func (w *laneWorld) send(t testing.TB, org principal.OrgID, ages ...time.Duration) error {
	t.Helper()
	now := time.Now().UnixMicro()
	rows := NewRows(now, Clean{})
	defer rows.Release()
	for _, age := range ages {
		s := &span.Record{Fields: span.Fields{TraceID: span.TraceID{1}, ID: span.ID{2}, Start: now - age.Microseconds()}}
		if reason := rows.AppendSpan(s, Stamp{Org: org, Retention: 90}); reason != "" {
			return errors.New(reason)
		}
	}
	_, err := w.add(t.Context(), org, rows)
	return err
}

// days are ages of so many days, from years ago.
func days(n int) (ages []time.Duration) {
	for i := range n {
		ages = append(ages, years+time.Duration(i)*24*time.Hour)
	}
	return ages
}

const years = 3 * 365 * 24 * time.Hour

func TestLanes(t *testing.T) {
	t.Parallel()
	us, them, third := principal.NewOrgID(), principal.NewOrgID(), principal.NewOrgID()

	t.Run("an import does not hold up live telemetry", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(5 * time.Second)
			imported := make(chan error, 1)
			go func() { imported <- w.send(t, us, years) }()
			synctest.Wait()
			began := time.Now()
			for range 10 {
				require.NoError(t, w.send(t, us, 0))
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
			require.NoError(t, w.send(t, us, 0, years, time.Hour, 2*years, 2*24*time.Hour, 4*24*time.Hour))
			require.EqualValues(t, 3, w.live.Load())
			require.EqualValues(t, 3, w.imports.Load())
		})
	})

	t.Run("a request of many days is many blocks of few, one after another", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(0)
			began := time.Now()
			require.NoError(t, w.send(t, us, days(365)...))
			require.Equal(t, 36*importPause, time.Since(began))
			require.EqualValues(t, 365, w.imports.Load())
			require.Len(t, w.blocks, 37)
			for _, n := range w.blocks {
				require.LessOrEqual(t, n, maxPartitions)
			}
		})
	})

	t.Run("imports take turns, and share blocks where their days allow it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(20 * time.Millisecond)
			long := make(chan error, 1)
			go func() { long <- w.send(t, us, days(365)...) }()
			synctest.Wait()
			began := time.Now()
			require.NoError(t, w.send(t, them, days(3)...))
			require.LessOrEqual(t, time.Since(began), 3*importPause)
			require.NoError(t, <-long)
			for _, n := range w.blocks {
				require.LessOrEqual(t, n, maxPartitions)
			}
		})
	})

	t.Run("a full queue is refused, and an organization does not fill it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(0)
			done := make(chan error, 2)
			go func() { done <- w.send(t, us, days(500)...) }()
			synctest.Wait()
			require.ErrorIs(t, w.send(t, us, 0, years), ErrImportBusy)
			require.Zero(t, w.live.Load(), "nothing of a refused request is stored, so it can be sent again")
			require.NoError(t, w.send(t, us, 0), "live telemetry goes on")
			go func() { done <- w.send(t, them, days(300)...) }()
			synctest.Wait()
			require.ErrorIs(t, w.send(t, third, years), ErrImportBusy)
			require.NoError(t, <-done)
			require.NoError(t, w.send(t, third, years))
			require.NoError(t, <-done)
		})
	})

	t.Run("an import that takes too long is refused before its sender gives up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newLaneWorld(5 * time.Second)
			began := time.Now()
			require.ErrorIs(t, w.send(t, us, days(365)...), ErrImportBusy)
			require.Equal(t, ImportTime, time.Since(began))
			time.Sleep(time.Minute) // until the last write has ended
		})
	})
}
