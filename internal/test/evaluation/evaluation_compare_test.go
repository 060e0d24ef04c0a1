package evaluation_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/testkit"
)

// sentRun is a run of a client evaluation with a result for each item, made from
// its index; nil leaves the item out.
func sentRun(t *testing.T, c *testkit.Client, e testkit.Evaluation, items []api.DatasetItem, body map[string]any, result func(i int) map[string]any) testkit.Run {
	t.Helper()
	r, err := c.StartRun(t.Context(), e.ID, body)
	require.NoError(t, err)
	var all []map[string]any
	for i, item := range items {
		if one := result(i); one != nil {
			one["testCaseId"] = item.ID
			all = append(all, one)
		}
	}
	require.Eventually(t, func() bool { return c.PutResults(t.Context(), e.ID, r.RunID, all, true) == nil }, 10*time.Minute, 50*time.Millisecond)
	done := c.Ended(t, r)
	require.Equal(t, "completed", done.Status)
	return done
}

// clientEvaluation is an evaluation of n items whose results a client sends.
func clientEvaluation(t *testing.T, c *testkit.Client, n int, seed map[string]any) (testkit.Evaluation, []api.DatasetItem) {
	t.Helper()
	d := filled(t, c, cases(n))
	page, err := c.ListDatasetItems(t.Context(), d.ID, fmt.Sprintf("limit=%d", n))
	require.NoError(t, err)
	require.Len(t, page.Items, n)
	body := map[string]any{"target": map[string]any{"type": "client"}}
	for k, v := range seed {
		body[k] = v
	}
	return c.Evaluation(t, d.ID, body), page.Items
}

func evaluationRight(items []api.DatasetItem) func(int) map[string]any {
	return func(i int) map[string]any { return map[string]any{"output": items[i].ExpectedOutput} }
}

