package stat

import (
	"cmp"
	"math"
	"slices"
)

// Adjust returns p-values that can be held against one level although several
// of them are looked at, in the order in which they came.
func Adjust(p []float64, a Adjustment) ([]float64, error) {
	for i, x := range p {
		if !(x >= 0 && x <= 1) {
			return nil, inputErrorf("p-value %d is %v and must lie between 0 and 1", i, x)
		}
	}
	m := float64(len(p))
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out := make([]float64, len(p))
	switch a {
	case AdjustHolm:
		least := 0.0
		for rank, i := range order {
			least = math.Max(least, math.Min(1, (m-float64(rank))*p[i]))
			out[i] = least
		}
	case AdjustBH, AdjustBY:
		factor := m
		if a == AdjustBY {
			factor *= SumOf(len(p), func(i int) float64 { return 1 / float64(i+1) })
		}
		most := 1.0
		for rank := len(order) - 1; rank >= 0; rank-- {
			i := order[rank]
			most = math.Min(most, factor*p[i]/float64(rank+1))
			out[i] = most
		}
	default:
		return nil, inputErrorf("adjustment %q must be holm, bh or by", a)
	}
	return out, nil
}

// AdjustFamily adjusts the p-values of comparisons that are looked at
// together. Those without a p-value are no part of the family.
func AdjustFamily(family []*Comparison, a Adjustment) error {
	var p []float64
	var with []*Comparison
	for _, c := range family {
		if c.P != nil {
			p, with = append(p, *c.P), append(with, c)
		}
	}
	adjusted, err := Adjust(p, a)
	if err != nil {
		return err
	}
	for i, c := range with {
		c.PAdjusted, c.Family = &adjusted[i], &Family{Adjustment: a, Size: len(with)}
	}
	return nil
}

// SimultaneousLevel is the level at which m intervals hold together, after
// Bonferroni.
func SimultaneousLevel(level float64, m int) float64 { return 1 - (1-level)/float64(max(1, m)) }
