package clickhouse

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRowsOfSeveralAreSelectedTogether(t *testing.T) {
	t.Parallel()
	before := time.UnixMilli(7)
	where, args := together([]Doomed{
		{Table: "spans", Where: "org_id = ? AND trace_id = unhex(?)", Args: []any{1, "a"}},
		{Table: "spans", Where: "org_id = ? AND trace_id = unhex(?)", Args: []any{2, "b"}, Arrived: "ingested_at", Before: before},
	})
	require.Equal(t, "(org_id = ? AND trace_id = unhex(?)) OR (org_id = ? AND trace_id = unhex(?) AND ingested_at <= fromUnixTimestamp64Milli(?, 'UTC'))", where)
	require.Equal(t, []any{1, "a", 2, "b", int64(7)}, args)
	e := (&DB{cluster: "main"}).Eraser()
	require.Equal(t, "DELETE FROM spans_local IN PARTITION ID 'p' WHERE x = ?", e.hideSQL("spans", "p", "x = ?"))
	require.Equal(t, "ALTER TABLE spans_local APPLY DELETED MASK IN PARTITION ID 'p'", e.dropSQL("spans", "p"))
}

// TestTogether lets a hundred callers in while one turn is under way.
func TestTogether(t *testing.T) {
	t.Parallel()
	var turns, at atomic.Int32
	var mu sync.Mutex
	var sizes []int
	hold := make(chan struct{})
	g := &Together[int]{Most: 60, Timeout: time.Minute, Do: func(_ context.Context, all []int) error {
		require.EqualValues(t, 1, at.Add(1), "one at a time")
		defer at.Add(-1)
		mu.Lock()
		sizes = append(sizes, len(all))
		mu.Unlock()
		if turns.Add(1) == 1 {
			<-hold
		}
		if all[0] < 0 {
			return errors.New("refused")
		}
		return nil
	}}
	var wg sync.WaitGroup
	wg.Go(func() { require.NoError(t, g.Add(t.Context(), 0)) })
	require.Eventually(t, func() bool { return turns.Load() == 1 }, 3*time.Minute, time.Millisecond)
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.ErrorIs(t, g.Add(gone, 1), context.Canceled, "who does not want to wait leaves")
	for i := range 99 {
		wg.Go(func() { require.NoError(t, g.Add(t.Context(), i)) })
	}
	require.Eventually(t, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.next != nil && len(g.next.all) == 100
	}, 3*time.Minute, time.Millisecond)
	close(hold)
	wg.Wait()
	require.Equal(t, []int{1, 60, 40}, sizes)
	require.Error(t, g.Add(t.Context(), -1))
}
