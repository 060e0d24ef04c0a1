package stat

import (
	"math"
	"slices"
)

// Quantile estimates a quantile of the scores, such as the 95th percentile of
// latency. The interval runs between two of the scores and holds whatever
// their distribution; an end is missing where no score can serve. Rows of one
// cluster, and repetitions of one item, count for what they say together.
func Quantile(rows []Observation, q float64, o Options) (Estimate, error) {
	o, err := o.Checked()
	if err != nil {
		return Estimate{}, err
	}
	switch {
	case !(q > 0 && q < 1):
		return Estimate{}, inputErrorf("quantile %v must lie between 0 and 1", q)
	case o.Method != MethodDefault:
		return Estimate{}, inputErrorf("method %q is not available here", o.Method)
	case o.Weighted:
		return Estimate{}, inputErrorf("weights are not available for quantiles")
	case o.Missing == MissingBounds:
		return Estimate{}, inputErrorf("missing %q is not available for quantiles", o.Missing)
	}
	t, err := gather(rows, &o)
	if err != nil {
		return Estimate{}, err
	}
	e := o.Estimate("quantile")
	e.Estimand = EstimandPopulation
	scores := make([]float64, 0, len(rows))
	for i := range rows {
		if t.counts(&rows[i]) {
			scores = append(scores, t.score(&rows[i], o))
		}
	}
	slices.Sort(scores)
	e.quantile(t, scores, q, o)
	if t.missing > 0 {
		o.Range = nil // the mean's bounds say nothing about a quantile
		e.describeMissing(t, o)
	}
	return e, nil
}

func (e *Estimate) quantile(t *table, scores []float64, q float64, o Options) {
	s := t.means(o)
	n := len(scores)
	e.N, e.Items, e.Clusters, e.NEff = n, s.n(), s.g, float64(n)
	if n == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return
	}
	e.Value = ptr(SortedQuantile(scores, q))
	method, size := "order_statistics", float64(n)
	if s.cluster != nil || t.repeats {
		if s.g < 2 {
			e.Abstain(StatusInsufficient, oneUnit)
			return
		}
		method = "order_statistics_neff"
		e.NEff = t.indicatorSize(*e.Value, n, o)
		size = math.Max(1, math.Floor(gradedSize(float64(n), e.NEff, float64(s.g), o.Alpha())))
		e.Assume("clusters are independent")
	}
	low, high := orderRanks(size, q, o.Alpha())
	e.CI = &Interval{Level: o.Level, Kind: KindConfidence, Method: method}
	stretch := float64(n) / size
	if low > 0 {
		e.CI.Lower = ptr(math.Min(scores[max(1, int(float64(low)*stretch))-1], *e.Value))
	}
	if high > 0 {
		e.CI.Upper = ptr(math.Max(scores[min(n, int(math.Ceil(float64(high)*stretch)))-1], *e.Value))
	}
	switch {
	case low == 0 && high == 0:
		e.Abstain(StatusInsufficient, "too few scores for an interval of this quantile")
		return
	case low == 0:
		e.Warn("too few scores for a lower limit of this quantile")
	case high == 0:
		e.Warn("too few scores for an upper limit of this quantile")
	case *e.CI.Lower == *e.CI.Upper:
		e.Status = StatusDegenerate
		e.Warn("the scores are tied: both limits are the same score")
		return
	}
	e.few()
}

// indicatorSize returns how many independent rows would say as much about the
// share of scores up to a value.
func (t *table) indicatorSize(value float64, n int, o Options) float64 {
	below := slices.Clone(t.rows)
	for i := range below {
		if r := &below[i]; t.counts(r) {
			score := t.score(r, o)
			r.Missing, r.Score = Present, 0
			if score <= value {
				r.Score = 1
			}
		}
	}
	indicator, err := gather(below, &Options{Missing: MissingExclude})
	if err != nil { // the same rows were gathered before
		return 1
	}
	s := indicator.means(o)
	share := s.mean()
	if share <= 0 || share >= 1 {
		return float64(s.g)
	}
	v := s.spread(share).clustered
	if v == 0 {
		return float64(n)
	}
	return math.Min(float64(n), share*(1-share)/v)
}

// orderRanks returns the ranks, from one, of the scores between which a
// quantile of n independent scores lies with all but alpha. Zero means that no
// score can serve.
func orderRanks(n, q, alpha float64) (low, high int) {
	// at is the smallest rank r for which P(X <= r-1) passes the share.
	at := func(passes func(p float64) bool) int {
		from, to := 1, int(n)+1
		for from < to {
			middle := (from + to) / 2
			if passes(BinomialCDF(float64(middle-1), n, q)) {
				to = middle
			} else {
				from = middle + 1
			}
		}
		return from
	}
	low = at(func(p float64) bool { return p > alpha/2 }) - 1
	high = at(func(p float64) bool { return p >= 1-alpha/2 })
	if high > int(n) {
		high = 0
	}
	return low, high
}
