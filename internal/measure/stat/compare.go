package stat

import (
	"math"
	"slices"
)

// Compare says how a candidate run differs from a baseline on the same items.
// Items are matched by id, and by content where both sides carry a digest of
// it; only matched items count, by the difference of their two scores.
//
// A candidate that has less than four fifths of the baseline's items, and runs
// whose items changed, are not comparable, and the difference abstains unless it is
// forced. Runs over different items are compared as such if the options say so.
//
// Rows may come in any order; sorted by item they need no index, and a hundred
// thousand of them on either side take some 30 ms.
func Compare(baseline, candidate []Observation, o CompareOptions) (Comparison, error) {
	o, err := o.checked()
	if err != nil {
		return Comparison{}, err
	}
	if o.Missing == MissingFail && !o.Unpaired {
		baseline, candidate = settle(baseline, candidate), settle(candidate, baseline)
	}
	a, err := gather(baseline, &o.Options)
	if err != nil {
		return Comparison{}, inputErrorf("baseline: %w", err)
	}
	b, err := gather(candidate, &o.Options)
	if err != nil {
		return Comparison{}, inputErrorf("candidate: %w", err)
	}
	if o.Unpaired {
		return compareUnpaired(a, b, o)
	}
	m, err := matchItems(a, b, o.Weighted)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{
		Paired: true, Matched: m.matched, OnlyA: m.onlyA(), OnlyB: m.onlyB(), Changed: m.changed, Reasons: m.reasons(),
	}
	c.Comparable = len(c.Reasons) == 0
	if !c.Comparable && !o.Forced {
		c.Difference = o.Estimate("paired_difference")
		c.Difference.Abstain(StatusNotComparable, "the runs are not comparable")
		c.Baseline, c.Candidate = a.mean(o.Options), b.mean(o.Options)
		c.Verdict = o.verdict(nil)
		return c, nil
	}
	err = c.fill(m, o)
	return c, err
}

// settle returns rows in which an item that the other side could score is missing
// because of the answer: what could be scored once can be scored.
func settle(rows, other []Observation) []Observation {
	if !slices.ContainsFunc(rows, func(r Observation) bool { return r.Missing == CauseItem }) {
		return rows
	}
	fit := make(map[string]bool, len(other))
	for i := range other {
		if r := &other[i]; r.Missing == Present {
			fit[r.Item] = true
		}
	}
	rows = slices.Clone(rows)
	for i := range rows {
		if r := &rows[i]; r.Missing == CauseItem && fit[r.Item] {
			r.Missing = CauseOutput
		}
	}
	return rows
}

func (o CompareOptions) checked() (CompareOptions, error) {
	var err error
	if o.Options, err = o.Options.Checked(); err != nil {
		return o, err
	}
	if err := o.allows(MethodDefault, MethodNewcombe, MethodScore, MethodBCa, MethodPercentile); err != nil {
		return o, err
	}
	if !(o.Margin >= 0 && o.Margin <= maxScore) {
		return o, inputErrorf("margin %v must be a number of at least 0", o.Margin)
	}
	for _, t := range o.Targets {
		if !(t > 0 && t <= maxScore) {
			return o, inputErrorf("target %v must be a number above 0", t)
		}
	}
	return o, nil
}

// fill compares what was matched.
func (c *Comparison) fill(m *match, o CompareOptions) error {
	p := m.scored(o.Options)
	binary := o.binary(m, p)
	if !binary && (o.Method == MethodNewcombe || o.Method == MethodScore) {
		return inputErrorf("method %q needs scores of 0 or 1, without clusters, repetitions and weights", o.Method)
	}
	c.Baseline, c.Candidate = p.a.side(binary, o.Options), p.b.side(binary, o.Options)
	c.count(p.d, o.LowerIsBetter)
	c.Correlation = correlation(p.a, p.b)

	e := o.Estimate("paired_difference")
	l := p.difference(&e, m, binary, o)
	if !c.Comparable {
		e.Weaken("the runs are not comparable and were compared by force")
	}
	if of, to := m.missing(o.Options); of.Rows+to.Rows > 0 {
		c.Baseline.lacks(of)
		c.Candidate.lacks(to)
		missing := Missing{Rows: of.Rows + to.Rows, Share: math.Max(of.Share, to.Share), Policy: o.Missing}
		if o.Range != nil {
			low, high := m.extreme(o.Options, true), m.extreme(o.Options, false)
			if low.d.n() > 0 {
				missing.Lower, missing.Upper = ptr(low.d.mean()), ptr(high.d.mean())
			}
			if o.Missing == MissingBounds && l != nil {
				l = e.stretchDifference(l, low, high, m, binary, o)
			}
		}
		e.missing(missing)
	}
	c.test(&e, p, binary, o)
	c.Difference = e
	c.VarianceReduction = c.reduction(p)
	c.Verdict = o.verdict(l)
	c.Resolution = o.resolution(e, m)
	return nil
}

// side estimates one run on the items that count.
func (s sample) side(binary bool, o Options) Estimate {
	o.Method = MethodDefault
	if binary {
		e := o.Estimate("pass_rate")
		fillRate(&e, s, s.n(), o)
		return e
	}
	e := o.Estimate("mean")
	populationMean(&e, s, o.Range, o.Level)
	return e
}

// binary reports whether the items can be counted in a fourfold table.
func (o CompareOptions) binary(m *match, p pairs) bool {
	if o.Weighted || o.Estimand == EstimandDataset || p.d.cluster != nil || o.Method == MethodBCa || o.Method == MethodPercentile ||
		o.Range != nil && *o.Range != *Unit() || m.a.repeats || m.b.repeats {
		return false
	}
	return p.a.binary() && p.b.binary()
}

