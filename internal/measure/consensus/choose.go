package consensus

import (
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Method names a way to a consensus.
type Method string

// The methods. Items of unequal difficulty need at least five votes each, and are
// never assumed: that method has to be asked for. The two without a prior smooth nothing: with a few votes for each item they
// turn guesses into certainty, and are there to be compared with other programs.
const (
	MethodMajority     Method = "majority_vote" // votes are counted
	MethodDawidSkene   Method = "dawid_skene"   // a matrix of confusions for each annotator
	MethodOneCoin      Method = "one_coin"      // one accuracy for each annotator
	MethodGLAD         Method = "glad"          // a skill for each annotator and a difficulty for each item
	MethodDawidSkeneML Method = "dawid_skene_ml"
	MethodOneCoinML    Method = "one_coin_ml"
	MethodExpert       Method = "expert" // of an item that an expert decided
)

const (
	// votesPerItem is the number of votes on an item from which annotators can be
	// told apart: of two who differ either may be right.
	votesPerItem = 3
	// votesForMatrix is the number of votes from which an annotator's confusions
	// are more than anecdotes, and votesForCoin that for a single accuracy.
	votesForMatrix = 20
	votesForCoin   = 10
	// votesForGLAD is the number of votes on an item from which its difficulty shows.
	votesForGLAD = 5
	// mostForGLAD is the most votes that it takes: its rounds are optimizations over
	// all items, and beyond it they last longer than anybody waits.
	mostForGLAD = 10_000
	// clearDifference is the probability of a difference in skill by chance below
	// which it is clear.
	clearDifference = 0.01
)

// choose returns the method for votes, and why.
func (v *votes) choose() (Method, stat.Note) {
	all, least := 0, len(v.said)
	for j, n := range v.counts() {
		if !v.watched[j] {
			all, least = all+n, min(least, n)
		}
	}
	items := 0
	for i := range v.items {
		voted := false
		v.counting(i, func(_, _ int32) { voted = true })
		if voted {
			items++
		}
	}
	switch {
	case all < votesPerItem*items:
		return MethodMajority, "fewer than 3 votes per item on average"
	case least >= votesForMatrix:
		return MethodDawidSkene, "at least 3 votes per item on average, and 20 of each annotator"
	case least >= votesForCoin && v.differ() < clearDifference:
		return MethodOneCoin, "an annotator has fewer than 20 votes, and annotators clearly differ in skill"
	case least >= votesForCoin:
		return MethodMajority, "an annotator has fewer than 20 votes, and annotators do not clearly differ in skill"
	}
	return MethodMajority, "an annotator has fewer than 10 votes"
}

// differ returns the probability that annotators who are all alike would differ
// as much as they do in how often they agree with the majority of the others.
// Votes on one item depend on each other, which makes it a rule and not a test.
func (v *votes) differ() float64 {
	right, all := make([]float64, len(v.annotators)), make([]float64, len(v.annotators))
	tally := make([]int, v.k())
	for i := range v.items {
		clear(tally)
		v.counting(i, func(_, said int32) { tally[said]++ })
		v.counting(i, func(by, said int32) {
			tally[said]--
			if top, tied := most(tally); !tied {
				all[by]++
				if top == int(said) {
					right[by]++
				}
			}
			tally[said]++
		})
	}
	var sumRight, sumAll, annotators float64
	for j := range all {
		if all[j] > 0 {
			sumRight, sumAll, annotators = sumRight+right[j], sumAll+all[j], annotators+1
		}
	}
	p := sumRight / sumAll
	if annotators < 2 || p <= 0 || p >= 1 {
		return 1
	}
	squares := 0.0
	for j := range all {
		if all[j] > 0 {
			d := right[j] - all[j]*p
			squares += d * d / (all[j] * p * (1 - p))
		}
	}
	return distuv.ChiSquared{K: annotators - 1}.Survival(squares)
}

// most returns the label with most votes, and whether another has as many.
func most(tally []int) (label int, tied bool) {
	for c, n := range tally {
		switch {
		case c == 0:
		case n > tally[label]:
			label, tied = c, false
		case n == tally[label]:
			tied = true
		}
	}
	return label, tied
}
