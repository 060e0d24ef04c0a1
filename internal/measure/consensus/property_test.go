package consensus_test

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
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/stat"
)

// drawn is votes over a scale.
type drawn struct {
	votes []consensus.Vote
	scale agreement.Scale
	o     consensus.Options
}

func draw(t *rapid.T) drawn {
	k := rapid.SampledFrom([]int{2, 3, 5}).Draw(t, "labels")
	d := drawn{scale: agreement.Scale{Ordered: rapid.Bool().Draw(t, "ordered")}}
	for i := range k {
		d.scale.Labels = append(d.scale.Labels, strconv.Itoa(i))
	}
	d.o.Method = rapid.SampledFrom([]consensus.Method{
		"", consensus.MethodMajority, consensus.MethodDawidSkene, consensus.MethodOneCoin, consensus.MethodGLAD, consensus.MethodDawidSkeneML, consensus.MethodOneCoinML,
	}).Draw(t, "method")
	d.o.Truth = consensus.Truth{}
	annotators := rapid.IntRange(1, 6).Draw(t, "annotators")
	skill := rapid.SliceOfN(rapid.IntRange(2, 10), annotators, annotators).Draw(t, "skill")
	for i := range rapid.SampledFrom([]int{0, 1, 5, 25, 40}).Draw(t, "items") {
		truth, item := rapid.IntRange(0, k-1).Draw(t, "truth"), fmt.Sprint("item ", i)
		if rapid.IntRange(0, 9).Draw(t, "expert") == 0 {
			d.o.Truth[item] = d.scale.Labels[truth]
		}
		for j := range annotators {
			if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
				continue
			}
			label := truth
			if rapid.IntRange(1, 10).Draw(t, "slip") > skill[j] {
				label = rapid.IntRange(0, k-1).Draw(t, "label")
			}
			d.votes = append(d.votes, consensus.Vote{Item: item, Annotator: fmt.Sprint("annotator ", j), Label: d.scale.Labels[label]})
		}
	}
	return d
}

func (d drawn) fit(t require.TestingT) consensus.Consensus { return fit(t, d.votes, d.scale, d.o) }

func shuffled[T any](r *rapid.T, all []T) []T {
	all = slices.Clone(all)
	seed := rapid.Uint64().Draw(r, "order")
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// Posteriors are probabilities, labels are the most probable ones, and matrices
// have rows that add up to one.
func TestConsensusIsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		c := d.fit(r)
		for _, it := range c.Items {
			if it.Posterior == nil {
				require.Equal(r, stat.StatusNotIdentified, c.Status)
				require.Empty(r, it.Label)
				continue
			}
			sum := 0.0
			for label, p := range it.Posterior {
				require.True(r, p >= 0 && p <= 1, "%v", p)
				require.LessOrEqual(r, p, *it.Probability)
				if string(it.Label) == d.scale.Labels[label] {
					require.InDelta(r, *it.Probability, p, 0)
				}
				sum += p
			}
			require.InDelta(r, 1, sum, 1e-9)
			require.True(r, *it.Entropy >= 0 && *it.Entropy <= 2.33)
			if truth, ok := d.o.Truth[it.Item]; ok {
				require.Equal(r, truth, string(it.Label))
			}
			if it.Tied {
				require.Empty(r, it.Label)
			}
		}
		for _, a := range c.Annotators {
			for _, row := range a.Confusion {
				sum := 0.0
				for _, p := range row {
					sum += p
				}
				require.InDelta(r, 1, sum, 1e-9)
			}
			if ci := a.Accuracy.CI; ci != nil {
				require.True(r, *ci.Lower <= *a.Accuracy.Value && *a.Accuracy.Value <= *ci.Upper)
			}
		}
		_, err := json.Marshal(c)
		require.NoError(r, err)
	})
}

// The order of the votes does not change a digit.
func TestOrderOfVotes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		once, err := json.Marshal(d.fit(r))
		require.NoError(r, err)
		d.votes = shuffled(r, d.votes)
		again, err := json.Marshal(d.fit(r))
		require.NoError(r, err)
		require.Equal(r, string(once), string(again))
	})
}

