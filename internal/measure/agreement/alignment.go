package agreement

import (
	"github.com/assayhq/assay/internal/measure/stat"
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
	Label     string        `json:"label" doc:"The label."`
	Support   int           `json:"support" doc:"Items to which people gave the label."`
	Precision stat.Estimate `json:"precision" doc:"Share of the judge's uses of the label with which people agree."`
	Recall    stat.Estimate `json:"recall" doc:"Share of people's uses of the label that the judge finds."`
	F1        stat.Estimate `json:"f1" doc:"Harmonic mean of precision and recall."`
}

// Kappas are Cohen's kappas of one table.
type Kappas struct {
	Nominal   stat.Estimate  `json:"nominal" doc:"Labels agree or do not."`
	Linear    *stat.Optional `json:"linear" doc:"Near labels agree in part; null if the labels have no order."`
	Quadratic *stat.Optional `json:"quadratic" doc:"As linear, with distances squared."`
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
	Population Population `json:"population" enum:"sampled,weighted,selected_items_only" doc:"What the items stand for. selected_items_only: it is not known how they were chosen, and nothing follows for other items."`
	Items      int        `json:"n_items" doc:"Pairs that were compared."`
	Purposive  int        `json:"purposive" doc:"Pairs that were left out because it is not known how they were chosen, while it is known for others."`
	Unanswered int        `json:"unanswered" doc:"Items with a human label on which the judge gave no verdict; they are left out."`

	Labels    []string     `json:"labels" doc:"Labels of the scale, in order."`
	Confusion [][]int      `json:"confusion" doc:"How often each pair of labels occurs; rows are people's labels, columns the judge's."`
	Shares    [][]*float64 `json:"shares" doc:"Confusion as shares of each row, weighted where items are; null in a row without items."`
	Classes   []Class      `json:"classes" doc:"How the judge does on each label."`
	Rates     *Rates       `json:"rates" doc:"True positives and negatives; null unless the scale has two labels, one of them positive."`

	Accuracy stat.Estimate  `json:"accuracy" doc:"Share of equal labels."`
	Balanced stat.Estimate  `json:"balanced_accuracy" doc:"Mean recall over the labels that people used."`
	MCC      stat.Estimate  `json:"mcc" doc:"Matthews' correlation coefficient."`
	Kappa    Kappas         `json:"kappa" doc:"Cohen's kappa: agreement beyond chance."`
	AC1      stat.Estimate  `json:"ac1" doc:"Gwet's coefficient, which keeps its meaning where one label is rare."`
	AC2      *stat.Optional `json:"ac2" doc:"As ac1, where near labels agree in part, by squared distance; null if the labels have no order."`
	Alpha    stat.Estimate  `json:"krippendorff_alpha" doc:"Krippendorff's alpha."`
	Skewed   bool           `json:"skewed" doc:"One label has more than four fifths of all ratings: kappa is low whatever the raters do, and ac1 is to be read with it."`

	Verdict Verdict `json:"verdict" doc:"Whether agreement reaches the bar."`
}

// Align compares a judge with people on labels.
func Align(ps []Pair, scale Scale, o AlignmentOptions) (Alignment, error) {
	checked, err := o.Options.Checked()
	if err != nil {
		return Alignment{}, err
	}
	o.Options = checked
	at, err := scale.Index()
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
