package agreement_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// tenths makes items whose scores are all the same tenth.
func tenths(repeats int, scores ...float64) [][]float64 {
	items := make([][]float64, len(scores))
	for i, x := range scores {
		for range repeats {
			items[i] = append(items[i], x)
		}
	}
	return items
}

func TestRepeatabilityIsNotMadeOfRounding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		items  [][]float64
		status stat.Status
	}{
		"identical repeats":            {tenths(3, .1, .2, .3, .4, .5, .6, .7, .8, .9), stat.StatusDegenerate},
		"one score throughout":         {tenths(3, .05, .05, .05, .05, .05), stat.StatusUndefined},
		"a difference that underflows": {[][]float64{{0, 1e-160}, {1, 1}}, stat.StatusDegenerate},
		"equal means":                  {[][]float64{{0, 1}, {1, 0}, {0, 1}}, stat.StatusDegenerate},
	} {
		r, err := agreement.Repeatability(c.items, stat.Options{})
		require.NoError(t, err, name)
		require.Equal(t, c.status, r.ICC.Status, name)
		require.Nil(t, r.ICC.CI, name)
		require.Nil(t, r.Ceiling.CI, name)
	}
}

func TestLengthSlopeIsNotMadeOfRounding(t *testing.T) {
	t.Parallel()
	slope := func(length, errors []float64) stat.Estimate {
		e, err := agreement.LengthSlope(length, errors, stat.Options{})
		require.NoError(t, err)
		return e
	}
	alike := tenths(7, .05)[0]
	require.Equal(t, stat.StatusUndefined, slope(alike, []float64{1, 2, 3, 1, 2, 3, 4}).Status, "one length")
	require.Equal(t, stat.StatusDegenerate, slope([]float64{1, 2, 3, 4, 5, 6, 7}, alike).Status, "one error")
	require.Equal(t, stat.StatusDegenerate, slope([]float64{1, 2, 3, 4, 5, 6, 7}, []float64{.1, .2, .3, .4, .5, .6, .7}).Status, "a line")
	alone := slope([]float64{1, 1, 1, 1, 1, 9}, []float64{.1, .3, .2, .4, .1, 2})
	require.Equal(t, stat.StatusNotIdentified, alone.Status, "one output decides the slope")
	require.Nil(t, alone.CI)
}

// scaled makes pairs on a scale of k labels of which so many are used, each as
// often, and judged right with the given share.
func scaled(k, used, each int, right float64) ([]agreement.Pair, agreement.Scale) {
	var scale agreement.Scale
	for c := range k {
		scale.Labels = append(scale.Labels, strconv.Itoa(c))
	}
	var all []agreement.Pair
	for c := range used {
		for i := range each {
			p := agreement.Pair{Human: scale.Labels[c], Judge: scale.Labels[c], Probability: 1}
			if float64(i) >= right*float64(each) {
				p.Judge = scale.Labels[(c+1+i%(used-1))%used]
			}
			all = append(all, p)
		}
	}
	return all, scale
}

func TestLabelsThatNobodyUsed(t *testing.T) {
	t.Parallel()
	ps, scale := scaled(10, 3, 200, .95)
	a, err := agreement.Align(ps, scale, agreement.AlignmentOptions{})
	require.NoError(t, err)
	require.InDelta(t, .95, *a.Balanced.Value, 1e-12)
	require.Greater(t, *a.Balanced.CI.Lower, .92)
	require.Less(t, *a.Balanced.CI.Upper, .97)
	require.Contains(t, a.Balanced.Warnings, "labels that people never used are left out")
}

func TestF1OfManyLabels(t *testing.T) {
	t.Parallel()
	for _, k := range []int{2, 3, 5, 10} {
		ps, scale := scaled(k, k, 200/k, 1)
		a, err := agreement.Align(ps, scale, agreement.AlignmentOptions{})
		require.NoError(t, err)
		for _, c := range a.Classes {
			require.InDelta(t, 1, *c.F1.Value, 1e-12, k)
			require.Less(t, *c.F1.CI.Lower, .999, "%d labels", k)
		}
	}
}

func TestSingleRatingsAreNotAgreement(t *testing.T) {
	t.Parallel()
	var all []agreement.Rating
	for i := range 60 {
		r := agreement.Rating{Item: strconv.Itoa(i), Rater: "a", Label: passFail.Labels[i%2]}
		all = append(all, r)
		if i < 5 {
			r.Rater = "b"
			all = append(all, r)
		}
	}
	r, err := agreement.Ceiling(all, passFail, stat.SourceHuman, stat.Options{})
	require.NoError(t, err)
	require.Equal(t, stat.StatusInsufficient, r.AC1.Status)
	require.Nil(t, r.AC1.CI)
	require.Equal(t, [3]int{5, 5, 5}, [3]int{r.AC1.N, r.AC1.Items, r.AC1.Clusters})
}

func TestDecideWithoutAValue(t *testing.T) {
	t.Parallel()
	e := stat.Estimate{N: 40, Clusters: 40}
	e.Between(.2, .9, .95, "none")
	v := agreement.Decide(e, agreement.MeasureKappa, .6)
	require.Equal(t, agreement.OutcomeInsufficient, v.Outcome)
	require.Nil(t, v.MoreLabels)
}

func TestReplacementNamesTheFirstWrongItem(t *testing.T) {
	t.Parallel()
	wrong := map[string]float64{}
	for i := range 20 {
		wrong[strconv.Itoa(10+i)] = math.NaN()
	}
	for range 10 {
		_, err := agreement.Replace(agreement.Panel{Annotators: []map[string]float64{wrong}}, .1, stat.Options{})
		require.ErrorContains(t, err, `"10"`)
	}
}

func TestCorrelationsOfFewClusters(t *testing.T) {
	t.Parallel()
	correlate := func(clusters int, scale float64) agreement.Numeric {
		var all []agreement.Scored
		for i := range 60 {
			all = append(all, agreement.Scored{
				Item: strconv.Itoa(i), Cluster: strconv.Itoa(i % clusters), Probability: 1,
				Human: scale * float64(i%7), Judge: scale * float64(i%7+i%3),
			})
		}
		n, err := agreement.AlignScores(all, stat.Options{})
		require.NoError(t, err)
		return n
	}
	for _, clusters := range []int{2, 3, 4} {
		n := correlate(clusters, 1)
		for _, e := range []stat.Estimate{n.Pearson, n.Spearman, n.Kendall, n.Concordance} {
			require.Equal(t, stat.StatusInsufficient, e.Status, "%s of %d clusters", e.Method, clusters)
			require.Nil(t, e.CI)
		}
	}
	plain := correlate(12, 1).Pearson
	for _, scale := range []float64{1e90, 1e-80} {
		e := correlate(12, scale).Pearson
		require.InDelta(t, *plain.Value, *e.Value, 1e-9)
		require.InDelta(t, plain.NEff, e.NEff, 1e-6)
	}
}

func TestAlphaKeepsToTheRange(t *testing.T) {
	t.Parallel()
	_, err := agreement.Alpha([]agreement.Score{{Item: "a", Rater: "b", Value: 2}}, agreement.LevelInterval, stat.SourceHuman, stat.Options{Range: stat.Unit()})
	require.ErrorIs(t, err, stat.ErrInput)
}
