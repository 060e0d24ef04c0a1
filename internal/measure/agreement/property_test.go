package agreement_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// drawn is pairs over a scale.
type drawn struct {
	pairs []agreement.Pair
	scale agreement.Scale
	o     agreement.AlignmentOptions
}

func draw(t *rapid.T) drawn {
	k := rapid.SampledFrom([]int{2, 3, 4, 5, 10}).Draw(t, "labels")
	d := drawn{scale: agreement.Scale{Ordered: rapid.Bool().Draw(t, "ordered")}}
	for i := range k {
		d.scale.Labels = append(d.scale.Labels, strconv.Itoa(i))
	}
	if k == 2 {
		d.scale.Positive = "1"
	}
	clustered, chosen := rapid.Bool().Draw(t, "clustered"), rapid.IntRange(0, 3).Draw(t, "chosen")
	used := rapid.IntRange(1, k).Draw(t, "used labels")
	for i := range rapid.SampledFrom([]int{0, 1, 2, 19, 20, 60, 120}).Draw(t, "pairs") {
		p := agreement.Pair{Item: fmt.Sprint("item ", i), Human: strconv.Itoa(rapid.IntRange(0, used-1).Draw(t, "human"))}
		p.Judge = p.Human
		if rapid.IntRange(0, 3).Draw(t, "own mind") == 0 {
			p.Judge = strconv.Itoa(rapid.IntRange(0, k-1).Draw(t, "judge"))
		}
		if clustered {
			p.Cluster = strconv.Itoa(i / 3)
		}
		switch chosen {
		case 1:
			p.Probability = 0.5
		case 2:
			p.Probability = []float64{0.1, 0.5, 1}[i%3]
		case 3:
			p.Probability = []float64{0, 0.5}[i%2]
		}
		d.pairs = append(d.pairs, p)
	}
	d.o = agreement.AlignmentOptions{Options: stat.Options{Replicates: 100}}
	return d
}

func (d drawn) align(t require.TestingT) agreement.Alignment {
	a, err := agreement.Align(d.pairs, d.scale, d.o)
	require.NoError(t, err)
	return a
}

// estimates visits every estimate of an alignment.
func estimates(a agreement.Alignment, visit func(what string, e stat.Estimate)) {
	visit("accuracy", a.Accuracy)
	visit("balanced accuracy", a.Balanced)
	visit("mcc", a.MCC)
	visit("kappa", a.Kappa.Nominal)
	visit("ac1", a.AC1)
	visit("alpha", a.Alpha)
	for _, e := range []*stat.Optional{a.Kappa.Linear, a.Kappa.Quadratic, a.AC2} {
		if e != nil {
			visit(e.Method, e.Estimate)
		}
	}
	for _, c := range a.Classes {
		visit("precision of "+c.Label, c.Precision)
		visit("recall of "+c.Label, c.Recall)
		visit("f1 of "+c.Label, c.F1)
	}
}

// sound checks what every estimate promises: the value lies in the interval,
// nothing is collapsed to a point, weakness has a reason, and all of it is JSON.
func sound(t require.TestingT, what string, e stat.Estimate) {
	_, err := json.Marshal(e)
	require.NoError(t, err, what)
	require.NotEmpty(t, e.Method, what)
	require.NotEmpty(t, e.Source, what)
	if e.SE != nil {
		require.Positive(t, *e.SE, what)
	}
	if e.Status != stat.StatusOK {
		require.NotEmpty(t, e.Warnings, what)
	}
	switch {
	case e.Value == nil:
		require.Nil(t, e.CI, what)
		require.NotContains(t, []stat.Status{stat.StatusOK, stat.StatusFragile}, e.Status, what)
	case e.CI == nil:
		require.NotContains(t, []stat.Status{stat.StatusOK, stat.StatusFragile}, e.Status, what)
	default:
		require.LessOrEqual(t, *e.CI.Lower, *e.Value, what)
		require.GreaterOrEqual(t, *e.CI.Upper, *e.Value, what)
		require.Less(t, *e.CI.Lower, *e.CI.Upper, what)
	}
}

func TestEstimatesAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		a := draw(r).align(r)
		estimates(a, func(what string, e stat.Estimate) {
			sound(r, what, e)
			if e.Value != nil {
				require.LessOrEqual(r, *e.Value, 1.0)
				if e.Method != "gwet_ac2_quadratic" { // chance may give it more than half of all agreement
					require.GreaterOrEqual(r, *e.Value, -1.0001)
				}
			}
		})
		require.Contains(r, []agreement.Outcome{agreement.OutcomeAligned, agreement.OutcomeMisaligned, agreement.OutcomeInsufficient}, a.Verdict.Outcome)
		if a.Verdict.Outcome != agreement.OutcomeInsufficient {
			require.GreaterOrEqual(r, a.Items, 20)
		}
	})
}

// The order of the pairs changes nothing, and the same pairs give the same digits.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		before := d.align(r)
		d.pairs = slices.Clone(d.pairs)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(d.pairs), func(i, j int) { d.pairs[i], d.pairs[j] = d.pairs[j], d.pairs[i] })
		require.Equal(r, before, d.align(r))
	})
}

