package agreement

import (
	"fmt"
	"math"
	"sync"

	"github.com/assayhq/assay/internal/stat"
)

// Pair is what a person and a judge said about one output.
type Pair struct {
	Item    string // pairs of one item are one unit; empty: a unit of its own
	Cluster string // empty: the item is its own cluster
	Human   string
	Judge   string // empty if the judge gave no verdict
	// Probability is the one with which the item was chosen for a human label;
	// zero if nobody knows. It is 1 where every item has a label.
	Probability float64
}

// AlignmentOptions say how to compare a judge with people.
type AlignmentOptions struct {
	stat.Options
	// Bar is the agreement that the judge has to reach; zero is 0.6.
	Bar float64
	// On is what has to reach the bar. Empty is kappa: quadratic for an ordered
	// scale of more than two labels, else nominal.
	On Measure
}

// Measure names a number that a verdict may rest on.
type Measure string

// The measures.
const (
	MeasureKappa    Measure = "kappa"
	MeasureAC1      Measure = "ac1"
	MeasureAlpha    Measure = "krippendorff_alpha"
	MeasureAccuracy Measure = "accuracy"
	MeasureBalanced Measure = "balanced_accuracy"
	MeasureMCC      Measure = "mcc"
)

const defaultBar = 0.6

// Class is how a judge does on one label.
type Class struct {
	Label     string        `json:"label"`
	Support   int           `json:"support" doc:"Items to which people gave the label."`
	Precision stat.Estimate `json:"precision" doc:"Share of the judge's uses of the label with which people agree."`
	Recall    stat.Estimate `json:"recall" doc:"Share of people's uses of the label that the judge finds."`
	F1        stat.Estimate `json:"f1" doc:"Harmonic mean of precision and recall."`
}

// Kappas are Cohen's kappas of one table.
type Kappas struct {
	Nominal   stat.Estimate  `json:"nominal"`
	Linear    *stat.Estimate `json:"linear" doc:"Near labels agree in part; null if the labels have no order."`
	Quadratic *stat.Estimate `json:"quadratic" doc:"As linear, with distances squared."`
}

// Rates are a judge's rates as a test for one of two labels.
type Rates struct {
	_        struct{}      `nullable:"true"`
	Positive string        `json:"positive" doc:"Label that the rates refer to."`
	TPR      stat.Estimate `json:"tpr" doc:"Share of positive items that the judge calls positive."`
	TNR      stat.Estimate `json:"tnr" doc:"Share of the other items that the judge calls negative."`
}

// Alignment is how well a judge agrees with people.
type Alignment struct {
	Population Population `json:"population" enum:"sampled,weighted,selected_items_only" doc:"What the items stand for. selected_items_only: nobody knows with which probability they were chosen, and nothing is said about other items."`
	Items      int        `json:"n_items" doc:"Pairs that were compared."`
	Purposive  int        `json:"purposive" doc:"Pairs that were left out because nobody knows the probability of their choice, while it is known for others."`
	Unanswered int        `json:"unanswered" doc:"Items with a human label on which the judge gave no verdict; they are left out."`

	Labels    []string     `json:"labels"`
	Confusion [][]int      `json:"confusion" doc:"How often each pair of labels occurs; rows are people's labels, columns the judge's."`
	Shares    [][]*float64 `json:"shares" doc:"Confusion as shares of each row, weighted where items are; null in a row without items."`
	Classes   []Class      `json:"classes"`
	Rates     *Rates       `json:"rates" doc:"True positives and negatives; null unless the scale has two labels, one of them positive."`

	Accuracy stat.Estimate  `json:"accuracy"`
	Balanced stat.Estimate  `json:"balanced_accuracy" doc:"Mean recall over the labels that people used."`
	MCC      stat.Estimate  `json:"mcc" doc:"Matthews' correlation coefficient."`
	Kappa    Kappas         `json:"kappa"`
	AC1      stat.Estimate  `json:"ac1" doc:"Gwet's coefficient, which keeps its meaning where one label is rare."`
	AC2      *stat.Estimate `json:"ac2" doc:"As ac1, where near labels agree in part, by squared distance; null if the labels have no order."`
	Alpha    stat.Estimate  `json:"krippendorff_alpha"`
	Skewed   bool           `json:"skewed" doc:"One label has more than four fifths of all ratings: kappa is low whatever the raters do, and ac1 is to be read with it."`

	Verdict Verdict `json:"verdict"`
}

// Align compares a judge with people on labels.
func Align(ps []Pair, scale Scale, o AlignmentOptions) (Alignment, error) {
	checked, err := o.Options.Checked()
	if err != nil {
		return Alignment{}, err
	}
	o.Options = checked
	at, err := scale.index()
	if err != nil {
		return Alignment{}, err
	}
	a := Alignment{Labels: scale.Labels}
	rows, err := a.read(ps, at)
	if err != nil {
		return Alignment{}, err
	}
	var kept []row
	if kept, a.Population, a.Purposive, err = chosen(rows); err != nil {
		return Alignment{}, err
	}
	k := len(scale.Labels)
	s := &sample{values: k, patterns: pairs(k), chance: upTo(k * k)}
	s.gather(kept, weights(kept, a.Population))
	a.Items, a.Skewed = s.items, s.items > 0 && table{k, s.mass}.skewed()
	a.count(kept, s)

	m := newMeasured(s, scale, kept, a.Population, o.Options)
	if err := a.proportions(m, scale); err != nil {
		return Alignment{}, err
	}
	a.rest(m)
	a.Verdict, err = a.decide(scale, o)
	return a, err
}

// read makes rows of the pairs that have two labels of the scale.
func (a *Alignment) read(ps []Pair, at map[string]int) ([]row, error) {
	rows := make([]row, 0, len(ps))
	for i, p := range ps {
		human, ok := at[p.Human]
		if !ok {
			return nil, malformed("pair %d: label %q is not on the scale", i, p.Human)
		}
		judge, ok := at[p.Judge]
		if !ok && p.Judge != "" {
			return nil, malformed("pair %d: label %q is not on the scale", i, p.Judge)
		}
		if !ok {
			a.Unanswered++
			continue
		}
		rows = append(rows, row{clusterOf(p.Cluster, p.Item), int32(human*len(at) + judge), p.Probability})
	}
	return rows, nil
}

// clusterOf names the independent unit. Items and clusters do not share names.
func clusterOf(cluster, item string) string {
	switch {
	case cluster != "":
		return "c" + cluster
	case item != "":
		return "i" + item
	}
	return ""
}

// count fills the confusion matrix.
func (a *Alignment) count(rows []row, s *sample) {
	k := len(a.Labels)
	a.Confusion, a.Shares = make([][]int, k), make([][]*float64, k)
	t := table{k, s.mass}
	totals, _, _ := t.margins()
	for i := range k {
		a.Confusion[i], a.Shares[i] = make([]int, k), make([]*float64, k)
		for j := range k {
			if totals[i] > 0 {
				a.Shares[i][j] = ptr(t.at(i, j) / totals[i])
			}
		}
	}
	for _, r := range rows {
		a.Confusion[int(r.pattern)/k][int(r.pattern)%k]++
	}
}

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
