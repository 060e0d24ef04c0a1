package evaluation_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestStartRun(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)

	t.Run("a start that is repeated is one run", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e := c.Evaluation(t, filled(t, c, cases(4)).ID, nil)
		first, err := c.StartRun(ctx, e.ID, map[string]any{"seed": 1}, testkit.Idempotent("once"))
		require.NoError(t, err)
		second, err := c.StartRun(ctx, e.ID, map[string]any{"seed": 1}, testkit.Idempotent("once"))
		require.NoError(t, err)
		require.Equal(t, first, second)
		other := started(t, c, e.ID, nil)

		c.Ended(t, first)
		c.Ended(t, other)
		runs, err := c.ListEvaluationRuns(ctx, e.ID, "")
		require.NoError(t, err)
		require.Equal(t, []string{other.RunID, first.RunID}, []string{runs.Runs[0].RunID, runs.Runs[1].RunID}, "newest first")
		require.Len(t, runs.Runs, 2)
		none, err := c.ListEvaluationRuns(ctx, e.ID, "status=failed")
		require.NoError(t, err)
		require.Empty(t, none.Runs)
	})

	for name, one := range map[string]struct {
		evaluation, run map[string]any
		dataset         func(*testing.T, *testkit.Client) string
		code, says      string
	}{
		"no dataset": {
			dataset: func(*testing.T, *testkit.Client) string { return "4711000" }, code: "dataset_not_found", says: "The dataset 4711000 does not exist.",
		},
		"a dataset that is no number": {
			dataset: func(*testing.T, *testkit.Client) string { return "support" }, code: "dataset_not_found", says: "The dataset support does not exist.",
		},
		"no such version": {run: map[string]any{"datasetVersion": 9}, code: "dataset_not_found", says: "version"},
		"no items": {
			dataset: func(t *testing.T, c *testkit.Client) string { return c.Dataset(t, testkit.NewDataset{}).ID }, code: "dataset_empty", says: "has no items",
		},
		"no such metric": {evaluation: map[string]any{"metrics": []string{"exact_match", "charm"}}, code: "metric_unresolved", says: "The metric charm does not exist."},
		"no judge":       {evaluation: map[string]any{"metrics": []string{"faithfulness"}}, code: "metric_unresolved", says: "needs a judge"},
		"no provider key": {
			evaluation: map[string]any{"target": map[string]any{"type": "model", "model": "gpt-5", "providerKeyId": "4711000"}},
			code:       "provider_key_missing", says: "The provider key 4711000 does not exist.",
		},
	} {
		t.Run("it fails and says why: "+name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			c := k.Org(t)
			var id string
			if one.dataset != nil {
				id = one.dataset(t, c)
			} else {
				id = filled(t, c, cases(2)).ID
			}
			e := c.Evaluation(t, id, one.evaluation)

			r := ran(t, c, e.ID, one.run)

			require.Equal(t, "failed", r.Status)
			require.Equal(t, "done", r.Phase)
			require.Equal(t, one.code, r.Error.Code)
			require.Contains(t, r.Error.Message, one.says)
			require.Zero(t, r.Items)
			require.Empty(t, results(t, c, r))
			shown, err := c.GetEvaluation(ctx, e.ID)
			require.NoError(t, err)
			require.Equal(t, "failed", shown.Status)
			if one.dataset == nil {
				require.NoError(t, c.DeleteDataset(ctx, id), "a run that never began holds nothing")
			}
		})
	}

	t.Run("a baseline is a run of the same evaluation", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		d := filled(t, c, cases(2))
		e, other := c.Evaluation(t, d.ID, nil), c.Evaluation(t, d.ID, nil)
		base, foreign := started(t, c, e.ID, nil), started(t, c, other.ID, nil)
		_, err := c.StartRun(ctx, e.ID, map[string]any{"baselineRunId": base.RunID})
		require.NoError(t, err)
		them := k.Org(t)
		theirs := started(t, them, them.Evaluation(t, "1", nil).ID, nil)
		for _, id := range []string{foreign.RunID, "4711000", theirs.RunID} {
			_, err = c.StartRun(ctx, e.ID, map[string]any{"baselineRunId": id})
			require.Equal(t, []string{"/baselineRunId"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
		}
	})

	t.Run("a baseline may be named by its place", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		d := filled(t, c, cases(2))
		e := c.Evaluation(t, d.ID, nil)
		for _, place := range []string{"latest", "previous"} {
			_, err := c.StartRun(ctx, e.ID, map[string]any{"baseline": place})
			require.Equal(t, []string{"/baseline"}, paths(t, refused(t, err, fault.Validation, "invalid_request")), "there is none yet")
		}
		done := ran(t, c, e.ID, nil)
		failed := ran(t, c, e.ID, map[string]any{"datasetVersion": 9})
		require.Equal(t, "failed", failed.Status)

		previous, err := c.StartRun(ctx, e.ID, map[string]any{"baseline": "previous"})
		require.NoError(t, err)
		require.Equal(t, done.RunID, api.Value(previous.BaselineRunID), "the newest completed one")
		c.Ended(t, previous)
		latest, err := c.StartRun(ctx, e.ID, map[string]any{"baseline": "latest"})
		require.NoError(t, err)
		require.Equal(t, previous.RunID, api.Value(latest.BaselineRunID))
		_, err = c.StartRun(ctx, e.ID, map[string]any{"baseline": "latest", "baselineRunId": done.RunID})
		require.Equal(t, []string{"/baseline"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
	})
}

func TestARunWorksOnAFrozenVersion(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")

	t.Run("items that change after the start do not matter once it has begun", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Working(t)
		c := k.Org(t)
		hold := make(chan struct{})
		target := application(t, func(w http.ResponseWriter, _ *http.Request) {
			<-hold
			_, _ = fmt.Fprint(w, `{"output":"answer 0"}`)
		})
		d := filled(t, c, cases(2))
		e := c.Evaluation(t, d.ID, map[string]any{"target": target})
		r := executing(t, c, started(t, c, e.ID, nil))
		items, err := c.ListDatasetItems(ctx, d.ID, "")
		require.NoError(t, err)
		_, err = c.UpdateDatasetItem(ctx, d.ID, items.Items[0].ID, map[string]any{"expectedOutput": "changed"})
		require.NoError(t, err)
		require.NoError(t, c.DeleteDatasetItem(ctx, d.ID, items.Items[1].ID))
		_, err = c.AddItems(ctx, d.ID, cases(5)[2:])
		require.NoError(t, err)
		require.ErrorIs(t, c.DeleteDataset(ctx, d.ID), dataset.ErrInUse)
		close(hold)

		done := c.Ended(t, r)

		require.EqualValues(t, 2, done.Items)
		require.EqualValues(t, 1, *done.DatasetVersion)
		require.EqualValues(t, 1, done.Passed)
		for _, one := range results(t, c, done) {
			require.NotEqual(t, "changed", one.ExpectedOutput)
			require.NotEmpty(t, one.Input)
		}
		next := ran(t, c, e.ID, nil)
		require.EqualValues(t, 4, next.Items)
		require.EqualValues(t, 2, *next.DatasetVersion)
		require.NotEqual(t, done.ConfigDigest, next.ConfigDigest)
		pinned := ran(t, c, e.ID, map[string]any{"datasetVersion": 1})
		require.EqualValues(t, 2, pinned.Items)
		require.Equal(t, done.ConfigDigest, pinned.ConfigDigest)
		require.NoError(t, c.DeleteDataset(ctx, d.ID), "nobody uses it any more")
		require.NotEmpty(t, results(t, c, done), "what came of its items stays readable")
	})

	t.Run("a promised run begins when a worker comes", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		d := filled(t, c, cases(4))
		e := c.Evaluation(t, d.ID, nil)
		r := started(t, c, e.ID, nil)
		p, err := c.GetEvaluationRunProgress(t.Context(), e.ID, r.RunID)
		require.NoError(t, err)
		require.Equal(t, "queued", p.Phase)
		require.Zero(t, p.ItemsTotal)
		require.Nil(t, r.DatasetVersion)
		require.Empty(t, results(t, c, r))

		k.Work(t)

		require.Equal(t, "completed", c.Ended(t, r).Status)
	})
}

