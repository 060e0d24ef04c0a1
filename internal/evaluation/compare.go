package evaluation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
)

// ErrNotEnded is returned for a comparison with a run whose results are not all
// there.
var ErrNotEnded = fault.New(fault.Conflict, "run_not_ended", "The run has not ended, so its results cannot be compared yet. Wait until it has, or cancel it.")

// maxRegressions is how many regressions a comparison names.
const maxRegressions = 50

// Versus says which runs are compared, and how.
type Versus struct {
	Baseline, Candidate int64
	// Confidence is the level of intervals; zero is 0.95.
	Confidence float64
	// Margin is the largest difference that does not matter, as a share of a
	// metric's range. Zero takes that of the candidate's request.
	Margin float64
}

// Comparison is how a candidate run differs from a baseline run of the same
// evaluation. It is computed from the results of both, and the same two runs
// always give the same digits.
type Comparison struct {
	Baseline, Candidate Run
	Confidence, Margin  float64

	Overall, PassRate Compared
	Metrics           []Compared
	Items             Changes
	Regressions       []Regression

	// Comparable is false if the overall scores or the pass rates of the runs do
	// not measure the same thing.
	Comparable bool
	Reasons    []string
}

// Compared is how the runs differ in one figure.
type Compared struct {
	Name   string
	Better metric.Direction
	stat.Comparison
}

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

// Compare compares two runs of an evaluation that have ended.
func (s *Service) Compare(ctx context.Context, org principal.OrgID, evaluation int64, v Versus) (Comparison, error) {
	baseline, err := s.FindRun(ctx, org, evaluation, v.Baseline)
	if err != nil {
		return Comparison{}, err
	}
	candidate, err := s.FindRun(ctx, org, evaluation, v.Candidate)
	if err != nil {
		return Comparison{}, err
	}
	for _, r := range []Run{baseline, candidate} {
		if r.Outcome == nil { // a cancelled run is added up a moment later
			return Comparison{}, transitions.In(ErrNotEnded, r.Status).With("runId", strconv.FormatInt(r.ID, 10))
		}
	}
	if v.Margin == 0 && candidate.Request.Margin != nil {
		v.Margin = *candidate.Request.Margin
	}
	return s.compare(ctx, org, baseline, candidate, v)
}

func (s *Service) compare(ctx context.Context, org principal.OrgID, baseline, candidate Run, v Versus) (Comparison, error) {
	c := Comparison{Baseline: baseline, Candidate: candidate, Confidence: v.Confidence, Margin: v.Margin, Metrics: []Compared{}, Regressions: []Regression{}, Reasons: []string{}}
	if c.Confidence == 0 {
		c.Confidence = 0.95
	}
	done, err := s.mayRead(ctx, baseline, candidate)
	if err != nil {
		return c, err
	}
	defer done()
	a, err := s.readSide(ctx, org, baseline)
	if err != nil {
		return c, err
	}
	b, err := s.readSide(ctx, org, candidate)
	if err != nil {
		return c, err
	}
	a.clusterLike(b)
	seed := stat.Seed{
		Organization: org.String(), Resource: fmt.Sprintf("run/%d:run/%d", baseline.ID, candidate.ID),
		DataVersion: baseline.digest() + ":" + candidate.digest(),
	}
	whole := metric.Definition{Low: new(float64), High: ptr(1.0), Better: metric.Higher}
	plans := differ(baseline.Request.Plan, candidate.Request.Plan)
	if c.Overall, err = c.figure(whole, "overall", a.overall, b.overall, seed, plans.overall); err != nil {
		return c, err
	}
	if c.PassRate, err = c.figure(whole, "pass_rate", a.passes, b.passes, seed, plans.passes); err != nil {
		return c, err
	}
	c.changes(a, b)
	if err := s.compareMetrics(ctx, org, &c, a, b, seed, plans); err != nil {
		return c, err
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
	return c, nil
}

// compareMetrics compares each metric that one of the runs has, one at a time,
// and adds its scores to the regressions.
func (s *Service) compareMetrics(ctx context.Context, org principal.OrgID, c *Comparison, a, b *side, seed stat.Seed, plans difference) error {
	definitions, err := s.definitions(c.Candidate, c.Baseline)
	if err != nil {
		return err
	}
	for _, d := range definitions {
		before, err := s.metricRows(ctx, org, a, d.Name)
		if err != nil {
			return err
		}
		after, err := s.metricRows(ctx, org, b, d.Name)
		if err != nil {
			return err
		}
		one, err := c.figure(d, d.Name, before, after, seed, plans.metrics[d.Name])
		if err != nil {
			return err
		}
		c.Metrics = append(c.Metrics, one)
		if len(c.Regressions) == 0 {
			continue
		}
		left, right := means(before), means(after)
		for i := range c.Regressions {
			r := &c.Regressions[i]
			item := strconv.FormatInt(r.Item, 10)
			r.Baseline.Scores[d.Name], r.Candidate.Scores[d.Name] = left[item].mean(), right[item].mean()
		}
	}
	return nil
}

// figure compares one figure. A reason says why the runs do not measure the same
// thing: then there is nothing to say about the difference.
func (c *Comparison) figure(d metric.Definition, name string, before, after []stat.Row, seed stat.Seed, reason string) (Compared, error) {
	o := stat.CompareOptions{
		Options:       stat.Options{Level: c.Confidence, Range: rangeOf(d), Source: stat.SourceCode, Seed: seed},
		LowerIsBetter: d.Better == metric.Lower,
	}
	if o.Range != nil {
		o.Margin = c.Margin * (o.Range.Upper - o.Range.Lower)
	}
	out := Compared{Name: name, Better: d.Better}
	var err error
	if out.Comparison, err = stat.Compare(before, after, o); err != nil {
		return out, fmt.Errorf("compare %s: %w", name, err)
	}
	if reason != "" {
		out.abstain(reason)
	}
	return out, nil
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
func (c *Comparison) changes(a, b *side) {
	left, right := means(a.passes), means(b.passes)
	leftOverall, rightOverall := means(a.overall), means(b.overall)
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
			id, _ := strconv.ParseInt(item, 10, 64) // written by Rows
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

func ptr[T any](v T) *T { return &v }
