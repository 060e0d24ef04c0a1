package correction_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

func ptr[T any](v T) *T { return &v }

// judged makes items that a judge passed or failed, the first of them labelled.
func judged(n, labels int, probability float64) []correction.Item {
	items := make([]correction.Item, n)
	for i := range items {
		items[i] = correction.Item{Item: strconv.Itoa(i), Judge: float64(i % 2)}
		if i < labels {
			items[i].Human, items[i].Probability = ptr(float64((i/3)%2)), probability
		}
	}
	return items
}

func TestCorrect(t *testing.T) {
	t.Parallel()
	correct := func(t *testing.T, items []correction.Item) correction.Corrected {
		t.Helper()
		c, err := correction.Correct(items, stat.Options{Range: stat.Unit()})
		require.NoError(t, err)
		return c
	}

	t.Run("without labels there is an opinion", func(t *testing.T) {
		t.Parallel()
		c := correct(t, judged(500, 0, 0))
		require.Equal(t, correction.EstimatorJudge, c.Estimator)
		require.Equal(t, stat.StatusUncalibrated, c.Headline.Status)
		require.Equal(t, stat.SourceJudge, c.Headline.Source)
		require.Nil(t, c.Headline.CI)
		require.InDelta(t, .5, *c.Headline.Value, 1e-12)
	})

	t.Run("nothing at all", func(t *testing.T) {
		t.Parallel()
		c := correct(t, nil)
		require.Equal(t, stat.StatusInsufficient, c.Headline.Status)
		require.Nil(t, c.Headline.Value)
	})

	t.Run("with few labels only people count", func(t *testing.T) {
		t.Parallel()
		c := correct(t, judged(500, 14, .5))
		require.Equal(t, correction.EstimatorHuman, c.Estimator)
		require.Equal(t, "wilson", c.Headline.CI.Method)
		require.Equal(t, 14, c.Headline.N)
		require.Equal(t, correction.EstimatorPPI, correct(t, judged(500, 15, .5)).Estimator)
		require.Equal(t, correction.EstimatorHuman, correct(t, judged(40, 40, .5)).Estimator, "nothing is left to correct")
	})

	t.Run("labels that nobody drew correct nothing", func(t *testing.T) {
		t.Parallel()
		c := correct(t, judged(500, 40, 0))
		require.Equal(t, correction.EstimatorJudge, c.Estimator)
		require.Equal(t, [2]int{0, 40}, [2]int{c.Labels, c.Purposive})
		require.Len(t, c.Headline.Warnings, 2)
	})

	t.Run("unequal probabilities are weighed", func(t *testing.T) {
		t.Parallel()
		items := judged(100, 40, .5)
		for i := range items {
			items[i].Probability = .5
		}
		items[3].Probability = .1
		c := correct(t, items)
		require.Equal(t, correction.EstimatorActive, c.Estimator)
		require.Equal(t, "active_ppi", c.Headline.Method)
		require.NotNil(t, c.Headline.CI)
		few := judged(12, 5, .5)
		few[3].Probability = .1
		require.Equal(t, "inverse_probability", correct(t, few).Headline.Method)
	})

	t.Run("two versions of a judge are two judges", func(t *testing.T) {
		t.Parallel()
		items := judged(500, 40, .5)
		items[499].Version = "2"
		c := correct(t, items)
		require.Equal(t, stat.StatusNotComparable, c.Headline.Status)
		require.Nil(t, c.Headline.CI)
	})

	t.Run("a cluster is one label", func(t *testing.T) {
		t.Parallel()
		items := judged(500, 80, .5)
		for i := range items {
			items[i].Cluster = strconv.Itoa(i / 4)
		}
		c := correct(t, items)
		require.Equal(t, 20, c.Headline.Clusters)
		items[80].Cluster = "0"
		require.Equal(t, correction.EstimatorHuman, correct(t, items).Estimator, "labelled in part")
	})

	t.Run("differences of two systems", func(t *testing.T) {
		t.Parallel()
		items := judged(500, 60, .5)
		for i := range items {
			items[i].Judge = float64(i%3) - 1
			if items[i].Human != nil {
				items[i].Human = ptr(float64(i%3) - 1)
			}
		}
		c, err := correction.Correct(items, stat.Options{Range: &stat.Range{Lower: -1, Upper: 1}})
		require.NoError(t, err)
		require.InDelta(t, 0, *c.Headline.Value, .01)
		require.Greater(t, *c.Headline.LabelsSaved, 100.0, "the judge is always right")
	})

	t.Run("scores without a range need many labels", func(t *testing.T) {
		t.Parallel()
		c, err := correction.Correct(judged(500, 100, .5), stat.Options{})
		require.NoError(t, err)
		require.Equal(t, stat.StatusFragile, c.Headline.Status)
		require.Equal(t, "ppi_t", c.Headline.CI.Method)
	})
}

