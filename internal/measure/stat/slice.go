package stat

import "math"

// minSlice is the number of rows below which a slice is not listed.
const minSlice = 10

// Slice is a named part of a run.
type Slice struct {
	Name string
	Rows []Observation
}

// SliceRate is the pass rate of a slice.
type SliceRate struct {
	Name string   `json:"name"`
	Rate Estimate `json:"rate"`
	// Shrunken is the rate drawn towards that of all slices, the more so the
	// less the slice itself says.
	Shrunken *float64 `json:"shrunken"`
}

// SliceRates estimates the pass rate of each slice with at least ten rows, in
// the order in which they came.
func SliceRates(slices []Slice, o Options) ([]SliceRate, error) {
	out := []SliceRate{}
	for _, s := range slices {
		e, err := PassRate(s.Rows, o)
		if err != nil {
			return nil, inputErrorf("slice %q: %w", s.Name, err)
		}
		if e.N >= minSlice {
			out = append(out, SliceRate{Name: s.Name, Rate: e})
		}
	}
	prior, ok := fitPrior(out)
	for i := range out {
		if r := &out[i]; ok && r.Rate.Value != nil {
			r.Shrunken = ptr(prior.shrink(*r.Rate.Value, r.Rate.NEff))
		}
	}
	return out, nil
}

// SlicePair is a named part of two runs.
type SlicePair struct {
	Name                string
	Baseline, Candidate []Observation
}

// SliceComparison is how two runs differ on a slice.
type SliceComparison struct {
	Name       string     `json:"name" doc:"Value of the cluster key that the items of the slice have."`
	Comparison Comparison `json:"comparison" doc:"The overall score of both runs on the slice. P-values are adjusted over all slices after Benjamini and Hochberg: slices are for exploring."`
}

// CompareSlices compares two runs on each slice in which at least ten items
// were scored by both. The p-values are adjusted after Benjamini and Hochberg:
// slices are for exploring.
func CompareSlices(slices []SlicePair, o CompareOptions) ([]SliceComparison, error) {
	out := []SliceComparison{}
	for _, s := range slices {
		c, err := Compare(s.Baseline, s.Candidate, o)
		if err != nil {
			return nil, inputErrorf("slice %q: %w", s.Name, err)
		}
		if c.Difference.N >= minSlice {
			out = append(out, SliceComparison{Name: s.Name, Comparison: c})
		}
	}
	family := make([]*Comparison, len(out))
	for i := range out {
		family[i] = &out[i].Comparison
	}
	return out, AdjustFamily(family, AdjustBH)
}

// prior is the beta distribution that the rates of slices were drawn from. An
// infinite strength means that they do not differ.
type prior struct{ mean, strength float64 }

func (p prior) shrink(rate, n float64) float64 {
	if math.IsInf(p.strength, 1) {
		return p.mean
	}
	return clamp((rate*n+p.mean*p.strength)/(n+p.strength), 0, 1)
}

// fitPrior fits the prior by moments: what the rates vary beyond what their
// sizes explain. It needs two slices.
func fitPrior(slices []SliceRate) (prior, bool) {
	var passed, all, squares sum
	count := 0.0
	for _, s := range slices {
		if s.Rate.Value == nil {
			continue
		}
		n := s.Rate.NEff
		passed.add(*s.Rate.Value * n)
		all.add(n)
		squares.add(n * n)
		count++
	}
	n := all.total()
	if count < 2 || n <= 0 {
		return prior{}, false
	}
	mean := clamp(passed.total()/n, 0, 1)
	if mean == 0 || mean == 1 {
		return prior{mean, math.Inf(1)}, true
	}
	var spread sum
	for _, s := range slices {
		if s.Rate.Value != nil {
			d := *s.Rate.Value - mean
			spread.add(s.Rate.NEff * d * d)
		}
	}
	binomial := mean * (1 - mean)
	room := n - squares.total()/n - (count - 1)
	if room <= 0 { // each slice is one unit: nothing tells slices from chance
		return prior{}, false
	}
	correlation := (spread.total() - binomial*(count-1)) / (binomial * room)
	switch {
	case !(correlation > 0):
		return prior{mean, math.Inf(1)}, true
	case correlation >= 1:
		return prior{mean, 0}, true
	}
	return prior{mean, (1 - correlation) / correlation}, true
}
