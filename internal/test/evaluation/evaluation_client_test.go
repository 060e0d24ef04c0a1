package evaluation_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/test/testkit"
)

// waiting is a run that waits for its client, and the items that it is about.
func waiting(t *testing.T, c *testkit.Client, n int, body map[string]any) (testkit.Run, []string) {
	t.Helper()
	d := c.Dataset(t, testkit.NewDataset{})
	added, err := c.AddItems(t.Context(), d.ID, cases(n))
	require.NoError(t, err)
	var ids []string
	for _, i := range added.Items {
		ids = append(ids, i.ID)
	}
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}, "metrics": []string{"exact_match", "similarity"}})
	return executing(t, c, started(t, c, e.ID, body)), ids
}

func TestClientTarget(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)

	t.Run("results are scored as they come, replaced, and complete the run", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		r, ids := waiting(t, c, 4, nil)
		put := func(final bool, all ...map[string]any) {
			require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, all, final))
		}
		put(false,
			map[string]any{"testCaseId": ids[0], "output": "wrong", "durationMs": 1500, "costUsd": 0.29, "inputTokens": 3, "outputTokens": 4, "otelTraceId": "5b8efff798038103d269b633813fc60c"},
			map[string]any{"testCaseId": ids[1], "error": map[string]any{"code": "crashed", "message": "It fell over."}},
		)
		p, err := c.GetEvaluationRunProgress(ctx, r.EvaluationID, r.RunID)
		require.NoError(t, err)
		require.Equal(t, []int64{4, 2, 0, 2, 1}, []int64{p.ItemsTotal, p.ItemsDone, p.Passed, p.Failed, p.Errored})
		got := results(t, c, r)
		require.Len(t, got, 2)
		require.InDelta(t, 1500, *got[0].DurationMs, 0)
		require.InDelta(t, 0.29, *got[0].CostUSD, 0)
		require.Equal(t, "5b8efff798038103d269b633813fc60c", api.Value(got[0].OTELTraceID))
		require.Equal(t, "It fell over.", got[1].Error.Message)

		put(false, map[string]any{"testCaseId": ids[0], "output": "answer 0"})
		put(false, map[string]any{"testCaseId": ids[2], "skipped": true})
		put(true, map[string]any{"testCaseId": ids[3], "output": "other", "scores": map[string]any{"exact_match": 1}})

		done := c.Ended(t, r)
		require.Equal(t, "completed", done.Status)
		require.Equal(t, []int64{3, 2, 1, 1, 1}, []int64{done.Items, done.Passed, done.Failed, done.Errored, done.Skipped})
		got = results(t, c, done)
		require.Len(t, got, 4)
		require.Equal(t, "answer 0", got[0].Output)
		require.Nil(t, got[0].CostUSD, "a result is replaced as a whole")
		require.InDelta(t, 1, *got[3].Scores["exact_match"], 0, "the client's own score counts")
		require.Less(t, *got[3].Scores["similarity"], 1.0)
		refused(t, c.PutResults(ctx, r.EvaluationID, r.RunID, nil, true), fault.Conflict, "invalid_transition")
		require.Len(t, results(t, c, done), 4)
	})

	t.Run("a repeated request is one", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		r, ids := waiting(t, c, 1, nil)
		path := "/api/evaluations/" + r.EvaluationID + "/runs/" + r.RunID + "/results"
		body := map[string]any{"final": true, "results": []any{map[string]any{"testCaseId": ids[0], "output": "answer 0"}}}
		_, err := c.Call(ctx, http.MethodPost, path, body, nil, testkit.Idempotent("once"))
		require.NoError(t, err)
		c.Ended(t, r)

		res, err := c.Call(ctx, http.MethodPost, path, body, nil, testkit.Idempotent("once"))

		require.NoError(t, err, "also after the run has ended")
		require.Equal(t, "true", res.Header.Get("Idempotent-Replayed"))
	})

	t.Run("what does not belong to the run is refused, and nothing of it is kept", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		r, ids := waiting(t, c, 20, map[string]any{"sampleSize": 5, "repetitions": 2, "seed": 1})
		foreign := filled(t, c, cases(1))
		page, err := c.ListDatasetItems(ctx, foreign.ID, "")
		require.NoError(t, err)
		for path, one := range map[string]map[string]any{
			"/results/1/testCaseId":         {"testCaseId": page.Items[0].ID, "output": "x"},
			"/results/1/epoch":              {"testCaseId": "", "output": "x", "epoch": 2},
			"/results/1/scores/exact_match": {"testCaseId": "", "scores": map[string]any{"exact_match": 1.5}},
		} {
			accepted, outside := 0, 0
			for _, id := range ids {
				if one["testCaseId"] == "" || one["testCaseId"] == id {
					one["testCaseId"] = id
				}
				err := c.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": id, "output": "x"}, one}, false)
				switch at := paths(t, refused(t, err, fault.Validation, "invalid_request"))[0]; at {
				case path:
					accepted++
				case "/results/0/testCaseId":
					outside++
				default:
					t.Errorf("%s: refused at %s", path, at)
				}
				if one["testCaseId"] == id {
					one["testCaseId"] = ""
				}
			}
			require.Equal(t, []int{5, 15}, []int{accepted, outside}, "%s: only items of the sample belong to the run", path)
		}
		require.Empty(t, results(t, c, r))
	})

	t.Run("a client that says nothing for too long fails its run", func(t *testing.T) {
		t.Parallel()
		k := testkit.Own(t, "its worker's clock moves")
		k.Work(t)
		c := k.Org(t)
		r, ids := waiting(t, c, 2, nil)
		require.NoError(t, c.PutResults(t.Context(), r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[0], "output": "answer 0"}}, false))

		k.Clock.Advance(25 * time.Hour)
		// The engine's clock is not the test's; a look at the run is what a timer
		// would bring.
		wake(t, k, c, r)

		done := c.Ended(t, r)
		require.Equal(t, "failed", done.Status)
		require.Equal(t, "timeout", done.Error.Code)
		require.EqualValues(t, 1, done.Passed, "what it sent is kept")
	})

	t.Run("results come at once, too late, or to a run that makes its own", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		idle := testkit.Shared(t)
		c := idle.Org(t)
		d := filled(t, c, cases(1))
		client := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}})
		queued := started(t, c, client.ID, nil)
		require.NoError(t, c.PutResults(ctx, client.ID, queued.RunID, nil, false), "no worker has begun it, so the first request does")
		_, err := c.CancelEvaluationRun(ctx, client.ID, queued.RunID)
		require.NoError(t, err)
		require.ErrorIs(t, c.PutResults(ctx, client.ID, queued.RunID, nil, true), evaluation.ErrTransition)
		recorded := c.Evaluation(t, d.ID, nil)
		own := started(t, c, recorded.ID, nil)
		require.ErrorIs(t, c.PutResults(ctx, recorded.ID, own.RunID, nil, true), evaluation.ErrNotClient)
		require.ErrorIs(t, c.PutResults(ctx, recorded.ID, queued.RunID, nil, true), evaluation.ErrRunNotFound)
	})
}

