package stat_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// wave makes scores that differ from item to item, moved by a constant and a
// ripple.
func wave(n int, shift, ripple float64) []stat.Observation {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 0.3 + 0.4*float64(i%7)/7 + shift + ripple*float64(i%3-1)
	}
	return items(xs...)
}

var unit = stat.Options{Range: stat.Unit()}

func TestCompareMatchesItems(t *testing.T) {
	t.Parallel()
	compare := must[stat.Comparison](t)

	t.Run("by id, whatever the order", func(t *testing.T) {
		t.Parallel()
		a, b := wave(20, 0, 0), wave(20, 0.1, 0.01)
		slices.Reverse(b)
		c := compare(stat.Compare(a, b, stat.CompareOptions{Options: unit}))
		require.Equal(t, 20, c.Matched)
		require.True(t, c.Comparable)
		require.InDelta(t, 0.1, *c.Difference.Value, 0.01)
	})
	t.Run("and counts what only one run has", func(t *testing.T) {
		t.Parallel()
		c := compare(stat.Compare(wave(20, 0, 0), wave(18, 0.1, 0.01), stat.CompareOptions{Options: unit}))
		require.Equal(t, [3]int{18, 2, 0}, [3]int{c.Matched, c.OnlyA, c.OnlyB})
		require.True(t, c.Comparable)
	})
	t.Run("and abstains where too few are shared", func(t *testing.T) {
		t.Parallel()
		a, b := wave(20, 0, 0), wave(20, 0.1, 0.01)
		for i := range 5 {
			b[i].Item = "new " + b[i].Item
		}
		c := compare(stat.Compare(a, b, stat.CompareOptions{Options: unit, Margin: 0.05}))
		require.False(t, c.Comparable)
		require.Equal(t, stat.StatusNotComparable, c.Difference.Status)
		require.Nil(t, c.Difference.Value)
		require.Nil(t, c.P)
		require.Len(t, c.Reasons, 1)
		require.Equal(t, stat.OutcomeInconclusive, c.Verdict.Outcome())
		require.NotNil(t, c.Baseline.Value, "each run still has its own number")

		forced := compare(stat.Compare(a, b, stat.CompareOptions{Options: unit, Forced: true}))
		require.False(t, forced.Comparable)
		require.Equal(t, 15, forced.Difference.N)
		require.Equal(t, stat.StatusFragile, forced.Difference.Status)
	})
	t.Run("and abstains where content changed", func(t *testing.T) {
		t.Parallel()
		a, b := wave(20, 0, 0), wave(20, 0.1, 0.01)
		for i := range a {
			a[i].Content, b[i].Content = strconv.Itoa(i), strconv.Itoa(i)
		}
		b[3].Content = "edited"
		c := compare(stat.Compare(a, b, stat.CompareOptions{Options: unit}))
		require.Equal(t, 1, c.Changed)
		require.Equal(t, stat.StatusNotComparable, c.Difference.Status)
		require.Equal(t, []string{"the content of 1 items differs"}, c.Reasons)
		forced := compare(stat.Compare(a, b, stat.CompareOptions{Options: unit, Forced: true}))
		require.Equal(t, 19, forced.Difference.N, "what changed is left out")
	})
	t.Run("nothing with nothing", func(t *testing.T) {
		t.Parallel()
		c := compare(stat.Compare(nil, nil, stat.CompareOptions{}))
		require.Equal(t, stat.StatusInsufficient, c.Difference.Status)
	})
}

