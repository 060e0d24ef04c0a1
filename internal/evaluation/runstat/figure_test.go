package runstat_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// brief is the outcome of an item whose content is its own number.
func brief(item int64, status result.Status, overall *float64) result.Brief {
	return result.Brief{Key: result.Key{Item: item}, Content: [16]byte{byte(item)}, Weight: 1, Status: status, Overall: overall}
}

func scored(v float64) *float64 { return &v }

// item is what became of an item in the two runs of a comparison; an empty
// status is no outcome.
type item struct {
	was, is               result.Status
	wasOverall, isOverall *float64
	changed               bool // says something else in the candidate
}

func sides(items []item) (baseline, candidate *runstat.Rows) {
	var before, after []result.Brief
	for i, it := range items {
		id := int64(i + 1)
		if it.was != "" {
			before = append(before, brief(id, it.was, it.wasOverall))
		}
		if it.is != "" {
			b := brief(id, it.is, it.isOverall)
			if it.changed {
				b.Content[1] = 1
			}
			after = append(after, b)
		}
	}
	return runstat.NewRows(before), runstat.NewRows(after)
}

func none(string) (before, after []stat.Observation, err error) { return nil, nil, nil }

func TestWhatBecameOfAnItem(t *testing.T) {
	t.Parallel()
	const passed, failed, errored, skipped = result.StatusPassed, result.StatusFailed, result.StatusErrored, result.StatusSkipped
	for title, c := range map[string]struct {
		item
		want  runstat.Changes
		delta float64 // of a regression
		pass  bool    // that it is found by
	}{
		"its score rises":                     {item{was: passed, is: passed, wasOverall: scored(0.5), isOverall: scored(0.75)}, runstat.Changes{Improved: 1}, 0, false},
		"its score falls":                     {item{was: passed, is: passed, wasOverall: scored(0.75), isOverall: scored(0.5)}, runstat.Changes{Regressed: 1}, -0.25, false},
		"its score stays":                     {item{was: passed, is: passed, wasOverall: scored(0.1 + 0.2), isOverall: scored(0.3)}, runstat.Changes{Unchanged: 1}, 0, false},
		"the score counts, not the pass":      {item{was: passed, is: failed, wasOverall: scored(0.5), isOverall: scored(0.6)}, runstat.Changes{Improved: 1}, 0, false},
		"without a score the pass counts":     {item{was: passed, is: errored, wasOverall: scored(0.5)}, runstat.Changes{Regressed: 1}, -1, true},
		"and so where both have none":         {item{was: failed, is: passed}, runstat.Changes{Improved: 1}, 0, false},
		"an error is a failure":               {item{was: failed, is: errored}, runstat.Changes{Unchanged: 1}, 0, false},
		"what says something else is no item": {item{was: passed, is: failed, wasOverall: scored(1), isOverall: scored(0), changed: true}, runstat.Changes{Changed: 1}, 0, false},
		"it is in the baseline alone":         {item{was: passed, wasOverall: scored(1)}, runstat.Changes{OnlyBaseline: 1}, 0, false},
		"it is in the candidate alone":        {item{is: passed, isOverall: scored(1)}, runstat.Changes{OnlyCandidate: 1}, 0, false},
		"the candidate skipped it":            {item{was: passed, is: skipped, wasOverall: scored(1)}, runstat.Changes{OnlyBaseline: 1}, 0, false},
		"both skipped it":                     {item{was: skipped, is: skipped}, runstat.Changes{}, 0, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			a, b := sides([]item{c.item})
			got, err := runstat.Compare(a, b, nil, none, runstat.Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Items)
			if c.want.Regressed == 0 {
				require.Empty(t, got.Regressions)
				return
			}
			require.Len(t, got.Regressions, 1)
			require.EqualValues(t, 1, got.Regressions[0].Item)
			require.InDelta(t, c.delta, got.Regressions[0].Delta, 1e-12)
			require.Equal(t, c.pass, got.Regressions[0].ByPass)
		})
	}
}

