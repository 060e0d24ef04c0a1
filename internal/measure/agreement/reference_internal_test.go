package agreement

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// The reference values are rounded to six to eight digits, and closed forms
// agree with all of them.
const closed = 1e-7

func near(t *testing.T, want, got float64, what string) {
	t.Helper()
	require.InDelta(t, want, got, closed*math.Max(.1, math.Abs(want)), what)
}

func nearInterval(t *testing.T, lower, upper float64, ci *stat.Interval, what string) {
	t.Helper()
	require.NotNil(t, ci, what)
	near(t, lower, *ci.Lower, what+", lower end")
	near(t, upper, *ci.Upper, what+", upper end")
}

// labels names the values of a table.
func labels(k int) []string {
	all := make([]string, k)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}

// pairsOf makes the pairs of a table whose rows are people's labels.
func pairsOf(counts [][]int) []Pair {
	var all []Pair
	for i, row := range counts {
		for j, n := range row {
			for range n {
				all = append(all, Pair{Item: strconv.Itoa(len(all)), Human: strconv.Itoa(i), Judge: strconv.Itoa(j), Probability: 1})
			}
		}
	}
	return all
}

func align(t *testing.T, counts [][]int, scale Scale) Alignment {
	t.Helper()
	scale.Labels = labels(len(counts))
	a, err := Align(pairsOf(counts), scale, AlignmentOptions{})
	require.NoError(t, err)
	return a
}

func tableOf(counts [][]int) table {
	t := table{k: len(counts)}
	for _, row := range counts {
		for _, n := range row {
			t.cells = append(t.cells, float64(n))
		}
	}
	return t
}

func TestReferenceTwoByTwo(t *testing.T) {
	t.Parallel()
	counts := [][]int{{20, 5}, {10, 15}}
	a := align(t, counts, Scale{Positive: "0"})
	near(t, .4, *a.Kappa.Nominal.Value, "kappa")
	near(t, .12699606, *a.Kappa.Nominal.SE, "se")
	nearInterval(t, .13840778, .63082299, a.Kappa.Nominal.CI, "adjusted interval")
	require.Equal(t, "adjusted_wald", a.Kappa.Nominal.CI.Method)
	value, variance := tableOf(counts).softened().kappa(WeightingNominal)
	near(t, .38461538, value, "adjusted kappa")
	near(t, .12561843, math.Sqrt(variance), "adjusted se")
	half := stat.NormalCritical(.05) * *a.Kappa.Nominal.SE
	near(t, .15109229, .4-half, "Wald, lower end")
	near(t, .64890771, .4+half, "Wald, upper end")

	near(t, .7, *a.Accuracy.Value, "accuracy")
	nearInterval(t, .5624965, .80896446, a.Accuracy.CI, "accuracy")
	near(t, .8, *a.Classes[0].Recall.Value, "recall")
	nearInterval(t, .6086905, .91139415, a.Classes[0].Recall.CI, "recall")
	require.Equal(t, a.Classes[0].Recall.CI, a.Rates.TPR.CI)
	require.Equal(t, a.Classes[1].Recall.CI, a.Rates.TNR.CI)
	near(t, .40824829, *a.MCC.Value, "MCC")
	near(t, .72727273, *a.Classes[0].F1.Value, "F1")
	near(t, .40594059, *a.AC1.Value, "AC1")
	near(t, .13147309, *a.AC1.SE, "se of AC1")
	require.Equal(t, 25, a.Classes[0].Support)
	near(t, .4, *a.Alpha.Value, "alpha")
}

