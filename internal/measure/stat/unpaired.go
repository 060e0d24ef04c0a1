package stat

import "math"

// compareUnpaired compares runs over different items.
func compareUnpaired(a, b *table, o CompareOptions) (Comparison, error) {
	switch {
	case o.Estimand == EstimandDataset:
		return Comparison{}, inputErrorf("runs over different items have no dataset in common")
	case o.Method == MethodBCa || o.Method == MethodPercentile || o.Method == MethodScore:
		return Comparison{}, inputErrorf("method %q is not available for unpaired runs", o.Method)
	case o.Missing == MissingBounds:
		return Comparison{}, inputErrorf("missing %q is not available for unpaired runs", o.Missing)
	}
	sa, sb := a.means(o.Options), b.means(o.Options)
	binary := o.shares(a) && o.shares(b)
	if o.Method == MethodNewcombe && !binary {
		return Comparison{}, inputErrorf("method %q needs scores of 0 or 1", o.Method)
	}
	c := Comparison{OnlyA: len(a.items), OnlyB: len(b.items), Comparable: true, Reasons: []string{}}
	var la, lb limits
	c.Baseline, la = sa.alone(binary, o.Options)
	c.Candidate, lb = sb.alone(binary, o.Options)
	c.Baseline.describeMissing(a, o.Options)
	c.Candidate.describeMissing(b, o.Options)

	e := o.Estimate("unpaired_difference")
	l := c.welch(&e, la, lb, binary, o)
	c.Difference = e
	c.Verdict = o.verdict(l)
	c.Resolution = o.resolution(e, nil)
	return c, nil
}

// shares reports whether all scores of a table are 0 or 1.
func (o CompareOptions) shares(t *table) bool {
	if o.Range != nil && *o.Range != *Unit() {
		return false
	}
	for i := range t.rows {
		if r := &t.rows[i]; r.Missing == Present && r.Score != 0 && r.Score != 1 {
			return false
		}
	}
	return true
}

// alone estimates one of two runs over different items, and returns the limits
// of its mean.
func (s sample) alone(binary bool, o Options) (Estimate, limits) {
	o.Method = MethodDefault
	if binary {
		e := o.Estimate("pass_rate")
		l := fillRate(&e, s, s.scored, o)
		return e, l
	}
	e := o.Estimate("mean")
	l := populationMean(&e, s, o.Range, o.Level)
	return e, l
}

// welch fills the difference of two independent means. Shares, and means one of
// which shows no variation, join the intervals of the two sides.
func (c *Comparison) welch(e *Estimate, la, lb limits, binary bool, o CompareOptions) limits {
	a, b := &c.Baseline, &c.Candidate
	e.N, e.Items, e.Clusters, e.NEff = a.N+b.N, a.Items+b.Items, a.Clusters+b.Clusters, a.NEff+b.NEff
	e.Warn("unpaired: the runs measured different items")
	if a.Value == nil || b.Value == nil {
		e.Abstain(StatusInsufficient, noScores)
		return nil
	}
	e.Value = ptr(*b.Value - *a.Value)
	if a.SE != nil && b.SE != nil {
		va, vb := *a.SE**a.SE, *b.SE**b.SE
		e.SE = ptr(math.Sqrt(va + vb))
		share := va / (va + vb)
		e.DF = ptr(1 / (share*share/float64(a.Clusters-1) + (1-share)*(1-share)/float64(b.Clusters-1)))
		c.Tests.T = ptr(TTest(*e.Value / *e.SE, *e.DF))
		c.P, c.PMethod = c.Tests.T, ptr("t")
	}
	var l limits
	name := "welch"
	switch {
	case la == nil || lb == nil:
		s, why := a.Status, a.Warnings
		if la != nil {
			s, why = b.Status, b.Warnings
		}
		e.Abstain(s, "one of the runs has no interval")
		e.Warnings = append(e.Warnings, why...)
		return nil
	case binary:
		l, name = mover(*a.Value, *b.Value, la, lb), "newcombe_independent"
	case o.Range != nil || e.SE == nil:
		l, name = mover(*a.Value, *b.Value, la, lb), "joined_bounds"
		if e.SE == nil {
			e.Status = StatusDegenerate
		}
	default:
		l = tLimits(*e.Value, *e.SE, e.df())
	}
	l = o.differences().within(l)
	lower, upper := l(o.Alpha())
	e.Between(lower, upper, o.Level, name)
	e.Assume("the two samples are independent")
	if min(a.Clusters, b.Clusters) < fewClusters {
		e.Weaken("fewer than 10 independent units")
	}
	return l
}
