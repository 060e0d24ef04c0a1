package evaluation_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// busyKit has a worker with few slots, and chunks of a second.
func busyKit(t *testing.T) *testkit.Kit {
	t.Helper()
	k := testkit.Own(t, "its worker has few slots", func(cfg *app.Config) { cfg.Evaluation.Slots, cfg.Evaluation.ChunkTime = 4, time.Second })
	k.Work(t)
	return k
}

// TestRunsThatHangHoldUpNobody lets two organizations have many lanes whose target
// never answers: together they do not get all slots.
func TestRunsThatHangHoldUpNobody(t *testing.T) {
	t.Parallel()
	k := busyKit(t)
	quiet := k.Org(t)
	var calls atomic.Int64
	target := application(t, func(_ http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		hang(t, r)
	})
	for range 2 {
		busy := k.Org(t)
		d := filled(t, busy, cases(100))
		for range 2 {
			e := busy.Evaluation(t, d.ID, map[string]any{"target": target})
			started(t, busy, e.ID, map[string]any{"concurrency": 128})
		}
	}
	// A slot each, or two and one, with sixteen calls each, are all that they get.
	require.Eventually(t, func() bool { return calls.Load() >= 2*10 }, 10*time.Minute, 10*time.Millisecond)

	e := quiet.Evaluation(t, filled(t, quiet, cases(4)).ID, map[string]any{"target": map[string]any{"type": "recorded"}})
	done := ran(t, quiet, e.ID, nil)

	require.Equal(t, "completed", done.Status)
}

// TestOrganizationsTakeTurns lets one organization queue many chunks. Another's run
// does not wait until they are through.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	k := busyKit(t)
	busy, quiet := k.Org(t), k.Org(t)
	target := application(t, func(w http.ResponseWriter, r *http.Request) {
		read(t, r)
		time.Sleep(50 * time.Millisecond) // a target that takes its time
		_, _ = fmt.Fprint(w, `{"output":"answer 0"}`)
	})
	const runs, lanes = 8, 8
	d := filled(t, busy, cases(1000))
	for range runs {
		e := busy.Evaluation(t, d.ID, map[string]any{"target": target})
		started(t, busy, e.ID, map[string]any{"concurrency": 16 * lanes})
	}
	conn := k.Owner(t, busy.Org)
	chunks := func() (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM evaluation_run_chunks").Scan(&n))
		return n
	}
	// From now on every lane has a long chunk in the queue.
	require.Eventually(t, func() bool { return chunks() >= runs*lanes }, 10*time.Minute, 20*time.Millisecond)

	e := quiet.Evaluation(t, filled(t, quiet, cases(4)).ID, map[string]any{"target": map[string]any{"type": "recorded"}})
	r := started(t, quiet, e.ID, nil)
	before := chunks()
	require.Eventually(t, func() bool {
		p, err := quiet.GetEvaluationRunProgress(t.Context(), e.ID, r.RunID)
		return err == nil && p.ItemsDone == 4
	}, 10*time.Minute, 20*time.Millisecond)

	require.Less(t, chunks()-before, runs*lanes/2, "it waited for others in the queue")
	require.Equal(t, "completed", quiet.Ended(t, r).Status)
}

// TestAnOrganizationHasSoManyRuns starts runs that nobody executes: one too many
// is refused, another organization is not, and one that ends makes room.
func TestAnOrganizationHasSoManyRuns(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	cfg.Evaluation.Runs = 2
	k := testkit.NewWith(t, cfg)
	start := func(c *testkit.Client, e string) (testkit.Run, error) { return c.StartRun(t.Context(), e, nil) }
	c, other := k.Org(t), k.Org(t)
	d := filled(t, c, cases(1))
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}})
	first, err := start(c, e.ID)
	require.NoError(t, err)
	_, err = start(c, e.ID)
	require.NoError(t, err)
	_, err = start(c, e.ID)
	refused(t, err, fault.RateLimited, "too_many_runs")

	theirs := other.Evaluation(t, filled(t, other, cases(1)).ID, map[string]any{"target": map[string]any{"type": "client"}})
	_, err = start(other, theirs.ID)
	require.NoError(t, err)
	_, err = c.CancelEvaluationRun(t.Context(), e.ID, first.RunID)
	require.NoError(t, err)
	_, err = start(c, e.ID)
	require.NoError(t, err)
}
