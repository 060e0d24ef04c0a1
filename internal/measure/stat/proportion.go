package stat

import "math"

// PassRate estimates the share of passes among rows whose scores are 0 or 1.
// Without clusters, repetitions and weights the interval is Wilson's; with
// them it is Wilson's at the effective number of rows. A gate gets
// Clopper–Pearson's instead, which covers at least what it says, and with them
// Korn–Graubard's, which covers what it says but for a point or two where there
// are few clusters.
func PassRate(rows []Observation, o Options) (Estimate, error) {
	o.Range = Unit()
	o, err := o.Checked()
	if err != nil {
		return Estimate{}, err
	}
	if err := o.allows(MethodDefault, MethodWilson, MethodClopperPearson, MethodJeffreys); err != nil {
		return Estimate{}, err
	}
	for i := range rows {
		if r := &rows[i]; r.Missing == Present && r.Score != 0 && r.Score != 1 {
			return Estimate{}, inputErrorf("row %d: score %v is neither 0 nor 1", i, r.Score)
		}
	}
	t, err := gather(rows, &o)
	if err != nil {
		return Estimate{}, err
	}
	e := o.Estimate("pass_rate")
	e.Variance = t.variance(o)
	if o.Estimand == EstimandDataset {
		t.datasetMean(&e, o)
	} else {
		s := t.means(o)
		fillRate(&e, s, s.scored, o)
		if o.Missing == MissingBounds && t.missing > 0 {
			for _, score := range []float64{0, 1} {
				other := o.Estimate("pass_rate")
				s := t.filledWith(o, score)
				fillRate(&other, s, s.scored+s.lost, o)
				e.stretch(other)
			}
		}
	}
	o.oneSided(e.CI)
	e.describeMissing(t, o)
	return e, nil
}

// Proportion estimates a share from counts of independent trials.
func Proportion(passed, n int, o Options) (Estimate, error) {
	o.Range = Unit()
	o, err := o.Checked()
	if err != nil {
		return Estimate{}, err
	}
	if err := o.allows(MethodDefault, MethodWilson, MethodClopperPearson, MethodJeffreys); err != nil {
		return Estimate{}, err
	}
	if passed < 0 || n < passed {
		return Estimate{}, inputErrorf("%d of %d passed", passed, n)
	}
	e := o.Estimate("pass_rate")
	e.N, e.Items, e.Clusters, e.NEff = n, n, n, float64(n)
	if n == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return e, nil
	}
	p := float64(passed) / float64(n)
	e.Value = &p
	if n > 1 && passed > 0 && passed < n {
		e.SE = ptr(math.Sqrt(p * (1 - p) / float64(n-1)))
	}
	e.rate(p, simpleRate(p, float64(n), o), o)
	o.oneSided(e.CI)
	return e, nil
}

// fillRate fills an estimate of a share from the items' shares, which come
// from so many rows.
func fillRate(e *Estimate, s sample, rows int, o Options) limits {
	e.N, e.Items, e.Clusters = rows, s.n(), s.g
	if s.n() == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return nil
	}
	p := s.mean()
	e.Value = &p
	e.FailingClusters = ptr(s.failing())
	simple := s.cluster == nil && s.w == nil && rows == s.n()
	if s.g < 2 && !simple {
		e.NEff = 1
		e.Abstain(StatusInsufficient, oneUnit)
		return nil
	}
	var variance float64
	if s.g > 1 {
		variance = s.spread(p).clustered
	}
	if variance > 0 {
		e.SE = ptr(math.Sqrt(variance))
	}
	n := float64(rows)
	if simple {
		e.NEff = n
		l := simpleRate(p, n, o)
		e.rate(p, l, o)
		return l.limits
	}
	var deff float64
	if p <= 0 || p >= 1 {
		deff = n / s.kishClusters()
	} else {
		deff = math.Max(1, variance/(p*(1-p)/n))
	}
	e.NEff, e.DF, e.DesignEffect = n/deff, ptr(float64(s.g-1)), &deff
	l := clusteredRate(p, n, e.NEff, float64(s.g), o)
	e.rate(p, l, o)
	e.Assume("clusters are independent")
	return l.limits
}

