package correction_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

func TestCorrectIsNotMadeOfRounding(t *testing.T) {
	t.Parallel()
	for labels := 15; labels < 60; labels++ { // the mean of some of them is not the label
		items := make([]correction.Item, 100)
		for i := range items {
			items[i] = correction.Item{Item: strconv.Itoa(i), Judge: float64(i%7) / 10}
			if i < labels {
				items[i].Human, items[i].Probability = ptr(.05), .5
			}
		}
		c, err := correction.Correct(items, stat.Options{})
		require.NoError(t, err)
		require.Equal(t, correction.EstimatorPPI, c.Estimator)
		require.Equal(t, stat.StatusDegenerate, c.Headline.Status, labels)
		require.Nil(t, c.Headline.SE)
		require.Nil(t, c.Headline.CI)
	}
}

func TestActiveLabels(t *testing.T) {
	t.Parallel()
	correct := func(t *testing.T, items []correction.Item) correction.Corrected {
		t.Helper()
		c, err := correction.Correct(items, stat.Options{Range: stat.Unit()})
		require.NoError(t, err)
		return c
	}
	// Everything was in the draw: half of it with one probability, half with another.
	drawn := func(n int) []correction.Item {
		items := make([]correction.Item, n)
		for i := range items {
			items[i] = correction.Item{Item: strconv.Itoa(i), Judge: float64(i % 2), Probability: []float64{.1, .2}[i/(n/2)]}
			if (i < n/2 && i%10 == 3) || (i >= n/2 && i%5 == 2) {
				items[i].Human = ptr(float64((i / 5) % 2))
			}
		}
		return items
	}

	t.Run("items that were not in the draw are not measured by it", func(t *testing.T) {
		t.Parallel()
		items := judged(500, 40, .5)
		items[3].Probability = .1
		c := correct(t, items)
		require.Equal(t, stat.StatusNotIdentified, c.Headline.Status)
		require.Nil(t, c.Headline.Value)
		require.Nil(t, c.Headline.CI)
	})

	t.Run("labels that nobody drew do not count as items without one", func(t *testing.T) {
		t.Parallel()
		alone := correct(t, drawn(400))
		require.Equal(t, correction.EstimatorActive, alone.Estimator)
		require.NotNil(t, alone.Headline.CI)
		more := drawn(400)
		for i := range 100 {
			more = append(more, correction.Item{Item: "more " + strconv.Itoa(i), Judge: 1, Human: ptr(1.0)})
		}
		with := correct(t, more)
		require.Equal(t, 100, with.Purposive)
		require.Equal(t, alone.Headline.Value, with.Headline.Value)
		require.Equal(t, alone.Headline.CI, with.Headline.CI)
	})

	t.Run("in clusters, the labels stand alone", func(t *testing.T) {
		t.Parallel()
		items := drawn(400)
		for i := range items {
			items[i].Cluster = strconv.Itoa(i / 4)
		}
		c := correct(t, items)
		require.Equal(t, correction.EstimatorHuman, c.Estimator)
		require.Equal(t, c.Human.Value, c.Headline.Value)
		require.NotEqual(t, stat.StatusOK, c.Headline.Status)
		require.NotEmpty(t, c.Headline.Warnings)
	})
}

func TestClustersLabelledInPart(t *testing.T) {
	t.Parallel()
	items := judged(500, 80, .5)
	for i := range items {
		items[i].Cluster = strconv.Itoa(i / 4)
	}
	items[80].Cluster = "0"
	c, err := correction.Correct(items, stat.Options{Range: stat.Unit()})
	require.NoError(t, err)
	require.Equal(t, correction.EstimatorHuman, c.Estimator)
	require.Equal(t, stat.StatusFragile, c.Headline.Status)
	require.Equal(t, c.Human.Value, c.Headline.Value)
	h, err := correction.CorrectStrata([]correction.Stratum{{Share: 1, Items: items}}, stat.Options{Range: stat.Unit()})
	require.NoError(t, err)
	require.Equal(t, stat.StatusNotIdentified, h.Status)
	require.Nil(t, h.CI)
}

func TestVersionsWithoutLabels(t *testing.T) {
	t.Parallel()
	items := judged(100, 0, 0)
	items[50].Version = "2"
	c, err := correction.Correct(items, stat.Options{Range: stat.Unit()})
	require.NoError(t, err)
	require.Equal(t, correction.EstimatorJudge, c.Estimator)
	require.Equal(t, stat.StatusNotComparable, c.Headline.Status)
}

