package consensus_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/stat"
)

var passFail = agreement.Scale{Labels: []string{"pass", "fail"}}

// panel makes votes of annotators who label so many items, half of them pass.
// says is what an annotator says about an item with a truth.
func panel(items int, names []string, says func(annotator, item, truth int) int) []consensus.Vote {
	var all []consensus.Vote
	for i := range items {
		for j, name := range names {
			all = append(all, consensus.Vote{Item: fmt.Sprintf("%04d", i), Annotator: name, Label: passFail.Labels[says(j, i, i%2)]})
		}
	}
	return all
}

func fit(t require.TestingT, all []consensus.Vote, scale agreement.Scale, o consensus.Options) consensus.Consensus {
	c, err := consensus.Fit(all, scale, o)
	require.NoError(t, err)
	return c
}

// turn turns a label round where an annotator errs.
func turn(truth int, wrong bool) int {
	if wrong {
		return 1 - truth
	}
	return truth
}

func TestMethodFollowsTheVotes(t *testing.T) {
	t.Parallel()
	alike := func(j, i, truth int) int { return turn(truth, (i+j)%10 == 0) }
	unlike := func(j, i, truth int) int { return turn(truth, j == 0 && i%2 == 0) }
	for name, c := range map[string]struct {
		votes  []consensus.Vote
		method consensus.Method
		reason string
	}{
		"two annotators":                  {panel(40, []string{"a", "b"}, alike), consensus.MethodMajority, "fewer than 3 votes per item on average"},
		"three with 20 votes each":        {panel(20, []string{"a", "b", "c"}, alike), consensus.MethodDawidSkene, "at least 3 votes per item on average, and 20 of each annotator"},
		"few votes, like skill":           {panel(15, []string{"a", "b", "c"}, alike), consensus.MethodMajority, "an annotator has fewer than 20 votes, and annotators do not clearly differ in skill"},
		"few votes, clear difference":     {panel(15, []string{"a", "b", "c", "d"}, unlike), consensus.MethodOneCoin, "an annotator has fewer than 20 votes, and annotators clearly differ in skill"},
		"too few votes for any statement": {panel(9, []string{"a", "b", "c"}, alike), consensus.MethodMajority, "an annotator has fewer than 10 votes"},
		"no votes":                        {nil, consensus.MethodMajority, "an annotator has fewer than 10 votes"},
	} {
		got := fit(t, c.votes, passFail, consensus.Options{})
		require.Equal(t, c.method, got.Method, name)
		require.Equal(t, c.reason, string(got.Reason), name)
	}
}

func TestNothingToAgreeOn(t *testing.T) {
	t.Parallel()
	c := fit(t, nil, passFail, consensus.Options{})
	require.Equal(t, stat.StatusInsufficient, c.Status)
	require.Empty(t, c.Items)
	require.Empty(t, c.Annotators)
}

// An annotator who takes pass for fail is named and left out, and the others'
// labels stand.
func TestSwappedLabelsAreLeftOut(t *testing.T) {
	t.Parallel()
	all := panel(60, []string{"a", "b", "c", "swapped"}, func(j, i, truth int) int { return turn(truth, j == 3 || (i+j)%12 == 0) })
	for _, method := range []consensus.Method{consensus.MethodDawidSkene, consensus.MethodOneCoin, consensus.MethodGLAD} {
		c := fit(t, all, passFail, consensus.Options{Method: method})
		require.Equal(t, stat.StatusOK, c.Status)
		for _, a := range c.Annotators {
			swapped := a.Annotator == "swapped"
			require.Equal(t, swapped, a.Excluded, a.Annotator)
			require.Equal(t, swapped, a.BelowChance)
			require.Equal(t, swapped, a.Weight == 0)
		}
		require.Contains(t, c.Warnings, "annotators who are right less often than guessing would be are left out")
		for i, it := range c.Items {
			require.Equal(t, passFail.Labels[i%2], string(it.Label))
			require.Equal(t, 3, it.Votes)
		}
	}
}