func TestSampleAndRepetitions(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, cases(60))
	e := c.Evaluation(t, d.ID, nil)
	drawn := func(t *testing.T, r testkit.Run) (ids []string) {
		for _, one := range results(t, c, r) {
			ids = append(ids, one.TestCaseID)
		}
		return ids
	}

	t.Run("the same seed draws the same sample", func(t *testing.T) {
		t.Parallel()
		first := ran(t, c, e.ID, map[string]any{"sampleSize": 10, "seed": 42})
		again := ran(t, c, e.ID, map[string]any{"sampleSize": 10, "seed": 42})
		other := ran(t, c, e.ID, map[string]any{"sampleSize": 10, "seed": 43})
		own := ran(t, c, e.ID, map[string]any{"sampleSize": 10})

		require.Len(t, drawn(t, first), 10)
		require.Equal(t, drawn(t, first), drawn(t, again))
		require.NotEqual(t, drawn(t, first), drawn(t, other))
		require.EqualValues(t, 42, *first.Seed)
		repeated := ran(t, c, e.ID, map[string]any{"sampleSize": 10, "seed": *own.Seed})
		require.Equal(t, drawn(t, own), drawn(t, repeated), "a seed that the run drew can be used again")
	})

	t.Run("a sample that is larger than the dataset is the dataset", func(t *testing.T) {
		t.Parallel()
		require.EqualValues(t, 60, ran(t, c, e.ID, map[string]any{"sampleSize": 1000}).Items)
	})

	t.Run("repetitions are results of their own, and one cluster for the interval", func(t *testing.T) {
		t.Parallel()
		once := ran(t, c, e.ID, nil)
		thrice := ran(t, c, e.ID, map[string]any{"repetitions": 3})

		require.EqualValues(t, 180, thrice.Items)
		require.EqualValues(t, 3, thrice.Repetitions)
		require.InDelta(t, *once.Overall, *thrice.Overall, 1e-9)
		require.EqualValues(t, 60, thrice.Statistics.Overall.N)
		require.InDelta(t, width(once.Statistics.Overall), width(thrice.Statistics.Overall), 1e-6, "the same answer three times says no more than once")
		page, err := c.ListEvaluationRunResults(t.Context(), e.ID, thrice.RunID, "includeTotal=true&limit=3")
		require.NoError(t, err)
		var epochs []int
		for _, one := range page.Results {
			epochs = append(epochs, int(one.Epoch))
		}
		require.Equal(t, []int{0, 1, 2}, epochs)
	})
}