func TestCompareWithoutDifference(t *testing.T) {
	t.Parallel()
	compare := must[stat.Comparison](t)
	c := compare(stat.Compare(wave(30, 0, 0), wave(30, 0, 0), stat.CompareOptions{Options: unit, Margin: 0.15}))
	require.Equal(t, stat.StatusDegenerate, c.Difference.Status)
	require.InDelta(t, 0.11570331, *c.Difference.CI.Upper, 1e-8, "each end misses half of the error")
	require.InDelta(t, -0.11570331, *c.Difference.CI.Lower, 1e-8)
	require.InDelta(t, 1, *c.P, 0)
	require.Equal(t, 30, c.Ties)
	require.Equal(t, stat.OutcomeUnchanged, c.Verdict.Outcome(), "the bound lies within the margin")

	passes := items(append(times(1, 15), times(0, 5)...)...)
	c = compare(stat.Compare(passes, passes, stat.CompareOptions{Options: stat.Options{Method: stat.MethodScore}}))
	require.InDelta(t, 0.16112516, *c.Difference.CI.Upper, 1e-8)
	require.Equal(t, stat.OutcomeInconclusive, c.Verdict.Outcome(), "no difference found is not equality")
	require.NotNil(t, c.Resolution)
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	compare := must[stat.Comparison](t)
	better := compare(stat.Compare(wave(60, 0, 0), wave(60, 0.1, 0.05), stat.CompareOptions{Options: unit, Margin: 0.02}))
	require.Equal(t, stat.SuperiorityBetter, better.Verdict.Superiority)
	require.Equal(t, stat.NonInferiorityShown, better.Verdict.NonInferiority)
	require.Equal(t, stat.EquivalenceNotShown, better.Verdict.Equivalence)
	require.Equal(t, stat.OutcomeImproved, better.Verdict.Outcome())
	require.Equal(t, [3]int{60, 0, 0}, [3]int{better.Wins, better.Ties, better.Losses})

	lower := unit
	lower.LowerIsBetter = true
	cost := compare(stat.Compare(wave(60, 0, 0), wave(60, 0.1, 0.05), stat.CompareOptions{Options: lower, Margin: 0.02}))
	require.Equal(t, stat.SuperiorityWorse, cost.Verdict.Superiority)
	require.Equal(t, stat.NonInferiorityRefuted, cost.Verdict.NonInferiority)
	require.Equal(t, stat.OutcomeRegressed, cost.Verdict.Outcome())
	require.Equal(t, 60, cost.Losses)
	require.InDelta(t, *better.Difference.Value, *cost.Difference.Value, 0, "the difference stays candidate minus baseline")

	alike := compare(stat.Compare(wave(200, 0, 0), wave(200, 0.001, 0.01), stat.CompareOptions{Options: unit, Margin: 0.02}))
	require.Equal(t, stat.OutcomeUnchanged, alike.Verdict.Outcome())

	plain := compare(stat.Compare(wave(60, 0, 0), wave(60, 0.001, 0.01), stat.CompareOptions{Options: unit}))
	require.Empty(t, plain.Verdict.Equivalence, "without a margin only superiority is answered")
	require.Equal(t, stat.OutcomeInconclusive, plain.Verdict.Outcome())
}

func TestCompareWithMissingScores(t *testing.T) {
	t.Parallel()
	compare := must[stat.Comparison](t)
	a, b := wave(40, 0, 0), wave(40, 0.1, 0.02)
	b[0].Missing, a[1].Missing = stat.CauseSystem, stat.CauseSystem
	c := compare(stat.Compare(a, b, stat.CompareOptions{Options: unit}))
	require.Equal(t, 40, c.Matched)
	require.Equal(t, 38, c.Difference.N)
	require.Equal(t, 2, c.Difference.Missing.Rows)
	require.Less(t, *c.Difference.Missing.Lower, *c.Difference.Value)
	require.Greater(t, *c.Difference.Missing.Upper, *c.Difference.Value)

	o := unit
	o.Missing = stat.MissingBounds
	wide := compare(stat.Compare(a, b, stat.CompareOptions{Options: o}))
	require.Less(t, *wide.Difference.CI.Lower, *c.Difference.CI.Lower)
	require.Greater(t, *wide.Difference.CI.Upper, *c.Difference.CI.Upper)
}

func TestCompareTheseItemsExactly(t *testing.T) {
	t.Parallel()
	compare := must[stat.Comparison](t)
	var a, b []stat.Observation
	for i := range 20 {
		for k := range 3 {
			row := stat.Observation{Item: strconv.Itoa(i), Epoch: k, Score: float64(i)/20 + 0.01*float64(k)}
			a = append(a, row)
			row.Score += 0.02 + 0.1*float64(i%2)
			b = append(b, row)
		}
	}
	population := compare(stat.Compare(a, b, stat.CompareOptions{}))
	dataset := compare(stat.Compare(a, b, stat.CompareOptions{Options: stat.Options{Estimand: stat.EstimandDataset}}))
	require.InDelta(t, *population.Difference.Value, *dataset.Difference.Value, 1e-15)
	require.Less(t, *dataset.Difference.SE, *population.Difference.SE, "only repetitions vary")
	require.NotNil(t, dataset.Tests.T)
	require.Nil(t, dataset.Tests.SignFlip)
}

