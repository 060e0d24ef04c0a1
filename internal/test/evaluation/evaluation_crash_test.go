package evaluation_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestAWorkerThatGoesAwayLosesNothing stops a worker in the middle of a chunk.
// Whoever goes on executes what has no result, so every item has one.
func TestAWorkerThatGoesAwayLosesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const items = 120
	cfg := testkit.Config(t)
	k := testkit.NewWith(t, cfg)
	c := k.Org(t)
	var mu sync.Mutex
	calls := map[string]int{}
	half := make(chan struct{})
	target := application(t, func(w http.ResponseWriter, r *http.Request) {
		id := read(t, r).TestCaseID
		mu.Lock()
		calls[id]++
		if len(calls) == items/2 && calls[id] == 1 {
			close(half)
		}
		mu.Unlock()
		time.Sleep(20 * time.Millisecond) // a target that takes its time
		_, _ = fmt.Fprint(w, `{"output":"answer 0","usage":{"cost_usd":0.01}}`)
	})
	e := c.Evaluation(t, filled(t, c, cases(items)).ID, map[string]any{"target": target})

	// The first worker is told to stop: its activities see their context end.
	first := testkit.NewWith(t, cfg)
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := first.WorkUntil(working)
	r := started(t, c, e.ID, map[string]any{"concurrency": 2})
	<-half
	stop()
	k.Work(t)

	done := c.Ended(t, r)

	require.NoError(t, <-ended)
	require.Equal(t, "completed", done.Status, "%+v", done.Error)
	require.EqualValues(t, items, done.Items)
	seen := map[string]int{}
	for offset := 0; offset < items; offset += 100 {
		page, err := c.ListEvaluationRunResults(ctx, e.ID, r.RunID, fmt.Sprintf("includeTotal=true&limit=100&offset=%d", offset))
		require.NoError(t, err)
		require.EqualValues(t, items, api.Value(page.Total))
		for _, one := range page.Results {
			seen[one.TestCaseID]++
		}
	}
	require.Len(t, seen, items)
	for id, n := range seen {
		require.Equal(t, 1, n, "results of %s", id)
	}
	p, err := c.GetEvaluationRunProgress(ctx, e.ID, r.RunID)
	require.NoError(t, err)
	require.Equal(t, []int{items, items, int(done.Passed), int(done.Failed)}, []int{int(p.ItemsTotal), int(p.ItemsDone), int(p.Passed), int(p.Failed)})
	var counted, passed int
	var cost int64
	err = k.Owner(t, c.Org).QueryRow(ctx, "SELECT sum(done), sum(passed), sum(cost_nano_usd) FROM evaluation_run_chunks WHERE run_id = $1", r.RunID).Scan(&counted, &passed, &cost)
	require.NoError(t, err)
	require.Equal(t, []int{items, int(done.Passed)}, []int{counted, passed}, "the counters equal the results")
	require.InDelta(t, done.CostUSD, float64(cost)/1e9, 1e-9)
}