func TestComparison(t *testing.T) {
	t.Parallel()
	better := func(n int) (items []item) {
		for i := range n {
			low := float64(i%5) / 10
			items = append(items, item{was: result.StatusFailed, is: result.StatusPassed, wasOverall: scored(low), isOverall: scored(low + 0.5)})
		}
		return items
	}
	worse := func(n int) (items []item) {
		for _, it := range better(n) {
			items = append(items, item{was: it.is, is: it.was, wasOverall: it.isOverall, isOverall: it.wasOverall})
		}
		return items
	}
	for title, c := range map[string]struct {
		items       []item
		reasons     runstat.Reasons
		superiority stat.Superiority
		comparable  bool
	}{
		"a run that does better is better":               {better(30), runstat.Reasons{}, stat.SuperiorityBetter, true},
		"a run that does worse is worse":                 {worse(30), runstat.Reasons{}, stat.SuperiorityWorse, true},
		"one item decides nothing":                       {better(1), runstat.Reasons{}, stat.SuperiorityUnresolved, true},
		"what does not measure the same is not compared": {better(30), runstat.Reasons{Overall: "other metrics"}, stat.SuperiorityUnresolved, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			a, b := sides(c.items)
			got, err := runstat.Compare(a, b, nil, none, runstat.Options{Reasons: c.reasons})
			require.NoError(t, err)
			require.Equal(t, c.superiority, got.Overall.Verdict.Superiority)
			require.Equal(t, c.comparable, got.Comparable, got.Reasons)
			require.InDelta(t, 0.95, got.Confidence, 0)
			if c.reasons.Overall != "" {
				require.Equal(t, []string{c.reasons.Overall}, got.Reasons)
				require.Nil(t, got.Overall.Difference.Value)
				require.Equal(t, stat.StatusNotComparable, got.Overall.Difference.Status)
				require.Nil(t, got.Overall.P)
				require.Equal(t, stat.SuperiorityBetter, got.PassRate.Verdict.Superiority, "the pass rates do measure the same")
			}
		})
	}

	t.Run("the worst regressions are named, the worst first, with their scores", func(t *testing.T) {
		t.Parallel()
		var items []item
		for i := range 60 {
			items = append(items, item{was: result.StatusPassed, is: result.StatusPassed, wasOverall: scored(1), isOverall: scored(float64(i/2) / 100)})
		}
		a, b := sides(items)
		rows := func(score float64) (all []stat.Observation) {
			for _, r := range a.Overall {
				r.Score = score
				all = append(all, r)
			}
			return all
		}
		one := 1.0
		length := metric.Definition{Name: "length", Low: new(float64), High: &one, Better: metric.Lower}
		got, err := runstat.Compare(a, b, []metric.Definition{length}, func(string) (before, after []stat.Observation, err error) { return rows(0.25), rows(0.5), nil }, runstat.Options{Margin: 0.5})
		require.NoError(t, err)
		require.Equal(t, 60, got.Items.Regressed)
		require.Len(t, got.Regressions, 50)
		for i, r := range got.Regressions {
			require.EqualValues(t, i+1, r.Item)
			require.InDelta(t, 0.25, *r.Baseline.Scores["length"], 0)
			require.InDelta(t, 0.5, *r.Candidate.Scores["length"], 0)
		}
		require.Len(t, got.Metrics, 1)
		require.True(t, got.Metrics[0].Verdict.LowerIsBetter)
		require.InDelta(t, 0.5, *got.Metrics[0].Verdict.Margin, 0, "half of the metric's range")
	})

	t.Run("scores that cannot be read end it", func(t *testing.T) {
		t.Parallel()
		away := errors.New("away")
		a, b := sides(better(2))
		_, err := runstat.Compare(a, b, []metric.Definition{{Name: "length"}}, func(string) (before, after []stat.Observation, err error) { return nil, nil, away }, runstat.Options{})
		require.ErrorIs(t, err, away)
	})
}

