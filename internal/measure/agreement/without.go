package agreement

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/assayhq/assay/internal/measure/stat"
)

// mostLeftOut is up to how many raters times items raters are left out in turn. Each
// costs a bootstrap over all items: for 100 raters and 10,000 items that would take the
// better part of a minute. At the limit each has the least number of replicates.
const mostLeftOut = 100_000

// without estimates alpha without each of the raters.
func (p *panel) without() []Without {
	out := make([]Without, len(p.raters))
	ratings := make([]int, len(p.raters))
	for _, it := range p.items {
		for _, by := range it.by {
			ratings[by]++
		}
	}
	for j, name := range p.raters {
		out[j] = Without{Rater: name, Ratings: ratings[j]}
		if len(p.raters)*len(p.items) > mostLeftOut {
			out[j].Alpha, out[j].Change = p.notLeftOut("krippendorff_alpha_"+string(p.level)), p.notLeftOut("krippendorff_alpha_change")
			continue
		}
		out[j].Alpha, out[j].Change = p.leftOut(j)
	}
	return out
}

// notLeftOut says that a rater was not left out.
func (p *panel) notLeftOut(method string) stat.Estimate {
	e := p.o.Estimate(method)
	e.Source = p.source
	e.Abstain(stat.StatusUndefined, "there are too many ratings to leave out each rater in turn")
	return e
}

// leftOut estimates alpha without a rater, and by how much it differs from that
// of all. Both come from the same draws: what the others say is in both, and
// cancels.
func (p *panel) leftOut(rater int) (alpha, change stat.Estimate) {
	all, rest := p.twice(rater)
	both, others := all.alpha(p.level, nil), rest.alpha(p.level, nil)
	// Ten raters get all the replicates, and more of them share: the time stays
	// within bounds, and nobody gets fewer than an interval needs.
	few := p.o
	few.Replicates = min(p.o.Replicates, max(leastReplicates, 10*p.o.Replicates/len(p.raters)))
	few.Replicates = min(few.Replicates, max(leastReplicates, mostLeftOut*leastReplicates/(len(p.raters)*len(p.items))))
	draw := sync.OnceValue(func() replicates {
		return all.resample("alpha_without", few, []string{"alpha", "change"}, func(d drawn, out []float64) {
			out[0] = others(d.mass)
			out[1] = out[0] - both(d.mass)
		})
	})
	left := newRated(p.rated(rater), p.k, pairs(p.k), upTo(p.k*p.k), 2)
	alpha = left.krippendorff(p.level, nil, p.source, p.o, draw)
	e := all.begin("krippendorff_alpha_change", p.source, p.o)
	switch value := others(all.mass) - both(all.mass); {
	case all.clusters == 0:
		all.enough(&e)
	case !p.shares(rater):
		e.Abstain(stat.StatusUndefined, "the rater shares no item with another")
	case math.IsNaN(value):
		e.Abstain(stat.StatusUndefined, "alpha is undefined with the rater or without")
	default:
		e.Value = &value
		if all.enough(&e) {
			percentiles(&e, draw(), "change", stat.Range{Lower: math.Inf(-1), Upper: math.Inf(1)}, p.o)
		}
	}
	return alpha, e
}

// shares reports whether a rater rated an item that another rated, too.
func (p *panel) shares(rater int) bool {
	return slices.ContainsFunc(p.items, func(it panelItem) bool {
		return len(it.by) > 1 && slices.Contains(it.by, int32(rater))
	})
}

// twice makes a sample of the items with at least two ratings, and one with the
// same numbers for patterns that are without a rater.
func (p *panel) twice(rater int) (all, rest *sample) {
	base := pairs(p.k)
	all = &sample{values: p.k, patterns: base, chance: upTo(len(base))}
	rest = &sample{values: p.k, patterns: slices.Clone(base)}
	type kind struct {
		key       string
		all, rest []int32
	}
	with, without := p.rated(-1), p.rated(rater)
	kinds, seen := []kind{}, map[string]bool{}
	keys := make([]string, len(with))
	for i, it := range with {
		if len(it.values) < 2 {
			continue
		}
		key := append(bytesOf(it.values), 0xff) // values are small numbers
		keys[i] = string(append(key, bytesOf(without[i].values)...))
		if !seen[keys[i]] {
			seen[keys[i]] = true
			kinds = append(kinds, kind{keys[i], it.values, without[i].values})
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.key, b.key) })
	at := make(map[string]int32, len(kinds))
	for _, x := range kinds {
		at[x.key] = int32(len(all.patterns))
		all.patterns = append(all.patterns, patternOf(x.all))
		rest.patterns = append(rest.patterns, patternOf(x.rest))
	}
	rows := make([]row, 0, len(with))
	for i, it := range with {
		if keys[i] != "" {
			rows = append(rows, row{cluster: clusterOf(it.cluster, ""), pattern: at[keys[i]]})
		}
	}
	all.gather(rows, nil)
	return all, rest
}

// bytesOf writes values, of which there are at most a hundred, as a byte each.
func bytesOf(values []int32) []byte {
	out := make([]byte, len(values), 2*len(values)+1)
	for i, v := range values {
		out[i] = byte(v)
	}
	return out
}

// Overlap says how many items need ratings of several people.
type Overlap struct {
	SE    float64 `json:"se" doc:"Standard error that is wanted."`
	Items *int    `json:"items" doc:"Items with at least two ratings that it takes; null if the present ones do not tell."`
	More  *int    `json:"more" doc:"How many that is beyond the present ones."`
}

// Plan says how many items with several ratings bring the standard error of an
// agreement down to one that is wanted, if agreement stays what it is: it shrinks
// with the square root of the items.
func Plan(e stat.Estimate, se float64) (Overlap, error) {
	if !(se > 0) {
		return Overlap{}, malformed("standard error %v must be above 0", se)
	}
	out := Overlap{SE: se}
	if e.SE == nil {
		return out, nil
	}
	ratio := *e.SE / se
	if n := math.Ceil(float64(e.N)*ratio*ratio - 1e-9); n <= mostLabels {
		out.Items, out.More = ptr(int(n)), ptr(max(0, int(n)-e.N))
	}
	return out, nil
}

// WithoutEach computes how well raters agree without each of them, in the order of
// their names.
func WithoutEach(ratings []Rating, scale Scale, source stat.Source, o stat.Options) (_ []Without, err error) {
	defer stat.Stoppable(&err)
	o, err = o.Checked()
	if err != nil {
		return nil, err
	}
	marks, err := scale.marks(ratings)
	if err != nil {
		return nil, err
	}
	if _, _, err := rated(marks); err != nil {
		return nil, err
	}
	return newPanel(ratings, scale, source, o).without(), nil
}
