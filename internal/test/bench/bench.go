// Package bench compares ways of doing the same work. A figure is always a
// ratio inside one run: the machine, its neighbours and its temperature change
// from run to run, and what is left when they cancel out is the code.
//
// The benches are tests in the folders below. By default they are short and
// fail only if a floor is broken beyond doubt; ASSAY_BENCH=whole takes the time
// that a figure worth quoting needs.
package bench

import (
	"fmt"
	"math"
	"os"
	"slices"
)

// MinRounds is the fewest rounds that say something: below nine, the interval
// is nearly the whole range.
const MinRounds = 9

// Whole reports whether figures are wanted rather than a quick check.
func Whole() bool { return os.Getenv("ASSAY_BENCH") == "whole" }

// Side is one way of doing the work. It does a slice of it and returns a
// measure: a rate or a time, the same on every side.
type Side func() (float64, error)

// Rounds are measures: one row a round, one column a side.
type Rounds [][]float64

// Run measures the sides in alternation, in reverse order every second round,
// so that what drifts or follows does not favour a side. It stops after the
// fewest rounds if enough says so, and otherwise goes on up to the most.
func Run(fewest, most int, enough func(Rounds) bool, sides ...Side) (Rounds, error) {
	var all Rounds
	for len(all) < most {
		row := make([]float64, len(sides))
		for i := range sides {
			if len(all)%2 == 1 {
				i = len(sides) - 1 - i
			}
			var err error
			if row[i], err = sides[i](); err != nil {
				return nil, err
			}
		}
		all = append(all, row)
		if len(all) >= fewest && enough(all) {
			break
		}
	}
	return all, nil
}

// Ratio is the median of the ratios of two sides, round by round, with the
// interval that covers the true median 95 times in 100.
type Ratio struct {
	Median, Low, High float64
	Rounds            int
}

// Ratio compares side a with side b.
func (r Rounds) Ratio(a, b int) Ratio {
	ratios := make([]float64, len(r))
	for i, row := range r {
		ratios[i] = row[a] / row[b]
	}
	slices.Sort(ratios)
	n := len(ratios)
	k := rank(n)
	return Ratio{Median: Median(ratios), Low: ratios[k], High: ratios[n-1-k], Rounds: n}
}

// Median is the middle one of some measures.
func Median(measures []float64) float64 {
	sorted := slices.Sorted(slices.Values(measures))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Median is the middle measure of one side.
func (r Rounds) Median(side int) float64 {
	all := make([]float64, len(r))
	for i, row := range r {
		all[i] = row[side]
	}
	return Median(all)
}

// AtLeast fails if the ratio is below the floor: in a short run beyond doubt,
// in a whole one at all.
func (r Ratio) AtLeast(floor float64) error {
	if r.High < floor || Whole() && r.Median < floor {
		return fmt.Errorf("the ratio is below its floor of %.2f: %v", floor, r)
	}
	return nil
}

// AtMost fails if the ratio is above the ceiling: in a short run beyond doubt,
// in a whole one at all.
func (r Ratio) AtMost(ceiling float64) error {
	if r.Low > ceiling || Whole() && r.Median > ceiling {
		return fmt.Errorf("the ratio is above its ceiling of %.2f: %v", ceiling, r)
	}
	return nil
}

// Columns are the rounds whose measures were kept side by side.
func Columns(sides ...[]float64) Rounds {
	all := make(Rounds, len(sides[0]))
	for i := range all {
		for _, s := range sides {
			all[i] = append(all[i], s[i])
		}
	}
	return all
}

// rank is how many of n sorted values lie outside of the interval on each
// side. The true median is below the k-th value as often as a coin shows fewer
// than k heads in n throws, whatever the values' distribution.
func rank(n int) int {
	tail, term := 0.0, math.Exp2(float64(-n))
	for k := 0; ; k++ {
		if tail += term; tail > 0.025 || k >= n/2 {
			return max(0, k-1)
		}
		term *= float64(n-k) / float64(k+1)
	}
}

// String shows the ratio with its interval.
func (r Ratio) String() string {
	if r.Rounds == 1 {
		return fmt.Sprintf("%.3f (measured once)", r.Median)
	}
	return fmt.Sprintf("%.3f (95 %% interval %.3f to %.3f, %d rounds)", r.Median, r.Low, r.High, r.Rounds)
}
