package agreement

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
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
	var apart []float64 // of each pattern, where no places matter
	if level == LevelNominal {
		apart = make([]float64, len(s.patterns))
		for p := range s.patterns {
			apart[p] = s.patterns[p].distance(nil)
		}
	}
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
				d := 0.0
				if apart != nil {
					d = apart[p]
				} else {
					d = of.distance(at)
				}
				observed += m / (float64(of.raters) - 1) * d
			}
		}
		all := distances{places: at}
		for v, x := range totals {
			all.add(v, x)
		}
		expected := all.sum(n) / (n - 1)
		if !(expected > 0) || n <= 1 {
			return math.NaN()
		}
		return 1 - observed/expected
	}
}

// distance sums the squared distances of all ordered pairs of a pattern's ratings.
func (p *pattern) distance(places []float64) float64 {
	d := distances{places: places}
	for _, t := range p.tallies {
		d.add(int(t.value), float64(t.raters))
	}
	return d.sum(float64(p.raters))
}

// distances gather the squared distances of ratings at places; without places two
// ratings are equal or one apart.
type distances struct {
	places                []float64
	total, squares, first float64
	begun                 bool
}

// add gathers x ratings of a value.
func (d *distances) add(v int, x float64) {
	if d.places == nil {
		d.squares += x * x
		return
	}
	if !d.begun && x > 0 { // near the numbers, so that squares keep their digits
		d.first, d.begun = d.places[v], true
	}
	at := d.places[v] - d.first
	d.total += x * at
	d.squares += x * at * at
}

// sum is that of all ordered pairs of the n ratings.
func (d *distances) sum(n float64) float64 {
	if d.places == nil {
		return n*n - d.squares
	}
	return math.Max(0, 2*(n*d.squares-d.total*d.total))
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
