package correction

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
const (
	closed    = 1e-7
	iterative = 1e-6
)

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

var unit = stat.Options{Range: stat.Unit()}

func TestReferenceRoganGladen(t *testing.T) {
	t.Parallel()
	e, err := RoganGladen(820, 1000, ErrorRates{40, 30, 80, 72}, stat.Options{})
	require.NoError(t, err)
	near(t, .87692308, *e.Value, "value")
	near(t, .050646104, *e.SE, "se")
	nearInterval(t, .78487871, .99582043, e.CI, "interval")
	r := newRegular(820, 1000, ErrorRates{40, 30, 80, 72}, stat.NormalCritical(.05))
	near(t, .88625814, r.centre, "centre")
	near(t, .0040914356, r.shift, "shift")
	near(t, .053812652, r.se, "se of the interval")

	e, err = RoganGladen(950, 1000, ErrorRates{40, 38, 80, 79}, stat.Options{})
	require.NoError(t, err)
	near(t, .96, *e.Value, "value")
	nearInterval(t, .93259663, 1, e.CI, "interval")
	e, err = RoganGladen(180, 200, ErrorRates{20, 18, 20, 20}, stat.Options{})
	require.NoError(t, err)
	near(t, .88888889, *e.Value, "value")
	nearInterval(t, .82300293, 1, e.CI, "interval")

	passed, err := SplitLabels(100, .87692308, .75, .9)
	require.NoError(t, err)
	near(t, 83.154617, passed, "split")

	shares, _ := solveShares([][]float64{{.9, .08, .1}, {.07, .85, .15}, {.03, .07, .75}}, []float64{.55, .30, .15})
	for i, want := range []float64{.56948424, .27936963, .15114613} {
		near(t, want, shares[i], "share")
	}
}

var small = pool{
	human: []float64{1, 0, 1, 1, 0, 1, 1, 0},
	judge: []float64{.9, .3, .8, .7, .4, .95, .6, .5},
	rest:  []float64{.85, .2, .9, .75, .65, .35, .95, .8, .1, .7, .55, .9},
}

func TestReferencePPI(t *testing.T) {
	t.Parallel()
	f := small.corrected(nil)
	near(t, .92938668, f.lambda, "lambda")
	near(t, .62306378, f.value, "value")
	near(t, .14502896, f.se, "se")
	near(t, 12.734847, f.human/(f.se*f.se), "effective labels")
	half := stat.NormalCritical(.05) * f.se
	near(t, .33881223, f.value-half, "z, lower end")
	near(t, .90731533, f.value+half, "z, upper end")
	f = small.corrected(ptr(1.0))
	near(t, .62291667, f.value, "lambda 1")
	near(t, .14510039, f.se, "se of lambda 1")
	f = small.corrected(ptr(0.0))
	near(t, .625, f.value, "lambda 0")
	near(t, .18298126, f.se, "se of lambda 0")
	soft := small.softened(*stat.Unit()).corrected(nil)
	near(t, 10, soft.size, "weights")
	near(t, .61418578, soft.value, "adjusted")
	near(t, .1499762, soft.se, "adjusted se")
	h := small.estimate(8, stat.Options{Level: .95, Range: stat.Unit()})
	nearInterval(t, .27491605, .95345551, h.CI, "adjusted")
	near(t, .62306378, *h.Value, "the value is not adjusted")
}

// pairsOf makes items from counts of judge and human: both pass, only the judge,
// only the human, neither; and from unlabelled passes.
func pairsOf(both, judge, human, none, passed, unlabelled int) (items []Item) {
	add := func(n int, j, h float64) {
		for range n {
			items = append(items, Item{Item: strconv.Itoa(len(items)), Judge: j, Human: ptr(h), Probability: .05})
		}
	}
	add(both, 1, 1)
	add(judge, 1, 0)
	add(human, 0, 1)
	add(none, 0, 0)
	for i := range unlabelled {
		it := Item{Item: strconv.Itoa(len(items))}
		if i < passed {
			it.Judge = 1
		}
		items = append(items, it)
	}
	return items
}

