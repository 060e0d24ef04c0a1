package evaluation

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/httpapi"
)

func (s *Service) registerCompare(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "compareEvaluationRuns", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/compare", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Compare two runs",
		Description: "Items are matched by id and content, and differences are candidate minus baseline. A verdict follows the interval: `unchanged` requires that the " +
			"difference is shown to be smaller than the margin; `inconclusive` means that nothing is shown. P-values are adjusted over all figures with Holm's method. " +
			"The same two runs always give the same response. A run that has not ended returns 409.",
	}, s.getComparison)
}

type compareInput struct {
	Path
	BaselineRunID  string   `query:"baselineRunId" required:"true" maxLength:"32" doc:"The run to compare with."`
	CandidateRunID string   `query:"candidateRunId" required:"true" maxLength:"32" doc:"The run that may be better or worse."`
	Confidence     float64  `query:"confidence" minimum:"0.8" maximum:"0.999" default:"0.95" doc:"Confidence level of the intervals."`
	Primary        []string `query:"primary,explode" maxItems:"20" maxLength:"64" doc:"Figures whose verdict was to be decided before looking at the runs; all others are exploratory. Repeat the parameter for several. Absent: overall."`
	Margin         float64  `query:"margin" minimum:"0" maximum:"1" doc:"The largest difference that does not matter, as a share of a metric's range. Absent or 0: the margin that the candidate run was started with, if it has one."`
}

func (s *Service) getComparison(ctx context.Context, in *compareInput) (*httpapi.Body[runstat.ComparisonBody], error) {
	evaluation, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	baseline, ok := httpapi.ParseID(in.BaselineRunID)
	candidate, known := httpapi.ParseID(in.CandidateRunID)
	if !ok || !known {
		return nil, ErrRunNotFound
	}
	v := Versus{Baseline: baseline, Candidate: candidate, Confidence: in.Confidence, Margin: in.Margin, Primary: in.Primary}
	c, err := s.Compare(ctx, principal.From(ctx).Org, evaluation, v)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(c.body()), nil
}

// body is the comparison on the wire.
func (c Comparison) body() runstat.ComparisonBody {
	return c.Comparison.Body(c.Candidate.Evaluation, c.Baseline.ID, c.Candidate.ID)
}
