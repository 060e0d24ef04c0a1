package evaluation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// maxFresh is how many units a run has at most whose figures are corrected by labels
// that came after its end, each time that it is read.
const maxFresh = 50_000

// corrected are the means of a run's judges as people would give them, by metric.
func (s *Service) corrected(ctx context.Context, org principal.OrgID, r Run) (map[string]correction.Corrected, error) {
	all := make(map[string]correction.Corrected, len(r.Request.Plan.Judged))
	for _, j := range r.Request.Plan.Judged {
		found, err := s.judges.Correct(ctx, org, j.Judge, j.Version, r.ID, requirement.Level)
		if err != nil {
			return nil, fmt.Errorf("correct %s: %w", j.Metric, err)
		}
		all[j.Metric] = found[0]
	}
	return all, nil
}

// correct lets the figures of judges be those that people would give. A judge's own
// mean says what the judge thinks, and is shown after them. What has no score is left
// out of a metric and counts as the worst score in a gate, as it does elsewhere.
func (o *Outcome) correct(by map[string]correction.Corrected) {
	o.Statistics.Corrected = by
	for name, c := range by {
		e := c.Headline.Estimate
		if was := o.Statistics.Metrics[name].Missing; was != nil {
			e.Missing = was
		}
		o.Statistics.Metrics[name] = e
		if was, ok := o.Statistics.Gates[name]; ok {
			missing := 0
			if was.Missing != nil {
				missing = was.Missing.Rows
			}
			o.Statistics.Gates[name] = correction.Worst(c.Headline.Estimate, c.Judge.N, missing, 0, requirement.Level)
		}
		if delete(o.Metrics, name); c.Headline.Value != nil {
			o.Metrics[name] = *c.Headline.Value
		}
	}
}

// fresh is a run whose figures of judges know the labels that people gave since it
// ended.
func (s *Service) fresh(ctx context.Context, org principal.OrgID, r Run) (Run, error) {
	if r.Outcome == nil || len(r.Outcome.Statistics.Corrected) == 0 || r.Resolved == nil || r.Resolved.Units > maxFresh {
		return r, nil
	}
	by, err := s.corrected(ctx, org, r)
	if err != nil {
		return r, err
	}
	o := *r.Outcome
	o.Metrics, o.Statistics.Metrics, o.Statistics.Gates = maps.Clone(o.Metrics), maps.Clone(o.Statistics.Metrics), maps.Clone(o.Statistics.Gates)
	o.correct(by)
	r.Outcome = &o
	return r, nil
}

// correctedFigure is the mean of a judge at the levels of a gate; nil if the metric is
// not one of a judge's. Rows are the scores of the run, some of which are missing.
func (s *Service) correctedFigure(ctx context.Context, org principal.OrgID, r Run, rows []stat.Observation, name string, at runstat.At, requirements int) (*requirement.Figure, error) {
	i := slices.IndexFunc(r.Request.Plan.Judged, func(j scoring.Judged) bool { return j.Metric == name })
	if i < 0 || at.Quantile > 0 {
		return nil, nil
	}
	j := r.Request.Plan.Judged[i]
	levels := []float64{requirement.Level, requirement.Together(requirements)}
	found, err := s.judges.Correct(ctx, org, j.Judge, j.Version, r.ID, levels[:min(max(requirements, 1), 2)]...)
	if err != nil {
		return nil, err
	}
	missing := 0
	for i := range rows {
		if cause := rows[i].Missing; cause != stat.Present && cause != stat.CauseItem {
			missing++
		}
	}
	worst := func(i int) stat.Estimate {
		return correction.Worst(found[i].Headline.Estimate, found[i].Judge.N, missing, 0, levels[i])
	}
	f := &requirement.Figure{Alone: worst(0)}
	if f.Together = f.Alone; len(found) > 1 {
		f.Together = worst(1)
	}
	return f, nil
}