func TestReferenceHeadline(t *testing.T) {
	t.Parallel()
	c, err := Correct(pairsOf(62, 8, 6, 24, 1480, 2000), unit)
	require.NoError(t, err)
	require.Equal(t, EstimatorPPI, c.Estimator)
	near(t, .71626766, *c.Headline.Lambda, "lambda")
	near(t, .70865071, *c.Headline.Value, "value")
	near(t, .035382714, *c.Headline.SE, "se")
	nearInterval(t, .63657492, .77824839, c.Headline.CI, "adjusted")
	near(t, 101, *c.Headline.DF, "degrees of freedom")
	near(t, 175.5664, *c.Headline.EffectiveLabels, "effective labels")
	near(t, .68, *c.Human.Value, "human only")
	near(t, .046882617, *c.Human.SE, "se of human only")

	p, _, ok := newPool(newSplit(pairsOf(62, 8, 6, 24, 1480, 2000)))
	require.True(t, ok)
	near(t, .74, total(p.rest)/float64(len(p.rest)), "raw judge")
	soft := p.softened(*stat.Unit()).corrected(nil)
	near(t, .70741166, soft.value, "adjusted value")
	near(t, .03570884, soft.se, "adjusted se")
	f := p.corrected(ptr(1.0))
	near(t, .72, f.value, "classical")
	near(t, .038811714, f.se, "se of classical")

	e, err := RoganGladen(1480, 2000, ErrorRates{Failed: 32, FailedRight: 24, Passed: 68, PassedRight: 62}, stat.Options{})
	require.NoError(t, err)
	near(t, .74044444, *e.Value, "Rogan–Gladen")
	nearInterval(t, .63773951, .84965706, e.CI, "Rogan–Gladen")
}

func TestReferenceAllPass(t *testing.T) {
	t.Parallel()
	items := pairsOf(18, 0, 2, 0, 850, 1000)
	p, _, ok := newPool(newSplit(items))
	require.True(t, ok)
	f := p.corrected(nil)
	near(t, 1, f.value, "plain value")
	require.Zero(t, f.se, "plain: certainty that nobody has")
	c, err := Correct(items, unit)
	require.NoError(t, err)
	nearInterval(t, .86070584, 1, c.Headline.CI, "adjusted")
}

func TestReferenceStrata(t *testing.T) {
	t.Parallel()
	stratum := func(share float64, y, f, u []float64) Stratum {
		s := Stratum{Share: share}
		for i := range y {
			s.Items = append(s.Items, Item{Judge: f[i], Human: &y[i], Probability: .5})
		}
		for _, x := range u {
			s.Items = append(s.Items, Item{Judge: x})
		}
		return s
	}
	strata := []Stratum{
		stratum(.7, []float64{1, 1, 0, 1, 1}, []float64{.9, .8, .6, .9, .7}, []float64{.9, .8, .85, .6, .95, .7, .75}),
		stratum(.3, []float64{0, 1, 0, 0}, []float64{.3, .6, .2, .4}, []float64{.3, .5, .2, .4, .35}),
	}
	h, err := CorrectStrata(strata, unit)
	require.NoError(t, err)
	near(t, .6365, *h.Value, "value")
	near(t, .12881738, *h.SE, "se")
	for i, want := range []float64{.81285714, .225} {
		p, _, ok := newPool(newSplit(strata[i].Items))
		require.True(t, ok)
		f := p.corrected(nil)
		near(t, 1, f.lambda, "lambda, cut at 1")
		near(t, want, f.value, "value of the stratum")
	}
}

func TestReferenceActive(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	y := []float64{1, 0, none, 1, none, none, 0, none, 1, none}
	f := []float64{.9, .4, .95, .6, .1, .85, .5, .2, .7, .9}
	pi := []float64{.3, .9, .2, .9, .3, .4, .95, .4, .7, .3}
	var c chosen
	for i := range y {
		c.judge = append(c.judge, f[i])
		if math.IsNaN(y[i]) {
			c.human, c.inverse = append(c.human, 0), append(c.inverse, 0)
			continue
		}
		c.human, c.inverse = append(c.human, y[i]), append(c.inverse, 1/pi[i])
	}
	value, se := c.corrected(1)
	near(t, .6335589, value, "lambda 1")
	near(t, .1619104, se, "se of lambda 1")
	near(t, 1.1152824, c.tuned(), "tuned lambda")
	value, se = c.corrected(c.tuned())
	near(t, .63889155, value, "tuned")
	near(t, .15869982, se, "se of tuned")
}

