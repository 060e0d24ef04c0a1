package agreement

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// minRepeats is the number of repetitions from which a judge's noise differs
// visibly from chance.
const minRepeats = 3

// Repeats are the verdicts of one judge on one item, asked again and again.
type Repeats struct {
	Item    string
	Cluster string // empty: the item is its own cluster
	Labels  []string
}

// Consistency is how well a judge agrees with itself.
type Consistency struct {
	Items     int           `json:"n_items" doc:"Items that were judged at least three times."`
	Excluded  int           `json:"excluded" doc:"Items that were judged less often; they are left out."`
	Agreement stat.Estimate `json:"agreement" doc:"Share of the pairs of repetitions with the same verdict."`
	Alpha     stat.Estimate `json:"krippendorff_alpha"`
	Fleiss    stat.Estimate `json:"fleiss_kappa"`
	FlipRate  stat.Estimate `json:"flip_rate" doc:"Share of verdicts that differ from the most frequent one of their item."`
}

// SelfConsistency computes how well a judge agrees with itself on labels. People
// cannot be expected to agree with it any better than this noise allows.
func SelfConsistency(all []Repeats, scale Scale, o stat.Options) (Consistency, error) {
	o, err := o.Checked()
	if err != nil {
		return Consistency{}, err
	}
	at, err := scale.Index()
	if err != nil {
		return Consistency{}, err
	}
	var c Consistency
	var items []item
	var flips []stat.Observation
	seen := make(map[string]bool, len(all))
	for _, r := range all {
		if r.Item == "" || seen[r.Item] {
			return Consistency{}, malformed("item %q has no name or occurs twice", r.Item)
		}
		seen[r.Item] = true
		it := item{cluster: r.Cluster}
		for _, label := range r.Labels {
			v, ok := at[label]
			if !ok {
				return Consistency{}, malformed("item %q: label %q is not on the scale", r.Item, label)
			}
			it.values = append(it.values, int32(v))
		}
		if len(it.values) < minRepeats {
			c.Excluded++
			continue
		}
		slices.Sort(it.values)
		items = append(items, it)
		flips = append(flips, flipsOf(r, it)...)
	}
	c.Items = len(items)
	level := LevelNominal
	if scale.Ordered {
		level = LevelOrdinal
	}
	k := len(scale.Labels)
	s := newRated(items, k, pairs(k), upTo(k*k), minRepeats)
	c.Alpha = s.drawAlpha(level, nil, stat.SourceJudge, o)
	c.Fleiss = s.drawFleiss(stat.SourceJudge, o)
	if c.Agreement, err = agreed(items, stat.SourceJudge, o); err != nil {
		return Consistency{}, err
	}
	c.FlipRate, err = stat.PassRate(flips, stat.Options{Level: o.Level})
	c.FlipRate.Method, c.FlipRate.FailingClusters = "flip_rate", nil
	return c, err
}

// flipsOf marks the verdicts that differ from the most frequent one.
func flipsOf(r Repeats, it item) []stat.Observation {
	p := patternOf(it.values)
	most := slices.MaxFunc(p.tallies, func(a, b tally) int { return int(a.raters - b.raters) })
	rows := make([]stat.Observation, len(it.values))
	for i, v := range it.values {
		rows[i] = stat.Observation{Item: r.Item, Cluster: r.Cluster, Epoch: i, Provenance: stat.Provenance{Source: stat.SourceJudge}}
		if v != most.value {
			rows[i].Score = 1
		}
	}
	return rows
}

// NumericConsistency is how well the scores of a judge repeat.
type NumericConsistency struct {
	Items int           `json:"n_items"`
	ICC   stat.Estimate `json:"icc" doc:"Share of the variance of a single score that comes from the item: ICC(1,1)."`
	// Ceiling is the root of ICC: a score that repeats no better cannot
	// correlate more with anything.
	Ceiling stat.Estimate `json:"correlation_ceiling" doc:"Largest correlation with anything that scores which repeat so well can have."`
}

