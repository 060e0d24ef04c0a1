package correction

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// pool is labelled pairs and the judge's scores of everything else. Both are
// random samples of the same items.
type pool struct {
	human, judge []float64
	weights      []float64 // of the pairs; nil if all are one
	rest         []float64 // the judge's scores of unlabelled items
}

// fit is a corrected mean.
type fit struct {
	value, se float64
	lambda    float64 // how much the judge's scores count: 0 not at all, 1 like labels
	human     float64 // variance of a label
	size      float64 // of the labelled pairs
	// What the unlabelled items and the labelled ones add to the variance.
	ofRest, ofLabels float64
}

// corrected computes the mean of the labels, corrected by how far the judge's
// scores of the rest lie from those of the labelled items. Lambda is chosen to
// give the smallest variance, unless it is given.
//
// The estimate is unbiased for every fixed lambda: the judge's scores are added
// for the rest and taken off for the labelled items.
func (p pool) corrected(lambda *float64) fit {
	w := func(i int) float64 {
		if p.weights == nil {
			return 1
		}
		return p.weights[i]
	}
	weighted := func(f func(i int) float64) float64 {
		return stat.SumOf(len(p.human), func(i int) float64 { return w(i) * f(i) })
	}
	n, rest := weighted(func(int) float64 { return 1 }), float64(len(p.rest))
	my := weighted(func(i int) float64 { return p.human[i] }) / n
	mf := weighted(func(i int) float64 { return p.judge[i] }) / n
	vy := weighted(func(i int) float64 { return (p.human[i] - my) * (p.human[i] - my) }) / (n - 1)
	vf := weighted(func(i int) float64 { return (p.judge[i] - mf) * (p.judge[i] - mf) }) / (n - 1)
	cov := weighted(func(i int) float64 { return (p.human[i] - my) * (p.judge[i] - mf) }) / (n - 1)
	mu := total(p.rest) / rest
	vu := sum(p.rest, func(x float64) float64 { return (x - mu) * (x - mu) }) / (rest - 1)

	if rounding(vy, largest(p.human)) { // the labels are all alike
		vy, cov = 0, 0
	}
	f := fit{human: vy, size: n}
	if lambda != nil {
		f.lambda = *lambda
	} else {
		all := (mf*n + mu*rest) / (n + rest)
		va := (weighted(func(i int) float64 { return (p.judge[i] - all) * (p.judge[i] - all) }) +
			sum(p.rest, func(x float64) float64 { return (x - all) * (x - all) })) / (n + rest - 1)
		if !rounding(va, math.Max(largest(p.judge), largest(p.rest))) {
			f.lambda = clamp(cov/((1+n/rest)*va), 0, 1)
		}
	}
	l := f.lambda
	f.value = l*mu + my - l*mf
	f.ofRest, f.ofLabels = l*l*vu/rest, math.Max(0, vy+l*l*vf-2*l*cov)/n
	f.se = math.Sqrt(f.ofRest + f.ofLabels)
	if rounding(f.ofRest+f.ofLabels, math.Max(largest(p.human), l*largest(p.judge))) {
		f.se = 0
	}
	return f
}

// softened adds four labels of weight ½, one for each way in which a person and a
// judge can give an end of the range. Labels that were all alike, as they are
// where nearly everything passes, then still leave room for what was not seen.
func (p pool) softened(r stat.Range) pool {
	out := pool{rest: p.rest}
	out.human = append(append(out.human, p.human...), r.Lower, r.Lower, r.Upper, r.Upper)
	out.judge = append(append(out.judge, p.judge...), r.Lower, r.Upper, r.Lower, r.Upper)
	for range p.human {
		out.weights = append(out.weights, 1)
	}
	out.weights = append(out.weights, 0.5, 0.5, 0.5, 0.5)
	return out
}

// Hybrid is a mean of people's labels that a judge makes more precise.
type Hybrid struct {
	stat.Estimate
	Lambda *float64 `json:"lambda" doc:"How much the judge's scores count: 0 not at all, 1 as much as labels; null without an estimate."`
	// EffectiveLabels alone would give the same standard error.
	EffectiveLabels *float64 `json:"effective_labels" doc:"Number of labels that would be as precise without the judge; null where the labels do not vary."`
	LabelsSaved     *float64 `json:"labels_saved" doc:"The same, less the labels that there are."`
}