// Where most annotators contradict what an expert knows there is no consensus,
// but for what the expert knows.
func TestMostAnnotatorsAgainstTheExpert(t *testing.T) {
	t.Parallel()
	all := panel(60, []string{"a", "b", "c"}, func(_, _, truth int) int { return 1 - truth })
	truth := consensus.Truth{}
	for i := range 40 {
		truth[fmt.Sprintf("%04d", i)] = passFail.Labels[i%2]
	}
	c := fit(t, all, passFail, consensus.Options{Truth: truth})
	require.Equal(t, stat.StatusNotIdentified, c.Status)
	for i, it := range c.Items {
		if i < 40 {
			require.Equal(t, consensus.MethodExpert, it.Method)
			require.Equal(t, passFail.Labels[i%2], string(it.Label))
			require.InDelta(t, 1, *it.Probability, 0)
			continue
		}
		require.Empty(t, it.Label)
		require.Nil(t, it.Posterior)
		require.Nil(t, it.Entropy)
	}
	for _, a := range c.Annotators {
		require.Equal(t, stat.StatusNotIdentified, a.Accuracy.Status)
		require.Nil(t, a.Accuracy.CI)
	}
}

// What an expert says stands against any number of votes, with every method, and
// moves the posteriors of other items.
func TestExpertsDecide(t *testing.T) {
	t.Parallel()
	says := func(j, i, truth int) int { return turn(truth, (i+2*j)%7 == 0) }
	all := panel(60, []string{"a", "b", "c"}, says)
	truth := consensus.Truth{"0002": "fail", "item without votes": "pass"}
	for _, method := range []consensus.Method{consensus.MethodMajority, consensus.MethodDawidSkene, consensus.MethodOneCoin, consensus.MethodGLAD, consensus.MethodDawidSkeneML, consensus.MethodOneCoinML} {
		free := fit(t, all, passFail, consensus.Options{Method: method})
		held := fit(t, all, passFail, consensus.Options{Method: method, Truth: truth})
		require.Equal(t, "pass", string(free.Items[2].Label), method)
		require.Equal(t, "fail", string(held.Items[2].Label), method)
		require.Equal(t, []float64{0, 1}, held.Items[2].Posterior)
		require.Zero(t, *held.Items[2].Entropy)
		require.NotEqual(t, free.Prior, held.Prior)
		require.Len(t, held.Items, 60)
	}
}

// A judge that is watched is graded like anybody, and moves nothing.
func TestWatchedAnnotatorsMoveNothing(t *testing.T) {
	t.Parallel()
	people := panel(60, []string{"a", "b", "c"}, func(j, i, truth int) int { return turn(truth, (i+2*j)%9 == 0) })
	all := append(slices.Clone(people), panel(61, []string{"judge"}, func(_, i, truth int) int { return turn(truth, i%3 == 0) })...)
	for _, method := range []consensus.Method{consensus.MethodMajority, consensus.MethodDawidSkene, consensus.MethodOneCoin} {
		before := fit(t, people, passFail, consensus.Options{Method: method})
		c := fit(t, all, passFail, consensus.Options{Method: method, Watched: []string{"judge", "nobody"}})
		require.Len(t, c.Items, 61)
		require.Empty(t, c.Items[60].Label, "nobody but the judge voted")
		for i, it := range before.Items {
			require.Equal(t, it.Label, c.Items[i].Label, method)
			require.Equal(t, it.Votes, c.Items[i].Votes)
			require.Equal(t, it.Disagreement, c.Items[i].Disagreement)
			require.InDelta(t, *it.Probability, *c.Items[i].Probability, 1e-12)
		}
		judge := c.Annotators[3]
		require.True(t, judge.Watched)
		require.False(t, judge.Excluded)
		require.Zero(t, judge.Weight)
		require.InDelta(t, .65, *judge.Accuracy.Value, .06)
		require.Equal(t, 61, judge.Votes)
	}
	graded := grade(t, consensus.Work{Votes: all, Watched: []string{"judge"}}, consensus.QualityOptions{})
	plain := grade(t, consensus.Work{Votes: people}, consensus.QualityOptions{})
	require.InDelta(t, .66, *graded["judge"].Consensus.Value, .05)
	require.Nil(t, graded["judge"].Change.Value)
	for _, name := range []string{"a", "b", "c"} {
		require.Equal(t, plain[name].Change, graded[name].Change)
		require.Equal(t, plain[name].Labels, graded[name].Labels)
	}
}

