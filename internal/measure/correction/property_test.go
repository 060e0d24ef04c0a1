package correction_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

// draw makes items of which some have labels.
func draw(t *rapid.T) ([]correction.Item, stat.Options) {
	steps := rapid.SampledFrom([]int{1, 4, 1 << 20}).Draw(t, "steps")
	score := func(name string) float64 { return float64(rapid.IntRange(0, steps).Draw(t, name)) / float64(steps) }
	clustered, chosen := rapid.IntRange(0, 3).Draw(t, "clustered") == 0, rapid.IntRange(0, 2).Draw(t, "chosen")
	labelled := rapid.SampledFrom([]int{0, 1, 2, 14, 15, 40}).Draw(t, "labelled")
	var items []correction.Item
	for i := range labelled + rapid.SampledFrom([]int{0, 1, 2, 60}).Draw(t, "unlabelled") {
		it := correction.Item{Item: strconv.Itoa(i), Judge: score("judge")}
		if i < labelled {
			it.Human = new(float64)
			*it.Human = score("human")
			it.Probability = []float64{.5, []float64{.2, .9}[i%2], []float64{0, .5}[i%2]}[chosen]
		}
		if clustered && chosen != 1 {
			it.Cluster = map[bool]string{true: "l", false: "u"}[i < labelled] + strconv.Itoa(i/2)
			if chosen == 2 { // labels that may not be used leave whole clusters
				it.Cluster = ""
			}
		}
		items = append(items, it)
	}
	o := stat.Options{Range: stat.Unit(), Replicates: 100}
	if rapid.IntRange(0, 3).Draw(t, "no range") == 0 {
		o.Range = nil
	}
	return items, o
}

// sound checks what every estimate promises.
func sound(t require.TestingT, what string, e stat.Estimate) {
	_, err := json.Marshal(e)
	require.NoError(t, err, what)
	require.NotEmpty(t, e.Method, what)
	if e.SE != nil {
		require.Positive(t, *e.SE, what)
	}
	if e.Status != stat.StatusOK {
		require.NotEmpty(t, e.Warnings, what)
	}
	if e.CI == nil {
		require.NotContains(t, []stat.Status{stat.StatusOK, stat.StatusFragile}, e.Status, what)
	}
	if e.CI != nil && e.Value != nil {
		require.LessOrEqual(t, *e.CI.Lower, *e.Value, what)
		require.GreaterOrEqual(t, *e.CI.Upper, *e.Value, what)
		require.Less(t, *e.CI.Lower, *e.CI.Upper, what)
	}
}

func TestEstimatesAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		items, o := draw(r)
		c, err := correction.Correct(items, o)
		require.NoError(r, err)
		sound(r, "headline", c.Headline.Estimate)
		sound(r, "judge", c.Judge)
		sound(r, "human", c.Human)
		require.Nil(r, c.Judge.CI, "an opinion has no interval")
		if c.Estimator == correction.EstimatorPPI {
			require.GreaterOrEqual(r, *c.Headline.Lambda, 0.0)
			require.LessOrEqual(r, *c.Headline.Lambda, 1.0)
			require.Equal(r, stat.SourceHybrid, c.Headline.Source)
		}
		if e := c.Headline; o.Range != nil && e.Value != nil {
			require.GreaterOrEqual(r, *e.Value, 0.0)
			require.LessOrEqual(r, *e.Value, 1.0)
		}
	})
}

// The order of the items changes nothing.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		items, o := draw(r)
		before, err := correction.Correct(items, o)
		require.NoError(r, err)
		items = slices.Clone(items)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		after, err := correction.Correct(items, o)
		require.NoError(r, err)
		require.Equal(r, before, after)
	})
}

// Passing and failing are names: turned round, the estimate is too.
func TestRelabelling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		items, o := draw(r)
		before, err := correction.Correct(items, o)
		require.NoError(r, err)
		turned := slices.Clone(items)
		for i := range turned {
			turned[i].Judge = 1 - turned[i].Judge
			if h := turned[i].Human; h != nil {
				x := 1 - *h
				turned[i].Human = &x
			}
		}
		after, err := correction.Correct(turned, o)
		require.NoError(r, err)
		require.Equal(r, before.Estimator, after.Estimator)
		if before.Estimator == correction.EstimatorActive {
			return // an estimate that weighs by probabilities knows where zero is
		}
		if v := before.Headline.Value; v != nil {
			require.InDelta(r, 1-*v, *after.Headline.Value, 1e-9)
		}
		if ci := before.Headline.CI; ci != nil {
			require.InDelta(r, 1-*ci.Lower, *after.Headline.CI.Upper, 1e-9)
		}
	})
}

