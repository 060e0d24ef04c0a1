package agreement

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Together is how well the raters of a task agree: all of them, each pair, on
// each label, and without each of them.
type Together struct {
	Overall Raters      `json:"overall" doc:"Agreement of all raters."`
	Pairs   []RaterPair `json:"pairs" doc:"Raters who rated items together, pair by pair, in the order of their names."`
	Labels  []Specific  `json:"labels" doc:"Agreement on each label, in the order of the scale."`
	Without []Without   `json:"without" doc:"Alpha without each rater, in the order of their names."`
}

// RaterPair is how well two raters agree.
type RaterPair struct {
	First  string         `json:"first" doc:"A rater."`
	Second string         `json:"second" doc:"Another rater."`
	Shared int            `json:"shared" doc:"Items that both rated."`
	Agreed stat.Estimate  `json:"agreement" doc:"Share of them with equal labels."`
	Kappa  *stat.Optional `json:"kappa" doc:"Cohen's kappa, on an ordered scale by squared distance; null below 20 shared items."`
}

// Specific is how well raters agree on one label.
type Specific struct {
	Label  string        `json:"label" doc:"The label."`
	Uses   int           `json:"uses" doc:"Ratings with the label, on items that have at least two ratings."`
	Agreed stat.Estimate `json:"agreement" doc:"Chance that another rating of an item with the label has the label, too."`
}

// Without is how well raters agree without one of them.
type Without struct {
	Rater   string        `json:"rater" doc:"Rater who is left out."`
	Ratings int           `json:"ratings" doc:"Ratings of that rater."`
	Alpha   stat.Estimate `json:"krippendorff_alpha" doc:"Alpha of all others."`
	Change  stat.Estimate `json:"change" doc:"That minus the alpha of all: above 0 the rater lowers agreement."`
}

// panel is ratings with who gave them.
type panel struct {
	k      int
	level  Level
	source stat.Source
	o      stat.Options
	raters []string
	items  []panelItem
}

type panelItem struct {
	cluster string
	by      []int32 // in order
	values  []int32
}

// Among computes how well the raters of a task agree.
func Among(ratings []Rating, scale Scale, source stat.Source, o stat.Options) (t Together, err error) {
	defer stat.Stoppable(&err)
	if t.Overall, err = Ceiling(ratings, scale, source, o); err != nil {
		return Together{}, err
	}
	if o, err = o.Checked(); err != nil {
		return Together{}, err
	}
	p := newPanel(ratings, scale, source, o)
	if t.Pairs, err = p.pairs(scale); err != nil {
		return Together{}, err
	}
	t.Labels = p.specific(scale)
	t.Without = p.without()
	return t, nil
}

// newPanel gathers ratings that were checked before.
func newPanel(ratings []Rating, scale Scale, source stat.Source, o stat.Options) *panel {
	p := &panel{k: len(scale.Labels), level: LevelNominal, source: source, o: o}
	if scale.Ordered {
		p.level = LevelOrdinal
	}
	at, _ := scale.Index()
	who := map[string]int32{}
	for _, r := range ratings {
		if _, ok := who[r.Rater]; !ok {
			who[r.Rater] = 0
			p.raters = append(p.raters, r.Rater)
		}
	}
	slices.Sort(p.raters)
	for i, name := range p.raters {
		who[name] = int32(i)
	}
	sorted := slices.Clone(ratings)
	slices.SortFunc(sorted, func(a, b Rating) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(who[a.Rater], who[b.Rater]))
	})
	for i, r := range sorted {
		if i == 0 || sorted[i-1].Item != r.Item {
			p.items = append(p.items, panelItem{cluster: r.Cluster})
		}
		it := &p.items[len(p.items)-1]
		it.by = append(it.by, who[r.Rater])
		it.values = append(it.values, int32(at[r.Label]))
	}
	return p
}

