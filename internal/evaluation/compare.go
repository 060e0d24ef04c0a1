package evaluation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// ErrNotEnded is returned for a comparison or a decision on a run whose results
// are not all there.
var ErrNotEnded = fault.New(fault.Conflict, "run_not_ended", "The run has not ended, so its results cannot be compared or decided on yet. Wait until it has, or cancel it.")

// Versus says which runs are compared, and how.
type Versus struct {
	Baseline, Candidate int64
	// Confidence is the level of intervals; zero is 0.95.
	Confidence float64
	// Margin is the largest difference that does not matter, as a share of a
	// metric's range. Zero takes that of the candidate's request.
	Margin float64
	// Primary are the figures that were declared before looking; without any it is
	// the overall score. Figures are the metrics that are compared; nil is all that
	// either run has, and the slices.
	Primary, Figures []string
}

// Comparison is how a candidate run differs from a baseline run of the same
// evaluation. It is computed from the results of both, and the same two runs
// always give the same digits.
type Comparison struct {
	Baseline, Candidate Run
	runstat.Comparison
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
	c := Comparison{Baseline: baseline, Candidate: candidate}
	definitions, err := s.definitions(candidate, baseline)
	if err != nil {
		return c, err
	}
	if v.Figures != nil {
		definitions = slices.DeleteFunc(definitions, func(d metric.Definition) bool { return !slices.Contains(v.Figures, d.Name) })
	}
	done, err := s.mayRead(ctx, baseline, candidate)
	if err != nil {
		return c, err
	}
	defer done()
	suspects, err := s.suspects(ctx, org, baseline, candidate)
	if err != nil {
		return c, err
	}
	a, err := s.readSide(ctx, org, baseline)
	if err != nil {
		return c, err
	}
	b, err := s.readSide(ctx, org, candidate)
	if err != nil {
		return c, err
	}
	a.Recognise(b.Rows)
	b.Recognise(a.Rows)
	a.clusterLike(b)
	scores := func(name string) (before, after []stat.Observation, err error) {
		if before, err = s.metricRows(ctx, org, a, name); err != nil {
			return nil, nil, err
		}
		after, err = s.metricRows(ctx, org, b, name)
		return before, after, err
	}
	c.Comparison, err = runstat.Compare(a.Rows, b.Rows, definitions, scores, runstat.Options{
		Confidence: v.Confidence, Margin: v.Margin, Primary: v.Primary, Slices: v.Figures == nil, Reasons: reasons(baseline, candidate, definitions, suspects),
		Seed: stat.Seed{
			Organization: org.String(), Resource: fmt.Sprintf("run/%d:run/%d", baseline.ID, candidate.ID),
			DataVersion: baseline.digest() + ":" + candidate.digest(),
		},
	})
	if err != nil {
		return c, err
	}
	return c, s.correctDifferences(ctx, org, &c)
}

// reasons say why figures of two runs do not measure the same thing. A run that
// was stopped may have been stopped when it looked best, and a judge that has drifted
// may have made the difference.
func reasons(baseline, candidate Run, metrics []metric.Definition, suspects map[string]string) runstat.Reasons {
	all := runstat.Reasons(scoring.Differ(baseline.Request.Plan, candidate.Request.Plan))
	for name, why := range suspects {
		if all.Metrics[name] == "" {
			all.Metrics[name] = why
		}
		all.Overall, all.Passes = cmp.Or(all.Overall, why), cmp.Or(all.Passes, why)
	}
	for _, r := range []Run{baseline, candidate} {
		if r.Status == StatusCompleted {
			continue
		}
		why := fmt.Sprintf("run %d was stopped before its end, perhaps when it looked best", r.ID)
		all.Overall, all.Passes = why, why
		for _, d := range metrics {
			all.Metrics[d.Name] = why
		}
	}
	return all
}

// Ask is a figure that a gate asks for: a metric, overall or pass_rate.
type Ask struct {
	Figure string
	runstat.At
}

// Figures are figures of a run as a gate of so many requirements decides by them.
// Those that the run does not have are left out.
func (s *Service) Figures(ctx context.Context, org principal.OrgID, r Run, requirements int, asks []Ask) (map[Ask]*requirement.Figure, error) {
	definitions, err := s.definitions(r)
	if err != nil {
		return nil, err
	}
	done, err := s.mayRead(ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	of, err := s.readSide(ctx, org, r)
	if err != nil {
		return nil, err
	}
	suspects, err := s.suspects(ctx, org, r)
	if err != nil {
		return nil, err
	}
	found := make(map[Ask]*requirement.Figure, len(asks))
	for _, ask := range asks {
		d, rows := runstat.PassRate(), of.Passes
		switch at := slices.IndexFunc(definitions, func(d metric.Definition) bool { return d.Name == ask.Figure }); {
		case ask.Figure == requirement.PassRate:
		case ask.Figure == requirement.Overall:
			d, rows = runstat.Overall(), of.Overall
		case at < 0:
			continue
		default:
			d = definitions[at]
			if rows, err = s.metricRows(ctx, org, of, d.Name); err != nil {
				return nil, err
			}
		}
		if found[ask], err = s.correctedFigure(ctx, org, r, rows, ask.Figure, ask.At, requirements); err != nil {
			return nil, fmt.Errorf("%s: %w", ask.Figure, err)
		}
		if found[ask] == nil {
			if found[ask], err = runstat.Gated(d, rows, requirements, ask.At); err != nil {
				return nil, fmt.Errorf("%s: %w", ask.Figure, err)
			}
		}
		if len(r.Request.Plan.Judged) > 0 && (ask.Figure == requirement.Overall || ask.Figure == requirement.PassRate) {
			found[ask].Alone.Warn(uncorrected)
		}
		suspend(suspects, ask.Figure, found[ask])
	}
	return found, nil
}
