package agreement

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// gwet is Gwet's coefficient on a sample, with what its variance needs.
type gwet struct {
	value float64
	// each is what an item of each pattern adds; their mean is the value.
	each []float64
}

// gwet computes AC1, or AC2 where near labels agree in part. What raters would
// agree on by chance is taken from how evenly they use the labels, so that it
// stays small where one label has nearly all ratings.
func (s *sample) gwet(w Weighting, mass []float64) gwet {
	var items, rated float64 // with a rating; with two
	k := float64(s.values)
	shares := make([]float64, s.values)
	for p, m := range mass {
		if m == 0 || s.patterns[p].raters == 0 {
			continue
		}
		items += m
		if s.patterns[p].raters > 1 {
			rated += m
		}
		for _, t := range s.patterns[p].tallies {
			shares[t.value] += m * float64(t.raters) / float64(s.patterns[p].raters)
		}
	}
	var all, expected float64
	for i := range s.values {
		shares[i] /= items
		for j := range s.values {
			all += w.weight(i, j, s.values)
		}
	}
	factor := all / (k * (k - 1))
	for _, p := range shares {
		expected += factor * p * (1 - p)
	}
	var agreed float64
	for p, m := range mass {
		if m > 0 && s.patterns[p].raters > 1 {
			agreed += m * s.patterns[p].agreement(w, s.values)
		}
	}
	g := gwet{(agreed/rated - expected) / (1 - expected), make([]float64, len(mass))}
	for p := range mass {
		of := &s.patterns[p]
		var own, chance float64
		if of.raters > 1 {
			own = items / rated * (of.agreement(w, s.values) - expected) / (1 - expected)
		}
		for _, t := range of.tallies {
			chance += factor * float64(t.raters) * (1 - shares[t.value]) / float64(of.raters)
		}
		g.each[p] = own - 2*(1-g.value)*(chance-expected)/(1-expected)
	}
	return g
}

// agreement is the share of the pairs of raters that agree.
func (p *pattern) agreement(w Weighting, values int) float64 {
	var sum float64
	for _, a := range p.tallies {
		sum -= float64(a.raters)
		for _, b := range p.tallies {
			sum += w.weight(int(a.value), int(b.value), values) * float64(a.raters) * float64(b.raters)
		}
	}
	m := float64(p.raters)
	return sum / (m * (m - 1))
}

// variance of the coefficient over clusters. soft counts the two that were added,
// which fall on all patterns of chance alike.
func (s *sample) variance(g gwet, soft bool) float64 {
	var squares float64
	n, clusters := float64(s.items), float64(s.clusters)
	for _, u := range s.units {
		var own float64
		for _, m := range u.parts {
			own += m.weight * (g.each[m.pattern] - g.value)
		}
		squares += float64(u.count) * own * own
	}
	if soft {
		for _, p := range s.chance {
			own := s.size() * (g.each[p] - g.value)
			squares += pseudo / float64(len(s.chance)) * own * own
		}
		n += pseudo * s.size()
		clusters += pseudo
	}
	return clusters / (clusters - 1) * squares / (n * n)
}

// soften adds the clusters that were rated at random.
func (s *sample) soften(mass []float64) []float64 {
	out := append([]float64(nil), mass...)
	for _, p := range s.chance {
		out[p] += pseudo * s.size() / float64(len(s.chance))
	}
	return out
}

// coefficient estimates AC1 or AC2. The shared items are those with two ratings,
// which alone say how often raters agree.
func (s *sample) coefficient(w Weighting, shared *sample, source stat.Source, o stat.Options) stat.Estimate {
	name := "gwet_ac1"
	if w != WeightingNominal {
		name = "gwet_ac2_" + string(w)
	}
	e := shared.begin(name, source, o)
	if s.clusters == 0 {
		s.enough(&e)
		return e
	}
	g := s.gwet(w, s.mass)
	if math.IsNaN(g.value) {
		e.Abstain(stat.StatusUndefined, "no item has two ratings")
		return e
	}
	e.Value = &g.value
	if !shared.enough(&e) {
		return e
	}
	if v := s.variance(g, false); v > 0 {
		e.SE = ptr(math.Sqrt(v))
	}
	soft := s.gwet(w, s.soften(s.mass))
	e.DF = ptr(float64(shared.clusters - 1))
	half := stat.TCritical(o.Alpha(), *e.DF) * math.Sqrt(s.variance(soft, true))
	between(&e, soft.value-half, soft.value+half, correlation, o, "adjusted_t")
	return e
}
