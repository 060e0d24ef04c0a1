package agreement

import (
	"cmp"
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Rating is what one of several raters said about an item.
type Rating struct {
	Item    string
	Rater   string
	Cluster string // empty: the item is its own cluster
	Label   string
}

// Score is a rating that is a number.
type Score struct {
	Item    string
	Rater   string
	Cluster string
	Value   float64
}

// Raters is how well several raters agree with each other. Between people it is
// the ceiling: a judge cannot be expected to agree with them any better.
type Raters struct {
	Items   int           `json:"n_items" doc:"Items with a rating."`
	Shared  int           `json:"shared" doc:"Items with at least two."`
	Raters  int           `json:"raters" doc:"Number of raters."`
	Agreed  stat.Estimate `json:"agreement" doc:"Share of the pairs of raters of an item that gave the same label."`
	AC1     stat.Estimate `json:"ac1" doc:"Gwet's coefficient."`
	Alpha   stat.Estimate `json:"krippendorff_alpha" doc:"Krippendorff's alpha."`
	Fleiss  stat.Estimate `json:"fleiss_kappa" doc:"Fleiss' kappa."`
	Ordered bool          `json:"ordered" doc:"Whether alpha counts how far labels are apart."`
}

// Ceiling computes how well raters agree with each other on labels.
func Ceiling(ratings []Rating, scale Scale, source stat.Source, o stat.Options) (_ Raters, err error) {
	defer stat.Stoppable(&err)
	o, err = o.Checked()
	if err != nil {
		return Raters{}, err
	}
	marks, err := scale.marks(ratings)
	if err != nil {
		return Raters{}, err
	}
	items, raters, err := rated(marks)
	if err != nil {
		return Raters{}, err
	}
	k := len(scale.Labels)
	level := LevelNominal
	if scale.Ordered {
		level = LevelOrdinal
	}
	out := Raters{Items: len(items), Raters: raters, Ordered: scale.Ordered}
	all := newRated(items, k, pairs(k), upTo(k*k), 1)
	shared := newRated(items, k, pairs(k), upTo(k*k), 2)
	out.AC1 = all.coefficient(WeightingNominal, shared, source, o)
	out.Shared = shared.items
	out.Alpha = shared.drawAlpha(level, nil, source, o)
	if out.Agreed, err = agreed(items, source, o); err != nil {
		return Raters{}, err
	}
	out.Fleiss = shared.drawFleiss(source, o)
	return out, nil
}

// marks gives the labels of ratings their numbers.
func (s Scale) marks(ratings []Rating) ([]mark, error) {
	at, err := s.Index()
	if err != nil {
		return nil, err
	}
	marks := make([]mark, len(ratings))
	for i, r := range ratings {
		v, ok := at[r.Label]
		if !ok {
			return nil, malformed("rating %d: label %q is not on the scale", i, r.Label)
		}
		marks[i] = mark{r.Item, r.Rater, r.Cluster, int32(v)}
	}
	return marks, nil
}

// Alpha estimates Krippendorff's alpha of numbers: how far raters differ on an
// item, compared with how far any two ratings differ.
func Alpha(scores []Score, level Level, source stat.Source, o stat.Options) (stat.Estimate, error) {
	o, err := o.Checked()
	if err != nil {
		return stat.Estimate{}, err
	}
	if level != LevelNominal && level != LevelOrdinal && level != LevelInterval {
		return stat.Estimate{}, malformed("level %q must be nominal, ordinal or interval", level)
	}
	places := make([]float64, 0, len(scores)+2)
	if o.Range != nil {
		places = append(places, o.Range.Lower, o.Range.Upper)
	}
	for i, r := range scores {
		if math.IsNaN(r.Value) || math.Abs(r.Value) > maxValue || o.Range != nil && (r.Value < o.Range.Lower || r.Value > o.Range.Upper) {
			return stat.Estimate{}, malformed("score %d: %v cannot be compared or lies outside the range", i, r.Value)
		}
		places = append(places, r.Value+0) // a negative zero is a zero
	}
	slices.Sort(places)
	places = slices.Compact(places)
	marks := make([]mark, len(scores))
	for i, r := range scores {
		v, _ := slices.BinarySearch(places, r.Value)
		marks[i] = mark{r.Item, r.Rater, r.Cluster, int32(v)}
	}
	items, _, err := rated(marks)
	if err != nil {
		return stat.Estimate{}, err
	}
	// An item rated at random gets one end of the range or the other.
	corners, last := pairs(2), int32(max(0, len(places)-1))
	for i := range corners {
		for j := range corners[i].tallies {
			corners[i].tallies[j].value *= last
		}
	}
	s := newRated(items, len(places), corners, upTo(len(corners)), 2)
	return s.drawAlpha(level, places, source, o), nil
}

// maxValue is the largest score that can be compared: its square is still a
// number.
const maxValue = 1e100

// mark is a rating whose value has a number.
type mark struct {
	item, rater, cluster string
	value                int32
}

// item is what raters said about an item.
type item struct {
	cluster string
	values  []int32 // sorted
}

// rated brings the ratings of each item together, in the order of their first
// appearance, and counts the raters.
func rated(marks []mark) (items []item, raters int, err error) {
	type vote struct{ item, rater string }
	at, who, seen := map[string]int{}, map[string]bool{}, make(map[vote]bool, len(marks))
	for i, m := range marks {
		switch {
		case m.item == "" || m.rater == "":
			return nil, 0, malformed("rating %d has no item or no rater", i)
		case seen[vote{m.item, m.rater}]:
			return nil, 0, malformed("rating %d: rater %q rated item %q before", i, m.rater, m.item)
		}
		seen[vote{m.item, m.rater}], who[m.rater] = true, true
		n, ok := at[m.item]
		if !ok {
			n = len(items)
			at[m.item] = n
			items = append(items, item{cluster: m.cluster})
		}
		if items[n].cluster != m.cluster {
			return nil, 0, malformed("item %q is in two clusters, %q and %q", m.item, items[n].cluster, m.cluster)
		}
		items[n].values = append(items[n].values, m.value)
	}
	for i := range items {
		slices.Sort(items[i].values)
	}
	return items, len(who), nil
}

// newRated makes a sample of the items with at least so many ratings.
func newRated(items []item, values int, base []pattern, chance []int32, least int) *sample {
	s := &sample{values: values, patterns: base, chance: chance}
	seen := map[string]int32{}
	rows := make([]row, 0, len(items))
	for _, it := range items {
		if len(it.values) < least {
			continue
		}
		key := make([]byte, 0, 4*len(it.values))
		for _, v := range it.values {
			key = append(key, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
		}
		n, ok := seen[string(key)]
		if !ok {
			n = int32(len(s.patterns))
			seen[string(key)] = n
			s.patterns = append(s.patterns, patternOf(it.values))
		}
		rows = append(rows, row{cluster: clusterOf(it.cluster, ""), pattern: n})
	}
	s.order(rows, len(base))
	s.gather(rows, nil)
	return s
}

// order gives patterns numbers that do not depend on the order of the items.
func (s *sample) order(rows []row, base int) {
	order := upTo(len(s.patterns))
	slices.SortFunc(order[base:], func(a, b int32) int {
		return slices.CompareFunc(s.patterns[a].tallies, s.patterns[b].tallies, func(a, b tally) int {
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.raters, b.raters))
		})
	})
	to, sorted := make([]int32, len(order)), make([]pattern, len(order))
	for i, from := range order {
		to[from], sorted[i] = int32(i), s.patterns[from]
	}
	s.patterns = sorted
	for i := range rows {
		rows[i].pattern = to[rows[i].pattern]
	}
}