// When the raters change places, precision and recall do, and what is between the
// two stays.
func TestRatersChangePlaces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		a := d.align(r)
		for i := range d.pairs {
			d.pairs[i].Human, d.pairs[i].Judge = d.pairs[i].Judge, d.pairs[i].Human
		}
		b := d.align(r)
		same := func(x, y stat.Estimate) {
			require.Equal(r, x.Value == nil, y.Value == nil)
			if x.Value != nil {
				require.InDelta(r, *x.Value, *y.Value, 1e-12)
			}
		}
		same(a.Accuracy, b.Accuracy)
		same(a.Kappa.Nominal, b.Kappa.Nominal)
		same(a.MCC, b.MCC)
		same(a.AC1, b.AC1)
		same(a.Alpha, b.Alpha)
		for c := range a.Classes {
			same(a.Classes[c].Precision, b.Classes[c].Recall)
			same(a.Classes[c].Recall, b.Classes[c].Precision)
			same(a.Classes[c].F1, b.Classes[c].F1)
		}
	})
}

// New names for the labels change nothing, nor does reading a scale backwards.
func TestLabelsAreNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		a := d.align(r)
		d.scale.Labels = slices.Clone(d.scale.Labels)
		slices.Reverse(d.scale.Labels)
		b := d.align(r)
		for _, c := range [][2]*stat.Estimate{
			{&a.Kappa.Nominal, &b.Kappa.Nominal},
			{estimate(a.Kappa.Linear), estimate(b.Kappa.Linear)},
			{estimate(a.Kappa.Quadratic), estimate(b.Kappa.Quadratic)},
			{&a.AC1, &b.AC1},
			{estimate(a.AC2), estimate(b.AC2)},
			{&a.Alpha, &b.Alpha},
			{&a.MCC, &b.MCC},
			{&a.Balanced, &b.Balanced},
		} {
			if c[0] == nil || c[0].Value == nil {
				require.True(r, c[1] == nil || c[1].Value == nil)
				continue
			}
			require.InDelta(r, *c[0].Value, *c[1].Value, 1e-12)
		}
	})
}

// Kappa and alpha are 1 exactly where nothing differs and more than one label is
// used; where one label is used throughout they have no value.
func TestPerfectAgreement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		used := map[string]bool{}
		for i := range d.pairs {
			d.pairs[i].Judge = d.pairs[i].Human
			if d.pairs[i].Probability > 0 || d.align(r).Population == agreement.PopulationSelected {
				used[d.pairs[i].Human] = true
			}
		}
		a := d.align(r)
		for _, e := range []stat.Estimate{a.Kappa.Nominal, a.Alpha} {
			if len(used) < 2 {
				require.Nil(r, e.Value)
				continue
			}
			require.InDelta(r, 1, *e.Value, 1e-12)
			if e.CI != nil {
				require.Less(r, *e.CI.Lower, 1.0, "agreement without exception is still not known to be perfect")
			}
		}
	})
}

// Copies of a pair in its cluster add nothing: the cluster is the unit.
func TestCopiesInAClusterAddNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		for i := range d.pairs {
			d.pairs[i].Cluster = strconv.Itoa(i)
		}
		once := d.align(r)
		d.pairs = append(d.pairs, d.pairs...)
		twice := d.align(r)
		require.Equal(r, once.AC1.Clusters, twice.AC1.Clusters)
		if once.AC1.SE != nil {
			require.InEpsilon(r, *once.AC1.SE, *twice.AC1.SE, 1e-9)
			require.InDelta(r, *once.AC1.CI.Lower, *twice.AC1.CI.Lower, 1e-9)
		}
	})
}

// Scores: correlations do not change with the unit of measurement, lie between
// -1 and 1, and turn round with one of the raters.
func TestScoresAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var all []agreement.Scored
		coarse := rapid.IntRange(1, 6).Draw(r, "steps")
		chosen := rapid.Bool().Draw(r, "chosen")
		for i := range rapid.SampledFrom([]int{0, 1, 2, 4, 5, 12, 60}).Draw(r, "pairs") {
			p := agreement.Scored{Human: float64(rapid.IntRange(0, coarse).Draw(r, "human")), Judge: float64(rapid.IntRange(0, coarse).Draw(r, "judge")), Probability: 1}
			p.Cluster = []string{"", strconv.Itoa(i / 2)}[i%2]
			if chosen {
				p.Probability = []float64{0.2, 0.9}[i%2]
			}
			all = append(all, p)
		}
		a, err := agreement.AlignScores(all, stat.Options{})
		require.NoError(r, err)
		visit := func(n agreement.Numeric) []stat.Estimate {
			return []stat.Estimate{n.Pearson, n.Spearman, n.Kendall, n.Concordance}
		}
		for _, e := range append(visit(a), a.LowerLimit, a.UpperLimit) {
			sound(r, e.Method, e)
		}
		for i := range all {
			all[i].Human *= -8
		}
		b, err := agreement.AlignScores(all, stat.Options{})
		require.NoError(r, err)
		for i, e := range visit(a)[:3] {
			if e.Value != nil {
				require.InDelta(r, -*e.Value, *visit(b)[i].Value, 1e-12)
			}
		}
	})
}

// estimate is what an optional estimate holds, nil if it holds none.
func estimate(o *stat.Optional) *stat.Estimate {
	if o == nil {
		return nil
	}
	return &o.Estimate
}
