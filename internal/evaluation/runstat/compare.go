package runstat

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// maxRegressions is how many regressions a comparison names.
const maxRegressions = 50

// Comparison is how a candidate run differs from a baseline run.
type Comparison struct {
	Confidence, Margin float64

	Overall, PassRate Compared
	Metrics           []Compared
	Items             Changes
	Regressions       []Regression
	// Slices compare the overall score within each cluster of items.
	Slices []stat.SliceComparison

	// Comparable is false if the overall scores or the pass rates of the runs do
	// not measure the same thing.
	Comparable bool
	Reasons    []string
}

// Compared is how the runs differ in one figure.
type Compared struct {
	Name   string
	Better metric.Direction
	Role   Role
	stat.Comparison
	// Judge is nil unless the scores are a judge's.
	Judge *Judged
}

// Judged is how far a difference in the scores of a judge can be trusted.
type Judged struct {
	Estimator   correction.Estimator `json:"estimator" enum:"judge,human_only,ppi,active_ppi" doc:"How the difference was estimated: judge is the judge's own opinion, without labels; the others rest on labels of people."`
	Labels      int                  `json:"labels" doc:"Items whose answers in both runs have a label."`
	Raw         stat.Estimate        `json:"raw" doc:"Difference of the judge's own means; these are in statistics."`
	Baseline    *float64             `json:"-"` // corrected means
	Candidate   *float64             `json:"-"`
	Attribution Attribution          `json:"attribution" enum:"system,judge_or_system,unknown" doc:"What a difference comes from: system if a watch began before both runs and has seen the judge give the same verdicts after both, judge_or_system if the judge has another version or has drifted, unknown otherwise."`
}

// Attribution is what a difference comes from.
type Attribution string

// The attributions.
const (
	AttributionSystem  Attribution = "system"
	AttributionEither  Attribution = "judge_or_system"
	AttributionUnknown Attribution = "unknown"
)

// Correct replaces the difference by a corrected one, with its interval at a level and
// at the level that margins are decided at, and decides anew. The tests of the judge's
// own difference say nothing about it.
func (c *Compared) Correct(level, margin float64, at, atMargin stat.Estimate) {
	o := stat.CompareOptions{Options: stat.Options{Level: level, LowerIsBetter: c.Better == metric.Lower}, Margin: margin}
	var limits func(alpha float64) (lower, upper float64)
	if at.CI != nil && atMargin.CI != nil {
		limits = func(alpha float64) (lower, upper float64) {
			if ci := at.CI; alpha < 1.5*(1-level) {
				return *ci.Lower, *ci.Upper
			}
			return *atMargin.CI.Lower, *atMargin.CI.Upper
		}
	}
	at.Estimand = c.Difference.Estimand
	c.Difference, c.Verdict = at, o.Decide(limits)
	c.P, c.PMethod, c.PAdjusted, c.Family, c.Tests, c.Resolution = nil, nil, nil, nil, stat.Tests{}, nil
}

// Role is how much weight a verdict has.
type Role string

// The roles. Only what was declared before looking is decided at the stated
// level; one of many other figures is off by chance more often than that.
const (
	RolePrimary     Role = "primary"
	RoleExploratory Role = "exploratory"
	RoleDescriptive Role = "descriptive"
)

// Changes counts items by what became of them. An item is compared by its
// overall score, or by whether it passed where a run has no overall score of it.
type Changes struct {
	Improved, Regressed, Unchanged int
	// Changed items say something else in the two runs and are not compared.
	Changed                     int
	OnlyBaseline, OnlyCandidate int
}

// Regression is an item that the candidate does worse.
type Regression struct {
	Item int64
	// Delta is the difference of the overall scores, or of the pass rates if
	// ByPass is set.
	Delta               float64
	ByPass              bool
	Baseline, Candidate ItemScores
}

// ItemScores are the means of an item's scores over its repetitions.
type ItemScores struct {
	Overall  *float64
	PassRate float64
	Scores   map[string]*float64
}

// Options say how runs are compared.
type Options struct {
	// Confidence is the level of intervals; zero is 0.95.
	Confidence float64
	// Margin is the largest difference that does not matter, as a share of a
	// metric's range.
	Margin float64
	Seed   stat.Seed
	// Primary are the figures that were declared before looking; without any it is
	// the overall score.
	Primary []string
	// Slices asks for the overall score within each cluster.
	Slices bool
	// Reasons say why runs do not measure the same thing.
	Reasons Reasons
}