func TestWhatAClientDoesNotSendIsMissing(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e, items := clientEvaluation(t, c, 40, nil)

	r := sentRun(t, c, e, items, map[string]any{"margin": 0}, func(i int) map[string]any {
		switch {
		case i >= 30:
			return nil
		case i%3 == 0:
			return map[string]any{"output": "wrong"}
		}
		return map[string]any{"output": items[i].ExpectedOutput}
	})

	for name, s := range map[string]api.Estimate{
		"pass rate": r.Statistics.PassRate, "overall": r.Statistics.Overall, "exact_match": r.Statistics.Metrics["exact_match"],
	} {
		require.EqualValues(t, 30, s.N, name)
		require.EqualValues(t, 10, s.Missing.Rows, name)
		require.EqualValues(t, stat.StatusFragile, s.Status, name)
	}
	for name, s := range r.Statistics.Gates {
		require.EqualValues(t, 40, s.N, name)
		require.EqualValues(t, 10, s.Missing.Rows, name)
		require.EqualValues(t, stat.MissingFail, s.Missing.Policy, name)
		require.InDelta(t, 0.5, *s.Value, 1e-9, name)
	}
}

func TestOfResultsForOneTestCaseTheLastCounts(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e, items := clientEvaluation(t, c, 1, nil)
	r := executing(t, c, started(t, c, e.ID, nil))
	require.NoError(t, c.PutResults(t.Context(), e.ID, r.RunID, []map[string]any{
		{"testCaseId": items[0].ID, "output": "wrong"}, {"testCaseId": items[0].ID, "output": items[0].ExpectedOutput},
	}, true))
	r = c.Ended(t, r)
	require.Equal(t, []int64{1, 1}, []int64{r.Items, r.Passed})
	require.Equal(t, "passed", results(t, c, r)[0].Status)
}