func TestAClusterKeyWidensTheInterval(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	var items []testkit.Item
	for i := range 80 {
		answer := "right"
		if i/8%3 == 0 { // whole conversations fail together
			answer = "wrong"
		}
		items = append(items, testkit.Item{Input: i, ExpectedOutput: "right", Output: answer, Labels: map[string]any{"conversation": i / 8}})
	}
	e := c.Evaluation(t, filled(t, c, items).ID, nil)

	alone := ran(t, c, e.ID, nil)
	mistyped := ran(t, c, e.ID, map[string]any{"clusterKey": "conversaton"})
	require.Equal(t, "failed", mistyped.Status, "its intervals would be those of independent items")
	require.Equal(t, "cluster_key_unmatched", mistyped.Error.Code)
	together := ran(t, c, e.ID, map[string]any{"clusterKey": "conversation"})

	require.InDelta(t, *alone.Overall, *together.Overall, 1e-9)
	require.EqualValues(t, 80, alone.Statistics.Overall.Clusters)
	require.EqualValues(t, 10, together.Statistics.Overall.Clusters)
	require.Greater(t, width(together.Statistics.Overall), 1.5*width(alone.Statistics.Overall))
	require.Greater(t, width(together.Statistics.PassRate), 1.5*width(alone.Statistics.PassRate))
	require.Greater(t, width(together.Statistics.Metrics["exact_match"]), 1.5*width(alone.Statistics.Metrics["exact_match"]))
	require.NotEqual(t, alone.ConfigDigest, together.ConfigDigest)
}