// Reasons say why a figure of two runs does not measure the same thing; empty if
// it does.
type Reasons struct {
	Overall, Passes string
	Metrics         map[string]string // by name
}

// Compare compares the results of a baseline and a candidate. The scores of each
// metric that one of them has are asked for one metric at a time.
func Compare(baseline, candidate *Rows, metrics []metric.Definition, scores func(name string) (before, after []stat.Observation, err error), o Options) (Comparison, error) {
	c := Comparison{Confidence: o.Confidence, Margin: o.Margin, Metrics: []Compared{}, Regressions: []Regression{}, Reasons: []string{}}
	if c.Confidence == 0 {
		c.Confidence = 0.95
	}
	if len(o.Primary) == 0 {
		o.Primary = []string{requirement.Overall}
	}
	var err error
	if c.Overall, err = c.figure(Overall(), baseline.Overall, candidate.Overall, o, o.Reasons.Overall); err != nil {
		return c, err
	}
	if c.PassRate, err = c.figure(PassRate(), baseline.Passes, candidate.Passes, o, o.Reasons.Passes); err != nil {
		return c, err
	}
	c.changes(baseline, candidate)
	for _, d := range metrics {
		before, after, err := scores(d.Name)
		if err != nil {
			return c, err
		}
		if err := c.addMetric(d, before, after, o); err != nil {
			return c, err
		}
	}
	family := []*stat.Comparison{&c.Overall.Comparison, &c.PassRate.Comparison}
	for i := range c.Metrics {
		family = append(family, &c.Metrics[i].Comparison)
	}
	if err := stat.AdjustFamily(family, stat.AdjustHolm); err != nil {
		return c, fmt.Errorf("adjust p-values: %w", err)
	}
	for _, one := range []Compared{c.Overall, c.PassRate} {
		for _, reason := range one.Reasons {
			if !slices.Contains(c.Reasons, reason) {
				c.Reasons = append(c.Reasons, reason)
			}
		}
	}
	c.Comparable = len(c.Reasons) == 0
	if o.Slices && c.Comparable {
		c.Slices, err = c.slices(baseline.Overall, candidate.Overall, o)
	}
	return c, err
}

// slices compares the overall score within each cluster.
func (c *Comparison) slices(before, after []stat.Observation, o Options) ([]stat.SliceComparison, error) {
	parts := map[string]*stat.SlicePair{}
	put := func(rows []stat.Observation, side func(*stat.SlicePair) *[]stat.Observation) {
		for _, r := range rows {
			if r.Cluster == "" {
				continue
			}
			part := parts[r.Cluster]
			if part == nil {
				part = &stat.SlicePair{Name: r.Cluster}
				parts[r.Cluster] = part
			}
			r.Cluster = "" // within a slice items are independent
			*side(part) = append(*side(part), r)
		}
	}
	put(before, func(p *stat.SlicePair) *[]stat.Observation { return &p.Baseline })
	put(after, func(p *stat.SlicePair) *[]stat.Observation { return &p.Candidate })
	if len(parts) < 2 || len(parts) > maxSlices {
		return nil, nil
	}
	var all []stat.SlicePair
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		all = append(all, *parts[name])
	}
	found, err := stat.CompareSlices(all, stat.CompareOptions{Options: stat.Options{
		Level: c.Confidence, Range: stat.Unit(), Missing: stat.MissingFail, Seed: o.Seed, Weighted: weighted(before) || weighted(after),
	}, Margin: c.Margin})
	if err != nil {
		return nil, fmt.Errorf("compare slices: %w", err)
	}
	return found, nil
}

// maxSlices is how many clusters are few enough to be looked at one by one.
const maxSlices = 200

// addMetric compares a metric, and adds its scores to the regressions.
func (c *Comparison) addMetric(d metric.Definition, before, after []stat.Observation, o Options) error {
	one, err := c.figure(d, before, after, o, o.Reasons.Metrics[d.Name])
	if err != nil {
		return err
	}
	c.Metrics = append(c.Metrics, one)
	if len(c.Regressions) == 0 {
		return nil
	}
	left, right := means(before), means(after)
	for i := range c.Regressions {
		r := &c.Regressions[i]
		item := strconv.FormatInt(r.Item, 10)
		r.Baseline.Scores[d.Name], r.Candidate.Scores[d.Name] = left[item].mean(), right[item].mean()
	}
	return nil
}