// near compares two fits of the same votes under other names: label c of the
// first is label of[c] of the second. Sums are taken in another order, so that
// digits at the end differ, and ties may end on either side.
func near(r *rapid.T, a, b consensus.Consensus, of []int, who func(string) string) {
	require.Equal(r, a.Status, b.Status)
	require.Equal(r, a.Method, b.Method)
	require.Len(r, b.Items, len(a.Items))
	for i, it := range a.Items {
		for c, p := range it.Posterior {
			require.InDelta(r, p, b.Items[i].Posterior[of[c]], 1e-6)
		}
		require.Equal(r, it.Disagreement, b.Items[i].Disagreement)
		require.Equal(r, it.Votes, b.Items[i].Votes)
	}
	for _, x := range a.Annotators {
		j := slices.IndexFunc(b.Annotators, func(y consensus.Annotator) bool { return y.Annotator == who(x.Annotator) })
		require.InDelta(r, *x.Accuracy.Value, *b.Annotators[j].Accuracy.Value, 1e-6)
		require.InDelta(r, x.Weight, b.Annotators[j].Weight, 1e-5)
	}
}

// steady methods come to the same point from nearly the same numbers; without
// smoothing, rounding may decide which of several points that is.
func steady(d *drawn) {
	switch d.o.Method {
	case consensus.MethodDawidSkeneML, consensus.MethodOneCoinML, consensus.MethodGLAD:
		d.o.Method = consensus.MethodDawidSkene
	}
}

// Labels are names: exchanging them exchanges the posteriors.
func TestLabelsAreNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		steady(&d)
		a := d.fit(r)
		k := len(d.scale.Labels)
		of := shuffled(r, func() (all []int) {
			for c := range k {
				all = append(all, c)
			}
			return all
		}())
		d.votes = slices.Clone(d.votes)
		for i := range d.votes {
			d.votes[i].Label = exchange(d.votes[i].Label, of)
		}
		truth := consensus.Truth{}
		for item, label := range d.o.Truth {
			truth[item] = exchange(label, of)
		}
		d.o.Truth = truth
		near(r, a, d.fit(r), of, func(name string) string { return name })
	})
}

func exchange(label string, of []int) string {
	c, _ := strconv.Atoi(label)
	return strconv.Itoa(of[c])
}

// Annotators are names, too.
func TestAnnotatorsAreNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		steady(&d)
		a := d.fit(r)
		who := func(name string) string {
			n, _ := strconv.Atoi(name[len(name)-1:])
			return fmt.Sprint("annotator ", 9-n)
		}
		d.votes = slices.Clone(d.votes)
		for i := range d.votes {
			d.votes[i].Annotator = who(d.votes[i].Annotator)
		}
		same := make([]int, len(d.scale.Labels))
		for c := range same {
			same[c] = c
		}
		near(r, a, d.fit(r), same, who)
	})
}

// Every item twice says the same about everything where nothing is smoothed, and
// otherwise leaves the confidence in annotators no lower.
func TestDuplicateItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		d.o.Method, d.o.Truth = consensus.MethodMajority, nil
		once := d.fit(r)
		for _, v := range slices.Clone(d.votes) {
			v.Item += " again"
			d.votes = append(d.votes, v)
		}
		twice := d.fit(r)
		for i, it := range once.Items {
			require.Equal(r, it.Label, twice.Items[2*i].Label)
			require.Equal(r, twice.Items[2*i].Posterior, twice.Items[2*i+1].Posterior)
		}
		d.o.Method = consensus.MethodDawidSkeneML
		twice = d.fit(r)
		for i := range once.Items {
			require.InDeltaSlice(r, twice.Items[2*i].Posterior, twice.Items[2*i+1].Posterior, 0)
		}
	})
}

// The same vote twice is refused, whatever it says.
func TestDuplicateVotes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		if len(d.votes) == 0 {
			return
		}
		twice := d.votes[rapid.IntRange(0, len(d.votes)-1).Draw(r, "vote")]
		twice.Label = d.scale.Labels[rapid.IntRange(0, len(d.scale.Labels)-1).Draw(r, "label")]
		_, err := consensus.Fit(append(d.votes, twice), d.scale, d.o)
		require.ErrorIs(r, err, stat.ErrInput)
	})
}