// A judge that says the same of everything leaves what people say.
func TestUselessJudge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		items, o := draw(r)
		for i := range items {
			items[i].Judge = .5
		}
		c, err := correction.Correct(items, o)
		require.NoError(r, err)
		if c.Estimator == correction.EstimatorPPI {
			require.Zero(r, *c.Headline.Lambda)
			sum, n := map[string][2]float64{}, 0.0
			for i, it := range items {
				if it.Human != nil && it.Probability > 0 {
					name := it.Cluster
					if name == "" {
						name = "item" + strconv.Itoa(i)
					}
					sum[name] = [2]float64{sum[name][0] + *it.Human, sum[name][1] + 1}
				}
			}
			mean := 0.0
			for _, s := range sum {
				mean += s[0] / s[1]
				n++
			}
			require.InDelta(r, mean/n, *c.Headline.Value, 1e-9)
		}
	})
}

// Probabilities spend about the budget, and none is out of bounds.
func TestProbabilitiesSpendTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(r, "items")
		u := make([]float64, n)
		for i := range u {
			u[i] = float64(rapid.IntRange(0, 100).Draw(r, "uncertainty")) / 50
		}
		budget := float64(rapid.IntRange(0, n).Draw(r, "budget"))
		p, err := correction.Probabilities(u, budget)
		require.NoError(r, err)
		var sum float64
		for i, x := range p {
			require.GreaterOrEqual(r, x, .01)
			require.LessOrEqual(r, x, 1.0)
			sum += x
			for j, y := range p {
				if u[i] > u[j] {
					require.GreaterOrEqual(r, x, y-1e-12, "what is less sure is labelled more often")
				}
			}
		}
		require.LessOrEqual(r, sum, budget+.01*float64(n)+1e-9)
	})
}

// Curves never fall, and stay between 0 and 1.
func TestCurvesRise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(r, "points")
		var x, y []float64
		var good []bool
		for range n {
			x = append(x, float64(rapid.IntRange(0, 10).Draw(r, "score"))/10)
			good = append(good, rapid.Bool().Draw(r, "good"))
			y = append(y, 0)
			if good[len(good)-1] {
				y[len(y)-1] = 1
			}
		}
		steps, err := correction.Isotonic(x, y, nil)
		require.NoError(r, err)
		sigmoid, ok := correction.Platt(x, good)
		for _, at := range []func(float64) float64{steps.At, sigmoid.At} {
			last := math.Inf(-1)
			for s := -.2; s < 1.2; s += .05 {
				p := at(s)
				require.GreaterOrEqual(r, p, 0.0)
				require.LessOrEqual(r, p, 1.0)
				require.GreaterOrEqual(r, p, last-1e-12)
				last = p
			}
			if !ok {
				break
			}
		}
		// What is averaged keeps its mean.
		var fitted, mean float64
		for i := range x {
			fitted += steps.At(x[i])
			mean += y[i]
		}
		require.InDelta(r, mean, fitted, 1e-9)
	})
}

// More wrong verdicts never loosen a threshold.
func TestWrongVerdictsNeverLoosen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var trials []correction.Trial
		for range rapid.IntRange(0, 200).Draw(r, "trials") {
			trials = append(trials, correction.Trial{Confidence: float64(rapid.IntRange(50, 100).Draw(r, "confidence")) / 100, Wrong: rapid.IntRange(0, 19).Draw(r, "wrong") == 0})
		}
		threshold := func() (float64, float64) {
			a, err := correction.Learn(trials, correction.Grid(), .1, .9)
			require.NoError(r, err)
			b, err := correction.Control(trials, correction.Grid(), .05)
			require.NoError(r, err)
			of := func(x correction.Route) float64 {
				if x.Threshold == nil {
					require.NotEmpty(r, x.Reason)
					return 2
				}
				return *x.Threshold
			}
			return of(a), of(b)
		}
		a, b := threshold()
		for i := range trials {
			trials[i].Wrong = trials[i].Wrong || i%7 == 0
		}
		worseA, worseB := threshold()
		require.GreaterOrEqual(r, worseA, a)
		require.GreaterOrEqual(r, worseB, b)
	})
}