// figure compares one figure. A reason says why the runs do not measure the same
// thing: then there is nothing to say about the difference.
func (c *Comparison) figure(d metric.Definition, before, after []stat.Observation, opts Options, reason string) (Compared, error) {
	o := stat.CompareOptions{Options: stat.Options{Level: c.Confidence, Range: Range(d), LowerIsBetter: d.Better == metric.Lower, Seed: opts.Seed, Weighted: weighted(before) || weighted(after)}}
	if o.Range != nil {
		o.Missing = stat.MissingFail // whoever fails does not win by it
		o.Margin = c.Margin * (o.Range.Upper - o.Range.Lower)
	}
	out := Compared{Name: d.Name, Better: d.Better, Role: RoleExploratory}
	if slices.Contains(opts.Primary, d.Name) {
		out.Role = RolePrimary
	}
	var err error
	if out.Comparison, err = stat.Compare(before, after, o); err != nil {
		return out, fmt.Errorf("compare %s: %w", d.Name, err)
	}
	if o.Range == nil {
		out.describe()
	}
	if reason != "" {
		out.abstain(reason)
	}
	return out, nil
}

// describe leaves the difference as what was seen, and decides nothing by it. A
// figure without a range, such as a latency, is measured by a machine that was
// busier in one run than in the other, and one value can move its mean at will.
func (c *Compared) describe() {
	c.Role, c.Descriptive = RoleDescriptive, true
	c.Verdict.Superiority = stat.SuperiorityUnresolved
}

// abstain takes back what was said about the difference.
func (c *Compared) abstain(reason string) {
	d := c.Difference
	c.Difference = stat.Estimate{
		Status: stat.StatusNotComparable, Source: d.Source, Estimand: d.Estimand, Method: d.Method, Warnings: []string{reason}, AlgoVersion: d.AlgoVersion,
	}
	c.Comparable, c.Reasons = false, append(c.Reasons, reason)
	v := stat.Verdict{Superiority: stat.SuperiorityUnresolved, Margin: c.Verdict.Margin, Level: c.Verdict.Level, LowerIsBetter: c.Verdict.LowerIsBetter}
	if v.Margin != nil {
		v.NonInferiority, v.Equivalence = stat.NonInferiorityUnresolved, stat.EquivalenceNotShown
	}
	c.Verdict, c.P, c.PMethod, c.Tests, c.Resolution = v, nil, nil, stat.Tests{}, nil
}

// changes says what became of each item, and which became worse.
func (c *Comparison) changes(a, b *Rows) {
	left, right := means(a.Passes), means(b.Passes)
	leftOverall, rightOverall := means(a.Overall), means(b.Overall)
	for item, before := range left {
		after := right[item]
		switch {
		case before.n == 0: // it has no outcome
			continue
		case after.n == 0:
			c.Items.OnlyBaseline++
			continue
		case before.content != after.content:
			c.Items.Changed++
			continue
		}
		was, is := ItemScores{Overall: leftOverall[item].mean(), PassRate: *before.mean()}, ItemScores{Overall: rightOverall[item].mean(), PassRate: *after.mean()}
		delta, byPass := is.PassRate-was.PassRate, true
		if was.Overall != nil && is.Overall != nil {
			delta, byPass = *is.Overall-*was.Overall, false
		}
		switch {
		case math.Abs(delta) <= 1e-12:
			c.Items.Unchanged++
		case delta > 0:
			c.Items.Improved++
		default:
			c.Items.Regressed++
			id, _ := strconv.ParseInt(item, 10, 64) // written by NewRows
			was.Scores, is.Scores = map[string]*float64{}, map[string]*float64{}
			c.Regressions = append(c.Regressions, Regression{Item: id, Delta: delta, ByPass: byPass, Baseline: was, Candidate: is})
		}
	}
	for item, after := range right {
		if after.n > 0 && left[item].n == 0 {
			c.Items.OnlyCandidate++
		}
	}
	slices.SortFunc(c.Regressions, func(x, y Regression) int { return cmp.Or(cmp.Compare(x.Delta, y.Delta), cmp.Compare(x.Item, y.Item)) })
	c.Regressions = slices.Clip(c.Regressions[:min(len(c.Regressions), maxRegressions)])
}
