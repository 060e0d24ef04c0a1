package evaluation

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
)

func (s *Service) registerCompare(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "compareRuns", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/compare", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Compare two runs",
		Description: "Items are matched by id and content, and differences are candidate minus baseline. A verdict follows the interval: `unchanged` is said only " +
			"where the difference is shown to be smaller than the margin, `inconclusive` where nothing is shown. P-values are adjusted after Holm over all figures. " +
			"The same two runs always give the same answer. A run that has not ended is 409.",
	}, s.getComparison)
}

type compareInput struct {
	Path
	BaselineRunID  string  `query:"baselineRunId" required:"true" maxLength:"32" doc:"The run to compare with."`
	CandidateRunID string  `query:"candidateRunId" required:"true" maxLength:"32" doc:"The run that may be better or worse."`
	Confidence     float64 `query:"confidence" minimum:"0.8" maximum:"0.999" default:"0.95" doc:"The level of intervals."`
	Margin         float64 `query:"margin" minimum:"0" maximum:"1" doc:"The largest difference that does not matter, as a share of a metric's range. Absent or 0: the margin that the candidate run was started with, if it has one."`
}

type compareOutput struct {
	Body comparisonBody
}

// comparisonBody is a comparison on the wire.
type comparisonBody struct {
	EvaluationID   httpapi.ID       `json:"evaluation_id"`
	BaselineRunID  httpapi.ID       `json:"baseline_run_id"`
	CandidateRunID httpapi.ID       `json:"candidate_run_id"`
	Confidence     float64          `json:"confidence"`
	Margin         *float64         `json:"margin" nullable:"true" doc:"Null: no margin was declared, so only better or worse can be shown."`
	Comparable     bool             `json:"comparable"`
	Reasons        []string         `json:"incomparable_reasons"`
	Overall        comparedBody     `json:"overall"`
	PassRate       comparedBody     `json:"pass_rate"`
	Metrics        []comparedBody   `json:"metrics"`
	Items          changesBody      `json:"items"`
	Regressions    []regressionBody `json:"regressions" doc:"Items that the candidate does worse, worst first, at most 50."`
}

type comparedBody struct {
	Name       string          `json:"name"`
	Better     string          `json:"better" enum:"higher,lower"`
	Baseline   *float64        `json:"baseline" nullable:"true"`
	Candidate  *float64        `json:"candidate" nullable:"true"`
	Delta      *float64        `json:"delta" nullable:"true" doc:"Candidate minus baseline, over the items that both scored."`
	CILow      *float64        `json:"ci_low" nullable:"true"`
	CIHigh     *float64        `json:"ci_high" nullable:"true"`
	Verdict    string          `json:"verdict" enum:"improved,regressed,unchanged,inconclusive"`
	Statistics stat.Comparison `json:"statistics"`
}

type changesBody struct {
	Improved      int `json:"improved"`
	Regressed     int `json:"regressed"`
	Unchanged     int `json:"unchanged"`
	Changed       int `json:"changed" doc:"In both runs, with different content: not compared."`
	OnlyBaseline  int `json:"only_baseline"`
	OnlyCandidate int `json:"only_candidate"`
}

type regressionBody struct {
	TestCaseID httpapi.ID     `json:"test_case_id"`
	Delta      float64        `json:"delta"`
	By         string         `json:"by" enum:"overall,pass_rate" doc:"What delta is a difference of: passes decide where a run has no overall score of the item."`
	Baseline   itemScoresBody `json:"baseline"`
	Candidate  itemScoresBody `json:"candidate"`
}

type itemScoresBody struct {
	Overall  *float64            `json:"overall" nullable:"true"`
	PassRate float64             `json:"pass_rate" doc:"Over the item's repetitions."`
	Scores   map[string]*float64 `json:"scores"`
}

func (s *Service) getComparison(ctx context.Context, in *compareInput) (*compareOutput, error) {
	evaluation, err := in.evaluation()
	if err != nil {
		return nil, err
	}
	baseline, ok := httpapi.ParseID(in.BaselineRunID)
	candidate, known := httpapi.ParseID(in.CandidateRunID)
	if !ok || !known {
		return nil, ErrRunNotFound
	}
	v := Versus{Baseline: baseline, Candidate: candidate, Confidence: in.Confidence, Margin: in.Margin}
	c, err := s.Compare(ctx, principal.From(ctx).Org, evaluation, v)
	if err != nil {
		return nil, err
	}
	return &compareOutput{Body: toComparisonBody(c)}, nil
}

func toComparisonBody(c Comparison) comparisonBody {
	b := comparisonBody{
		EvaluationID: httpapi.ID(c.Candidate.Evaluation), BaselineRunID: httpapi.ID(c.Baseline.ID), CandidateRunID: httpapi.ID(c.Candidate.ID),
		Confidence: c.Confidence, Comparable: c.Comparable, Reasons: c.Reasons, Overall: toComparedBody(c.Overall), PassRate: toComparedBody(c.PassRate),
		Metrics: []comparedBody{}, Items: changesBody(c.Items), Regressions: []regressionBody{},
	}
	if c.Margin > 0 {
		b.Margin = &c.Margin
	}
	for _, m := range c.Metrics {
		b.Metrics = append(b.Metrics, toComparedBody(m))
	}
	for _, r := range c.Regressions {
		one := regressionBody{TestCaseID: httpapi.ID(r.Item), Delta: r.Delta, By: "overall", Baseline: itemScoresBody(r.Baseline), Candidate: itemScoresBody(r.Candidate)}
		if r.ByPass {
			one.By = "pass_rate"
		}
		b.Regressions = append(b.Regressions, one)
	}
	return b
}

func toComparedBody(c Compared) comparedBody {
	b := comparedBody{
		Name: c.Name, Better: string(c.Better), Baseline: c.Comparison.Baseline.Value, Candidate: c.Comparison.Candidate.Value, Delta: c.Difference.Value,
		Verdict: string(c.Verdict.Outcome()), Statistics: c.Comparison,
	}
	if ci := c.Difference.CI; ci != nil {
		b.CILow, b.CIHigh = ci.Lower, ci.Upper
	}
	return b
}