// pairs compares the raters two by two.
func (p *panel) pairs(scale Scale) ([]RaterPair, error) {
	type key struct{ first, second int32 }
	all := map[key][]row{}
	for _, it := range p.items {
		for a := range it.by {
			for b := a + 1; b < len(it.by); b++ {
				two := key{it.by[a], it.by[b]}
				all[two] = append(all[two], row{cluster: clusterOf(it.cluster, ""), pattern: it.values[a]*int32(p.k) + it.values[b]})
			}
		}
	}
	w := WeightingNominal
	if scale.Ordered && p.k > 2 {
		w = WeightingQuadratic
	}
	cells, chance := pairs(p.k), upTo(p.k*p.k)
	out := []RaterPair{}
	for a := range p.raters {
		for b := a + 1; b < len(p.raters); b++ {
			rows := all[key{int32(a), int32(b)}]
			if len(rows) == 0 {
				continue
			}
			p.o.Step()
			s := &sample{values: p.k, patterns: cells, chance: chance}
			s.gather(rows, nil)
			agreed, err := p.same(s, rows)
			if err != nil {
				return nil, err
			}
			two := RaterPair{First: p.raters[a], Second: p.raters[b], Shared: len(rows), Agreed: agreed}
			if len(rows) >= minUnits {
				two.Kappa = &stat.Optional{Estimate: s.kappa(w, p.source, p.o, func() replicates {
					return s.resample("pair_kappa", p.o, []string{string(w)}, alone(func(mass []float64) float64 {
						value, _ := table{p.k, mass}.kappa(w)
						return value
					}))
				})}
			}
			out = append(out, two)
		}
	}
	return out, nil
}

// same estimates the share of equal labels of a pair.
func (p *panel) same(s *sample, rows []row) (e stat.Estimate, err error) {
	equal := func(r row) bool { return int(r.pattern)/p.k == int(r.pattern)%p.k }
	if s.plain {
		n := 0
		for _, r := range rows {
			if equal(r) {
				n++
			}
		}
		e, err = stat.Proportion(n, len(rows), stat.Options{Level: p.o.Level})
	} else {
		all := make([]stat.Observation, len(rows))
		for i, r := range rows {
			all[i] = stat.Observation{Item: itemName(i), Cluster: r.cluster, Score: one(equal(r))}
		}
		e, err = stat.PassRate(all, stat.Options{Level: p.o.Level})
	}
	e.Method, e.Source, e.FailingClusters = "raw_agreement", p.source, nil
	return e, err
}

// rated returns the items without a rater; none is left out if it is negative.
func (p *panel) rated(left int) []item {
	out := make([]item, len(p.items))
	for i, it := range p.items {
		out[i].cluster = it.cluster
		for n, by := range it.by {
			if int(by) != left {
				out[i].values = append(out[i].values, it.values[n])
			}
		}
		slices.Sort(out[i].values)
	}
	return out
}

// specific estimates agreement on each label.
func (p *panel) specific(scale Scale) []Specific {
	s := newRated(p.rated(-1), p.k, pairs(p.k), upTo(p.k*p.k), 2)
	names := make([]string, p.k)
	for c := range names {
		names[c] = f1Name(c)
	}
	draw := sync.OnceValue(func() replicates { return s.resample("specific_agreement", p.o, names, s.drawnSpecific) })
	out := make([]Specific, p.k)
	both, uses := s.uses(s.mass)
	for c, label := range scale.Labels {
		e := s.begin("specific_agreement", p.source, p.o)
		out[c] = Specific{Label: label, Uses: int(math.Round(uses[c]))}
		switch value := both[c] / uses[c]; {
		case s.clusters == 0:
			s.enough(&e)
		case uses[c] == 0:
			e.Abstain(stat.StatusUndefined, "nobody used the label on an item with two ratings")
		default:
			e.Value = &value
			if s.enough(&e) {
				percentiles(&e, draw(), names[c], share, p.o)
			}
		}
		out[c].Agreed = e
	}
	return out
}

// uses returns how much each label is used, and how much of that with another
// rating of the item that has it, too.
func (s *sample) uses(mass []float64) (both, uses []float64) {
	both, uses = make([]float64, s.values), make([]float64, s.values)
	for p, m := range mass {
		if of := &s.patterns[p]; m > 0 {
			for _, t := range of.tallies {
				n := float64(t.raters)
				both[t.value] += m * n * (n - 1) / float64(of.raters-1)
				uses[t.value] += m * n
			}
		}
	}
	return both, uses
}

// drawnSpecific is agreement on each label on a sample. Clusters that were rated
// at random have a label or not with the same chance, however many others there
// are.
func (s *sample) drawnSpecific(d drawn, out []float64) {
	both, uses := s.uses(d.mass)
	size := s.size()
	for c := range out {
		b, u := both[c], uses[c]
		for _, a := range d.added {
			first, second := int(a.pattern)/s.values == c, int(a.pattern)%s.values == c
			u += size * (one(a.quarter&1 == 1) + one(a.quarter&2 == 2) - one(first) - one(second))
			b += size * 2 * (one(a.quarter == 3) - one(first && second))
		}
		out[c] = math.NaN()
		if u > 0 {
			out[c] = math.Max(0, b) / u
		}
	}
}
