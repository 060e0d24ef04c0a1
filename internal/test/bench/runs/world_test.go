package runs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/assayhq/assay/internal/test/testkit"
)

// world is an application with datasets.
type world struct {
	kit           *testkit.Kit
	engine        client.Client
	ours, theirs  *testkit.Client
	trivial       testkit.Evaluation
	tiny, large   testkit.Evaluation
	slow, hundred testkit.Dataset
	queued        testkit.Dataset
}

func newWorld(t testing.TB, n sizes) *world {
	t.Helper()
	cfg := testkit.Config(t)
	cfg.Egress.Allow = []string{"127.0.0.0/8"}
	w := &world{kit: testkit.NewWith(t, cfg)}
	w.kit.Work(t)
	w.ours, w.theirs = w.kit.Org(t), w.kit.Org(t)
	var err error
	w.engine, err = client.Dial(client.Options{HostPort: cfg.Temporal.Address, Namespace: cfg.Temporal.Namespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	require.NoError(t, err)
	t.Cleanup(w.engine.Close)
	w.trivial = w.recorded(t, n.trivial)
	w.tiny, w.large = w.recorded(t, 1000), w.recorded(t, n.large)
	w.slow, w.hundred, w.queued = w.fill(t, w.ours, n.slow), w.fill(t, w.ours, 100), w.fill(t, w.theirs, n.queued)
	return w
}

// fill makes a dataset of so many items.
func (w *world) fill(t testing.TB, c *testkit.Client, n int) testkit.Dataset {
	t.Helper()
	d := c.Dataset(t, testkit.NewDataset{})
	for from := 0; from < n; from += 1000 {
		items := make([]testkit.Item, min(1000, n-from))
		for i := range items {
			items[i] = testkit.Item{Input: fmt.Sprintf("Is %d a number?", from+i), ExpectedOutput: "yes", Output: "yes"}
		}
		_, err := c.AddItems(t.Context(), d.ID, items)
		require.NoError(t, err)
	}
	return d
}

// recorded is an evaluation of so many recorded answers.
func (w *world) recorded(t testing.TB, n int) testkit.Evaluation {
	t.Helper()
	return w.ours.Evaluation(t, w.fill(t, w.ours, n).ID, nil)
}

// ran is a run that has ended.
type ran struct {
	run    testkit.Run
	took   time.Duration // from the request to the figures
	stored time.Time     // when the last result was
}

// run runs an evaluation of ours and waits for its end.
func (w *world) run(t testing.TB, e testkit.Evaluation, body map[string]any) (out ran) {
	t.Helper()
	began := time.Now()
	r, err := w.ours.StartRun(t.Context(), e.ID, body)
	require.NoError(t, err)
	// Who looks too often is a part of what is measured.
	for out.run.Statistics == nil {
		time.Sleep(50 * time.Millisecond)
		p, err := w.ours.GetEvaluationRunProgress(t.Context(), e.ID, r.RunID)
		require.NoError(t, err)
		if out.stored.IsZero() && p.ItemsTotal > 0 && p.ItemsDone == p.ItemsTotal {
			out.stored = time.Now()
		}
		if p.Status != "running" {
			out.run, err = w.ours.GetEvaluationRun(t.Context(), e.ID, r.RunID)
			require.NoError(t, err)
		}
	}
	out.took = time.Since(began)
	require.Equal(t, "completed", out.run.Status)
	require.Zero(t, out.run.Errored)
	// Its files are written afterwards; what is measured next is not to wait for
	// them.
	require.NoError(t, w.engine.GetWorkflow(t.Context(), w.workflow(r), "").Get(t.Context(), nil))
	return out
}

// complete runs an evaluation of ours to the end of its workflow. It waits at
// the engine, since asking the application would be a part of what it costs.
func (w *world) complete(t testing.TB, e testkit.Evaluation) {
	t.Helper()
	r, err := w.ours.StartRun(t.Context(), e.ID, nil)
	require.NoError(t, err)
	for {
		err = w.engine.GetWorkflow(t.Context(), w.workflow(r), "").Get(t.Context(), nil)
		var early *serviceerror.NotFound
		if !errors.As(err, &early) {
			break
		}
		time.Sleep(20 * time.Millisecond) // its promise is not handed over yet
	}
	require.NoError(t, err)
	done, err := w.ours.GetEvaluationRun(t.Context(), e.ID, r.RunID)
	require.NoError(t, err)
	require.Equal(t, "completed", done.Status)
	require.Zero(t, done.Errored)
}

func (w *world) workflow(r testkit.Run) string {
	return fmt.Sprintf("%s:run:%s:%s", w.kit.App.Config.Temporal.QueuePrefix, w.ours.Org, r.RunID)
}

// transitions is how many state transitions a run's workflow took.
func (w *world) transitions(t testing.TB, r testkit.Run) int64 {
	t.Helper()
	d, err := w.engine.DescribeWorkflowExecution(context.WithoutCancel(t.Context()), w.workflow(r), "")
	require.NoError(t, err)
	return d.GetWorkflowExecutionInfo().GetStateTransitionCount()
}
