package stat

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The reference values are rounded to six to eight digits, and closed forms
// agree with all of them. How they agree beyond these is the oracle's to say.
const (
	closed    = 1e-7
	iterative = 1e-6
)

func near(t *testing.T, want, got float64, what string) {
	t.Helper()
	nearly(t, want, got, closed, what)
}

func nearly(t *testing.T, want, got, tolerance float64, what string) {
	t.Helper()
	require.InDelta(t, want, got, tolerance*math.Max(.1, math.Abs(want)), what)
}

func nearInterval(t *testing.T, lower, upper float64, ci *Interval, what string) {
	t.Helper()
	require.NotNil(t, ci, what)
	near(t, lower, *ci.Lower, what+", lower end")
	near(t, upper, *ci.Upper, what+", upper end")
}

// scores makes a row for each score, each of an item of its own.
func scores(xs ...float64) []Observation {
	rows := make([]Observation, len(xs))
	for i, x := range xs {
		rows[i] = Observation{Item: fmt.Sprintf("item %03d", i), Score: x}
	}
	return rows
}

// clusters makes the rows of clusters.
func clusters(groups ...[]float64) []Observation {
	var rows []Observation
	for g, xs := range groups {
		for i, x := range xs {
			rows = append(rows, Observation{Item: fmt.Sprintf("item %d.%d", g, i), Cluster: fmt.Sprintf("cluster %d", g), Score: x})
		}
	}
	return rows
}

// epochs makes rows of repeated items.
func epochs(items ...[]float64) []Observation {
	var rows []Observation
	for i, xs := range items {
		for k, x := range xs {
			rows = append(rows, Observation{Item: fmt.Sprintf("item %d", i), Epoch: k, Score: x})
		}
	}
	return rows
}

// outcomes makes passes and failures.
func outcomes(passed, n int) []Observation {
	xs := make([]float64, n)
	for i := range passed {
		xs[i] = 1
	}
	return scores(xs...)
}

func mean(t *testing.T, rows []Observation, o Options) Estimate {
	t.Helper()
	e, err := Mean(rows, o)
	require.NoError(t, err)
	return e
}

func passRate(t *testing.T, rows []Observation, o Options) Estimate {
	t.Helper()
	e, err := PassRate(rows, o)
	require.NoError(t, err)
	return e
}

func compare(t *testing.T, a, b []Observation, o CompareOptions) Comparison {
	t.Helper()
	c, err := Compare(a, b, o)
	require.NoError(t, err)
	return c
}

func TestReferenceMean(t *testing.T) {
	t.Parallel()
	rows := scores(.9, .4, .7, .8, .55, .6, 1, .3)
	e := mean(t, rows, Options{})
	near(t, .65625, *e.Value, "mean")
	near(t, .085271363, *e.SE, "se")
	near(t, .24118384, *e.SE*math.Sqrt(8), "sd")
	near(t, 2.3646243, TCritical(.05, 7), "critical value")
	nearInterval(t, .45461527, .85788473, e.CI, "interval")
	require.Equal(t, StatusFragile, e.Status)
}

func TestReferenceClusters(t *testing.T) {
	t.Parallel()
	rows := clusters([]float64{1, 1, 0}, []float64{1, 1}, []float64{0, 0, 1, 0}, []float64{1})
	e := mean(t, rows, Options{})
	near(t, .6, *e.Value, "mean")
	near(t, .19321836, *e.SE, "clustered se")
	near(t, .16329932, *e.SE/math.Sqrt(*e.DesignEffect), "naive se")
	near(t, 3.1824463, TCritical(.05, *e.DF), "critical value")

	p := passRate(t, rows, Options{})
	near(t, 1.5555556, *p.DesignEffect, "design effect")
	near(t, 6.4285714, p.NEff, "effective size")
	nearInterval(t, .15081406, .92684194, p.CI, "Wilson at the effective size")
	require.Equal(t, "wilson_neff_t", p.CI.Method)

	near(t, 3.2481632, gradedSize(10, p.NEff, 4, .05), "Korn and Graubard's size")
	gate := passRate(t, rows, Options{Policy: PolicyGate})
	nearInterval(t, .0796699, .9782978, gate.CI, "Korn–Graubard")
	require.Equal(t, "korn_graubard", gate.CI.Method)
}

