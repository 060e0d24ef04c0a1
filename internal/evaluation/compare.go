package evaluation

import (
	"context"
	"fmt"
	"strconv"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/figure"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
)

// ErrNotEnded is returned for a comparison with a run whose results are not all
// there.
var ErrNotEnded = fault.New(fault.Conflict, "run_not_ended", "The run has not ended, so its results cannot be compared yet. Wait until it has, or cancel it.")

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
	figure.Comparison
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
	scores := func(name string) (before, after []stat.Row, err error) {
		if before, err = s.metricRows(ctx, org, a, name); err != nil {
			return nil, nil, err
		}
		after, err = s.metricRows(ctx, org, b, name)
		return before, after, err
	}
	c.Comparison, err = figure.Compare(a.Rows, b.Rows, definitions, scores, figure.Options{
		Confidence: v.Confidence, Margin: v.Margin, Reasons: figure.Reasons(plan.Differ(baseline.Request.Plan, candidate.Request.Plan)),
		Seed: stat.Seed{
			Organization: org.String(), Resource: fmt.Sprintf("run/%d:run/%d", baseline.ID, candidate.ID),
			DataVersion: baseline.digest() + ":" + candidate.digest(),
		},
	})
	return c, err
}
