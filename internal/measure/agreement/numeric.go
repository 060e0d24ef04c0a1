package agreement

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Scored is what a person and a judge gave one output, as numbers.
type Scored struct {
	Item        string // pairs of one item are one unit; empty: a unit of its own
	Cluster     string // empty: the item is its own cluster
	Human       float64
	Judge       float64
	Probability float64 // as in Pair
}

// Numeric is how well the scores of a judge follow those of people.
type Numeric struct {
	Population Population `json:"population" enum:"sampled,weighted,selected_items_only" doc:"What the items stand for."`
	Items      int        `json:"n_items" doc:"Pairs that were compared."`
	Purposive  int        `json:"purposive" doc:"Pairs that were left out because it is not known how they were chosen, while it is known for others."`

	Pearson     stat.Estimate `json:"pearson" doc:"Pearson's correlation."`
	Spearman    stat.Estimate `json:"spearman" doc:"Spearman's rank correlation."`
	Kendall     stat.Estimate `json:"kendall" doc:"Kendall's tau-b."`
	Concordance stat.Estimate `json:"concordance" doc:"Lin's coefficient, which a constant or proportional error lowers too."`
	Bias        stat.Estimate `json:"bias" doc:"Mean of judge minus human."`
	Error       stat.Estimate `json:"mean_absolute_error" doc:"Mean distance of judge and human."`
	// Nineteen of twenty differences lie between the limits, if they are normal.
	LowerLimit stat.Estimate `json:"lower_limit_of_agreement" doc:"Lower end of where most differences lie."`
	UpperLimit stat.Estimate `json:"upper_limit_of_agreement" doc:"Upper end of where most differences lie."`
}

// limitWidth is the width of the limits of agreement in standard deviations, as
// everyone draws them.
const limitWidth = 1.96

// AlignScores compares the scores of a judge with those of people. The range of
// the options is that of the scores.
func AlignScores(ps []Scored, o stat.Options) (Numeric, error) {
	o, err := o.Checked()
	if err != nil {
		return Numeric{}, err
	}
	rows := make([]row, len(ps))
	for i, p := range ps {
		for _, x := range []float64{p.Human, p.Judge} {
			if math.IsNaN(x) || math.Abs(x) > maxValue || o.Range != nil && (x < o.Range.Lower || x > o.Range.Upper) {
				return Numeric{}, malformed("pair %d: score %v cannot be compared or lies outside the range", i, x)
			}
		}
		rows[i] = row{clusterOf(p.Cluster, p.Item), int32(i), p.Probability}
	}
	var n Numeric
	kept, population, purposive, err := chosen(rows)
	if err != nil {
		return Numeric{}, err
	}
	n.Population, n.Purposive, n.Items = population, purposive, len(kept)
	s := newScores(ps, kept, weights(kept, population), o)
	n.correlations(s)
	err = n.differences(s)
	return n, err
}

// scores are pairs of numbers with their weights and clusters.
type scores struct {
	human, judge, w []float64
	weighted        bool
	clusters        []string
	cluster         []int32 // of each pair
	count           int     // of clusters
	o               stat.Options
}

func newScores(ps []Scored, kept []row, w []float64, o stat.Options) *scores {
	s := &scores{o: o, weighted: w != nil, w: w}
	named := map[string]int32{}
	for _, r := range kept {
		s.human = append(s.human, ps[r.pattern].Human)
		s.judge = append(s.judge, ps[r.pattern].Judge)
		s.clusters = append(s.clusters, r.cluster)
		n, ok := int32(0), false
		if r.cluster != "" {
			n, ok = named[r.cluster]
		}
		if !ok {
			n = int32(s.count)
			s.count++
			named[r.cluster] = n
		}
		s.cluster = append(s.cluster, n)
		if w == nil {
			s.w = append(s.w, 1)
		}
	}
	return s
}

func (s *scores) n() int { return len(s.human) }

// mean is the weighted mean of f over the pairs.
func (s *scores) mean(f func(i int) float64) float64 {
	return stat.SumOf(s.n(), func(i int) float64 { return s.w[i] * f(i) }) / float64(s.n())
}

// moments of two lists of numbers.
type moments struct{ x, y, xx, yy, xy float64 }

