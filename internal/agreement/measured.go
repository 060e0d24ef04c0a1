package agreement

import (
	"fmt"
	"math"
	"sync"

	"github.com/assayhq/assay/internal/stat"
)

// measured holds a sample with what its numbers are computed from.
type measured struct {
	*sample
	scale Scale
	o     stat.Options
	rows  []stat.Observation // of the pairs, if formulas for plain counts do not serve
	cells []int32            // of each row
	// replicates are drawn once for all statistics, when the first needs them.
	replicates func() replicates
}

func newMeasured(s *sample, scale Scale, kept []row, p Population, o stat.Options) *measured {
	m := &measured{sample: s, scale: scale, o: o}
	if !s.plain {
		w := weights(kept, p)
		m.rows, m.cells = make([]stat.Observation, len(kept)), make([]int32, len(kept))
		for i, r := range kept {
			m.rows[i] = stat.Observation{Item: itemName(i), Cluster: r.cluster, Provenance: stat.Provenance{Source: stat.SourceHybrid}}
			m.cells[i] = r.pattern
			if w != nil {
				m.rows[i].Weight = w[i]
			}
		}
	}
	m.replicates = sync.OnceValue(m.draw)
	return m
}

// draw resamples every statistic that has no formula.
func (m *measured) draw() replicates {
	k := m.values
	of := func(f func(table) float64) statistic {
		return func(mass []float64) float64 { return f(table{k, mass}) }
	}
	names := []string{"balanced", "mcc", "alpha"}
	all := []statistic{of(table.balanced), of(table.mcc), m.alpha(m.level(), nil)}
	for c := range k {
		names = append(names, f1Name(c))
		all = append(all, of(func(t table) float64 { return t.f1(c) }))
	}
	if !m.plain {
		for _, w := range m.weightings() {
			names = append(names, string(w))
			all = append(all, of(func(t table) float64 { v, _ := t.kappa(w); return v }))
		}
	}
	return m.resample("alignment", m.o, names, all)
}

func f1Name(class int) string { return fmt.Sprintf("f1 %d", class) }

func (m *measured) level() Level {
	if m.scale.Ordered {
		return LevelOrdinal
	}
	return LevelNominal
}

func (m *measured) weightings() []Weighting {
	if m.scale.Ordered && m.values > 2 {
		return []Weighting{WeightingNominal, WeightingLinear, WeightingQuadratic}
	}
	return []Weighting{WeightingNominal}
}

// proportion estimates the share of the cells that are in, among those that
// count.
func (m *measured) proportion(method string, in, counts func(human, judge int) bool) (stat.Estimate, error) {
	var e stat.Estimate
	var err error
	o := stat.Options{Level: m.o.Level}
	k := m.values
	if m.plain {
		passed, n := 0, 0
		for i, x := range m.mass {
			if !counts(i/k, i%k) {
				continue
			}
			n += int(x)
			if in(i/k, i%k) {
				passed += int(x)
			}
		}
		e, err = stat.Proportion(passed, n, o)
	} else {
		var rows []stat.Observation
		for i, cell := range m.cells {
			human, judge := int(cell)/k, int(cell)%k
			if !counts(human, judge) {
				continue
			}
			r := m.rows[i]
			if in(human, judge) {
				r.Score = 1
			}
			rows = append(rows, r)
		}
		o.Weighted = len(rows) > 0 && rows[0].Weight > 0
		e, err = stat.PassRate(rows, o)
	}
	e.Method, e.Source, e.FailingClusters = method, stat.SourceHybrid, nil
	return e, err
}

// proportions fills what is a share of counts.
func (a *Alignment) proportions(m *measured, scale Scale) error {
	everything := func(int, int) bool { return true }
	same := func(human, judge int) bool { return human == judge }
	var err error
	if a.Accuracy, err = m.proportion("accuracy", same, everything); err != nil {
		return err
	}
	a.Classes = make([]Class, len(scale.Labels))
	for c, label := range scale.Labels {
		class := &a.Classes[c]
		class.Label = label
		for _, n := range a.Confusion[c] {
			class.Support += n
		}
		if class.Recall, err = m.proportion("recall", same, func(human, _ int) bool { return human == c }); err != nil {
			return err
		}
		if class.Precision, err = m.proportion("precision", same, func(_, judge int) bool { return judge == c }); err != nil {
			return err
		}
		undefined(&class.Recall, "people never used the label")
		undefined(&class.Precision, "the judge never used the label")
	}
	if scale.Positive != "" {
		positive, negative := 0, 1
		if scale.Labels[1] == scale.Positive {
			positive, negative = 1, 0
		}
		a.Rates = &Rates{Positive: scale.Positive, TPR: a.Classes[positive].Recall, TNR: a.Classes[negative].Recall}
		a.Rates.TPR.Method, a.Rates.TNR.Method = "tpr", "tnr"
	}
	return nil
}

// undefined says of a share without cases that it has no value.
func undefined(e *stat.Estimate, why string) {
	if e.N == 0 {
		e.Warnings = nil
		e.Abstain(stat.StatusUndefined, why)
	}
}

// rest fills what is not a share of counts.
func (a *Alignment) rest(m *measured) {
	t := table{m.values, m.mass}
	a.Balanced = m.drawnEstimate("balanced_accuracy", "balanced", t.balanced, share, "no rated items")
	a.MCC = m.drawnEstimate("mcc", "mcc", t.mcc, correlation, "a rater gave one label throughout")
	for c := range a.Classes {
		f1 := func() float64 { return t.f1(c) }
		a.Classes[c].F1 = m.drawnEstimate("f1", f1Name(c), f1, share, "one of the raters never used the label")
	}
	for _, w := range m.weightings() {
		e := m.kappa(w, stat.SourceHybrid, m.o, m.replicates)
		switch w {
		case WeightingLinear:
			a.Kappa.Linear = &e
		case WeightingQuadratic:
			a.Kappa.Quadratic = &e
			a.AC2 = ptr(m.coefficient(w, stat.SourceHybrid, m.o))
		default:
			a.Kappa.Nominal = e
		}
	}
	a.AC1 = m.coefficient(WeightingNominal, stat.SourceHybrid, m.o)
	a.Alpha = m.krippendorff(m.level(), nil, stat.SourceHybrid, m.o, m.replicates)
}

// drawnEstimate estimates a statistic whose interval comes from replicates.
func (m *measured) drawnEstimate(method, name string, value func() float64, r stat.Range, why string) stat.Estimate {
	e := m.begin(method, stat.SourceHybrid, m.o)
	if m.clusters == 0 {
		m.enough(&e)
		return e
	}
	v := value()
	if math.IsNaN(v) {
		e.Abstain(stat.StatusUndefined, why)
		return e
	}
	e.Value = &v
	if m.enough(&e) {
		percentiles(&e, m.replicates(), name, r, m.o)
	}
	return e
}
