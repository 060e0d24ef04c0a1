package consensus

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// compared sums how the votes of an annotator compare with what the others come
// to. Of a vote, said is the probability that the others give its label; sure is
// by how much a right vote would exceed a wrong one there, and base what a wrong
// one would get.
type compared struct {
	said, base, sure []float64
}

// peers compares each annotator with the consensus of the others: the posteriors
// of their items, without their own vote.
func (m *model) peers() []compared {
	k := m.k()
	out := make([]compared, len(m.annotators))
	all, rest := make([]float64, k), make([]float64, k)
	base := m.logPrior()
	for i := range m.items {
		if m.truth[i] != unknown {
			continue
		}
		copy(all, base)
		counted := 0
		m.each(i, func(by, said int32) {
			if !m.excluded[by] {
				m.add(all, by, said, 1)
				counted++
			}
		})
		m.each(i, func(by, said int32) {
			copy(rest, all)
			others := counted
			if !m.excluded[by] {
				m.add(rest, by, said, -1)
				others--
			}
			if others == 0 {
				return
			}
			normalize(rest)
			squares := 0.0
			for _, p := range rest {
				squares += p * p
			}
			wrong := (1 - squares) / float64(k-1)
			c := &out[by]
			c.said, c.base, c.sure = append(c.said, rest[said]), append(c.base, wrong), append(c.sure, squares-wrong)
		})
	}
	return out
}

// leastSure is how much the others have to tell a right vote from a wrong one on
// average.
const leastSure = 0.1

// estimate turns comparisons into an accuracy. Where the others are unsure, a vote
// that is right meets a label of theirs that is wrong, and would count as wrong;
// how often that happens is known, and taken off.
func (c compared) estimate(fit Consensus, o stat.Options) stat.Estimate {
	e := o.Estimate("leave_one_out_accuracy")
	n := float64(len(c.said))
	e.Source, e.N, e.Items, e.Clusters, e.NEff = stat.SourceHuman, len(c.said), len(c.said), len(c.said), n
	at := func(x []float64) float64 { return stat.SumOf(len(x), func(i int) float64 { return x[i] }) }
	sure := at(c.sure)
	switch {
	case fit.Status == stat.StatusNotIdentified:
		e.Abstain(stat.StatusNotIdentified, "there is no consensus to compare with")
		return e
	case n == 0:
		e.Abstain(stat.StatusInsufficient, "no vote on an item that others voted on")
		return e
	case fit.Method == MethodMajority:
		e.Abstain(stat.StatusInsufficient, "there are too few votes to tell annotators apart")
		return e
	case sure < leastSure*n:
		e.Abstain(stat.StatusNotIdentified, "the others are too unsure to grade annotators by them")
		return e
	}
	raw := (at(c.said) - at(c.base)) / sure
	value := math.Min(1, math.Max(0, raw))
	e.Value = &value
	if n < leastGold {
		e.Abstain(stat.StatusInsufficient, "fewer than 10 items that others voted on")
		return e
	}
	squares := stat.SumOf(len(c.said), func(i int) float64 {
		d := c.said[i] - c.base[i] - raw*c.sure[i]
		return d * d
	})
	variance := squares * n / (n - 1) / (sure * sure)
	// So many votes whose correctness is known would say as much. Never more than
	// there are, and where none is wrong, as many as the others are sure of.
	e.NEff = sure
	if p := value * (1 - value); p > 0 && variance > 0 {
		e.NEff = math.Min(n, p/variance)
	}
	if variance > 0 {
		se := math.Sqrt(variance)
		e.SE = &se
	}
	df := n - 1
	e.DF = &df
	lower, upper := stat.Wilson(value, e.NEff, stat.TCritical(o.Alpha(), df))
	e.Between(lower, upper, o.Level, "wilson_neff_t")
	e.Assume("annotators err independently of each other")
	if n < fewVotes {
		e.Weaken("fewer than 50 items that others voted on")
	}
	return e
}

// varieties compares the entropy of each annotator's labels with that of the
// others' labels of the same items.
func (v *votes) varieties(o stat.Options) []Variety {
	items := make([][]int, len(v.annotators)) // those of each that others voted on
	for i := range v.items {
		counted := 0
		v.counting(i, func(_, _ int32) { counted++ })
		v.each(i, func(by, _ int32) {
			if counted > 1 || counted == 1 && v.watched[by] {
				items[by] = append(items[by], i)
			}
		})
	}
	out := make([]Variety, len(v.annotators))
	for j := range out {
		out[j] = v.variety(j, items[j], o)
	}
	return out
}

// variety compares an annotator with the others on items.
func (v *votes) variety(annotator int, items []int, o stat.Options) Variety {
	own, peers := make([]float64, v.k()), make([]float64, v.k())
	count := func(item int, sign float64) {
		v.each(item, func(by, said int32) {
			switch {
			case int(by) == annotator:
				own[said] += sign
			case !v.watched[by]:
				peers[said] += sign
			}
		})
	}
	for _, i := range items {
		count(i, 1)
	}
	n := len(items)
	e := o.Estimate("label_entropy_difference")
	e.Source, e.N, e.Items, e.Clusters, e.NEff = stat.SourceHuman, n, n, n, float64(n)
	if n == 0 {
		e.Abstain(stat.StatusInsufficient, "no vote on an item that others voted on")
		return Variety{Difference: e}
	}
	a, b := entropy(own), entropy(peers)
	value := a - b
	e.Value = &value
	if n < votesForMatrix {
		e.Abstain(stat.StatusInsufficient, "fewer than 20 items that others voted on")
		return Variety{&a, &b, e}
	}
	without := make([]float64, n)
	for at, i := range items {
		count(i, -1)
		without[at] = entropy(own) - entropy(peers)
		count(i, 1)
	}
	mean := stat.SumOf(n, func(i int) float64 { return without[i] }) / float64(n)
	squares := stat.SumOf(n, func(i int) float64 { return (without[i] - mean) * (without[i] - mean) })
	se := math.Sqrt(float64(n-1) / float64(n) * squares)
	if !(se > 1e-12) { // rounding is all that varies
		e.Abstain(stat.StatusDegenerate, "leaving out an item changes nothing")
		return Variety{&a, &b, e}
	}
	half := stat.TCritical(o.Alpha(), float64(n-1)) * se
	e.SE = &se
	e.Between(value-half, value+half, o.Level, "jackknife_t")
	if n < fewVotes {
		e.Weaken("fewer than 50 items that others voted on")
	}
	return Variety{&a, &b, e}
}

// entropy of counts, in bits.
func entropy(counts []float64) float64 {
	var n, sum float64
	for _, x := range counts {
		n += x
	}
	for _, x := range counts {
		if x > 0 {
			sum -= x / n * math.Log2(x/n)
		}
	}
	return math.Max(0, sum)
}
