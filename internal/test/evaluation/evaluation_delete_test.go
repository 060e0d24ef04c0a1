package evaluation_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/evaluation/purge"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestDeleteEvaluation(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)

	t.Run("nothing of a deleted one can be read", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		d := filled(t, c, cases(2))
		kept := c.Evaluation(t, d.ID, nil)
		e := c.Evaluation(t, d.ID, nil)
		r := ran(t, c, e.ID, nil)
		a := c.Artifacts(t, r)["report.html"]

		var answer map[string]any
		_, err := c.Call(ctx, http.MethodDelete, "/api/evaluations/"+e.ID, nil, &answer)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"id": e.ID, "deleted": true}, answer)

		run := "/api/evaluations/" + e.ID + "/runs/" + r.RunID
		for _, path := range []string{
			"/api/evaluations/" + e.ID, "/api/evaluations/" + e.ID + "/runs", run, run + "/progress", run + "/events", run + "/results",
			"/api/evaluations/" + e.ID + "/runs/compare?baselineRunId=" + r.RunID + "&candidateRunId=" + r.RunID,
			"/api/evaluations/" + e.ID + "/artifacts", "/api/evaluations/" + e.ID + "/artifacts/" + a.ID, a.DownloadPath,
		} {
			_, err := c.Call(ctx, http.MethodGet, path, nil, nil)
			require.ErrorIs(t, err, evaluation.ErrNotFound, path)
		}
		for method, path := range map[string]string{
			http.MethodDelete: "/api/evaluations/" + e.ID, http.MethodPatch: "/api/evaluations/" + e.ID, http.MethodPost: "/api/evaluations/" + e.ID + "/runs",
		} {
			_, err := c.Call(ctx, method, path, map[string]any{}, nil)
			require.ErrorIs(t, err, evaluation.ErrNotFound, method)
		}
		_, err = c.CancelEvaluationRun(ctx, e.ID, r.RunID)
		require.ErrorIs(t, err, evaluation.ErrNotFound)
		require.ErrorIs(t, c.PutResults(ctx, e.ID, r.RunID, nil, true), evaluation.ErrNotFound)
		all, err := c.ListEvaluations(ctx, "")
		require.NoError(t, err)
		require.EqualValues(t, 1, all.Total)
		require.Equal(t, kept.ID, all.Evaluations[0].ID)
	})

	t.Run("one with a run under way is in use until the run has ended", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e := c.Evaluation(t, filled(t, c, cases(1)).ID, map[string]any{"target": map[string]any{"type": "client"}})
		r := started(t, c, e.ID, nil)

		err := c.DeleteEvaluation(ctx, e.ID)

		require.Equal(t, []any{r.RunID}, refused(t, err, fault.Conflict, "in_use")["runIds"])
		_, err = c.CancelEvaluationRun(ctx, e.ID, r.RunID)
		require.NoError(t, err)
		require.NoError(t, c.DeleteEvaluation(ctx, e.ID))
	})

	t.Run("an archived one can be deleted", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		e := c.Evaluation(t, "later", nil)
		_, err := c.UpdateEvaluation(t.Context(), e.ID, map[string]any{"archived": true})
		require.NoError(t, err)
		require.NoError(t, c.DeleteEvaluation(t.Context(), e.ID))
	})

	t.Run("another organization's is not found", func(t *testing.T) {
		t.Parallel()
		e := k.Org(t).Evaluation(t, "later", nil)
		require.ErrorIs(t, k.Org(t).DeleteEvaluation(t.Context(), e.ID), evaluation.ErrNotFound)
	})
}