func TestFamily(t *testing.T) {
	t.Parallel()
	compare := must[stat.Comparison](t)
	one := compare(stat.Compare(wave(30, 0, 0), wave(30, 0.1, 0.05), stat.CompareOptions{}))
	two := compare(stat.Compare(wave(30, 0, 0), wave(30, 0.005, 0.05), stat.CompareOptions{}))
	none := compare(stat.Compare(nil, nil, stat.CompareOptions{}))
	require.NoError(t, stat.AdjustFamily([]*stat.Comparison{&one, &two, &none}, stat.AdjustHolm))
	require.InDelta(t, 2**one.P, *one.PAdjusted, 1e-15)
	require.Equal(t, &stat.Family{Adjustment: stat.AdjustHolm, Size: 2}, two.Family)
	require.Nil(t, none.PAdjusted)
	require.InDelta(t, 0.99, stat.SimultaneousLevel(0.95, 5), 1e-15)
}

func TestMaxT(t *testing.T) {
	t.Parallel()
	a := wave(60, 0, 0)
	b := wave(60, 0.005, 0.05)
	both := must[stat.Together](t)(stat.MaxT([]stat.Pair{{"one", a, b}, {"two", a, b}, {"same", a, a}}, stat.Options{Seed: stat.Seed{Resource: "r"}}))
	single := must[stat.Comparison](t)(stat.Compare(a, b, stat.CompareOptions{}))
	require.InDelta(t, *both.P[0], *both.P[1], 0)
	require.InDelta(t, *single.Tests.SignFlip, *both.P[0], 0.03, "metrics that say the same cost nothing")
	require.Nil(t, both.P[2])
	require.InDelta(t, 2, *both.Critical, 0.15)
	again := must[stat.Together](t)(stat.MaxT([]stat.Pair{{"one", a, b}, {"two", a, b}, {"same", a, a}}, stat.Options{Seed: stat.Seed{Resource: "r"}}))
	require.Equal(t, both, again)
}

func TestSlices(t *testing.T) {
	t.Parallel()
	rates := must[[]stat.SliceRate](t)(stat.SliceRates([]stat.Slice{
		{"large", items(append(times(1, 160), times(0, 40)...)...)},
		{"good", items(times(1, 12)...)},
		{"bad", items(append(times(1, 10), times(0, 30)...)...)},
		{"tiny", items(1, 1, 1)},
	}, stat.Options{}))
	require.Len(t, rates, 3, "a slice of three is not listed")
	require.Less(t, *rates[1].Shrunken, 1.0)
	require.Greater(t, *rates[1].Shrunken, 0.8)
	require.Greater(t, *rates[2].Shrunken, 0.25)
	require.Less(t, *rates[2].Shrunken, 0.4)
	alone := must[[]stat.SliceRate](t)(stat.SliceRates([]stat.Slice{{"only", items(times(1, 12)...)}}, stat.Options{}))
	require.Nil(t, alone[0].Shrunken, "there is nothing to be drawn to")

	compared := must[[]stat.SliceComparison](t)(stat.CompareSlices([]stat.SlicePair{
		{"moved", wave(30, 0, 0), wave(30, 0.1, 0.05)},
		{"still", wave(30, 0, 0), wave(30, 0.001, 0.05)},
		{"tiny", wave(3, 0, 0), wave(3, 0.1, 0.05)},
	}, stat.CompareOptions{Options: unit}))
	require.Len(t, compared, 2)
	require.InDelta(t, 2**compared[0].Comparison.P, *compared[0].Comparison.PAdjusted, 1e-15)
	require.Equal(t, stat.AdjustBH, compared[0].Comparison.Family.Adjustment)
}