func TestRunsAreComparedItemByItem(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e, items := clientEvaluation(t, c, 60, map[string]any{"metrics": []string{"exact_match", "latency_ms"}})
	before := sentRun(t, c, e, items, nil, func(i int) map[string]any {
		return map[string]any{"output": items[i].ExpectedOutput, "durationMs": 100 + i}
	})
	after := sentRun(t, c, e, items, nil, func(i int) map[string]any {
		one := map[string]any{"output": items[i].ExpectedOutput, "durationMs": 50 + i + i%3}
		switch {
		case i < 15:
			one["output"] = "wrong"
		case i == 15:
			return map[string]any{"error": map[string]any{"code": "target_timeout", "message": "Too late."}}
		case i == 16:
			return nil
		}
		return one
	})

	got, err := c.CompareRuns(t.Context(), e.ID, before.RunID, after.RunID, "")
	require.NoError(t, err)
	require.True(t, got.Comparable, "%v", got.IncomparableReasons)
	require.Equal(t, "regressed", got.Overall.Verdict)
	require.Equal(t, "regressed", got.PassRate.Verdict)
	require.InDelta(t, -17.0/60, *got.Overall.Delta, 1e-9, "what is missing counts as the worst score")
	require.InDelta(t, -17.0/60, *got.PassRate.Delta, 1e-9, "and has not passed")
	require.Less(t, *got.Overall.CILow, *got.Overall.Delta)
	require.Negative(t, *got.Overall.CIHigh)
	require.EqualValues(t, 2, got.Overall.Statistics.Difference.Missing.Rows, "one errored, one was never sent")

	require.EqualValues(t, 43, got.Items.Unchanged)
	require.EqualValues(t, 16, got.Items.Regressed)
	require.EqualValues(t, 1, got.Items.OnlyBaseline)
	require.Len(t, got.Regressions, 16)
	for _, r := range got.Regressions {
		require.InDelta(t, -1, r.Delta, 0)
		require.InDelta(t, 1, *r.Baseline.Scores["exact_match"], 0)
		if r.TestCaseID == items[15].ID {
			require.Equal(t, "pass_rate", r.By)
			require.Nil(t, r.Candidate.Overall)
			require.Nil(t, r.Candidate.Scores["exact_match"])
		}
	}

	require.Equal(t, "exact_match", got.Metrics[0].Name)
	require.Equal(t, "latency_ms", got.Metrics[1].Name)
	require.Equal(t, "inconclusive", got.Metrics[1].Verdict, "a latency depends on more than the candidate")
	require.True(t, got.Metrics[1].Statistics.Descriptive)
	require.Negative(t, *got.Metrics[1].Delta)
	require.EqualValues(t, 4, got.Overall.Statistics.Family.Size)
	require.GreaterOrEqual(t, *got.Overall.Statistics.PAdjusted, *got.Overall.Statistics.P)

	t.Run("the same digits each time", func(t *testing.T) {
		t.Parallel()
		again, err := c.CompareRuns(t.Context(), e.ID, before.RunID, after.RunID, "")
		require.NoError(t, err)
		require.Equal(t, got, again)
	})

	t.Run("unchanged is said only where equivalence is shown", func(t *testing.T) {
		t.Parallel()
		same, err := c.CompareRuns(t.Context(), e.ID, before.RunID, before.RunID, "")
		require.NoError(t, err)
		require.Equal(t, "inconclusive", same.Overall.Verdict)
		require.Nil(t, same.Margin)
		same, err = c.CompareRuns(t.Context(), e.ID, before.RunID, before.RunID, "&margin=0.2&confidence=0.9")
		require.NoError(t, err)
		require.Equal(t, "unchanged", same.Overall.Verdict)
		require.InDelta(t, 0.9, same.Overall.Statistics.Difference.CI.Level, 0)
		narrow, err := c.CompareRuns(t.Context(), e.ID, before.RunID, before.RunID, "&margin=0.001")
		require.NoError(t, err)
		require.Equal(t, "inconclusive", narrow.Overall.Verdict)
	})

	t.Run("bad questions are refused", func(t *testing.T) {
		t.Parallel()
		for _, query := range []string{"&confidence=0.5", "&margin=2", "&margin=-1", "&confidence=x"} {
			_, err := c.CompareRuns(t.Context(), e.ID, before.RunID, after.RunID, query)
			refused(t, err, fault.Validation, "invalid_request")
		}
		_, err := c.Call(t.Context(), http.MethodGet, "/api/evaluations/"+e.ID+"/runs/compare?baselineRunId="+before.RunID, nil, nil)
		refused(t, err, fault.Validation, "invalid_request")
	})

	t.Run("runs of others are not found", func(t *testing.T) {
		t.Parallel()
		other := c.Evaluation(t, e.DatasetID, nil)
		_, err := c.CompareRuns(t.Context(), other.ID, before.RunID, after.RunID, "")
		require.ErrorIs(t, err, evaluation.ErrRunNotFound)
		_, err = c.CompareRuns(t.Context(), e.ID, before.RunID, "999999", "")
		require.ErrorIs(t, err, evaluation.ErrRunNotFound)
		_, err = c.CompareRuns(t.Context(), e.ID, "01", after.RunID, "")
		require.ErrorIs(t, err, evaluation.ErrRunNotFound)

		stranger := k.Org(t)
		_, err = stranger.CompareRuns(t.Context(), e.ID, before.RunID, after.RunID, "")
		require.ErrorIs(t, err, evaluation.ErrNotFound)
		theirs := stranger.Evaluation(t, "1", nil)
		_, err = stranger.CompareRuns(t.Context(), theirs.ID, before.RunID, after.RunID, "")
		require.ErrorIs(t, err, evaluation.ErrRunNotFound)
	})

	t.Run("a run that has not ended is refused", func(t *testing.T) {
		t.Parallel()
		open, err := c.StartRun(t.Context(), e.ID, nil)
		require.NoError(t, err)
		_, err = c.CompareRuns(t.Context(), e.ID, before.RunID, open.RunID, "")
		require.ErrorIs(t, err, evaluation.ErrNotEnded)
	})
}

func TestRunsThatMeasuredSomethingElseAreNotCompared(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e, items := clientEvaluation(t, c, 30, map[string]any{"metrics": []string{"exact_match", "similarity"}})
	before := sentRun(t, c, e, items, nil, evaluationRight(items))
	_, err := c.UpdateEvaluation(t.Context(), e.ID, map[string]any{"metrics": []string{"exact_match", "contains"}})
	require.NoError(t, err)
	after := sentRun(t, c, e, items, nil, evaluationRight(items))

	got, err := c.CompareRuns(t.Context(), e.ID, before.RunID, after.RunID, "&margin=0.5")
	require.NoError(t, err)
	require.False(t, got.Comparable)
	require.NotEmpty(t, got.IncomparableReasons)
	require.Equal(t, "inconclusive", got.Overall.Verdict)
	require.Nil(t, got.Overall.Delta)
	verdicts := map[string]string{}
	for _, m := range got.Metrics {
		verdicts[m.Name] = m.Verdict
	}
	require.Equal(t, map[string]string{"exact_match": "unchanged", "similarity": "inconclusive", "contains": "inconclusive"}, verdicts)
}
