package consensus

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// zeroOne is the scale of the reference votes.
var zeroOne = agreement.Scale{Labels: []string{"0", "1"}}

// rows makes votes: a row for each item, a letter for each annotator, a point
// where there is no vote.
func rows(items ...string) []Vote {
	var all []Vote
	for i, row := range items {
		for j, label := range row {
			if label != '.' {
				all = append(all, Vote{Item: "t" + strconv.Itoa(i+1), Annotator: "w" + strconv.Itoa(j+1), Label: string(label)})
			}
		}
	}
	return all
}

// reference is eight items and four annotators.
func reference() []Vote {
	return rows("1110", "0000", "1101", "0101", "111.", "00.1", "1.10", ".000")
}

func fitted(t *testing.T, method Method) Consensus {
	t.Helper()
	c, err := Fit(reference(), zeroOne, Options{Method: method})
	require.NoError(t, err)
	return c
}

// ones returns the probabilities of label 1.
func ones(post []float64) []float64 {
	var out []float64
	for i := 1; i < len(post); i += 2 {
		out = append(out, post[i])
	}
	return out
}

func posterior(c Consensus) (all []float64) {
	for _, it := range c.Items {
		all = append(all, it.Posterior...)
	}
	return ones(all)
}

func modelOf(t *testing.T, coin, smooth bool, rounds int) *model {
	t.Helper()
	v, err := read(reference(), zeroOne, nil, nil)
	require.NoError(t, err)
	m := newModel(v, coin, smooth, make([]bool, len(v.annotators)))
	m.fit(rounds, func() {})
	return m
}

func TestReferenceVoteShares(t *testing.T) {
	t.Parallel()
	m := modelOf(t, false, true, 0)
	require.InDeltaSlice(t, []float64{.75, 0, .75, .5, 1, 1. / 3, 2. / 3, 0}, ones(m.post), 1e-12)
}

func TestReferenceDawidSkene(t *testing.T) {
	t.Parallel()
	c := fitted(t, MethodDawidSkene)
	require.Equal(t, stat.StatusOK, c.Status)
	require.InDeltaSlice(t, []float64{.9705528, .021868006, .84244108, .26234378, .97556179, .080489722, .92142822, .083129555}, posterior(c), 1e-8)
	require.InDelta(t, .51578149, c.Prior[1], 1e-8)
	for j, want := range [][2]float64{{.80710075, .78228732}, {.80990799, .71182555}, {.68776588, .80879295}, {.51522875, .58714727}} {
		a := c.Annotators[j]
		require.InDelta(t, want[0], a.Confusion[1][1], 1e-8, a.Annotator)
		require.InDelta(t, want[1], a.Confusion[0][0], 1e-8, a.Annotator)
		require.InDelta(t, c.Prior[1]*want[0]+c.Prior[0]*want[1], *a.Accuracy.Value, 1e-8)
	}
	for i, want := range []float64{.191612, .151804, .628438, .830263, .165682, .403902, .397127, .413112} {
		require.InDelta(t, want, *c.Items[i].Entropy, 1e-6)
	}
	require.InDelta(t, .91951, *c.Items[5].Probability, 1e-5)
	for i, want := range []string{"1", "0", "1", "0", "1", "0", "1", "0"} {
		require.Equal(t, want, string(c.Items[i].Label))
		require.Equal(t, []int{4, 4, 4, 4, 3, 3, 3, 3}[i], c.Items[i].Votes)
		require.Equal(t, []bool{true, false, true, true, false, true, true, false}[i], c.Items[i].Disagreement)
	}
}

// Crowd-kit's numbers: without smoothing, one round still says something, and
// when it has converged everything is certain.
func TestReferenceMaximumLikelihood(t *testing.T) {
	t.Parallel()
	m := modelOf(t, false, false, 1)
	require.InDeltaSlice(t, []float64{.962825, .011842, .852756, .369554, .972544, .055808, .886985, .039887}, ones(m.post), 1e-6)
	for _, p := range posterior(fitted(t, MethodDawidSkeneML)) {
		require.True(t, p < 1e-6 || p > 1-1e-6, "%v", p)
	}
}

func TestReferenceOneCoin(t *testing.T) {
	t.Parallel()
	c := fitted(t, MethodOneCoinML)
	for j, want := range []float64{1, .851318, .851318, .422746} {
		require.InDelta(t, want, c.Annotators[j].Confusion[0][0], 1e-6)
		require.InDelta(t, want, c.Annotators[j].Confusion[1][1], 1e-6)
	}
}

// Votes are counted with one vote more, and no tie is broken.
func TestReferenceMajority(t *testing.T) {
	t.Parallel()
	c := fitted(t, "")
	require.Equal(t, MethodMajority, c.Method)
	require.Equal(t, "an annotator has fewer than 10 votes", string(c.Reason))
	prior := (.75 + .75 + .5 + 1 + 1./3 + 2./3 + 1) / 10
	require.InDelta(t, prior, c.Prior[1], 1e-12)
	require.InDelta(t, (3+prior)/5, c.Items[0].Posterior[1], 1e-12)
	require.InDelta(t, (1+prior)/4, c.Items[5].Posterior[1], 1e-12)
	tied := c.Items[3]
	require.True(t, tied.Tied)
	require.Empty(t, tied.Label)
}

func TestReferenceGLAD(t *testing.T) {
	t.Parallel()
	v, err := read(reference(), zeroOne, nil, nil)
	require.NoError(t, err)
	g := newGlad(v, make([]bool, len(v.annotators)))
	g.fit(1000, func() {})
	require.True(t, g.converged)
	require.InDeltaSlice(t, []float64{.999997, .000074, .780265, .108283, .999984, .000284, .999774, .005138}, ones(g.post), 2e-6)
	require.InDeltaSlice(t, []float64{1.212720, .856782, .970992, -.102551}, g.alpha, 2e-6)
	c := fitted(t, MethodGLAD)
	require.True(t, c.Annotators[3].Excluded, "a skill below zero is worse than guessing")
}
