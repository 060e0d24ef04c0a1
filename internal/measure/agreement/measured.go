package agreement

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/assayhq/assay/internal/measure/stat"
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
	alpha, used := m.alpha(m.level(), nil), table{k, m.mass}.used()
	names := []string{"balanced", "mcc", "alpha"}
	for c := range k {
		names = append(names, f1Name(c))
	}
	var weightings []Weighting
	if !m.plain {
		weightings = m.weightings()
	}
	for _, w := range weightings {
		names = append(names, string(w))
	}
	return m.resample("alignment", m.o, names, func(d drawn, out []float64) {
		t := table{k, d.mass}
		rows, columns, _ := t.margins()
		// Chance must not bring in labels that nobody used, whose recall would be 0.
		out[0], out[1], out[2] = t.balancedOver(used, rows), t.mcc(), alpha(d.mass)
		for c := range k {
			out[3+c] = m.drawnF1(d, c, rows[c], columns[c])
		}
		for i, w := range weightings {
			out[3+k+i], _ = t.kappa(w)
		}
	})
}

// drawnF1 is the F1 of a class on a sample. Clusters that were rated at random
// have the class or not with the same chance, however many others there are:
// spread over all labels they would hardly ever meet it.
func (m *measured) drawnF1(d drawn, class int, first, second float64) float64 {
	both, size := d.mass[class*m.values+class], m.size()
	for _, a := range d.added {
		human, judge := int(a.pattern)/m.values == class, int(a.pattern)%m.values == class
		first += size * (one(a.quarter&1 == 1) - one(human))
		second += size * (one(a.quarter&2 == 2) - one(judge))
		both += size * (one(a.quarter == 3) - one(human && judge))
	}
	return f1(math.Max(0, both), first, second)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
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
	if a.Balanced.Value != nil && slices.Contains(t.used(), false) {
		a.Balanced.Warn("labels that people never used are left out")
	}
	a.MCC = m.drawnEstimate("mcc", "mcc", t.mcc, correlation, "a rater gave one label throughout")
	for c := range a.Classes {
		f1 := func() float64 { return t.f1(c) }
		a.Classes[c].F1 = m.drawnEstimate("f1", f1Name(c), f1, share, "one of the raters never used the label")
	}
	for _, w := range m.weightings() {
		e := m.kappa(w, stat.SourceHybrid, m.o, m.replicates)
		switch w {
		case WeightingLinear:
			a.Kappa.Linear = &stat.Optional{Estimate: e}
		case WeightingQuadratic:
			a.Kappa.Quadratic = &stat.Optional{Estimate: e}
			a.AC2 = &stat.Optional{Estimate: m.coefficient(w, m.sample, stat.SourceHybrid, m.o)}
		default:
			a.Kappa.Nominal = e
		}
	}
	a.AC1 = m.coefficient(WeightingNominal, m.sample, stat.SourceHybrid, m.o)
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
