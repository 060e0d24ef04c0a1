package stat

import (
	"math"
	"slices"
)

// Mean estimates the mean score. Repetitions of an item are averaged first;
// the standard error comes from clusters, or from items where there are none.
// The interval of scores with a range is Gaffke's, that of others Student's, or a
// bootstrap's if the options ask for one.
func Mean(rows []Observation, o Options) (Estimate, error) {
	o, err := o.Checked()
	if err != nil {
		return Estimate{}, err
	}
	if err := o.allows(MethodDefault, MethodBCa, MethodPercentile); err != nil {
		return Estimate{}, err
	}
	t, err := gather(rows, &o)
	if err != nil {
		return Estimate{}, err
	}
	e := t.mean(o)
	e.describeMissing(t, o)
	return e, nil
}

// mean estimates the mean of a table.
func (t *table) mean(o Options) Estimate {
	e := o.Estimate("mean")
	e.Variance = t.variance(o)
	switch {
	case o.Estimand == EstimandDataset:
		t.datasetMean(&e, o)
	case o.Method != MethodDefault:
		bootstrapMean(&e, t.means(o), o)
	default:
		populationMean(&e, t.means(o), o.Range, o.Level)
		if o.Missing == MissingBounds && t.missing > 0 {
			for _, score := range []float64{o.Range.Lower, o.Range.Upper} {
				other := o.Estimate("mean")
				populationMean(&other, t.filledWith(o, score), o.Range, o.Level)
				e.stretch(other)
			}
		}
	}
	return e
}

// populationMean fills an estimate from a sample whose items stand for more
// than themselves.
func populationMean(e *Estimate, s sample, r *Range, level float64) limits {
	e.N, e.Items, e.Clusters = s.n(), s.n(), s.g
	if s.n() == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return nil
	}
	mean := s.mean()
	e.Value = &mean
	if s.g < 2 {
		e.NEff = 1
		e.Abstain(StatusInsufficient, oneUnit)
		return nil
	}
	v := s.spread(mean)
	if v.clustered == 0 {
		e.NEff = float64(s.g)
		return unvaried(e, s, r, level)
	}
	se := math.Sqrt(v.clustered)
	e.SE, e.DF, e.NEff = &se, ptr(float64(s.g-1)), v.kish
	if s.cluster != nil {
		deff := v.clustered / v.naive
		e.DesignEffect, e.NEff = &deff, v.kish/deff
	}
	l, method := tLimits(mean, se, *e.DF), "t"
	if r != nil {
		l, method = s.bounded(*r), "gaffke"
	}
	if s.cluster != nil {
		method = "clustered_" + method
	}
	lower, upper := l(1 - level)
	e.Between(lower, upper, level, method)
	e.Assume("clusters are independent")
	e.few()
	return l
}

func tLimits(mean, se, df float64) limits {
	return func(alpha float64) (float64, float64) {
		half := TCritical(alpha, df) * se
		return mean - half, mean + half
	}
}

// unvaried gives what may be said when all clusters are alike: at most a share
// of the others can differ, and they can differ by no more than the range.
func unvaried(e *Estimate, s sample, r *Range, level float64) limits {
	e.Abstain(StatusDegenerate, noVariation)
	if r == nil {
		e.Warn("without a declared range nothing bounds what was not observed")
		return nil
	}
	l := s.bounded(*r)
	lower, upper := l(1 - level)
	e.Between(lower, upper, level, "zero_variance_bound")
	return l
}

// alike is a sample of clusters that have the same value.
func alike(value float64, clusters int) sample {
	return sample{x: slices.Repeat([]float64{value}, clusters), g: clusters}
}

// variance splits the variation of a table with repetitions.
func (t *table) variance(o Options) *Variance {
	if len(t.items) == t.total {
		return nil
	}
	var within, inverse sum
	repeated := 0
	means := make([]float64, 0, len(t.items))
	for _, e := range t.items {
		if e.scored == 0 {
			continue
		}
		means = append(means, e.mean)
		inverse.add(1 / float64(e.scored))
		if e.scored > 1 {
			within.add(e.within / float64(e.scored-1))
			repeated++
		}
	}
	if repeated < 2 {
		return nil
	}
	n := float64(len(means))
	v := &Variance{Within: within.total() / float64(repeated)}
	s := sample{x: means, g: len(means)}
	v.Between = math.Max(0, s.spread(s.mean()).naive*n-v.Within*inverse.total()/n)
	if all := v.Within + v.Between; all > 0 {
		v.GenerationShare = ptr(v.Within / all)
	}
	if epochs := optimalEpochs(v.Within, v.Between, o.CostRatio); epochs > 0 && epochs < 1e6 {
		v.OptimalEpochs = ptr(max(1, int(math.Ceil(epochs))))
	}
	return v
}

// optimalEpochs returns the number of repetitions that buys the smallest
// error, or zero if the costs are not known or only repetitions vary.
func optimalEpochs(within, between, costRatio float64) float64 {
	if costRatio <= 0 || between <= 0 {
		return 0
	}
	return math.Sqrt(costRatio * within / between)
}