func (s *scores) moments(x, y []float64) moments {
	var m moments
	m.x, m.y = s.mean(func(i int) float64 { return x[i] }), s.mean(func(i int) float64 { return y[i] })
	m.xx = s.mean(func(i int) float64 { return (x[i] - m.x) * (x[i] - m.x) })
	m.yy = s.mean(func(i int) float64 { return (y[i] - m.y) * (y[i] - m.y) })
	m.xy = s.mean(func(i int) float64 { return (x[i] - m.x) * (y[i] - m.y) })
	return m
}

func (m moments) correlation() float64 {
	return clamp(m.xy/math.Sqrt(m.xx)/math.Sqrt(m.yy), -1, 1) // a product could overflow
}

// size is how many independent pairs of equal weight say as much about a
// correlation. It compares how what each pair adds varies over clusters and over
// pairs, and is lower the fewer clusters it is estimated from.
func (s *scores) size(x, y []float64, m moments) float64 {
	n := float64(s.n())
	r := m.correlation()
	if s.count == s.n() && !s.weighted || s.count < 2 {
		return float64(s.count)
	}
	sums := make([]float64, s.count)
	each := func(i int) float64 {
		a, b := (x[i]-m.x)/math.Sqrt(m.xx), (y[i]-m.y)/math.Sqrt(m.yy)
		return a*b - r/2*(a*a+b*b)
	}
	for i := range x {
		sums[s.cluster[i]] += s.w[i] * each(i)
	}
	g := float64(s.count)
	clustered := g / (g - 1) * stat.SumOf(len(sums), func(i int) float64 { return sums[i] * sums[i] }) / (n * n)
	alone := s.mean(func(i int) float64 { return each(i) * each(i) }) / n
	if clustered == 0 {
		return float64(s.count)
	}
	few := stat.NormalCritical(s.o.Alpha()) / stat.TCritical(s.o.Alpha(), g-1)
	return clamp(n*alone/clustered*few*few, 1, n)
}

// begin starts an estimate about the pairs.
func (s *scores) begin(method string) stat.Estimate {
	e := s.o.Estimate(method)
	e.Source = stat.SourceHybrid
	e.N, e.Items, e.Clusters, e.NEff = s.n(), s.n(), s.count, float64(s.n())
	return e
}

// correlations fills the coefficients, with intervals on Fisher's scale.
func (n *Numeric) correlations(s *scores) {
	if s.n() < 2 {
		for _, c := range []struct {
			e    *stat.Estimate
			name string
		}{{&n.Pearson, "pearson"}, {&n.Spearman, "spearman"}, {&n.Kendall, "kendall_tau_b"}, {&n.Concordance, "lin_concordance"}} {
			*c.e = s.begin(c.name)
			c.e.Abstain(stat.StatusInsufficient, "fewer than two pairs")
		}
		return
	}
	if constant(s.human) || constant(s.judge) {
		n.Pearson, n.Spearman = s.fisher("pearson", math.NaN(), 0, "", 0), s.fisher("spearman", math.NaN(), 0, "", 0)
		n.Kendall, n.Concordance = s.fisher("kendall_tau_b", math.NaN(), 0, "", 0), s.fisher("lin_concordance", math.NaN(), 0, "", 0)
		return
	}
	m := s.moments(s.human, s.judge)
	size := s.size(s.human, s.judge, m)
	r := m.correlation()
	n.Pearson = s.fisher("pearson", r, size, "fisher", 1/math.Sqrt(size-3))

	a, b := ranks(s.human, s.w), ranks(s.judge, s.w)
	mr := s.moments(a, b)
	rankSize := s.size(a, b, mr)
	rho := mr.correlation()
	n.Spearman = s.fisher("spearman", rho, rankSize, "bonett_wright", math.Sqrt((1+rho*rho/2)/(rankSize-3)))
	n.Kendall = s.fisher("kendall_tau_b", tau(s.human, s.judge, s.w), rankSize, "fieller", math.Sqrt(0.437/(rankSize-4)))

	c := 2 * m.xy / (m.xx + m.yy + (m.x-m.y)*(m.x-m.y))
	n.Concordance = s.fisher("lin_concordance", c, size, "lin", math.Sqrt(m.concordance(c, r, size)))
}