// correctDifferences lets the differences of judges be those that people would see.
// The judge's own differences are shown after them.
func (s *Service) correctDifferences(ctx context.Context, org principal.OrgID, c *Comparison) error {
	for i := range c.Metrics {
		m := &c.Metrics[i]
		at := slices.IndexFunc(c.Candidate.Request.Plan.Judged, func(j scoring.Judged) bool { return j.Metric == m.Name })
		if at < 0 {
			continue
		}
		j := c.Candidate.Request.Plan.Judged[at]
		m.Judge = &runstat.Judged{Raw: m.Difference, Attribution: runstat.AttributionUnknown}
		condition, err := s.judges.Condition(ctx, org, j.Judge, j.Version)
		if err != nil {
			return err
		}
		if !m.Comparable {
			m.Judge.Attribution = runstat.AttributionEither
			continue
		}
		if began, ended := c.span(); condition.Same(began, ended) {
			m.Judge.Attribution = runstat.AttributionSystem
		}
		if err := s.correctDifference(ctx, org, c, m, j); err != nil {
			return fmt.Errorf("correct %s: %w", m.Name, err)
		}
	}
	if len(c.Candidate.Request.Plan.Judged) > 0 {
		c.Overall.Difference.Warn(uncorrected)
		c.PassRate.Difference.Warn(uncorrected)
	}
	return nil
}

// correctDifference lets one difference of a judge be the one that people would see.
// Where the candidate has no score, people would see the worst: it counts as if the
// baseline had been perfect there.
func (s *Service) correctDifference(ctx context.Context, org principal.OrgID, c *Comparison, m *runstat.Compared, j scoring.Judged) error {
	level := c.Confidence
	d, err := s.judges.CorrectDifference(ctx, org, j.Judge, j.Version, c.Baseline.ID, c.Candidate.ID, level, 2*level-1)
	if err != nil {
		return err
	}
	m.Judge.Baseline, m.Judge.Candidate = d.Baseline.Headline.Value, d.Candidate.Headline.Value
	m.Judge.Estimator, m.Judge.Labels = d.At[0].Estimator, d.At[0].Labels
	missing, margin := 0, 0.0
	if lacking := m.Comparison.Candidate.Missing; lacking != nil {
		missing = lacking.Rows
	}
	if m.Comparison.Verdict.Margin != nil {
		margin = *m.Comparison.Verdict.Margin
	}
	at := func(i int, level float64) stat.Estimate {
		return correction.Worst(d.At[i].Headline.Estimate, d.Pairs, missing, -1, level)
	}
	m.Correct(level, margin, at(0, level), at(1, 2*level-1))
	return nil
}

// uncorrected is a warning for figures that judges are a part of.
const uncorrected = "verdicts of judges count in this figure as they are, without correction by labels"

// span is when the earlier of two runs began and the later one ended.
func (c *Comparison) span() (began, ended time.Time) {
	began = c.Baseline.StartedAt
	if c.Candidate.StartedAt.Before(began) {
		began = c.Candidate.StartedAt
	}
	ended = c.Baseline.ended()
	if at := c.Candidate.ended(); at.After(ended) {
		ended = at
	}
	return began, ended
}

// ended is when the run ended.
func (r Run) ended() time.Time {
	if r.Completed != nil {
		return *r.Completed
	}
	return r.UpdatedAt
}

// suspects are the judges of runs whose verdicts cannot be relied on, by metric, with
// the reason.
func (s *Service) suspects(ctx context.Context, org principal.OrgID, runs ...Run) (map[string]string, error) {
	all := map[string]string{}
	for _, r := range runs {
		for _, j := range r.Request.Plan.Judged {
			c, err := s.judges.Condition(ctx, org, j.Judge, j.Version)
			if err != nil {
				return nil, err
			}
			if why := c.Suspect(r.ended()); why != "" {
				all[j.Metric] = fmt.Sprintf("%s has drifted: %s A difference may be the judge's. Give the judge a new version and run again", j.Metric, why)
			}
		}
	}
	return all, nil
}

// suspend takes their intervals from figures that rest on a judge that has drifted.
func suspend(suspects map[string]string, name string, f *requirement.Figure) {
	if f == nil || len(suspects) == 0 {
		return
	}
	why := suspects[name]
	if name == requirement.Overall || name == requirement.PassRate {
		why = suspects[slices.Min(slices.Collect(maps.Keys(suspects)))]
	}
	if why != "" {
		f.Alone.Abstain(stat.StatusStale, why)
		f.Together.Abstain(stat.StatusStale, why)
	}
}