func TestReferenceProbabilities(t *testing.T) {
	t.Parallel()
	u := []float64{.1, .1, .2, .2, .4, 1, 2}
	p, err := fill(u, 3)
	require.NoError(t, err)
	variance := func(p func(i int) float64) (sum float64) {
		for i, x := range u {
			sum += x * x / p(i)
		}
		return sum
	}
	for i, want := range []float64{.1, .1, .2, .2, .4, 1, 1} {
		near(t, want, p[i], "probability")
	}
	near(t, 6, variance(func(i int) float64 { return p[i] }), "variance")
	near(t, 12.273333, variance(func(int) float64 { return 3.0 / 7 }), "variance of a uniform choice")
}

func TestReferenceCalibration(t *testing.T) {
	t.Parallel()
	x := []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, .95}
	y := []float64{0, 0, 1, 0, 1, 0, 1, 1, 1, 1}
	steps, err := Isotonic(x, y, nil)
	require.NoError(t, err)
	var good []bool
	var chances []Chance
	for i, want := range []float64{0, 0, .5, .5, .5, .5, 1, 1, 1, 1} {
		near(t, want, steps.At(x[i]), "isotonic")
		good = append(good, y[i] == 1)
		chances = append(chances, Chance{Probability: x[i], Good: y[i] == 1})
	}
	s, ok := Platt(x, good)
	require.True(t, ok)
	require.InDelta(t, -3.784546, s.A, iterative)
	require.InDelta(t, 1.598329, s.B, iterative)
	require.InDelta(t, .57296, s.At(.5), 1e-5)

	c, err := CheckChances(chances, stat.Options{})
	require.NoError(t, err)
	near(t, .14525, *c.Brier.Value, "Brier")
	near(t, -.41103969, *c.Spiegelhalter, "Spiegelhalter")
	require.InDelta(t, .37939447, *c.Intercept.Value, iterative)
	require.InDelta(t, 1.4440053, *c.Slope.Value, iterative)

	steps, err = Isotonic([]float64{1, 2, 2, 3, 3, 3, 4, 5}, []float64{0, 1, 0, 1, 0, 1, 1, 1}, nil)
	require.NoError(t, err)
	for i, want := range []float64{0, .5, .66666667, 1, 1} {
		near(t, want, steps.At(float64(i+1)), "isotonic with ties")
	}
}

func TestReferenceRouting(t *testing.T) {
	t.Parallel()
	var all []Step
	accepted, wrong := []int{60, 95, 130, 160, 190, 220}, []int{0, 1, 2, 5, 9, 16}
	for i, threshold := range []float64{.95, .9, .85, .8, .75, .7} {
		all = append(all, Step{Threshold: threshold, Accepted: accepted[i], Wrong: wrong[i]})
	}
	r := learn(all, 300, .1, .9)
	near(t, .75, *r.Threshold, "threshold")
	for i, want := range []float64{.0017970103, .00051979156, .00013394854, .00090668692, .0065242736, .1046312} {
		near(t, want, *r.Steps[i].P, "p")
	}
	near(t, .8, *control(all, 300, .03).Threshold, "on average")

	var distances []float64
	for i := range 19 {
		distances = append(distances, float64(i+1))
	}
	slices.Reverse(distances)
	m, err := Margin(distances, .9)
	require.NoError(t, err)
	near(t, 18, *m, "the 18th smallest")
}

func TestReferencePlan(t *testing.T) {
	t.Parallel()
	l, err := LabelsFor(.67, .16, .03, 5000, stat.Options{})
	require.NoError(t, err)
	near(t, 399.01742, l.WithJudge, "with the judge")
	near(t, 682.92601, l.HumanOnly, "human only")
	near(t, .39047619, VarianceRatio(.8, 100, 2000), "variance ratio")
}

func TestReferenceDrift(t *testing.T) {
	t.Parallel()
	d, err := CompareAnchors(Anchors{N: 200, PassToFail: 12, FailToPass: 3, BaselineFlip: .03}, stat.Options{})
	require.NoError(t, err)
	near(t, .03515625, *d.PExact, "exact")
	near(t, .021270752, *d.P, "mid-p")
	near(t, .0011470953, *d.FlipsP, "flips")
	near(t, -.045, *d.Direction.Value, "shift")
	lower, upper := stat.Fourfold{OnlyB: 3, OnlyA: 12, None: 185}.Tango(.05)
	nearInterval(t, lower, upper, d.Direction.CI, "shift")
	require.Equal(t, ShiftUnresolved, d.Shift)
}