func TestReferenceEpochs(t *testing.T) {
	t.Parallel()
	items := [][]float64{{1, 1, 0}, {0, 0, 0}, {1, 1, 1}, {1, 0, 1}, {0, 1, 0}}
	rows := epochs(items...)
	e := mean(t, rows, Options{CostRatio: 10})
	near(t, .53333333, *e.Value, "mean")
	near(t, .16996732, *e.SE, "se over items")
	near(t, .2, e.Variance.Within, "within")
	near(t, .077777778, e.Variance.Between, "between")
	near(t, .2/.277777778, *e.Variance.GenerationShare, "share of the generation")
	nearly(t, 5.0709, optimalEpochs(e.Variance.Within, e.Variance.Between, 10), 1e-5, "optimal epochs")
	require.Equal(t, 6, *e.Variance.OptimalEpochs)

	// Every row an item of its own, in a cluster for each true item.
	near(t, .16996732, *mean(t, clusters(items...), Options{}).SE, "se over rows, clustered by item")
	var flat []float64
	for _, xs := range items {
		flat = append(flat, xs...)
	}
	near(t, .13333333, *mean(t, scores(flat...), Options{}).SE, "naive se")

	dataset := mean(t, rows, Options{Estimand: EstimandDataset})
	near(t, .11547005, *dataset.SE, "se of the dataset's mean")
}

func TestReferenceProportions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n                                 int
		lower, upper, exactLower, exactUpper float64
	}{
		{45, 50, .78639769, .95652424, .78186463, .96672491},
		{20, 20, .83887484, 1, .83156653, 1},
		{0, 10, 0, .2775328, 0, .30849711},
		{1, 1, .20654931, 1, .025, 1},
		{7, 10, .39677815, .89220873, .34754715, .93326049},
	} {
		what := fmt.Sprintf("%d of %d", c.k, c.n)
		nearInterval(t, c.lower, c.upper, passRate(t, outcomes(c.k, c.n), Options{}).CI, what)
		nearInterval(t, c.exactLower, c.exactUpper, passRate(t, outcomes(c.k, c.n), Options{Policy: PolicyGate}).CI, what+" for a gate")
		e, err := Proportion(c.k, c.n, Options{})
		require.NoError(t, err)
		nearInterval(t, c.lower, c.upper, e.CI, what+" from counts")
	}
	e := passRate(t, outcomes(20, 20), Options{Policy: PolicyGate, Side: SideLower})
	near(t, .86089166, *e.CI.Lower, "one-sided")
	require.Nil(t, e.CI.Upper)
}

func TestReferencePassAtK(t *testing.T) {
	t.Parallel()
	near(t, .91666667, passAtK(10, 3, 5, false), "pass@5")
	near(t, .066666667, passAtK(10, 3, 2, true), "pass^2")
	trials := []Trials{{Item: "a", N: 5, Passed: 5}, {Item: "b", N: 5, Passed: 3}, {Item: "c", N: 5}, {Item: "d", N: 5, Passed: 4}}
	all, err := PassAtK(trials, 3, true, Options{})
	require.NoError(t, err)
	near(t, .375, *all.Value, "pass^3")
	near(t, .225, *all.SE, "se of pass^3")
	any1, err := PassAtK(trials, 3, false, Options{})
	require.NoError(t, err)
	near(t, .75, *any1.Value, "pass@3")
	near(t, .25, *any1.SE, "se of pass@3")
}

func TestReferencePaired(t *testing.T) {
	t.Parallel()
	a := scores(.8, .6, .9, .4, .7, 1, .5, .65, .3, .85)
	b := scores(.85, .7, .9, .35, .9, 1, .65, .7, .5, .8)
	c := compare(t, a, b, CompareOptions{})
	near(t, .065, *c.Difference.Value, "difference")
	near(t, .029860788, *c.Difference.SE, "se")
	near(t, 2.1767677, *c.Difference.Value / *c.Difference.SE, "t")
	near(t, .057476369, *c.Tests.T, "p")
	nearInterval(t, -.0025497957, .1325498, c.Difference.CI, "interval")
	near(t, .90810887, *c.Correlation, "correlation")
	near(t, 1-(.029860788*.029860788)/(.094941502*.094941502), *c.VarianceReduction, "variance reduction")
	near(t, .09375, *c.Tests.SignFlip, "exact sign flips")
	require.Equal(t, [3]int{6, 2, 2}, [3]int{c.Wins, c.Ties, c.Losses})

	for i := range a {
		a[i].Cluster = strconv.Itoa(i / 2)
		b[i].Cluster = a[i].Cluster
	}
	c = compare(t, a, b, CompareOptions{})
	near(t, .023184046, *c.Difference.SE, "clustered se")
	near(t, .125, *c.Tests.SignFlip, "sign flips of clusters")
}

