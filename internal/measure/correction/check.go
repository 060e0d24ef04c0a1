package correction

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Chance is a probability that something is good, and whether it was.
type Chance struct {
	Cluster     string // empty: on its own
	Probability float64
	Good        bool
}

// bins is the number of groups of a reliability table, of as equal size as ties
// allow.
const bins = 10

// Bin is the items with probabilities of about the same size.
type Bin struct {
	Mean float64       `json:"mean" doc:"Mean of the probabilities."`
	Rate stat.Estimate `json:"rate" doc:"Share that was good; it should be the mean."`
}

// Check is how well probabilities fit what happened.
type Check struct {
	_           struct{}      `nullable:"true"` // documents say that there may be none
	Brier       stat.Estimate `json:"brier" doc:"Mean squared distance of probability and outcome; 0 is perfect."`
	LogLoss     stat.Estimate `json:"log_loss" doc:"Mean negative logarithm of the probability of what happened; 0 is perfect."`
	Reliability []Bin         `json:"reliability" doc:"Probabilities in bins of about equal size, with the share that was good in each."`
	Intercept   stat.Estimate `json:"intercept" doc:"0 if probabilities are right on average."`
	Slope       stat.Estimate `json:"slope" doc:"1 if they are as far apart as they should be; less if they are too bold."`
	// Spiegelhalter is normal with mean 0 and variance 1 if the probabilities are
	// right.
	Spiegelhalter *float64      `json:"spiegelhalter_z" doc:"Spiegelhalter's statistic; null if every probability is 0, ½ or 1."`
	P             *float64      `json:"p" doc:"p-value of the probabilities being right, from Spiegelhalter's statistic; null in clusters, where the statistic varies more."`
	ECE           stat.Estimate `json:"ece" doc:"Mean distance of probability and rate over the bins. It is too large on average, the more bins the more."`
	Bins          int           `json:"bins" doc:"Number of bins."`
}

// CheckChances computes how well probabilities fit. Probabilities that come from a
// curve fitted to the same items look better than they are.
func CheckChances(all []Chance, o stat.Options) (Check, error) {
	o, err := o.Checked()
	if err != nil {
		return Check{}, err
	}
	for i, c := range all {
		if !(c.Probability >= 0 && c.Probability <= 1) {
			return Check{}, malformed("item %d: probability %v must lie between 0 and 1", i, c.Probability)
		}
	}
	var c Check
	loss := func(method string, f func(Chance) float64, r *stat.Range) (stat.Estimate, error) {
		rows := make([]stat.Observation, len(all))
		for i, x := range all {
			rows[i] = stat.Observation{Item: fmt.Sprintf("%09d", i), Cluster: x.Cluster, Score: f(x), Provenance: stat.Provenance{Source: stat.SourceHybrid}}
		}
		e, err := stat.Mean(rows, stat.Options{Level: o.Level, Range: r})
		e.Method = method
		return e, err
	}
	if c.Brier, err = loss("brier", func(x Chance) float64 { d := x.Probability - outcome(x.Good); return d * d }, stat.Unit()); err != nil {
		return Check{}, err
	}
	if c.LogLoss, err = loss("log_loss", func(x Chance) float64 { return logLoss(x.Probability, x.Good, len(all)) }, nil); err != nil {
		return Check{}, err
	}
	c.Intercept, c.Slope = line(all, o)
	c.spiegelhalter(all)
	return c, c.reliability(all, o)
}

// clustersOf numbers the clusters of items, and counts them.
func clustersOf(all []Chance) (of []int, count int) {
	of = make([]int, len(all))
	named := map[string]int{}
	for i, x := range all {
		n, ok := 0, false
		if x.Cluster != "" {
			n, ok = named[x.Cluster]
		}
		if !ok {
			n = count
			count++
			named[x.Cluster] = n
		}
		of[i] = n
	}
	return of, count
}

func outcome(good bool) float64 {
	if good {
		return 1
	}
	return 0
}

// spiegelhalter tests whether outcomes are as frequent as their probabilities say.
func (c *Check) spiegelhalter(all []Chance) {
	var sum, variance float64
	for _, x := range all {
		d := 1 - 2*x.Probability
		sum += (outcome(x.Good) - x.Probability) * d
		variance += d * d * x.Probability * (1 - x.Probability)
	}
	if !(variance > 0) {
		return
	}
	z := sum / math.Sqrt(variance)
	c.Spiegelhalter = &z
	if _, count := clustersOf(all); count == len(all) {
		c.P = ptr(math.Max(1e-16, 2*stat.NormalCDF(-math.Abs(z))))
	}
}