func TestResolution(t *testing.T) {
	t.Parallel()
	compare := must[stat.Comparison](t)
	var a, b []stat.Observation
	for i := range 100 {
		for k := range 2 {
			noise := 0.2 * float64((i*7+k*3)%5-2) / 2
			a = append(a, stat.Observation{Item: fmt.Sprintf("%03d", i), Epoch: k, Score: 0.5 + noise})
			b = append(b, stat.Observation{Item: fmt.Sprintf("%03d", i), Epoch: k, Score: 0.5 - noise})
		}
	}
	c := compare(stat.Compare(a, b, stat.CompareOptions{Options: unit, Targets: []float64{0.02}}))
	require.Len(t, c.Resolution.ItemsFor, 1)
	require.Greater(t, c.Resolution.ItemsFor[0].Items, 100)
	require.Regexp(t, `^This comparison can show differences of [\d.]+ points or more between its runs; a 2-point difference needs about [\d,]+ items`, c.Resolution.Sentence)

	e := must[stat.Estimate](t)(stat.Mean(wave(50, 0, 0.1), stat.Options{}))
	r := must[*stat.Resolution](t)(stat.Resolve(e, stat.Options{}, []float64{1e-3}))
	require.Regexp(t, `^This run can show differences of [\d.]+ or more from a fixed value; a 0.001 difference needs about [\d,]+ items.$`, r.Sentence)
	e = must[stat.Estimate](t)(stat.Mean(wave(5, 0, 0.1), stat.Options{}))
	r = must[*stat.Resolution](t)(stat.Resolve(e, stat.Options{}, []float64{1e-3}))
	require.Regexp(t, `^This run can show differences of [\d.]+ or more from a fixed value\.$`, r.Sentence, "so few items forecast nothing")
	require.Empty(t, r.ItemsFor)
	none := must[*stat.Resolution](t)(stat.Resolve(stat.Estimate{}, stat.Options{}, nil))
	require.Nil(t, none)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	watch := must[stat.Progress](t)
	target := 0.5

	t.Run("an order that is not random says nothing about the rest", func(t *testing.T) {
		t.Parallel()
		p := watch(stat.Watch(items(1, 0, 1), stat.WatchOptions{Options: unit}))
		require.NotNil(t, p.Estimate.Value)
		require.Nil(t, p.Estimate.CI)
		require.Equal(t, stat.StatusFragile, p.Estimate.Status)
	})
	t.Run("passes have an exact sequence from the first on", func(t *testing.T) {
		t.Parallel()
		p := watch(stat.Watch(items(times(1, 50)...), stat.WatchOptions{RandomOrder: true, Target: &target}))
		require.Equal(t, "beta_binomial_cs", p.Estimate.CI.Method)
		require.Equal(t, stat.KindSequence, p.Estimate.CI.Kind)
		require.InDelta(t, .89535752, *p.Estimate.CI.Lower, 1e-7)
		require.Equal(t, &stat.StopHint{Stop: true, Reason: "the mean is above 0.5"}, p.StopHint)
	})
	t.Run("other scores have one for few items and one for many", func(t *testing.T) {
		t.Parallel()
		o := stat.WatchOptions{Options: unit, RandomOrder: true, Planned: 500}
		require.Equal(t, "betting_cs", watch(stat.Watch(wave(99, 0, 0.1), o)).Estimate.CI.Method)
		require.Equal(t, "asymptotic_cs", watch(stat.Watch(wave(100, 0, 0.1), o)).Estimate.CI.Method)
		require.Equal(t, "betting_cs", watch(stat.Watch(items(times(0.7, 150)...), o)).Estimate.CI.Method, "what does not vary has no error")
		o.Range = nil
		require.Equal(t, stat.StatusInsufficient, watch(stat.Watch(wave(99, 0, 0.1), o)).Estimate.Status)
	})
	t.Run("clusters are what counts", func(t *testing.T) {
		t.Parallel()
		p := watch(stat.Watch(inClusters(wave(300, 0, 0.1), 10), stat.WatchOptions{Options: unit, RandomOrder: true}))
		require.Equal(t, stat.StatusInsufficient, p.Estimate.Status)
	})
	t.Run("a difference that is clear can be stopped on", func(t *testing.T) {
		t.Parallel()
		o := stat.WatchOptions{Options: unit, RandomOrder: true, Planned: 400, Margin: 0.05}
		p := watch(stat.WatchDifference(wave(400, 0, 0), wave(150, 0.15, 0.1), o))
		require.Equal(t, &stat.StopHint{Stop: true, Reason: "the candidate is better"}, p.StopHint)
		p = watch(stat.WatchDifference(wave(400, 0, 0), wave(12, 0.15, 0.1), o))
		require.False(t, p.StopHint.Stop)
		p = watch(stat.WatchDifference(wave(400, 0.15, 0), wave(150, 0, 0.1), o))
		require.Equal(t, "the candidate is worse by more than the margin", p.StopHint.Reason)
		p = watch(stat.WatchDifference(wave(400, 0, 0), wave(390, 0, 0.05), o))
		require.Equal(t, "the runs differ by less than the margin", p.StopHint.Reason)
	})
}
