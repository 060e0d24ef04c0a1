package consensus

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

const (
	// leastKnown is the part of the votes whose correctness has to be known for an
	// interval: below it the labels say next to nothing about the annotator.
	leastKnown = 0.1
	// fewVotes is the number of votes below which an interval moves much.
	fewVotes = 50
)

// right sums with which probability the votes of an annotator are right.
type right struct{ n, sum, squares float64 }

// rights returns for each annotator how far the votes are right.
func (m *model) rights() []right {
	all := make([]right, len(m.annotators))
	for i := range m.items {
		if !m.voted[i] {
			continue
		}
		m.each(i, func(by, said int32) {
			p, r := m.post[i*m.k()+int(said)], &all[by]
			r.n, r.sum, r.squares = r.n+1, r.sum+p, r.squares+p*p
		})
	}
	return all
}

// known is the part of what the votes would tell about the annotator that they
// tell although nobody knows for certain which of them are right: one minus the
// variance of their being right that is left, as a share of all of it. Two votes
// more, one of them wrong, keep an annotator who is always right from having none.
func (r right) known() float64 {
	all := (r.sum + 1) / (r.n + 2)
	return math.Max(0, 1-(r.sum-r.squares)/(r.n*all*(1-all)))
}

// graded is the accuracy of an annotator as an estimate. The consensus does not
// know which votes are right, only with which probability, and votes count for
// less the less it knows.
func (m *model) graded(annotator int, r right, method Method, o stat.Options) stat.Estimate {
	e := o.Estimate("consensus_accuracy")
	value, mean := m.accuracy(annotator), r.sum/math.Max(1, r.n)
	e.Source, e.Value = stat.SourceHuman, &value
	e.N, e.Items, e.Clusters = int(r.n), int(r.n), int(r.n)
	known := r.known()
	e.NEff = r.n * known
	switch {
	case method == MethodMajority:
		e.Abstain(stat.StatusInsufficient, "there are too few votes to tell annotators apart")
	case method == MethodDawidSkeneML || method == MethodOneCoinML:
		e.Abstain(stat.StatusNotIdentified, "without smoothing a few votes look like certainty")
	case r.n < votesForCoin:
		e.Abstain(stat.StatusInsufficient, "fewer than 10 votes")
	case known < leastKnown:
		e.Abstain(stat.StatusNotIdentified, "the labels are too uncertain to grade annotators by them")
	default:
		// The value is smoothed, which draws it towards guessing. The interval is
		// not; it is made to hold the value.
		lower, upper := stat.Wilson(mean, e.NEff, stat.NormalCritical(o.Alpha()))
		e.Between(lower, upper, o.Level, "wilson_neff")
		e.Assume("annotators err independently of each other")
		if r.n < fewVotes {
			e.Weaken("fewer than 50 votes")
		}
	}
	return e
}