func TestCalibrateAScoreThatSaysNothing(t *testing.T) {
	t.Parallel()
	for n := 20; n < 60; n++ {
		score, good := make([]float64, n), make([]bool, n)
		for i := range score {
			score[i], good[i] = .05, i%3 > 0
		}
		_, ok := correction.Platt(score, good)
		require.False(t, ok, n)
	}
	shifted := points(300)
	for i := range shifted {
		shifted[i].Score = 1e6 + shifted[i].Score/1e3
	}
	plain, err := correction.Calibrate(points(300), stat.Options{Replicates: 100})
	require.NoError(t, err)
	c, err := correction.Calibrate(shifted, stat.Options{Replicates: 100})
	require.NoError(t, err)
	for i, p := range points(300) {
		want, _ := plain.At(p.Score)
		got, ok := c.At(shifted[i].Score)
		require.True(t, ok)
		require.InDelta(t, want, got, 1e-5, "the scale of a score does not matter")
	}
}

func TestSharesThatDoNotFit(t *testing.T) {
	t.Parallel()
	e, err := correction.Shares([]int{1000, 0}, [][]int{{90, 10}, {10, 90}}, stat.Options{})
	require.NoError(t, err)
	for _, e := range e {
		require.Equal(t, stat.StatusNotIdentified, e.Status)
		require.Nil(t, e.CI)
	}
	e, err = correction.Shares([]int{92, 8}, [][]int{{90, 10}, {10, 90}}, stat.Options{})
	require.NoError(t, err)
	require.NotNil(t, e[0].CI)
	require.Contains(t, e[0].Warnings, "the judge's error rates do not fit these items")
}

func TestClustersOfDifferentSize(t *testing.T) {
	t.Parallel()
	var items []correction.Item
	for c := range 120 { // large clusters fail, small ones pass
		size, passed := 1, 1.0
		if c%2 == 0 {
			size, passed = 9, 0
		}
		for i := range size {
			it := correction.Item{Item: strconv.Itoa(c) + "/" + strconv.Itoa(i), Cluster: strconv.Itoa(c), Judge: passed}
			if c < 60 {
				it.Human, it.Probability = ptr(passed), .5
			}
			items = append(items, it)
		}
	}
	c, err := correction.Correct(items, stat.Options{Range: stat.Unit()})
	require.NoError(t, err)
	require.Equal(t, correction.EstimatorPPI, c.Estimator)
	require.InDelta(t, .1, *c.Judge.Value, 1e-12)
	require.InDelta(t, .1, *c.Human.Value, 1e-12)
	require.InDelta(t, .1, *c.Headline.Value, 1e-12, "a mean over items, as the numbers to compare it with")
	require.Equal(t, [3]int{300, 300, 60}, [3]int{c.Headline.N, c.Headline.Items, c.Headline.Clusters})
}

func TestCheckKnowsClusters(t *testing.T) {
	t.Parallel()
	check := func(copies int, cluster bool) correction.Check {
		var all []correction.Chance
		for i, p := range points(200) {
			c := correction.Chance{Probability: .1 + .8*p.Score, Good: p.Good}
			if cluster {
				c.Cluster = strconv.Itoa(i)
			}
			for range copies {
				all = append(all, c)
			}
		}
		c, err := correction.CheckChances(all, stat.Options{Replicates: 200})
		require.NoError(t, err)
		return c
	}
	once, often, naive := check(1, false), check(5, true), check(5, false)
	require.InEpsilon(t, *once.Slope.SE, *often.Slope.SE, .25, "copies of an item say nothing new")
	require.InEpsilon(t, *once.Intercept.SE, *often.Intercept.SE, .25)
	require.Less(t, *naive.Slope.SE, .6*(*often.Slope.SE))
	require.Equal(t, [2]int{1000, 200}, [2]int{often.Slope.N, often.Slope.Clusters})
	require.Nil(t, often.P, "the test assumes that items are independent")
	require.NotNil(t, naive.P)
	width := func(b correction.Bin) float64 { return *b.Rate.CI.Upper - *b.Rate.CI.Lower }
	require.Greater(t, width(often.Reliability[5]), 1.5*width(naive.Reliability[5]))
	require.Equal(t, [3]int{1000, 1000, 200}, [3]int{often.ECE.N, often.ECE.Items, often.ECE.Clusters})
}

func TestNothingToPlanWith(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, correction.VarianceRatio(.9, 0, 0), 0, "no items, no gain")
	r, err := correction.Capacity(nil, .5, .9)
	require.NoError(t, err)
	require.Nil(t, r.Threshold)
	require.Equal(t, stat.Note("no trials"), r.Reason)
	trials := make([]correction.Trial, 5000)
	for i := range trials {
		trials[i].Confidence = 1
	}
	r, err = correction.Learn(trials, correction.Grid(), .5, .9)
	require.NoError(t, err)
	require.Positive(t, *r.Steps[0].P, "no p-value is zero")
}