func TestRoganGladen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		passed, n int
		rates     correction.ErrorRates
		status    stat.Status
	}{
		"few failures":         {80, 100, correction.ErrorRates{Failed: 9, FailedRight: 9, Passed: 50, PassedRight: 50}, stat.StatusInsufficient},
		"a coin":               {80, 100, correction.ErrorRates{Failed: 50, FailedRight: 26, Passed: 50, PassedRight: 26}, stat.StatusNotIdentified},
		"no items":             {0, 0, correction.ErrorRates{Failed: 50, FailedRight: 40, Passed: 50, PassedRight: 40}, stat.StatusInsufficient},
		"few of one kind":      {80, 100, correction.ErrorRates{Failed: 20, FailedRight: 18, Passed: 50, PassedRight: 48}, stat.StatusFragile},
		"enough":               {80, 100, correction.ErrorRates{Failed: 50, FailedRight: 45, Passed: 50, PassedRight: 48}, stat.StatusOK},
		"rates that fit badly": {100, 100, correction.ErrorRates{Failed: 50, FailedRight: 45, Passed: 50, PassedRight: 40}, stat.StatusNotIdentified},
	} {
		e, err := correction.RoganGladen(c.passed, c.n, c.rates, stat.Options{})
		require.NoError(t, err, name)
		require.Equal(t, c.status, e.Status, name)
		sound(t, name, e)
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	e, err := correction.Shares([]int{550, 300, 150}, [][]int{{90, 8, 10}, {7, 85, 15}, {3, 7, 75}}, stat.Options{Replicates: 300})
	require.NoError(t, err)
	for i, want := range []float64{.56948424, .27936963, .15114613} {
		require.InDelta(t, want, *e[i].Value, 1e-7)
		sound(t, strconv.Itoa(i), e[i])
	}
	e, err = correction.Shares([]int{50, 50}, [][]int{{50, 49}, {50, 51}}, stat.Options{})
	require.NoError(t, err)
	require.Equal(t, stat.StatusNotIdentified, e[0].Status)
	e, err = correction.Shares([]int{50, 50}, [][]int{{50, 1}, {50, 1}}, stat.Options{})
	require.NoError(t, err)
	require.Equal(t, stat.StatusInsufficient, e[0].Status)
}

// points draws scores and outcomes whose relation is steep in the middle.
func points(n int) []correction.Point {
	random := rand.New(rand.NewPCG(4, 4))
	all := make([]correction.Point, n)
	for i := range all {
		x := random.Float64()
		p := .1
		if x > .3 {
			p = .5
		}
		if x > .8 {
			p = .95
		}
		all[i] = correction.Point{Score: x, Good: random.Float64() < p}
	}
	return all
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	o := stat.Options{Replicates: 200}
	small, err := correction.Calibrate(points(300), o)
	require.NoError(t, err)
	require.Equal(t, "platt", small.Method)
	require.Equal(t, 10, small.Check.Bins)
	for what, e := range map[string]stat.Estimate{
		"brier": small.Check.Brier, "log loss": small.Check.LogLoss, "ece": small.Check.ECE,
		"intercept": small.Check.Intercept, "slope": small.Check.Slope,
	} {
		sound(t, what, e)
	}
	p, ok := small.At(.9)
	require.True(t, ok)
	require.Greater(t, p, .7)

	large, err := correction.Calibrate(points(5000), o)
	require.NoError(t, err)
	require.Equal(t, "isotonic", large.Method, "steps that no sigmoid follows")
	again, err := correction.Calibrate(points(5000), o)
	require.NoError(t, err)
	require.Equal(t, large, again)

	backwards := points(300)
	for i := range backwards {
		backwards[i].Score *= -1
	}
	none, err := correction.Calibrate(backwards, o)
	require.NoError(t, err)
	require.Equal(t, stat.StatusNotIdentified, none.Status)
	_, ok = none.At(1)
	require.False(t, ok)
	one, err := correction.Calibrate([]correction.Point{{Score: 1, Good: true}}, o)
	require.NoError(t, err)
	require.Equal(t, stat.StatusNotIdentified, one.Status)
}

func TestNext(t *testing.T) {
	t.Parallel()
	var all []correction.Candidate
	for i := range 400 {
		all = append(all, correction.Candidate{Item: strconv.Itoa(i), Probability: float64(i) / 400})
	}
	seed := stat.Seed{Organization: "o", Resource: "r", DataVersion: "1"}
	choices, err := correction.Next(all, 50, true, seed)
	require.NoError(t, err)
	again, err := correction.Next(all, 50, true, seed)
	require.NoError(t, err)
	require.Equal(t, choices, again)
	chosen := 0
	for _, c := range choices {
		if c.Chosen {
			chosen++
		}
	}
	require.InDelta(t, 50, chosen, 25)
	require.Greater(t, choices[200].Probability, choices[4].Probability)
	closed, err := correction.Next(all, 50, false, seed)
	require.NoError(t, err)
	require.InDelta(t, choices[200].Priority/4, closed[200].Priority, 1e-15)
}