func TestReferenceWeightedKappa(t *testing.T) {
	t.Parallel()
	a := align(t, [][]int{{11, 3, 1, 0}, {2, 9, 4, 1}, {0, 3, 12, 3}, {0, 1, 2, 8}}, Scale{Ordered: true})
	near(t, .55140187, *a.Kappa.Nominal.Value, "kappa")
	near(t, .08253064, *a.Kappa.Nominal.SE, "se")
	near(t, .67205323, *a.Kappa.Linear.Value, "linear")
	near(t, .068257122, *a.Kappa.Linear.SE, "se of linear")
	near(t, .78030303, *a.Kappa.Quadratic.Value, "quadratic")
	near(t, .059388519, *a.Kappa.Quadratic.SE, "se of quadratic")
	require.Equal(t, "wald", a.Kappa.Nominal.CI.Method)
}

// missing stands for a rating that is not there.
const missing = -1

// ratingsOf makes ratings of a row for each rater.
func ratingsOf(raters [][]int) (ratings []Rating, scores []Score) {
	for r, row := range raters {
		for i, v := range row {
			if v != missing {
				ratings = append(ratings, Rating{Item: strconv.Itoa(i), Rater: strconv.Itoa(r), Label: strconv.Itoa(v)})
				scores = append(scores, Score{Item: strconv.Itoa(i), Rater: strconv.Itoa(r), Value: float64(v)})
			}
		}
	}
	return ratings, scores
}

var (
	fourRaters = [][]int{
		{1, 2, 3, 3, 2, 1, 4, 1, 2, missing, missing, missing},
		{1, 2, 3, 3, 2, 2, 4, 1, 2, 5, missing, 3},
		{missing, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, missing},
		{1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, missing},
	}
	threeRaters = [][]int{
		{missing, missing, missing, missing, missing, 3, 4, 1, 2, 1, 1, 3, 3, missing, 3},
		{1, missing, 2, 1, 3, 3, 4, 3, missing, missing, missing, missing, missing, missing, missing},
		{missing, missing, 2, 1, 3, 4, 4, missing, 2, 1, 1, 3, 3, missing, 4},
	}
)

// samplesOf makes the samples that AC1 and alpha are computed from.
func samplesOf(t *testing.T, raters [][]int, values int) (all, shared *sample, places []float64) {
	t.Helper()
	ratings, _ := ratingsOf(raters)
	marks := make([]mark, len(ratings))
	for i, r := range ratings {
		v, err := strconv.Atoi(r.Label)
		require.NoError(t, err)
		marks[i] = mark{r.Item, r.Rater, "", int32(v - 1)}
	}
	items, _, err := rated(marks)
	require.NoError(t, err)
	for v := range values {
		places = append(places, float64(v+1))
	}
	return newRated(items, values, pairs(values), upTo(values*values), 1), newRated(items, values, pairs(values), upTo(values*values), 2), places
}

func TestReferenceManyRaters(t *testing.T) {
	t.Parallel()
	all, shared, places := samplesOf(t, fourRaters, 5)
	require.Equal(t, 12, all.items)
	require.Equal(t, 11, shared.items)
	for level, want := range map[Level][2]float64{
		LevelNominal:  {.74342105, .14632665},
		LevelOrdinal:  {.8153875, .14803134},
		LevelInterval: {.84910714, .14083983},
	} {
		f := shared.alpha(level, places)
		near(t, want[0], f(shared.mass), string(level))
		near(t, want[1], shared.jackknife(f), string(level)+", se")
	}
	g := all.gwet(WeightingNominal, all.mass)
	near(t, .77544407, g.value, "AC1")
	se := math.Sqrt(all.variance(g, false))
	near(t, .14294995, se, "se of AC1")
	near(t, .46081335, g.value-stat.TCritical(.05, 11)*se, "lower end")
	require.Greater(t, g.value+stat.TCritical(.05, 11)*se, 1.0, "cut at 1")

	_, shared, places = samplesOf(t, threeRaters, 4)
	for level, want := range map[Level]float64{LevelNominal: .69135802, LevelOrdinal: .80672142, LevelInterval: .81084489} {
		near(t, want, shared.alpha(level, places)(shared.mass), string(level))
	}
}