func (p pairs) Fourfold() Fourfold {
	var f Fourfold
	for i, a := range p.a.x {
		switch b := p.b.x[i]; {
		case a == 1 && b == 1:
			f.Both++
		case b == 1:
			f.OnlyB++
		case a == 1:
			f.OnlyA++
		default:
			f.None++
		}
	}
	return f
}

// difference fills the estimate of the mean difference.
func (p pairs) difference(e *Estimate, m *match, binary bool, o CompareOptions) limits {
	r := o.differences()
	switch {
	case o.Estimand == EstimandDataset:
		return m.datasetDifference(e, p, o)
	case o.Method == MethodBCa || o.Method == MethodPercentile:
		inner := o.Options
		inner.Range = r
		return bootstrapMean(e, p.d, inner)
	case !binary:
		return populationMean(e, p.d, r, o.Level)
	}
	e.N, e.Items, e.Clusters, e.NEff = p.d.n(), p.d.n(), p.d.n(), float64(p.d.n())
	if p.d.n() == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return nil
	}
	f := p.Fourfold()
	e.Value = ptr(f.difference())
	if p.d.n() > 1 {
		if v := p.d.spread(*e.Value).clustered; v > 0 {
			e.SE = ptr(math.Sqrt(v))
		}
	}
	l, name := limits(f.newcombe), "newcombe_paired"
	if o.Method == MethodScore {
		l, name = f.Tango, "tango"
	}
	lower, upper := l(o.Alpha())
	e.Between(lower, upper, o.Level, name)
	e.Assume("items are independent")
	e.few()
	return l
}

// differences is the range of a difference, if the scores have one.
func (o CompareOptions) differences() *Range {
	if o.Range == nil {
		return nil
	}
	return &Range{-o.Range.width(), o.Range.width()}
}

// stretchDifference widens the interval over whatever missing scores could
// have been.
func (e *Estimate) stretchDifference(l limits, low, high pairs, m *match, binary bool, o CompareOptions) limits {
	all := []limits{l}
	for _, p := range []pairs{low, high} {
		other := o.Estimate("")
		if l := p.difference(&other, m, binary, o); l != nil {
			all = append(all, l)
		}
		e.stretch(other)
	}
	return func(alpha float64) (lower, upper float64) {
		lower, upper = all[0](alpha)
		for _, l := range all[1:] {
			otherLower, otherUpper := l(alpha)
			lower, upper = math.Min(lower, otherLower), math.Max(upper, otherUpper)
		}
		return lower, upper
	}
}

// count counts the items that got better, worse or neither.
func (c *Comparison) count(d sample, lowerIsBetter bool) {
	for _, x := range d.x {
		switch {
		case math.Abs(x) <= 1e-12:
			c.Ties++
		case x > 0 != lowerIsBetter:
			c.Wins++
		default:
			c.Losses++
		}
	}
}

// test adds the p-values.
func (c *Comparison) test(e *Estimate, p pairs, binary bool, o CompareOptions) {
	if p.d.n() == 0 {
		return
	}
	if binary {
		exact, midP := p.Fourfold().McNemar()
		c.Tests.McNemarExact, c.Tests.McNemarMidP = &exact, &midP
		c.P, c.PMethod = &midP, ptr("mcnemar_mid_p")
		if o.Policy == PolicyGate {
			c.P, c.PMethod = &exact, ptr("mcnemar_exact")
		}
		return
	}
	if e.SE != nil && e.df() > 0 {
		c.Tests.T = ptr(TTest(*e.Value / *e.SE, *e.DF))
		c.P, c.PMethod = c.Tests.T, ptr("t")
	}
	if o.Estimand == EstimandDataset || p.d.g < 2 {
		return
	}
	flip, method, seed := signFlip(p.d.sums(0), o.Seed)
	c.Tests.SignFlip = &flip
	if seed != "" {
		e.Seed = &seed
	}
	if c.P == nil {
		c.P, c.PMethod = &flip, &method
	}
}

// correlation returns Pearson's coefficient over items, or nil if a side does
// not vary.
func correlation(a, b sample) *float64 {
	if a.n() < 2 || a.constant() || b.constant() {
		return nil
	}
	plain := func(s sample) (sample, float64) { s.w = nil; return s, s.mean() }
	a, meanA := plain(a)
	b, meanB := plain(b)
	product := func(x, y sample, meanX, meanY float64) float64 {
		return SumOf(x.n(), func(i int) float64 { return (x.x[i] - meanX) * (y.x[i] - meanY) })
	}
	r := product(a, b, meanA, meanB) / math.Sqrt(product(a, a, meanA, meanA)*product(b, b, meanB, meanB))
	if finite(r) == nil {
		return nil
	}
	return ptr(clamp(r, -1, 1))
}

// reduction returns what pairing saves of the variance.
func (c *Comparison) reduction(p pairs) *float64 {
	if p.d.g < 2 {
		return nil
	}
	square := func(se *float64) float64 {
		if se == nil {
			return 0
		}
		return *se * *se
	}
	unpaired := square(c.Baseline.SE) + square(c.Candidate.SE)
	if unpaired == 0 {
		return nil
	}
	paired := square(c.Difference.SE)
	if m := c.Difference.CI; m != nil && (m.Method == "bca" || m.Method == "percentile") || c.Difference.Estimand == EstimandDataset {
		paired = p.d.spread(p.d.mean()).clustered // the error there is of another kind
	}
	return finite(1 - paired/unpaired)
}
