package evaluation_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestPassRule scores two items with two metrics: exact_match is 1 and 0,
// similarity 1 and 0.8.
func TestPassRule(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, []testkit.Item{
		{Input: 1, ExpectedOutput: "abcde", Output: "abcde"},
		{Input: 2, ExpectedOutput: "abcde", Output: "abcdx"},
	})
	both := map[string]any{"exact_match": 1, "similarity": 0.8}
	for name, one := range map[string]struct {
		rule    map[string]any
		overall []float64
		passed  []bool
	}{
		"none: the mean of both, at least one half": {nil, []float64{1, 0.4}, []bool{true, false}},
		"a lower least mean":                        {map[string]any{"minOverall": 0.4}, []float64{1, 0.4}, []bool{true, true}},
		"a least mean of zero":                      {map[string]any{"minOverall": 0}, []float64{1, 0.4}, []bool{true, true}},
		"all thresholds, which is the default":      {map[string]any{"metricThresholds": both}, []float64{1, 0.4}, []bool{true, false}},
		"all thresholds":                            {map[string]any{"metricThresholds": both, "mode": "all"}, []float64{1, 0.4}, []bool{true, false}},
		"any threshold":                             {map[string]any{"metricThresholds": both, "mode": "any"}, []float64{1, 0.4}, []bool{true, true}},
		"any of thresholds too high":                {map[string]any{"metricThresholds": map[string]any{"similarity": 0.81}, "mode": "any"}, []float64{1, 0.4}, []bool{true, false}},
		"weighted": {
			map[string]any{"mode": "weighted", "weights": map[string]any{"exact_match": 1, "similarity": 3}, "minOverall": 0.6}, []float64{1, 0.6}, []bool{true, true},
		},
		"weighted, thresholds do not matter": {
			map[string]any{"mode": "weighted", "metricThresholds": both, "weights": map[string]any{"similarity": 1}, "minOverall": 0.8}, []float64{1, 0.8}, []bool{true, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := map[string]any{"metrics": []string{"exact_match", "similarity"}}
			if one.rule != nil {
				seed["passRule"] = one.rule
			}

			r := ran(t, c, c.Evaluation(t, d.ID, seed).ID, nil)

			require.Equal(t, "completed", r.Status)
			passed := 0
			for i, got := range results(t, c, r) {
				require.InDelta(t, one.overall[i], *got.Overall, 1e-9)
				require.Equal(t, map[bool]string{true: "passed", false: "failed"}[one.passed[i]], got.Status, "item %d", i)
				if one.passed[i] {
					passed++
				}
			}
			require.EqualValues(t, passed, r.Passed)
		})
	}
}

func TestARuleThatJudgesNothingIsRefused(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	d := filled(t, c, cases(1))
	for path, rule := range map[string]map[string]any{
		"/passRule/metricThresholds/contains": {"metricThresholds": map[string]any{"contains": 1}},
		"/passRule/weights/exact_match":       {"weights": map[string]any{"exact_match": -1, "similarity": 2}},
		"/passRule/weights/similarity":        {"weights": map[string]any{"similarity": 1e200}},
		"/passRule/weights":                   {"weights": map[string]any{"similarity": 0}},
	} {
		_, err := c.CreateEvaluation(t.Context(), map[string]any{
			"name": "A rule", "datasetId": d.ID, "metrics": []string{"exact_match", "similarity"}, "passRule": rule,
		})
		require.Equal(t, []string{path}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
	}
}

func TestALowerScoreCanBeBetter(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	target := application(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"output":"answer 0"}`)) })
	d := filled(t, c, cases(1))
	run := func(most float64) testkit.Run {
		return ran(t, c, c.Evaluation(t, d.ID, map[string]any{
			"target": target, "metrics": []string{"exact_match", "latency_ms"}, "passRule": map[string]any{"metricThresholds": map[string]any{"latency_ms": most}},
		}).ID, nil)
	}

	fast, slow := run(float64(time.Minute.Milliseconds())), run(0)

	require.EqualValues(t, 1, fast.Passed)
	require.EqualValues(t, 1, slow.Failed)
	require.InDelta(t, 1, *fast.Overall, 0, "a time is no share of an overall score")
	require.Positive(t, fast.Metrics["latency_ms"])
}

func TestMissingScoresAreNeverZero(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, []testkit.Item{
		{Input: 1, ExpectedOutput: "a", Output: "a"},
		{Input: 2, Output: "no expectation, so exact_match says nothing"},
		{Input: 3, ExpectedOutput: "a"},
	})
	e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"exact_match", "json_valid"}, "passRule": map[string]any{"minOverall": 0.5}})

	r := ran(t, c, e.ID, nil)

	require.Equal(t, []int64{3, 1, 2, 1, 0}, []int64{r.Items, r.Passed, r.Failed, r.Errored, r.Skipped})
	require.InDelta(t, 1, r.Metrics["exact_match"], 0, "over the one item that it scored")
	require.InDelta(t, 0, r.Metrics["json_valid"], 0)
	require.EqualValues(t, 1, r.Statistics.Metrics["exact_match"].N)
	require.NotNil(t, r.Statistics.Metrics["exact_match"].Missing)
	all := results(t, c, r)
	require.Equal(t, "passed", all[0].Status)
	require.Equal(t, "failed", all[1].Status)
	require.Nil(t, all[1].Scores["exact_match"])
	require.Contains(t, all[1].Scores, "exact_match")
	require.Nil(t, all[1].Overall, "a part of it is missing")
	require.Equal(t, "no_expectation", api.Value(all[1].Explanations[0].Reason))
	require.Equal(t, "errored", all[2].Status)
	require.Equal(t, "no_output", api.Value(all[2].Error.Code))
	require.Equal(t, map[string]*float64{"exact_match": nil, "json_valid": nil}, all[2].Scores)

	one, err := c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&metric=exact_match")
	require.NoError(t, err)
	require.EqualValues(t, 1, api.Value(one.Total), "only what the metric scored")
	low, err := c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&metric=json_valid&maxScore=0")
	require.NoError(t, err)
	require.EqualValues(t, 2, api.Value(low.Total))
	_, err = c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&maxScore=0")
	require.Error(t, err)
	for _, bad := range []string{"metric=json_valid&maxScore=NaN", "metric=json_valid&minScore=-Inf", "metric=json_valid&minScore=low"} {
		_, err = c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&"+bad)
		refused(t, err, fault.Validation, "invalid_request")
	}
	none, err := c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&metric=json_valid&minScore=2")
	require.NoError(t, err)
	require.Empty(t, none.Results)
	both, err := c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&status=passed&status=failed&status=errored&status=skipped")
	require.NoError(t, err)
	require.Equal(t, all, both.Results, "any of several statuses")
}