// What callers see is the same, and abstains from an interval below 20 items.
func TestReferenceManyRatersAsShown(t *testing.T) {
	t.Parallel()
	ratings, scores := ratingsOf(fourRaters)
	r, err := Ceiling(ratings, Scale{Labels: []string{"1", "2", "3", "4", "5"}, Ordered: true}, stat.SourceHuman, stat.Options{})
	require.NoError(t, err)
	near(t, .8153875, *r.Alpha.Value, "alpha")
	near(t, .77544407, *r.AC1.Value, "AC1")
	require.Nil(t, r.AC1.CI)
	require.Equal(t, stat.StatusInsufficient, r.AC1.Status)
	require.Equal(t, [3]int{12, 11, 4}, [3]int{r.Items, r.Shared, r.Raters})
	e, err := Alpha(scores, LevelInterval, stat.SourceHuman, stat.Options{})
	require.NoError(t, err)
	near(t, .84910714, *e.Value, "alpha of numbers")
}

func TestReferenceParadox(t *testing.T) {
	t.Parallel()
	a := align(t, [][]int{{118, 5}, {2, 0}}, Scale{})
	near(t, -.023391813, *a.Kappa.Nominal.Value, "kappa")
	near(t, .94077634, *a.AC1.Value, "AC1")
	near(t, .023056964, *a.AC1.SE, "se of AC1")
	near(t, -.024691358, *a.Alpha.Value, "alpha")
	require.True(t, a.Skewed)
}

func TestReferenceScores(t *testing.T) {
	t.Parallel()
	h := []float64{1, 2, 2, 3, 3, 4, 5, 5, 4, 2}
	j := []float64{1, 2, 3, 3, 2, 4, 4, 5, 5, 3}
	var all []Scored
	for i := range h {
		all = append(all, Scored{Item: strconv.Itoa(i), Human: h[i], Judge: j[i], Probability: 1})
	}
	n, err := AlignScores(all, stat.Options{})
	require.NoError(t, err)
	near(t, .83860759, *n.Spearman.Value, "Spearman")
	nearInterval(t, .340992, .96912571, n.Spearman.CI, "Spearman")
	near(t, .71794872, *n.Kendall.Value, "Kendall")
	nearInterval(t, .3578783, .89214655, n.Kendall.CI, "Kendall")
	near(t, .84991097, *n.Pearson.Value, "Pearson")
	nearInterval(t, .47385918, .96378863, n.Pearson.CI, "Pearson")
	near(t, .84662577, *n.Concordance.Value, "concordance")
	near(t, .1, *n.Bias.Value, "bias")
	require.InDelta(t, -1.346215, *n.LowerLimit.Value, 1e-6)
	require.InDelta(t, 1.546215, *n.UpperLimit.Value, 1e-6)
}

func TestReferencePosition(t *testing.T) {
	t.Parallel()
	p, err := PositionBias(14, 4, 80, stat.Options{})
	require.NoError(t, err)
	near(t, .225, *p.FlipRate.Value, "flip rate")
	nearInterval(t, .14733207, .3278679, p.FlipRate.CI, "flip rate")
	near(t, .125, *p.Index.Value, "index")
	nearInterval(t, .023181779, .23310443, p.Index.CI, "index")
	near(t, .030883789, *p.PExact, "exact")
	near(t, .019210815, *p.P, "mid-p")
}

func TestReferenceLengthSlope(t *testing.T) {
	t.Parallel()
	e, err := LengthSlope([]float64{-1.2, -.8, -.5, -.3, 0, .1, .4, .7, .9, 1.3}, []float64{-.2, -.1, 0, -.1, .05, 0, .1, .1, .25, .2}, stat.Options{})
	require.NoError(t, err)
	near(t, .16720779, *e.Value, "slope")
	near(t, .024387965, *e.SE, "se")
	nearInterval(t, .11096904, .22344654, e.CI, "slope")
}