// table2 makes the rows of two runs from the counts of a fourfold table.
func table2(both, onlyB, onlyA, none int) (a, b []Observation) {
	a = scores(slices.Concat(slices.Repeat([]float64{1}, both), slices.Repeat([]float64{0}, onlyB), slices.Repeat([]float64{1}, onlyA), slices.Repeat([]float64{0}, none))...)
	b = scores(slices.Concat(slices.Repeat([]float64{1}, both), slices.Repeat([]float64{1}, onlyB), slices.Repeat([]float64{0}, onlyA), slices.Repeat([]float64{0}, none))...)
	return a, b
}

func TestReferencePairedBinary(t *testing.T) {
	t.Parallel()
	a, b := table2(40, 12, 5, 43)
	c := compare(t, a, b, CompareOptions{})
	near(t, .07, *c.Difference.Value, "difference")
	nearInterval(t, -.011580514, .14941609, c.Difference.CI, "Newcombe")
	near(t, .64776277, Fourfold{40, 12, 5, 43}.phi(), "phi")
	near(t, .14346313, *c.Tests.McNemarExact, "exact")
	near(t, .096252441, *c.Tests.McNemarMidP, "mid-p")
	score := compare(t, a, b, CompareOptions{Options: Options{Method: MethodScore}})
	nearInterval(t, -.01186321, .15741561, score.Difference.CI, "Tango")

	lower, upper := Fourfold{36, 12, 2, 0}.newcombe(.05)
	nearInterval(t, .05692958, .3404276, &Interval{Lower: &lower, Upper: &upper}, "Newcombe's own example")
	lower, upper = Fourfold{36, 12, 2, 0}.Tango(.05)
	nearInterval(t, .06111241, .34470875, &Interval{Lower: &lower, Upper: &upper}, "Tango on it")
	lower, upper = Fourfold{20, 0, 0, 0}.Tango(.05)
	nearInterval(t, -.16112516, .16112516, &Interval{Lower: &lower, Upper: &upper}, "no discordance")
	lower, upper = Fourfold{14, 3, 0, 3}.newcombe(.05)
	nearInterval(t, -.040683818, .34125041, &Interval{Lower: &lower, Upper: &upper}, "one-way discordance")
	lower, upper = Fourfold{14, 3, 0, 3}.Tango(.05)
	nearInterval(t, -.035293932, .36041886, &Interval{Lower: &lower, Upper: &upper}, "Tango on it")
}

func TestReferenceUnpaired(t *testing.T) {
	t.Parallel()
	c := compare(t, outcomes(38, 50), outcomes(45, 50), CompareOptions{Unpaired: true})
	nearInterval(t, -.0093972798, .28555067, c.Difference.CI, "Newcombe independent")
	require.False(t, c.Paired)

	c = compare(t, scores(.5, .4, .9, .3, .6, .2), scores(.8, .6, .9, .4, .7), CompareOptions{Unpaired: true})
	near(t, .19666667, *c.Difference.Value, "difference")
	near(t, .1329578, *c.Difference.SE, "se")
	near(t, 8.9757282, *c.Difference.DF, "degrees of freedom")
	near(t, .17331264, *c.Tests.T, "p")
}

