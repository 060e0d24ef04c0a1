package agreement

import (
	"math"

	"github.com/assayhq/assay/internal/stat"
)

// Level says what the distance of two ratings means.
type Level string

// The levels of measurement.
const (
	LevelNominal  Level = "nominal"  // equal or not
	LevelOrdinal  Level = "ordinal"  // how many ratings lie between them
	LevelInterval Level = "interval" // their difference
)

// alpha returns Krippendorff's alpha as a statistic of what each pattern weighs.
// places are the values themselves, where their differences matter.
//
// Squared differences of numbers add up to what their sums and their sums of
// squares say, so no two ratings are ever compared with each other. For ordinal
// ratings the numbers are mid-ranks.
func (s *sample) alpha(level Level, places []float64) func(mass []float64) float64 {
	totals, ranks := make([]float64, s.values), make([]float64, s.values)
	return func(mass []float64) float64 {
		clear(totals)
		var n float64
		for p, m := range mass {
			if of := &s.patterns[p]; m > 0 && of.raters > 1 {
				n += m * float64(of.raters)
				for _, t := range of.tallies {
					totals[t.value] += m * float64(t.raters)
				}
			}
		}
		at := places
		if level == LevelOrdinal {
			var below float64
			for v, x := range totals {
				ranks[v] = below + x/2
				below += x
			}
			at = ranks
		}
		if level == LevelNominal {
			at = nil
		}
		var observed float64
		for p, m := range mass {
			if of := &s.patterns[p]; m > 0 && of.raters > 1 {
				r := float64(of.raters)
				observed += m / (r - 1) * distance(at, r, func(visit func(v int, x float64)) {
					for _, t := range of.tallies {
						visit(int(t.value), float64(t.raters))
					}
				})
			}
		}
		expected := distance(at, n, func(visit func(v int, x float64)) {
			for v, x := range totals {
				visit(v, x)
			}
		}) / (n - 1)
		if !(expected > 0) || n <= 1 {
			return math.NaN()
		}
		return 1 - observed/expected
	}
}

// distance sums the squared distances of all ordered pairs of n ratings at
// places; without places two ratings are equal or one apart.
func distance(places []float64, n float64, each func(visit func(v int, x float64))) float64 {
	var sum, squares, first float64
	begun := false
	each(func(v int, x float64) {
		switch {
		case places == nil:
			squares += x * x
			return
		case !begun && x > 0: // near the numbers, so that squares keep their digits
			first, begun = places[v], true
		}
		d := places[v] - first
		sum += x * d
		squares += x * d * d
	})
	if places == nil {
		return n*n - squares
	}
	return math.Max(0, 2*(n*squares-sum*sum))
}

// mostLeft is how many distinct units are left out one at a time. Beyond it the
// replicates give the standard error.
const mostLeft = 1000

// jackknife returns the standard error of a statistic from its values without
// each of the units.
func (s *sample) jackknife(f func(mass []float64) float64) float64 {
	if len(s.units) > mostLeft {
		return 0
	}
	left := make([]float64, len(s.units))
	var sum, n float64
	mass := make([]float64, len(s.mass))
	for i, u := range s.units {
		copy(mass, s.mass)
		for _, m := range u.parts {
			mass[m.pattern] = math.Max(0, mass[m.pattern]-m.weight)
		}
		left[i] = f(mass)
		sum += float64(u.count) * left[i]
		n += float64(u.count)
	}
	var squares float64
	for i, u := range s.units {
		d := left[i] - sum/n
		squares += float64(u.count) * d * d
	}
	return math.Sqrt((n - 1) / n * squares)
}

// krippendorff estimates alpha from what was drawn.
func (s *sample) krippendorff(level Level, places []float64, source stat.Source, o stat.Options, drawn func() replicates) stat.Estimate {
	e := s.begin("krippendorff_alpha_"+string(level), source, o)
	f := s.alpha(level, places)
	if s.clusters == 0 {
		s.enough(&e)
		return e
	}
	value := f(s.mass)
	if math.IsNaN(value) {
		e.Abstain(stat.StatusUndefined, "no two ratings differ, or no item has two")
		return e
	}
	e.Value = &value
	if !s.enough(&e) {
		return e
	}
	if se := s.jackknife(f); se > 0 { // not a number where a single unit holds all disagreement
		e.SE = &se
	}
	percentiles(&e, drawn(), "alpha", stat.Range{Lower: math.Inf(-1), Upper: 1}, o)
	return e
}
