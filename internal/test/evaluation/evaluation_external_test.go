package evaluation_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/testkit"
)

// judged is an evaluation with a metric of its team's own, and the items that it is
// about.
func judged(t *testing.T, c *testkit.Client, n int, seed, declared map[string]any) (testkit.Evaluation, []string) {
	t.Helper()
	d := c.Dataset(t, testkit.NewDataset{})
	added, err := c.AddItems(t.Context(), d.ID, cases(n))
	require.NoError(t, err)
	var ids []string
	for _, i := range added.Items {
		ids = append(ids, i.ID)
	}
	own := map[string]any{"name": "my_judge", "source": "judge"}
	for name, v := range declared {
		own[name] = v
	}
	body := map[string]any{"metrics": []string{"exact_match"}, "externalMetrics": []any{own}}
	for name, v := range seed {
		body[name] = v
	}
	return c.Evaluation(t, d.ID, body), ids
}

func addScores(t *testing.T, c *testkit.Client, r testkit.Run, item string, scores map[string]any) error {
	t.Helper()
	_, err := c.Call(t.Context(), http.MethodPost, "/api/evaluations/"+r.EvaluationID+"/runs/"+r.RunID+"/results/"+item+"/scores", map[string]any{"scores": scores}, nil)
	return err
}

func TestExternalMetrics(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	client := map[string]any{"target": map[string]any{"type": "client"}}

	t.Run("scores that are sent count in figures and gates, and say who made them", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e, ids := judged(t, c, 40, client, nil)
		r := started(t, c, e.ID, nil) // the results come as soon as it has an id
		var all []map[string]any
		for i, id := range ids {
			all = append(all, map[string]any{"testCaseId": id, "output": "x", "scores": map[string]any{"my_judge": map[string]any{"value": float64(i%2) / 2, "explanation": "It says so."}}})
		}
		require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, all, true))

		done := c.Ended(t, r)

		require.Equal(t, "completed", done.Status)
		own := done.Statistics.Metrics["my_judge"]
		require.InDelta(t, 0.25, *own.Value, 1e-12)
		require.Equal(t, "judge", own.Source)
		require.NotNil(t, own.CI)
		require.Equal(t, "code", done.Statistics.Metrics["exact_match"].Source)
		require.Equal(t, "judge", done.Statistics.Overall.Source, "the judge has a say in it")
		require.Contains(t, done.Statistics.Gates, "my_judge")
		got := results(t, c, done)
		require.InDelta(t, 0, *got[0].Scores["my_judge"], 0)
		decided, err := c.DecideEvaluationRun(ctx, r.EvaluationID, r.RunID, map[string]any{"requirements": []string{"my_judge>=0.9"}})
		require.NoError(t, err)
		require.Equal(t, "FAIL", decided.Verdict)
	})

	t.Run("scores of another target's answers come later, from several at once", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		target := application(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"output":"x"}`)) })
		e, ids := judged(t, c, 3, map[string]any{
			"target":          target,
			"externalMetrics": []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}, map[string]any{"name": "c"}},
		}, nil)
		r := executing(t, c, started(t, c, e.ID, nil))
		// The interface is where answers are seen.
		require.Eventually(t, func() bool { return len(results(t, c, r)) == 3 }, 10*time.Minute, 20*time.Millisecond)

		var wg sync.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			for _, id := range ids {
				wg.Go(func() { require.NoError(t, addScores(t, c, r, id, map[string]any{name: 1})) })
			}
		}
		wg.Wait()
		require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, nil, true), "that they were all")

		done := c.Ended(t, r)
		require.Equal(t, "completed", done.Status)
		for _, one := range results(t, c, done) {
			require.NotNil(t, one.Overall)
			require.InDelta(t, 0.75, *one.Overall, 1e-12, "each score was seen, and exact_match is 0")
			require.Equal(t, "passed", one.Status)
		}
		refused(t, addScores(t, c, r, ids[0], map[string]any{"a": 1}), fault.Conflict, "invalid_transition")
	})

	t.Run("a score that is never sent is the worst one, unless the metric is declared otherwise", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		for unsent, want := range map[string]float64{"worst": 0.5, "excluded": 1} {
			e, ids := judged(t, c, 20, client, map[string]any{"unsent": unsent})
			r := started(t, c, e.ID, nil)
			var all []map[string]any
			for i, id := range ids {
				one := map[string]any{"testCaseId": id, "output": "x"}
				if i%2 == 0 {
					one["scores"] = map[string]any{"my_judge": 1}
				}
				all = append(all, one)
			}
			require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, all, true))
			done := c.Ended(t, r)
			require.InDelta(t, want, *done.Statistics.Gates["my_judge"].Value, 1e-12, unsent)
		}
	})

	t.Run("what is not declared, or not in its range, is refused with what was probably meant", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e, ids := judged(t, c, 1, client, nil)
		r := started(t, c, e.ID, nil)
		for name, want := range map[string]string{
			"my_jugde": "is not a metric of the run: did you mean my_judge?",
			"charm":    "is not a metric of the run: declare it in externalMetrics of the evaluation first",
			"my_judge": "must be at most 1, the highest score of the metric",
		} {
			err := c.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[0], "output": "x", "scores": map[string]any{name: 1.5}}}, false)
			f := refused(t, err, fault.Validation, "invalid_request")
			require.Equal(t, []string{"/results/0/scores/" + name}, paths(t, f))
			require.Equal(t, want, f["fields"].([]any)[0].(map[string]any)["message"])
		}
		require.ErrorIs(t, addScores(t, c, r, ids[0], map[string]any{"my_judge": 1}), evaluation.ErrResultNotFound)
		require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[0], "error": map[string]any{"message": "It fell over."}}}, false))
		require.ErrorIs(t, addScores(t, c, r, ids[0], map[string]any{"my_judge": 1}), evaluation.ErrUnanswered)
		for name, score := range map[string]float64{"my_judge": 2, "exact_match": 1} {
			require.Equal(t, []string{"/scores/" + name}, paths(t, refused(t, addScores(t, c, r, ids[0], map[string]any{name: score}), fault.Validation, "invalid_request")), "out of range, or not theirs to score")
		}
		_, err := c.CreateEvaluation(ctx, map[string]any{"name": "n", "datasetId": e.DatasetID, "metrics": []string{"a", "a"}, "externalMetrics": []any{map[string]any{"name": "a"}}})
		require.Equal(t, []string{"/metrics/1"}, paths(t, refused(t, err, fault.Validation, "invalid_request")), "a metric counts once")

		plain := started(t, c, c.Evaluation(t, e.DatasetID, client).ID, nil)
		require.NoError(t, c.PutResults(ctx, plain.EvaluationID, plain.RunID, []map[string]any{{"testCaseId": ids[0], "output": "x"}}, false))
		require.ErrorIs(t, addScores(t, c, plain, ids[0], map[string]any{"my_judge": 1}), evaluation.ErrNoExternal)
	})

	t.Run("a declaration has a name of its own and a range that makes sense", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		d := c.Dataset(t, testkit.NewDataset{})
		for path, declared := range map[string][]any{
			"/externalMetrics/0/name": {map[string]any{"name": "exact_match"}},
			"/externalMetrics/1/name": {map[string]any{"name": "a"}, map[string]any{"name": "a"}},
			"/externalMetrics/0/high": {map[string]any{"name": "a", "low": 5}},
			"/externalMetrics/0/kind": {map[string]any{"name": "a", "kind": "binary", "high": 5}},
		} {
			_, err := c.CreateEvaluation(t.Context(), map[string]any{"name": "n", "datasetId": d.ID, "metrics": []string{"contains"}, "externalMetrics": declared})
			require.Equal(t, []string{path}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
		}
	})

	t.Run("versions of a judge are not compared", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e, ids := judged(t, c, 20, client, map[string]any{"version": "1"})
		run := func() testkit.Run {
			r := started(t, c, e.ID, nil)
			var all []map[string]any
			for i, id := range ids {
				all = append(all, map[string]any{"testCaseId": id, "output": "x", "scores": map[string]any{"my_judge": float64(i) / 20}})
			}
			require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, all, true))
			return c.Ended(t, r)
		}
		first, again := run(), run()
		_, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{"externalMetrics": []any{map[string]any{"name": "my_judge", "source": "judge", "version": "2"}}})
		require.NoError(t, err)
		later := run()

		same, err := c.CompareRuns(ctx, e.ID, first.RunID, again.RunID, "")
		require.NoError(t, err)
		require.True(t, same.Comparable)
		other, err := c.CompareRuns(ctx, e.ID, first.RunID, later.RunID, "")
		require.NoError(t, err)
		require.False(t, other.Comparable, "the rules changed")
	})
}