func TestReferenceResolution(t *testing.T) {
	t.Parallel()
	se := .35 / math.Sqrt(200)
	_, mde := Estimate{SE: &se, DF: ptr(199.0)}.resolving(Options{Level: .95})
	near(t, .069677292, mde, "with t")
	_, mde = Estimate{SE: &se}.resolving(Options{Level: .95})
	near(t, .069335697, mde, "with z")
	r := resolve(Estimate{SE: &se, DF: ptr(199.0), N: 200}, Options{Level: .95, Range: Unit()}, "This run", "from a fixed value", []float64{.03}, 0, 0)
	require.Equal(t, []ItemsFor{{Difference: .03, Items: 1069}}, r.ItemsFor)
	require.Equal(t, "This run can show differences of 7 points or more from a fixed value; a 3-point difference needs about 1,069 items.", r.Sentence)

	z, zPower := NormalCritical(.05), NormalQuantile(.8)
	near(t, 1068.3197, pairedItems(.35, .03, z+zPower), "items")
	near(t, .065102957, (z+zPower)*PairedSD(.05, .12, .10, 1, 1)/math.Sqrt(500), "one epoch")
	near(t, .040598827, (z+zPower)*PairedSD(.05, .12, .10, 4, 4)/math.Sqrt(500), "four epochs")
	near(t, 269.93814, mcnemarItems(.17, .07, z, zPower), "McNemar")
	near(t, 905.36578, rateItems(.8, .85, z, zPower), "two rates")
	near(t, 841.51473, pairedItems(.35, .03, NormalQuantile(.95)+zPower), "non-inferiority")

	for want, got := range map[int]func() (int, error){
		1069: func() (int, error) { return Plan{}.PairedItems(.35, .03) },
		842:  func() (int, error) { return Plan{}.NonInferiorItems(.35, .03) },
		270:  func() (int, error) { return Plan{}.McNemarItems(.17, .07) },
		906:  func() (int, error) { return Plan{}.RateItems(.8, .85) },
		385:  func() (int, error) { return Plan{}.PrecisionItems(.5, .05) },
		2137: func() (int, error) { return Plan{DesignEffect: 2}.PairedItems(.35, .03) },
	} {
		n, err := got()
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
}

func TestReferenceAdjust(t *testing.T) {
	t.Parallel()
	for a, want := range map[Adjustment][]float64{
		AdjustHolm: {.005, .048, .063, .08, .3},
		AdjustBH:   {.005, .03, .035, .05, .3},
		AdjustBY:   {.01141667, .0685, .07991667, .11416667, .685},
	} {
		got, err := Adjust([]float64{.001, .012, .021, .04, .3}, a)
		require.NoError(t, err)
		for i := range want {
			nearly(t, want[i], got[i], 1e-6, string(a))
		}
	}
}

func TestReferenceOrderStatistics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, q      float64
		low, high int
		coverage  float64
	}{
		{20, .5, 6, 15, .95861053},
		{100, .95, 90, 100, .98260706},
		{20, .95, 17, 0, 0},
		{5, .5, 0, 0, 0},
	} {
		low, high := orderRanks(c.n, c.q, .05)
		require.Equal(t, [2]int{c.low, c.high}, [2]int{low, high}, "n=%v q=%v", c.n, c.q)
		if c.coverage > 0 {
			near(t, c.coverage, BinomialCDF(float64(high-1), c.n, c.q)-BinomialCDF(float64(low-1), c.n, c.q), "coverage")
		}
	}
}

func TestReferenceBootstrap(t *testing.T) {
	t.Parallel()
	x := []float64{.9, .4, .7, .8, .55, .6, 1, .3}
	left := leaveOneOut(len(x), func(draw []int) float64 {
		return SumOf(len(draw), func(i int) float64 { return x[draw[i]] }) / float64(len(draw))
	})
	a := acceleration(left)
	near(t, -.0033750851, a, "acceleration")
	low, high := bca(.482, a, 2000)(.05)
	near(t, .019513839, low, "lower level")
	near(t, .96837281, high, "upper level")

	var all []float64
	four := []float64{.2, .5, .9, 1}
	for i := range 256 {
		all = append(all, (four[i&3]+four[i>>2&3]+four[i>>4&3]+four[i>>6&3])/4)
	}
	slices.Sort(all)
	near(t, .35, SortedQuantile(all, .025), "2.5 %")
	near(t, .95, SortedQuantile(all, .975), "97.5 %")
	s := sample{x: all, g: 256}
	near(t, .16007811, math.Sqrt(s.spread(s.mean()).naive*255), "standard deviation")
}

func TestReferenceVerdict(t *testing.T) {
	t.Parallel()
	const diff, se, df = .012, .009, 199
	l := tLimits(diff, se, df)
	lower, _ := l(.1)
	near(t, -.0028729207, lower, "one-sided lower limit")
	near(t, .0076890813, TTest((diff+.01)/se, df)/2, "p of non-inferiority")
	nearly(t, .02343, TTest((.03-diff)/se, df)/2, 1e-4, "p of equivalence")
	v := CompareOptions{Options: Options{Level: .95}, Margin: .01}.verdict(l)
	require.Equal(t, Verdict{SuperiorityUnresolved, NonInferiorityShown, EquivalenceNotShown, ptr(.01), .95, false}, v)
	v = CompareOptions{Options: Options{Level: .95}, Margin: .03}.verdict(l)
	require.Equal(t, EquivalenceShown, v.Equivalence)
	require.Equal(t, OutcomeUnchanged, v.Outcome())
}