// failing counts the clusters in which something failed.
func (s sample) failing() int {
	failed := make([]bool, s.g)
	count := 0
	for i, x := range s.x {
		if c := s.clusterOf(i); x < 1 && !failed[c] {
			failed[c] = true
			count++
		}
	}
	return count
}

// kishClusters returns how many clusters of equal weight say as much. Clusters
// that differ in size alone all count.
func (s sample) kishClusters() float64 {
	if s.w == nil {
		return float64(s.g)
	}
	w := s.weights()
	all := total(w)
	return all * all / SumOf(len(w), func(i int) float64 { return w[i] * w[i] })
}

// rateLimits is a way to an interval of a share, with its name.
type rateLimits struct {
	limits
	name string
	kind Kind
}

// rate sets the interval of a share. Asked for one end, it spends the whole
// error there.
func (e *Estimate) rate(p float64, l rateLimits, o Options) {
	alpha := o.Alpha()
	if o.Side != SideBoth {
		alpha *= 2
	}
	lower, upper := l.limits(alpha)
	if p <= 0 {
		lower = 0
	}
	if p >= 1 {
		upper = 1
	}
	e.Between(clamp(lower, 0, 1), clamp(upper, 0, 1), o.Level, l.name)
	e.CI.Kind = l.kind
	e.few()
}

func (o Options) rateMethod() Method {
	switch {
	case o.Method != MethodDefault:
		return o.Method
	case o.Policy == PolicyGate:
		return MethodClopperPearson
	}
	return MethodWilson
}

// simpleRate is for n independent trials.
func simpleRate(p, n float64, o Options) rateLimits {
	switch o.rateMethod() {
	case MethodClopperPearson:
		return rateLimits{func(alpha float64) (float64, float64) { return clopperPearson(p*n, n, alpha) }, "clopper_pearson", KindConfidence}
	case MethodJeffreys:
		return rateLimits{jeffreys(p, n), "jeffreys", KindCredible}
	}
	return rateLimits{func(alpha float64) (float64, float64) { return Wilson(p, n, NormalCritical(alpha)) }, "wilson", KindConfidence}
}

// clusteredRate is for n rows in g clusters that say as much as nEff
// independent ones.
func clusteredRate(p, n, nEff, g float64, o Options) rateLimits {
	switch o.rateMethod() {
	case MethodClopperPearson:
		return rateLimits{func(alpha float64) (float64, float64) {
			size := gradedSize(n, nEff, g, alpha)
			return clopperPearson(p*size, size, alpha)
		}, "korn_graubard", KindConfidence}
	case MethodJeffreys:
		return rateLimits{jeffreys(p, nEff), "jeffreys", KindCredible}
	}
	return rateLimits{func(alpha float64) (float64, float64) { return Wilson(p, nEff, TCritical(alpha, g-1)) }, "wilson_neff_t", KindConfidence}
}

// gradedSize lowers an effective size for the few clusters that it was
// estimated from, after Korn and Graubard.
func gradedSize(n, nEff, g, alpha float64) float64 {
	ratio := TCritical(alpha, n-1) / TCritical(alpha, g-1)
	return math.Min(n, nEff*ratio*ratio)
}

// Wilson returns the limits of the score interval.
func Wilson(p, n, z float64) (lower, upper float64) {
	zz := z * z / n
	centre := (p + zz/2) / (1 + zz)
	half := z * math.Sqrt(p*(1-p)/n+zz/(4*n)) / (1 + zz)
	lower, upper = math.Max(0, centre-half), math.Min(1, centre+half)
	if p <= 0 {
		lower = 0
	}
	if p >= 1 {
		upper = 1
	}
	return lower, upper
}

// clopperPearson returns the exact limits. The counts need not be whole.
func clopperPearson(k, n, alpha float64) (lower, upper float64) {
	return BetaQuantile(alpha/2, k, n-k+1), BetaQuantile(1-alpha/2, k+1, n-k)
}

func jeffreys(p, n float64) limits {
	return func(alpha float64) (float64, float64) {
		a, b := p*n+0.5, (1-p)*n+0.5
		return BetaQuantile(alpha/2, a, b), BetaQuantile(1-alpha/2, a, b)
	}
}