// Repeatability computes the intraclass correlation of repeated scores. All items
// have the same number of repetitions.
func Repeatability(items [][]float64, o stat.Options) (NumericConsistency, error) {
	o, err := o.Checked()
	if err != nil {
		return NumericConsistency{}, err
	}
	n := len(items)
	out := NumericConsistency{Items: n}
	e := o.Estimate("icc_1_1")
	e.Source, e.N, e.Items, e.Clusters, e.NEff = stat.SourceJudge, n, n, n, float64(n)
	if n < 2 {
		e.Abstain(stat.StatusInsufficient, "fewer than two items")
		out.ICC, out.Ceiling = e, root(e)
		return out, nil
	}
	m := len(items[0])
	for i, x := range items {
		if len(x) != m || m < 2 {
			return out, malformed("item %d has %d scores, and others %d; all need the same number, at least 2", i, len(x), m)
		}
		for _, v := range x {
			if math.IsNaN(v) || math.Abs(v) > maxValue {
				return out, malformed("item %d: score %v cannot be compared", i, v)
			}
		}
	}
	between, within := squares(items)
	g, k := float64(n), float64(m)
	if between == 0 && within == 0 {
		e.Abstain(stat.StatusUndefined, "all scores are the same")
		out.ICC, out.Ceiling = e, root(e)
		return out, nil
	}
	value := (between - within) / (between + (k-1)*within)
	e.Value = &value
	if within == 0 || between == 0 {
		why := "no score of any item varies"
		if between == 0 {
			why = "the means of the items are all the same"
		}
		e.Abstain(stat.StatusDegenerate, why)
		out.ICC, out.Ceiling = e, root(e)
		return out, nil
	}
	f := between / within
	limit := func(f float64) float64 { return (f - 1) / (f + k - 1) }
	low := f / fQuantile(1-o.Alpha()/2, g-1, g*(k-1))
	high := f * fQuantile(1-o.Alpha()/2, g*(k-1), g-1)
	e.Between(limit(low), limit(high), o.Level, "f")
	e.Assume("scores are normal within items and between them")
	if n < 10 {
		e.Weaken("fewer than 10 independent units")
	}
	out.ICC, out.Ceiling = e, root(e)
	return out, nil
}

// squares returns the mean squares between items and within them. What rounding
// alone can cause is zero.
func squares(items [][]float64) (between, within float64) {
	n, m := len(items), len(items[0])
	means := make([]float64, n)
	for i, x := range items {
		means[i] = stat.SumOf(m, func(j int) float64 { return x[j] }) / float64(m)
	}
	all := stat.SumOf(n, func(i int) float64 { return means[i] }) / float64(n)
	between = float64(m) * stat.SumOf(n, func(i int) float64 { return (means[i] - all) * (means[i] - all) }) / float64(n-1)
	within = stat.SumOf(n*m, func(i int) float64 {
		d := items[i/m][i%m] - means[i/m]
		return d * d
	}) / float64(n*(m-1))
	most := largest(slices.Concat(items...))
	return unlessRounding(between, most), unlessRounding(within, most)
}

// fQuantile returns the quantile of Fisher's distribution.
func fQuantile(p, d1, d2 float64) float64 {
	x := stat.BetaQuantile(p, d1/2, d2/2)
	return d2 * x / (d1 * (1 - x))
}

// root turns a share of variance into the correlation that it allows.
func root(e stat.Estimate) stat.Estimate {
	e.Method = "root_icc"
	if e.Value != nil {
		e.Value = ptr(math.Sqrt(math.Max(0, *e.Value)))
	}
	if e.CI != nil {
		ci := *e.CI
		for _, end := range []**float64{&ci.Lower, &ci.Upper} {
			if *end != nil {
				*end = ptr(math.Sqrt(math.Max(0, **end)))
			}
		}
		e.CI = &ci
	}
	return e
}