// line regresses outcomes on the logarithm of the odds.
func line(all []Chance, o stat.Options) (intercept, slope stat.Estimate) {
	n := len(all)
	of, clusters := clustersOf(all)
	begin := func(method string) stat.Estimate {
		e := o.Estimate(method)
		e.Source, e.N, e.Items, e.Clusters, e.NEff = stat.SourceHybrid, n, n, clusters, float64(clusters)
		return e
	}
	intercept, slope = begin("calibration_intercept"), begin("calibration_slope")
	abstain := func(s stat.Status, why string) (stat.Estimate, stat.Estimate) {
		intercept.Abstain(s, why)
		slope.Abstain(s, why)
		return intercept, slope
	}
	x, targets := make([]float64, n), make([]float64, n)
	edge := 0.5 / math.Max(1, float64(n))
	good := 0.0
	for i, c := range all {
		p := clamp(c.Probability, edge, 1-edge)
		x[i], targets[i] = math.Log(p)-math.Log1p(-p), outcome(c.Good)
		good += targets[i]
	}
	if n == 0 || good == 0 || good == float64(n) {
		return abstain(stat.StatusNotIdentified, "one kind of outcome only")
	}
	s, ok := logistic(x, targets, 0, 0)
	if !ok || math.Abs(s.A) > 100 || math.Abs(s.B) > 100 {
		return abstain(stat.StatusNotIdentified, "the probabilities separate the outcomes, or do not vary")
	}
	var aa, bb, ab float64
	for _, v := range x {
		p := s.At(v)
		w := p * (1 - p)
		aa, bb, ab = aa+w*v*v, bb+w, ab+w*v
	}
	det := aa*bb - ab*ab
	ofA, ofB := bb/det, aa/det
	critical, method, independent := stat.NormalCritical(o.Alpha()), "wald", "items are independent"
	if clusters < n {
		if clusters < 2 {
			return abstain(stat.StatusInsufficient, "one cluster")
		}
		// What the items of a cluster pull at the line, all together.
		pullA, pullB := make([]float64, clusters), make([]float64, clusters)
		for i, v := range x {
			d := targets[i] - s.At(v)
			pullA[of[i]] += d * v
			pullB[of[i]] += d
		}
		ofA, ofB = 0, 0
		for c := range clusters {
			a, b := (bb*pullA[c]-ab*pullB[c])/det, (aa*pullB[c]-ab*pullA[c])/det
			ofA, ofB = ofA+a*a, ofB+b*b
		}
		g := float64(clusters)
		ofA, ofB = ofA*g/(g-1), ofB*g/(g-1)
		critical, method, independent = stat.TCritical(o.Alpha(), g-1), "clustered_t", "clusters are independent"
	}
	fill := func(e *stat.Estimate, value, variance float64) {
		e.Value, e.SE = &value, ptr(math.Sqrt(variance))
		half := critical * *e.SE
		e.Between(value-half, value+half, o.Level, method)
		e.Assume(independent)
		if clusters < fewLabels {
			e.Weaken("fewer than 50 items")
		}
	}
	fill(&intercept, -s.B, ofB)
	fill(&slope, -s.A, ofA)
	return intercept, slope
}

// reliability fills the table, and the mean distance from it.
func (c *Check) reliability(all []Chance, o stat.Options) error {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Chance) int {
		return comparePoints(Point{Cluster: a.Cluster, Score: a.Probability, Good: a.Good}, Point{Cluster: b.Cluster, Score: b.Probability, Good: b.Good})
	})
	slices.SortStableFunc(sorted, func(a, b Chance) int { return cmp.Compare(a.Probability, b.Probability) })
	// Where a bin ends; equal probabilities stay together.
	var ends []int
	for b := 1; b <= bins; b++ {
		end := len(sorted) * b / bins
		for end > 0 && end < len(sorted) && sorted[end].Probability == sorted[end-1].Probability {
			end++
		}
		if end > 0 && (len(ends) == 0 || end > ends[len(ends)-1]) {
			ends = append(ends, end)
		}
	}
	from := 0
	of := make([]int, len(sorted))
	for b, end := range ends {
		part := sorted[from:end]
		mean := 0.0
		for i, x := range part {
			of[from+i] = b
			mean += x.Probability / float64(len(part))
		}
		e, err := rate(part, o)
		if err != nil {
			return err
		}
		c.Reliability = append(c.Reliability, Bin{mean, e})
		from = end
	}
	c.Bins = len(ends)
	var err error
	c.ECE, err = distance(sorted, of, len(ends), o)
	return err
}

// rate estimates the share of items that were good.
func rate(part []Chance, o stat.Options) (stat.Estimate, error) {
	rows := make([]stat.Observation, len(part))
	good := 0
	for i, x := range part {
		rows[i] = stat.Observation{
			Item: fmt.Sprintf("%09d", i), Cluster: x.Cluster, Score: outcome(x.Good),
			Provenance: stat.Provenance{Source: stat.SourceHuman},
		}
		if x.Good {
			good++
		}
	}
	var e stat.Estimate
	var err error
	if _, clusters := clustersOf(part); clusters == len(part) {
		e, err = stat.Proportion(good, len(part), stat.Options{Level: o.Level})
	} else {
		e, err = stat.PassRate(rows, stat.Options{Level: o.Level})
		e.FailingClusters = nil
	}
	e.Source = stat.SourceHuman
	return e, err
}

// distance estimates the mean distance from the table, drawing clusters again.
func distance(sorted []Chance, of []int, count int, o stat.Options) (stat.Estimate, error) {
	type part struct {
		bin int
		gap float64 // probability less outcome
	}
	own, n := clustersOf(sorted)
	clusters := make([][]part, n)
	for i, x := range sorted {
		clusters[own[i]] = append(clusters[own[i]], part{of[i], x.Probability - outcome(x.Good)})
	}
	gaps := make([]float64, count)
	e, err := stat.Bootstrap(len(clusters), func(draw []int) float64 {
		clear(gaps)
		items := 0
		for _, c := range draw {
			for _, p := range clusters[c] {
				gaps[p.bin] += p.gap
				items++
			}
		}
		var sum float64
		for _, g := range gaps {
			sum += math.Abs(g)
		}
		return sum / float64(items)
	}, stat.Options{Level: o.Level, Method: stat.MethodPercentile, Replicates: o.Replicates, Seed: o.Seed, Range: stat.Unit()})
	e.Source, e.Method, e.N, e.Items = stat.SourceHybrid, "expected_calibration_error", len(sorted), len(sorted)
	return e, err
}