// estimate makes an estimate of the pool, of so many labels. The value is the plain one; its
// interval comes from the softened pool where scores have a range.
func (p pool) estimate(labels int, o stat.Options) Hybrid {
	h := Hybrid{Estimate: o.Estimate("ppi_plus_plus")}
	n := len(p.human) // clusters
	h.Source, h.N, h.Items, h.Clusters = stat.SourceHybrid, labels, labels, n
	h.NEff = float64(n)
	f := p.corrected(nil)
	h.Value, h.Lambda = &f.value, &f.lambda
	if f.se > 0 {
		h.SE = &f.se
		if f.human > 0 {
			h.EffectiveLabels = ptr(f.human / (f.se * f.se))
			h.LabelsSaved = ptr(*h.EffectiveLabels - f.size)
			h.NEff = *h.EffectiveLabels
		}
	}
	h.Assume("labelled items are a random part of all items")
	if o.Range == nil {
		h.DF = ptr(float64(n - 1))
		half := stat.TCritical(o.Alpha(), *h.DF) * f.se
		if f.se == 0 {
			h.Abstain(stat.StatusDegenerate, "the labels do not vary, and without a range nothing bounds what was not observed")
			return h
		}
		h.Between(f.value-half, f.value+half, o.Level, "ppi_t")
		if n < fewUnbounded {
			h.Weaken("fewer than 200 labels of scores without a range")
		}
		return h
	}
	soft := p.softened(*o.Range).corrected(nil)
	h.DF = ptr(soft.size - 1)
	half := stat.TCritical(o.Alpha(), *h.DF) * soft.se
	h.within(soft.value-half, soft.value+half, o, "ppi_adjusted_t")
	if n < fewLabels {
		h.Weaken("fewer than 50 labels")
	}
	return h
}

// within cuts the value and its interval to the range of the scores. An interval
// that lies outside of it says that an assumption fails, and leaves the range.
func (h *Hybrid) within(lower, upper float64, o stat.Options, method string) {
	r := *o.Range
	if upper <= r.Lower || lower >= r.Upper {
		h.Value, h.Lambda, h.EffectiveLabels, h.LabelsSaved = nil, nil, nil, nil
		h.Abstain(stat.StatusNotIdentified, "the labels do not fit the way in which their items are said to be chosen")
		h.Between(r.Lower, r.Upper, o.Level, "none")
		return
	}
	h.Value = ptr(clamp(*h.Value, r.Lower, r.Upper))
	h.Between(clamp(lower, r.Lower, r.Upper), clamp(upper, r.Lower, r.Upper), o.Level, method)
}

// newPool makes a pool of items, or of their clusters. It fails if a
// cluster is labelled in part: it is neither a label nor the rest.
func newPool(s split) (p pool, clusters int, ok bool) {
	if !s.clustered {
		for _, it := range s.labelled {
			p.human, p.judge = append(p.human, *it.Human), append(p.judge, it.Judge)
		}
		for _, it := range s.unlabelled {
			p.rest = append(p.rest, it.Judge)
		}
		return p, len(p.human), true
	}
	labelled, rest := newGroups(s.labelled), newGroups(s.unlabelled)
	for name := range labelled.at {
		if _, both := rest.at[name]; both {
			return pool{}, len(labelled.judge), false
		}
	}
	p.human, p.judge, p.rest = perCluster(labelled.human), perCluster(labelled.judge), perCluster(rest.judge)
	return p, len(p.human), true
}

// perCluster returns a number for each cluster, whose mean is that of all items.
// Where clusters are of one size it is their mean; a larger one moves it further.
func perCluster(clusters [][]float64) []float64 {
	all := slices.Concat(clusters...)
	mean, size := total(all)/float64(len(all)), float64(len(all))/float64(len(clusters))
	out := make([]float64, len(clusters))
	for i, x := range clusters {
		out[i] = mean + (total(x)-mean*float64(len(x)))/size
	}
	return out
}

// groups holds the scores of each cluster.
type groups struct {
	at           map[string]int
	human, judge [][]float64
}

func newGroups(items []Item) groups {
	g := groups{at: map[string]int{}}
	for _, it := range items {
		i, ok := 0, false
		if it.Cluster != "" {
			i, ok = g.at[it.Cluster]
		}
		if !ok {
			i = len(g.judge)
			g.human, g.judge = append(g.human, nil), append(g.judge, nil)
			if it.Cluster != "" {
				g.at[it.Cluster] = i
			}
		}
		if it.Human != nil {
			g.human[i] = append(g.human[i], *it.Human)
		}
		g.judge[i] = append(g.judge[i], it.Judge)
	}
	return g
}