func patternOf(values []int32) pattern {
	p := pattern{raters: int32(len(values))}
	for _, v := range values {
		if n := len(p.tallies); n > 0 && p.tallies[n-1].value == v {
			p.tallies[n-1].raters++
		} else {
			p.tallies = append(p.tallies, tally{v, 1})
		}
	}
	return p
}

// drawAlpha estimates alpha with replicates of its own.
func (s *sample) drawAlpha(level Level, places []float64, source stat.Source, o stat.Options) stat.Estimate {
	return s.krippendorff(level, places, source, o, func() replicates {
		return s.resample("krippendorff_alpha", o, []string{"alpha"}, alone(s.alpha(level, places)))
	})
}

// agreed estimates the share of pairs of raters that agree, item by item.
func agreed(items []item, source stat.Source, o stat.Options) (stat.Estimate, error) {
	rows := make([]stat.Observation, 0, len(items))
	for _, it := range items {
		if len(it.values) < 2 {
			continue
		}
		p := patternOf(it.values)
		rows = append(rows, stat.Observation{
			Item: itemName(len(rows)), Cluster: it.cluster, Score: p.agreement(WeightingNominal, 2),
			Provenance: stat.Provenance{Source: source},
		})
	}
	e, err := stat.Mean(rows, stat.Options{Level: o.Level, Range: stat.Unit()})
	e.Method = "pairwise_agreement"
	return e, err
}

// fleiss is Fleiss' kappa as a statistic: agreement beyond that of raters who
// keep to the shares of the labels and choose among the items at random.
func (s *sample) fleiss(mass []float64) float64 {
	var n, agreed, expected float64
	shares := make([]float64, s.values)
	for p, m := range mass {
		of := &s.patterns[p]
		if m == 0 {
			continue
		}
		n += m
		agreed += m * of.agreement(WeightingNominal, s.values)
		for _, t := range of.tallies {
			shares[t.value] += m * float64(t.raters) / float64(of.raters)
		}
	}
	for _, x := range shares {
		expected += x / n * x / n
	}
	if !(1-expected > 1e-12) {
		return math.NaN()
	}
	return (agreed/n - expected) / (1 - expected)
}

// drawFleiss estimates Fleiss' kappa, which needs as many raters for each item.
func (s *sample) drawFleiss(source stat.Source, o stat.Options) stat.Estimate {
	e := s.begin("fleiss_kappa", source, o)
	if s.clusters == 0 {
		s.enough(&e)
		return e
	}
	raters := s.patterns[s.units[0].parts[0].pattern].raters
	for p, m := range s.mass {
		if m > 0 && s.patterns[p].raters != raters {
			e.Abstain(stat.StatusUndefined, "items differ in the number of their ratings")
			return e
		}
	}
	value := s.fleiss(s.mass)
	if math.IsNaN(value) {
		e.Abstain(stat.StatusUndefined, "all ratings are the same")
		return e
	}
	e.Value = &value
	if s.enough(&e) {
		drawn := s.resample("fleiss_kappa", o, []string{"fleiss"}, alone(s.fleiss))
		percentiles(&e, drawn, "fleiss", correlation, o)
	}
	return e
}