func TestReferenceSelfPreference(t *testing.T) {
	t.Parallel()
	rows := func(xs ...float64) (all []stat.Observation) {
		for i, x := range xs {
			all = append(all, stat.Observation{Item: strconv.Itoa(i), Score: x})
		}
		return all
	}
	c, err := SelfPreference(rows(.2, .1, .3, 0, .15), rows(0, .05, -.1, .1, 0, -.05, .05), stat.Options{})
	require.NoError(t, err)
	near(t, .14285714, *c.Difference.Value, "difference in differences")
	near(t, .056091519, *c.Difference.SE, "se")
	near(t, 6.0651259, *c.Difference.DF, "degrees of freedom")
	nearInterval(t, .0059625955, .27975169, c.Difference.CI, "difference in differences")
}

func TestReferenceConsistency(t *testing.T) {
	t.Parallel()
	var all []Repeats
	for i, row := range [][]int{{1, 1, 1, 1}, {1, 1, 0, 1}, {0, 0, 0, 0}, {1, 0, 1, 0}, {1, 1, 1, 1}} {
		r := Repeats{Item: strconv.Itoa(i)}
		for _, v := range row {
			r.Labels = append(r.Labels, strconv.Itoa(v))
		}
		all = append(all, r)
	}
	c, err := SelfConsistency(all, Scale{Labels: labels(2)}, stat.Options{})
	require.NoError(t, err)
	near(t, .76666667, *c.Agreement.Value, "agreement")
	near(t, .14529663, *c.Agreement.SE, "se")
	near(t, .51282051, *c.Alpha.Value, "alpha")
	near(t, .48717949, *c.Fleiss.Value, "Fleiss' kappa")
	near(t, 3.0/20, *c.FlipRate.Value, "flip rate")

	items := [][]float64{{3, 4, 3}, {2, 2, 3}, {5, 5, 4}, {1, 2, 1}, {4, 4, 4}}
	n, err := Repeatability(items, stat.Options{})
	require.NoError(t, err)
	between, within := squares(items)
	near(t, 5.2666667, between, "mean square between")
	near(t, .26666667, within, "mean square within")
	near(t, .86206897, *n.ICC.Value, "ICC")
	nearInterval(t, .53270914, .98301887, n.ICC.CI, "ICC")
	near(t, math.Sqrt(.86206897), *n.Ceiling.Value, "ceiling")
}

func TestReferenceReplacement(t *testing.T) {
	t.Parallel()
	who := func(xs ...float64) map[string]float64 {
		all := map[string]float64{}
		for i, x := range xs {
			all[strconv.Itoa(i)] = x
		}
		return all
	}
	p := Panel{
		Annotators: []map[string]float64{who(1, 1, 0, 1, 0, 1, 1, 0, 1, 1), who(1, 0, 0, 1, 0, 1, 1, 1, 1, 1), who(1, 1, 0, 0, 0, 1, 0, 0, 1, 1)},
		Judge:      who(1, 1, 0, 1, 0, 1, 1, 0, 1, 0),
	}
	raw, adjusted, err := tested([]contest{p.against(0), p.against(1), p.against(2)}, .2)
	require.NoError(t, err)
	for j, want := range [][2]float64{{.1717182, .3148167}, {.06450273, .1773825}, {.06450273, .1773825}} {
		require.InDelta(t, want[0], raw[j], 5e-8, "p") // printed with seven digits
		require.InDelta(t, want[1], adjusted[j], 5e-8, "adjusted p")
	}
	require.Zero(t, winning(adjusted))

	r, err := Replace(p, .2, stat.Options{})
	require.NoError(t, err)
	near(t, .9, *r.Advantage.Value, "advantage")
	require.Equal(t, stat.StatusInsufficient, r.Status)
	require.False(t, r.May)
	require.True(t, slices.ContainsFunc(r.Annotators, func(a Advantage) bool { return a.Items == 10 && a.P == nil }))
}