// concordance is the variance of Lin's coefficient on Fisher's scale.
func (m moments) concordance(c, r, n float64) float64 {
	u := (m.x - m.y) * (m.x - m.y) / math.Sqrt(m.xx) / math.Sqrt(m.yy)
	rest := 1 - c*c
	v := (1-r*r)*c*c/(rest*r*r) + 2*c*c*c*(1-c)*u/(r*rest*rest) - c*c*c*c*u*u/(2*r*r*rest*rest)
	return v / (n - 2)
}

func constant(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// fisher makes an estimate of a correlation whose standard error on Fisher's
// scale is known.
func (s *scores) fisher(method string, r, size float64, interval string, se float64) stat.Estimate {
	e := s.begin(method)
	e.NEff = size
	if math.IsNaN(r) {
		e.Abstain(stat.StatusUndefined, "one of the raters gave the same score throughout")
		return e
	}
	r = clamp(r, -1, 1)
	e.Value = &r
	switch {
	case size < 5 || s.count < 5:
		e.Abstain(stat.StatusInsufficient, "fewer than five independent pairs")
		return e
	case math.Abs(r) > 1-1e-12:
		e.Abstain(stat.StatusDegenerate, "the scores follow each other without exception")
		return e
	case !(se > 0) || math.IsInf(se, 0):
		e.Abstain(stat.StatusNotIdentified, "the coefficient says nothing about its own error")
		return e
	}
	half := stat.NormalCritical(s.o.Alpha()) * se
	between(&e, math.Tanh(math.Atanh(r)-half), math.Tanh(math.Atanh(r)+half), correlation, s.o, interval)
	if s.count < 10 {
		e.Weaken("fewer than 10 independent units")
	}
	return e
}

// differences fills what is about judge minus human.
func (n *Numeric) differences(s *scores) error {
	var err error
	o := stat.Options{Level: s.o.Level, Weighted: s.weighted}
	both, alone := o, o
	if r := s.o.Range; r != nil {
		both.Range = &stat.Range{Lower: r.Lower - r.Upper, Upper: r.Upper - r.Lower}
		alone.Range = &stat.Range{Lower: 0, Upper: r.Upper - r.Lower}
	}
	d := func(i int) float64 { return s.judge[i] - s.human[i] }
	if n.Bias, err = s.average("bias", d, both); err != nil {
		return err
	}
	if n.Error, err = s.average("mean_absolute_error", func(i int) float64 { return math.Abs(d(i)) }, alone); err != nil {
		return err
	}
	n.LowerLimit, n.UpperLimit = s.limit(n.Bias, d, -1), s.limit(n.Bias, d, 1)
	return nil
}

// average estimates the mean of a number of each pair.
func (s *scores) average(method string, f func(i int) float64, o stat.Options) (stat.Estimate, error) {
	rows := make([]stat.Observation, s.n())
	for i := range rows {
		rows[i] = stat.Observation{Item: itemName(i), Cluster: s.clusters[i], Score: f(i), Weight: s.w[i], Provenance: stat.Provenance{Source: stat.SourceHybrid}}
	}
	e, err := stat.Mean(rows, o)
	e.Method = method
	return e, err
}

// limit estimates a limit of agreement, with the error that Bland and Altman
// give it.
func (s *scores) limit(bias stat.Estimate, d func(i int) float64, side float64) stat.Estimate {
	e := s.begin("limit_of_agreement")
	if s.n() < 2 {
		e.Abstain(stat.StatusInsufficient, "fewer than two pairs")
		return e
	}
	e.NEff = bias.NEff
	n := float64(s.n())
	mean := *bias.Value
	sd := math.Sqrt(s.mean(func(i int) float64 { return (d(i) - mean) * (d(i) - mean) }) * n / (n - 1))
	e.Value = ptr(mean + side*limitWidth*sd)
	if bias.SE == nil {
		e.Abstain(bias.Status, "the differences carry no standard error")
		return e
	}
	df := float64(s.count - 1)
	e.SE, e.DF = ptr(math.Sqrt(*bias.SE**bias.SE+sd*sd*limitWidth*limitWidth/(2*math.Max(1, bias.NEff-1)))), &df
	half := stat.TCritical(s.o.Alpha(), df) * *e.SE
	e.Between(*e.Value-half, *e.Value+half, s.o.Level, "bland_altman")
	e.Assume("differences are normal")
	if s.count < 10 {
		e.Weaken("fewer than 10 independent units")
	}
	return e
}