func TestRowsOfARun(t *testing.T) {
	t.Parallel()
	outcomes := []result.Brief{
		brief(1, result.StatusPassed, scored(0.75)), brief(2, result.StatusErrored, nil), brief(3, result.StatusSkipped, nil), brief(4, result.StatusFailed, scored(0.25)),
	}
	rows := runstat.NewRows(outcomes)
	rows.AddMissing(outcomes, []int64{1, 2, 3, 4, 5}, 1, map[int64]runstat.Facts{})
	type row struct {
		item    string
		score   float64
		missing bool
	}
	plain := func(rows []stat.Observation) (all []row) {
		for _, r := range rows {
			all = append(all, row{r.Item, r.Score, r.Missing != stat.Present})
		}
		return all
	}
	require.Equal(t, []row{{"1", 0.75, false}, {"2", 0, true}, {"3", 0, true}, {"4", 0.25, false}, {"5", 0, true}}, plain(rows.Overall))
	require.Equal(t, []row{{"1", 1, false}, {"2", 0, false}, {"3", 0, true}, {"4", 0, false}, {"5", 0, true}}, plain(rows.Passes), "an error is a failure; what was skipped or is not there is missing")
	require.Equal(t, []row{{"1", 0.5, false}, {"2", 0, true}, {"3", 0, true}, {"4", 0, true}, {"5", 0, true}}, plain(rows.Metric(metric.Definition{}, []result.Measure{
		{Key: result.Key{Item: 1}, Value: 0.5, Scored: true}, {Key: result.Key{Item: 3}, Value: 1, Scored: true}, {Key: result.Key{Item: 4}},
	})), "a score of a unit that was skipped does not count")

	clustered := []result.Brief{brief(1, result.StatusPassed, nil), brief(2, result.StatusPassed, nil)}
	clustered[0].Cluster, clustered[1].Cluster = "a", "b"
	rows.AdoptClusters(runstat.NewRows(clustered))
	for _, list := range [][]stat.Observation{rows.Overall, rows.Passes} {
		require.Equal(t, []string{"a", "b", "", ""}, []string{list[0].Cluster, list[1].Cluster, list[2].Cluster, list[3].Cluster})
	}
}

func TestFiguresOfARun(t *testing.T) {
	t.Parallel()
	var outcomes []result.Brief
	for i := range int64(20) {
		status, overall := result.StatusPassed, 1.0
		if i%4 == 0 {
			status, overall = result.StatusFailed, 0
		}
		outcomes = append(outcomes, brief(i+1, status, &overall))
	}
	s := runstat.Statistics{Gates: map[string]stat.Estimate{}}
	require.NoError(t, s.SumUp(runstat.NewRows(outcomes), nil, []float64{0.1}))
	require.InDelta(t, 0.75, *s.PassRate.Value, 1e-12)
	require.InDelta(t, 0.75, *s.Overall.Value, 1e-12)
	require.Equal(t, 20, s.Overall.Items)
	gate := s.Gates["pass_rate"]
	require.InDelta(t, 0.75, *gate.Value, 1e-12)
	require.LessOrEqual(t, *gate.CI.Lower, *s.PassRate.CI.Lower, "a gate decides by the more careful interval")
	require.NotNil(t, s.Resolution)

	t.Run("a binary metric is a rate, another a mean", func(t *testing.T) {
		t.Parallel()
		one := 1.0
		rows := runstat.NewRows(outcomes).Passes
		rate, err := runstat.Estimate(metric.Definition{Kind: metric.Binary, Low: new(float64), High: &one}, rows)
		require.NoError(t, err)
		require.NotNil(t, rate.FailingClusters)
		mean, err := runstat.Estimate(metric.Definition{Kind: metric.Numeric}, rows)
		require.NoError(t, err)
		require.Nil(t, mean.FailingClusters)
		require.InDelta(t, *rate.Value, *mean.Value, 1e-12)
	})

	t.Run("what no figure can be made of says so", func(t *testing.T) {
		t.Parallel()
		for title, rows := range map[string][]stat.Observation{"no number": {{Item: "1", Score: math.NaN()}}, "out of range": {{Item: "1", Score: 7}}} {
			one := 1.0
			e, err := runstat.Estimate(metric.Definition{Kind: metric.Numeric, Low: new(float64), High: &one}, rows)
			require.NoError(t, err, title)
			require.Equal(t, stat.StatusInsufficient, e.Status, title)
			require.NotEmpty(t, e.Warnings, title)
			require.Nil(t, e.Value, title)
		}
		require.Nil(t, runstat.None().Value)
	})

	t.Run("a range has two ends", func(t *testing.T) {
		t.Parallel()
		one := 1.0
		require.Nil(t, runstat.Range(metric.Definition{Low: &one}))
		require.Nil(t, runstat.Range(metric.Definition{High: &one}))
		require.Equal(t, &stat.Range{Lower: 1, Upper: 1}, runstat.Range(metric.Definition{Low: &one, High: &one}))
	})
}