// left counts what the stores have of an evaluation with one run: rows, results
// and objects.
func left(t testing.TB, k *testkit.Kit, c *testkit.Client, r testkit.Run) (rows, results, objects int) {
	t.Helper()
	conn := k.Owner(t, c.Org)
	defer func() { _ = conn.Close(t.Context()) }() // it is asked often
	ctx := t.Context()
	e, run := number(t, r.EvaluationID), number(t, r.RunID)
	require.NoError(t, conn.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM evaluations WHERE id = $1) + (SELECT count(*) FROM evaluation_runs WHERE evaluation_id = $1)
		     + (SELECT count(*) FROM evaluation_run_items WHERE run_id = $2) + (SELECT count(*) FROM evaluation_run_chunks WHERE run_id = $2)
		     + (SELECT count(*) FROM evaluation_run_notes WHERE run_id = $2) + (SELECT count(*) FROM evaluation_artifacts WHERE run_id = $2)`, e, run).Scan(&rows))
	ch, err := clickhouse.Open(k.App.Config.ClickHouse)
	require.NoError(t, err)
	defer func() { require.NoError(t, ch.Close()) }()
	var n uint64
	require.NoError(t, ch.Writer().QueryRow(ctx, "SELECT count() FROM run_results WHERE run_id = ?", run).Scan(&n))
	files, err := blob.Open(ctx, k.App.Config.Blob)
	require.NoError(t, err)
	defer func() { require.NoError(t, files.Close()) }()
	found, err := files.List(ctx, "artifacts/"+c.Org.String()+"/"+r.RunID+"/", "", 1000)
	require.NoError(t, err)
	return rows, int(n), len(found)
}

func TestADeletedEvaluationIsRemovedForGood(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, cases(3))
	gone, kept := ran(t, c, c.Evaluation(t, d.ID, nil).ID, nil), ran(t, c, c.Evaluation(t, d.ID, nil).ID, nil)
	for _, r := range []testkit.Run{gone, kept} {
		c.Artifacts(t, r)
		rows, results, objects := left(t, k, c, r)
		require.Positive(t, rows)
		require.Positive(t, results)
		require.Positive(t, objects)
	}
	rows, results, objects := left(t, k, c, kept)

	require.NoError(t, c.DeleteEvaluation(t.Context(), gone.EvaluationID))

	// The dispatcher and the workflow engine tell nobody when they are done.
	require.Eventually(t, func() bool {
		a, b, c := left(t, k, c, gone)
		return a+b+c == 0
	}, 10*time.Minute, 50*time.Millisecond)
	a, b, o := left(t, k, c, kept)
	require.Equal(t, []int{rows, results, objects}, []int{a, b, o}, "its neighbour is untouched")
}

func TestPurgeCanBeRepeated(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker's own purge waits", func(cfg *app.Config) { cfg.Evaluation.KeepDeleted = time.Hour })
	k.Work(t)
	c := k.Org(t)
	r := ran(t, c, c.Evaluation(t, filled(t, c, cases(3)).ID, nil).ID, nil)
	c.Artifacts(t, r)
	remove := func(p purge.Purge) {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		k.App.Evaluation.Register(activitiesOf{env: env})
		var a *purge.Activities
		_, err := env.ExecuteActivity(a.PurgeEvaluation, p)
		require.NoError(t, err)
	}
	p := purge.Purge{Org: c.Org, Evaluation: number(t, r.EvaluationID)}

	remove(p)
	rows, results, objects := left(t, k, c, r)
	require.Positive(t, min(rows, results, objects), "what is not deleted stays")

	require.NoError(t, c.DeleteEvaluation(t.Context(), r.EvaluationID))
	remove(purge.Purge{Org: principal.NewOrgID(), Evaluation: p.Evaluation})
	rows, results, objects = left(t, k, c, r)
	require.Positive(t, min(rows, results, objects), "and what is another organization's")

	for range 2 {
		remove(p)
		rows, results, objects = left(t, k, c, r)
		require.Zero(t, rows+results+objects)
	}
}

// activitiesOf lets a domain register on an environment of activities alone.
type activitiesOf struct {
	worker.Registry
	env *testsuite.TestActivityEnvironment
}

func (r activitiesOf) RegisterActivity(a any) { r.env.RegisterActivity(a) }

func (activitiesOf) RegisterActivityWithOptions(any, activity.RegisterOptions) {}

func (activitiesOf) RegisterWorkflow(any) {}

func TestPurgeWaitsUntilTheTimeIsOver(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		notBefore time.Time
		want      time.Duration
	}{
		"thirty days":  {start.Add(720 * time.Hour), 720 * time.Hour},
		"late already": {start.Add(-time.Hour), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := temporaltest.Environment()
			env.SetStartTime(start)
			p := purge.Purge{Org: principal.NewOrgID(), Evaluation: 7, NotBefore: c.notBefore}
			var ran []time.Duration
			env.RegisterActivityWithOptions(func(_ context.Context, got purge.Purge) error {
				require.Equal(t, p, got)
				ran = append(ran, env.Now().Sub(start).Truncate(time.Minute))
				return nil
			}, activity.RegisterOptions{Name: "PurgeEvaluation"})

			env.ExecuteWorkflow(purge.PurgeWorkflow, p)

			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, []time.Duration{c.want}, ran)
		})
	}
}
