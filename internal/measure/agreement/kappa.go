package agreement

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Weighting says how much two different labels of an ordered scale agree.
type Weighting string

// The weightings. Nominal counts equal labels alone.
const (
	WeightingNominal   Weighting = "nominal"
	WeightingLinear    Weighting = "linear"
	WeightingQuadratic Weighting = "quadratic"
)

// weight returns the agreement of two of k labels.
func (w Weighting) weight(i, j, k int) float64 {
	d := math.Abs(float64(i-j)) / float64(k-1)
	switch w {
	case WeightingLinear:
		return 1 - d
	case WeightingQuadratic:
		return 1 - d*d
	}
	if i == j {
		return 1
	}
	return 0
}

// kappa returns Cohen's kappa and its variance as Fleiss, Cohen and Everitt give
// it. Not a number: chance alone would make the raters agree.
func (t table) kappa(w Weighting) (value, variance float64) {
	rows, columns, n := t.margins()
	var observed, expected float64
	ofRow, ofColumn := make([]float64, t.k), make([]float64, t.k)
	for i := range t.k {
		for j := range t.k {
			weight := w.weight(i, j, t.k)
			observed += weight * t.at(i, j) / n
			expected += weight * rows[i] * columns[j] / (n * n)
			ofRow[i] += weight * columns[j] / n
			ofColumn[j] += weight * rows[i] / n
		}
	}
	if !(1-expected > 1e-12) {
		return math.NaN(), math.NaN()
	}
	value = min(1, (observed-expected)/(1-expected)) // rounding may leave more than whole agreement
	// The mean of what is squared is known, and taken off first: the variance may
	// be much smaller than the squares.
	var squares float64
	centre := value - expected*(1-value)
	for i := range t.k {
		for j := range t.k {
			d := w.weight(i, j, t.k) - (ofRow[i]+ofColumn[j])*(1-value) - centre
			squares += t.at(i, j) / n * d * d
		}
	}
	variance = squares / (n * (1 - expected) * (1 - expected))
	if variance < 1e-24 { // rounding is all that varies
		variance = 0
	}
	return value, variance
}

// softened returns the table with two items more, spread over all cells.
func (t table) softened() table {
	cells := make([]float64, len(t.cells))
	for i, x := range t.cells {
		cells[i] = x + pseudo/float64(len(t.cells))
	}
	return table{t.k, cells}
}

// rare reports whether a rater used some label fewer than five times.
func (t table) rare() bool {
	rows, columns, _ := t.margins()
	for c := range t.k {
		if rows[c] < 5 || columns[c] < 5 {
			return true
		}
	}
	return false
}

// kappa estimates Cohen's kappa. Samples with clusters or weights
// need what was drawn; others have a formula.
func (s *sample) kappa(w Weighting, source stat.Source, o stat.Options, drawn func() replicates) stat.Estimate {
	e := s.begin("cohen_kappa_"+string(w), source, o)
	if s.clusters == 0 {
		s.enough(&e)
		return e
	}
	t := table{s.values, s.mass}
	value, variance := t.kappa(w)
	if math.IsNaN(value) {
		e.Abstain(stat.StatusUndefined, "both raters gave one and the same label throughout")
		return e
	}
	e.Value = &value
	if !s.enough(&e) {
		return e
	}
	if !s.plain {
		percentiles(&e, drawn(), string(w), correlation, o)
		return e
	}
	method := "wald"
	centre, spread := value, variance
	if s.values == 2 || s.items < fewUnits || t.rare() || variance == 0 {
		method = "adjusted_wald"
		centre, spread = t.softened().kappa(w)
	}
	if variance > 0 {
		e.SE = ptr(math.Sqrt(variance))
	}
	half := stat.NormalCritical(o.Alpha()) * math.Sqrt(spread)
	between(&e, centre-half, centre+half, correlation, o, method)
	return e
}