func TestDrift(t *testing.T) {
	t.Parallel()
	compare := func(n, down, up int) correction.Drift {
		d, err := correction.CompareAnchors(correction.Anchors{N: n, PassToFail: down, FailToPass: up, BaselineFlip: .03}, stat.Options{})
		require.NoError(t, err)
		return d
	}
	require.Equal(t, correction.ShiftUnresolved, compare(50, 0, 0).Shift, "too few anchors show nothing")
	require.Equal(t, correction.ShiftNone, compare(500, 1, 1).Shift)
	require.Equal(t, correction.ShiftChanged, compare(500, 60, 5).Shift)
	require.Greater(t, *compare(500, 60, 5).Evidence, 20.0)
	require.Less(t, *compare(500, 5, 5).Evidence, 1.0)
	require.Equal(t, stat.StatusInsufficient, compare(0, 0, 0).Direction.Status)

	c, err := correction.CompareCorrectness(correction.Correctness{Both: 150, Now: 4, Before: 20, Never: 26}, stat.Options{})
	require.NoError(t, err)
	require.InDelta(t, -.08, *c.Difference.Value, 1e-12)
	require.Less(t, *c.P, .01)
	sound(t, "change", c.Difference)
}

func TestStale(t *testing.T) {
	t.Parallel()
	require.Empty(t, correction.Stale(89*24*time.Hour, true, false))
	require.NotEmpty(t, correction.Stale(91*24*time.Hour, true, false))
	require.NotEmpty(t, correction.Stale(0, false, false))
	require.NotEmpty(t, correction.Stale(0, true, true))
}

func TestMargin(t *testing.T) {
	t.Parallel()
	m, err := correction.Margin([]float64{1, 2, 3}, .9)
	require.NoError(t, err)
	require.Nil(t, m, "three distances say nothing about nine of ten")
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func() error{
		"score": func() error {
			_, err := correction.Correct([]correction.Item{{Judge: 2}}, stat.Options{Range: stat.Unit()})
			return err
		},
		"label": func() error {
			_, err := correction.Correct([]correction.Item{{Human: ptr(math.NaN())}}, stat.Options{})
			return err
		},
		"probability": func() error {
			_, err := correction.Correct([]correction.Item{{Probability: 2}}, stat.Options{})
			return err
		},
		"level": func() error { _, err := correction.Correct(nil, stat.Options{Level: 2}); return err },
		"counts": func() error {
			_, err := correction.RoganGladen(2, 1, correction.ErrorRates{}, stat.Options{})
			return err
		},
		"no strata": func() error { _, err := correction.CorrectStrata(nil, stat.Options{}); return err },
		"shares":    func() error { _, err := correction.Shares([]int{1}, [][]int{{1}}, stat.Options{}); return err },
		"budget":    func() error { _, err := correction.Probabilities([]float64{1}, math.NaN()); return err },
		"candidate": func() error {
			_, err := correction.Next([]correction.Candidate{{Probability: 2}}, 1, true, stat.Seed{})
			return err
		},
		"isotonic": func() error { _, err := correction.Isotonic([]float64{1}, nil, nil); return err },
		"point": func() error {
			_, err := correction.Calibrate([]correction.Point{{Score: math.Inf(1)}}, stat.Options{})
			return err
		},
		"chance": func() error {
			_, err := correction.CheckChances([]correction.Chance{{Probability: 2}}, stat.Options{})
			return err
		},
		"grid": func() error { _, err := correction.Learn(nil, []float64{.5, .9}, .1, .9); return err },
		"risk": func() error { _, err := correction.Control(nil, correction.Grid(), 0); return err },
		"confidence": func() error {
			_, err := correction.Learn([]correction.Trial{{Confidence: 2}}, correction.Grid(), .1, .9)
			return err
		},
		"capacity": func() error { _, err := correction.Capacity(nil, 2, .9); return err },
		"margin":   func() error { _, err := correction.Margin([]float64{-1}, .9); return err },
		"plan":     func() error { _, err := correction.LabelsFor(2, 1, 1, 1, stat.Options{}); return err },
		"anchors": func() error {
			_, err := correction.CompareAnchors(correction.Anchors{N: 1, PassToFail: 2, BaselineFlip: .1}, stat.Options{})
			return err
		},
		"correctness": func() error {
			_, err := correction.CompareCorrectness(correction.Correctness{Both: -1}, stat.Options{})
			return err
		},
		"neyman split": func() error { _, err := correction.SplitLabels(1, 2, 1, 1); return err },
	} {
		require.ErrorIs(t, call(), stat.ErrInput, name)
	}
}
