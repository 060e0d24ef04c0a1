package stat

import "math"

// noise is what the repetitions of one item add to the variance of a sum, and
// how many of them that is estimated from.
type noise struct{ variance, df float64 }

// noise returns what an item's repetitions add when it has that weight.
func (e entry) noise(weight float64) noise {
	k := float64(e.scored)
	return noise{weight * weight * e.within / (k - 1) / k, k - 1}
}

// datasetMean fills an estimate of the mean of exactly these items, which only
// their repetitions vary.
func (t *table) datasetMean(e *Estimate, o Options) {
	s := t.means(o)
	e.N, e.Items, e.Clusters, e.NEff = s.n(), s.n(), s.n(), float64(s.n())
	if s.n() == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return
	}
	e.Value = ptr(s.mean())
	noises := make([]noise, 0, s.n())
	fewest := int32(math.MaxInt32)
	for i := range t.items {
		item := &t.items[i]
		if item.scored == 0 || o.Weighted && t.rows[item.row].Weight == 0 {
			continue
		}
		fewest = min(fewest, item.scored)
		noises = append(noises, item.noise(s.weight(len(noises))))
	}
	if fewest < 2 {
		e.Abstain(StatusInsufficient, "every item needs two repetitions")
		return
	}
	if l := e.repetitions(noises, s, o.Range, o.Level); l != nil || o.Range == nil || o.Weighted {
		return
	}
	// No repetition differed. At most a share of all repetitions can, and each
	// by no more than the range leaves.
	c := *e.Value
	low, high := extent(s.x)
	share := -math.Expm1(math.Log(o.Alpha()) / float64(s.n()) / float64(fewest))
	lower, upper := c-share*(high-o.Range.Lower), c+share*(o.Range.Upper-low)
	e.Between(math.Max(lower, o.Range.Lower), math.Min(upper, o.Range.Upper), o.Level, "zero_variance_bound")
}

// datasetDifference fills an estimate of the difference on exactly these items.
func (m *match) datasetDifference(e *Estimate, p pairs, o CompareOptions) limits {
	e.N, e.Items, e.Clusters, e.NEff = p.d.n(), p.d.n(), p.d.n(), float64(p.d.n())
	if p.d.n() == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return nil
	}
	e.Value = ptr(p.d.mean())
	noises := make([]noise, 0, 2*p.d.n())
	fewest := int32(math.MaxInt32)
	for i, j := range m.partner {
		if j < 0 {
			continue
		}
		a, b := &m.a.items[i], &m.b.items[j]
		if a.scored == 0 || b.scored == 0 || o.Weighted && m.a.rows[a.row].Weight == 0 {
			continue
		}
		fewest = min(fewest, a.scored, b.scored)
		w := p.d.weight(len(noises) / 2)
		noises = append(noises, a.noise(w), b.noise(w))
	}
	if fewest < 2 {
		e.Abstain(StatusInsufficient, "every item needs two repetitions")
		return nil
	}
	return e.repetitions(noises, p.d, o.differences(), o.Level)
}

// repetitions gives the interval that the noise of repetitions makes, with
// Satterthwaite's degrees of freedom. It abstains if there is no noise.
func (e *Estimate) repetitions(noises []noise, s sample, r *Range, level float64) limits {
	e.Assume("repetitions are independent")
	weights := float64(s.n())
	if s.w != nil {
		weights = total(s.w)
	}
	variance := SumOf(len(noises), func(i int) float64 { return noises[i].variance })
	se := math.Sqrt(variance) / weights
	if se <= negligible*largest(s.x) {
		e.Abstain(StatusDegenerate, noVariation)
		return nil
	}
	spare := 0.0
	inverse := SumOf(len(noises), func(i int) float64 {
		share := noises[i].variance / variance
		return share * share / noises[i].df
	})
	for _, n := range noises {
		spare += n.df
	}
	e.SE, e.DF = &se, ptr(1/inverse)
	l := r.within(tLimits(*e.Value, se, *e.DF))
	lower, upper := l(1 - level)
	e.Between(lower, upper, level, "within_item_t")
	if spare < fewClusters {
		e.Weaken("fewer than 10 repetitions beyond the first")
	}
	return l
}