func TestAnEvaluationShowsItsNewestCompletedRun(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, cases(8))
	e := c.Evaluation(t, d.ID, nil)
	good := ran(t, c, e.ID, nil)
	_, err := c.UpdateEvaluation(t.Context(), e.ID, map[string]any{"metrics": []string{"charm"}})
	require.NoError(t, err)
	failed := ran(t, c, e.ID, nil)
	require.Equal(t, "failed", failed.Status)

	shown, err := c.GetEvaluation(t.Context(), e.ID)

	require.NoError(t, err)
	require.Equal(t, "failed", shown.Status)
	require.Equal(t, failed.RunID, *shown.LatestRunID)
	require.Equal(t, good.Overall, shown.Overall)
	require.Equal(t, good.Statistics, shown.Statistics)
	require.Equal(t, []int64{8, 6, 2}, []int64{shown.Items, shown.Passed, shown.Failed})
	require.Equal(t, []string{"charm"}, shown.MetricNames)
}

func TestAGateHasIntervalsOfItsOwn(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	r := ran(t, c, c.Evaluation(t, filled(t, c, cases(40)).ID, nil).ID, nil)
	s := r.Statistics
	for name, display := range map[string]api.Estimate{"pass_rate": s.PassRate, "exact_match": s.Metrics["exact_match"]} {
		gate := s.Gates[name]
		require.Equal(t, "clopper_pearson", gate.CI.Method)
		require.Equal(t, display.Value, gate.Value)
		require.Less(t, *gate.CI.Lower, *display.CI.Lower, "what decides is surer than what is shown")
		require.Greater(t, *gate.CI.Upper, *display.CI.Upper)
	}
}

func TestResultsArePagedByCursor(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Working(t)
	c := k.Org(t)
	r := ran(t, c, c.Evaluation(t, filled(t, c, cases(5)).ID, nil).ID, map[string]any{"repetitions": 2})
	path := "/api/evaluations/" + r.EvaluationID + "/runs/" + r.RunID + "/results?limit=3"
	type key struct {
		item  string
		epoch int
	}
	seen := map[key]bool{}
	for cursor, pages := "", 1; ; pages++ {
		var out struct {
			Results []testkit.Result `json:"results"`
			HasMore bool             `json:"has_more"`
			Next    string           `json:"next_cursor"`
			Total   *int             `json:"total"`
		}
		_, err := c.Call(ctx, http.MethodGet, path+cursor, nil, &out)
		require.NoError(t, err)
		require.Nil(t, out.Total, "it is counted on request")
		for _, one := range out.Results {
			seen[key{one.TestCaseID, int(one.Epoch)}] = true
		}
		if !out.HasMore {
			require.Empty(t, out.Next)
			require.Equal(t, 4, pages)
			break
		}
		require.Len(t, out.Results, 3)
		cursor = "&cursor=" + out.Next
	}
	require.Len(t, seen, 10)
	for _, bad := range []string{"x", "cjE6MTowMA"} {
		_, err := c.Call(ctx, http.MethodGet, path+"&cursor="+bad, nil, nil)
		require.Equal(t, []string{"cursor"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
	}
	_, err := c.Call(ctx, http.MethodGet, path+"&offset=100001", nil, nil)
	refused(t, err, fault.Validation, "use_cursor")
}