func TestReferenceOverall(t *testing.T) {
	t.Parallel()
	e, err := Overall([]Metric{
		{Name: "m1", Weight: .6, Range: Unit(), Rows: scores(1, 0, 1, 1, 0, 1)},
		{Name: "m2", Weight: .4, Range: Unit(), Rows: scores(.8, .3, .9, .7, .4, .6)},
	}, Options{})
	require.NoError(t, err)
	near(t, .64666667, *e.Value, "overall")
	near(t, .16113486, *e.SE, "se")
}

func TestReferenceBounds(t *testing.T) {
	t.Parallel()
	e := mean(t, scores(slices.Repeat([]float64{.7}, 30)...), Options{Range: Unit()})
	require.Equal(t, StatusDegenerate, e.Status)
	require.Nil(t, e.SE)
	nearInterval(t, .61900768, .73471099, e.CI, "constant")
	near(t, .11570331, (.7-*e.CI.Lower)/.7, "share")

	rows := append(outcomes(40, 48), Observation{Item: "x", Missing: CauseSystem}, Observation{Item: "y", Missing: CauseSystem})
	e = passRate(t, rows, Options{})
	near(t, .8, *e.Missing.Lower, "worst")
	near(t, .84, *e.Missing.Upper, "best")
	require.Equal(t, 48, e.N)
}

func TestReferenceSequences(t *testing.T) {
	t.Parallel()
	xs := []float64{.5, 1, 5, 10, 50, 200}
	for alpha, want := range map[float64][]float64{
		.05: {4.380729, 3.656395, 3.05612, 3.037811, 3.181471, 3.369161},
		.01: {5.370979, 4.450503, 3.633527, 3.573382, 3.661285, 3.81919},
	} {
		for i, x := range xs {
			nearly(t, want[i], sequenceMultiplier(x, alpha), 2e-7, "multiplier")
		}
	}
	near(t, 1260.0561, sequenceScale(10000, .05), "scale")

	for _, c := range []struct {
		k, n         int
		lower, upper float64
	}{
		{0, 50, 0, .10464248},
		{5, 50, .01584741, .2865379},
		{47, 50, .77315833, .99568816},
		{50, 50, .89535752, 1},
		{37, 40, .72582819, .99435083},
		{180, 200, .81219223, .95717111},
		{1800, 2000, .87300194, .92326281},
	} {
		i, err := BetaBinomialSequence(c.k, c.n, .95)
		require.NoError(t, err)
		nearly(t, c.lower, *i.Lower, iterative, "lower")
		nearly(t, c.upper, *i.Upper, iterative, "upper")
	}

	x := []float64{1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1}
	b := newBets(x, .05)
	for n, want := range map[int][2]float64{
		1: {1.5, .70599564}, 5: {2.53125, 1.9538243}, 10: {6.4072266, 3.8506235}, 15: {16.041515, 6.618263}, 20: {37.094353, 10.355689},
	} {
		first := bets{b.x[:n], b.stakes[:n]}
		nearly(t, want[0], math.Exp(first.logCapital(.5, true)), iterative, "capital against at most .5")
		nearly(t, want[1], math.Exp(first.logCapital(.95, false)), iterative, "capital against at least .95")
	}
	nearly(t, .53196422, b.limit(.05, true), iterative, "lower bound")
	nearly(t, .96922998, b.limit(.05, false), iterative, "upper bound")

	d := []float64{0, 0, -1, 0, 0, 1, -1, 0, 0, -1, 0, 0, 0, -1, -1, 0, 0, 0, -1, 0}
	for i := range d {
		d[i] = (d[i] + 1) / 2
	}
	b = newBets(d, .05)
	for n, want := range map[int]float64{5: 1.5, 10: 1.6875, 15: 3.796875, 20: 5.6953125} {
		nearly(t, want, math.Exp(bets{b.x[:n], b.stakes[:n]}.logCapital(.5, false)), iterative, "capital against no loss")
	}
}