func TestTiesStayOpen(t *testing.T) {
	t.Parallel()
	all := panel(30, []string{"a", "b"}, func(j, _, _ int) int { return j })
	for _, method := range []consensus.Method{consensus.MethodMajority, consensus.MethodDawidSkene, consensus.MethodOneCoin} {
		for _, it := range fit(t, all, passFail, consensus.Options{Method: method}).Items {
			require.True(t, it.Tied, method)
			require.Empty(t, it.Label)
			require.True(t, it.Disagreement)
			require.InDelta(t, 1, *it.Entropy, 1e-9)
		}
	}
}

// Three people who agree on everything are trusted, and still not certain.
func TestAgreementIsNotCertainty(t *testing.T) {
	t.Parallel()
	all := panel(40, []string{"a", "b", "c"}, func(_, _, truth int) int { return truth })
	smooth := fit(t, all, passFail, consensus.Options{})
	require.Equal(t, consensus.MethodDawidSkene, smooth.Method)
	for _, it := range smooth.Items {
		require.Greater(t, *it.Probability, .99)
		require.Less(t, *it.Probability, 1.0)
	}
	for _, a := range smooth.Annotators {
		require.Less(t, *a.Accuracy.CI.Lower, .95, "40 votes do not prove that somebody is always right")
		require.Equal(t, stat.StatusFragile, a.Accuracy.Status)
		require.InDelta(t, .8, a.Weight, .2)
	}
}

func TestLabelsThatNobodyUsed(t *testing.T) {
	t.Parallel()
	scale := agreement.Scale{Labels: []string{"pass", "fail", "unsure"}}
	all := panel(40, []string{"a", "b", "c"}, func(j, i, truth int) int { return turn(truth, (i+j)%9 == 0) })
	c := fit(t, all, scale, consensus.Options{})
	require.Len(t, c.Prior, 3)
	require.Less(t, c.Prior[2], .05)
	for _, it := range c.Items {
		require.Len(t, it.Posterior, 3)
		require.NotEqual(t, "unsure", string(it.Label))
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	vote := consensus.Vote{Item: "i", Annotator: "a", Label: "pass"}
	for name, c := range map[string]struct {
		votes []consensus.Vote
		scale agreement.Scale
		o     consensus.Options
	}{
		"no item":            {[]consensus.Vote{{Annotator: "a", Label: "pass"}}, passFail, consensus.Options{}},
		"no annotator":       {[]consensus.Vote{{Item: "i", Label: "pass"}}, passFail, consensus.Options{}},
		"label off scale":    {[]consensus.Vote{{Item: "i", Annotator: "a", Label: "maybe"}}, passFail, consensus.Options{}},
		"two votes":          {[]consensus.Vote{vote, vote}, passFail, consensus.Options{}},
		"one label":          {[]consensus.Vote{vote}, agreement.Scale{Labels: []string{"pass"}}, consensus.Options{}},
		"truth off scale":    {[]consensus.Vote{vote}, passFail, consensus.Options{Truth: consensus.Truth{"i": "maybe"}}},
		"unknown method":     {[]consensus.Vote{vote}, passFail, consensus.Options{Method: "oracle"}},
		"level out of range": {[]consensus.Vote{vote}, passFail, consensus.Options{Level: 2}},
		"expert as a method": {[]consensus.Vote{vote}, passFail, consensus.Options{Method: consensus.MethodExpert}},
	} {
		_, err := consensus.Fit(c.votes, c.scale, c.o)
		require.ErrorIs(t, err, stat.ErrInput, name)
	}
}

// The time grows with the votes, and 50,000 of them take a moment.
func TestManyVotes(t *testing.T) {
	t.Parallel()
	scale := agreement.Scale{Labels: []string{"a", "b", "c", "d", "e"}}
	var all []consensus.Vote
	for i := range 10_000 {
		for j := range 5 {
			who := (i*7 + j*11) % 50
			label := i % 5
			if (i*31+who*17)%100 < who {
				label = (i + who) % 5
			}
			all = append(all, consensus.Vote{Item: strconv.Itoa(i), Annotator: strconv.Itoa(who), Label: scale.Labels[label]})
		}
	}
	c := fit(t, all, scale, consensus.Options{})
	require.Equal(t, consensus.MethodDawidSkene, c.Method)
	require.Len(t, c.Items, 10_000)
	for _, it := range c.Items {
		require.False(t, math.IsNaN(*it.Probability))
	}
	_, err := consensus.Fit(all, scale, consensus.Options{Method: consensus.MethodGLAD})
	require.ErrorContains(t, err, "50000 votes are too many for glad")
}
