package evaluation

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/figure"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
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
	BaselineRunID  string  `query:"baselineRunId" required:"true" maxLength:"32" doc:"The run to compare with."`
	CandidateRunID string  `query:"candidateRunId" required:"true" maxLength:"32" doc:"The run that may be better or worse."`
	Confidence     float64 `query:"confidence" minimum:"0.8" maximum:"0.999" default:"0.95" doc:"Confidence level of the intervals."`
	Margin         float64 `query:"margin" minimum:"0" maximum:"1" doc:"The largest difference that does not matter, as a share of a metric's range. Absent or 0: the margin that the candidate run was started with, if it has one."`
}

type compareOutput struct {
	Body comparisonBody
}

// comparisonBody is a comparison on the wire.
type comparisonBody struct {
	EvaluationID   httpapi.ID       `json:"evaluation_id" doc:"The evaluation that both runs belong to."`
	BaselineRunID  httpapi.ID       `json:"baseline_run_id" doc:"The run compared with."`
	CandidateRunID httpapi.ID       `json:"candidate_run_id" doc:"The run that may be better or worse."`
	Confidence     float64          `json:"confidence" doc:"Confidence level of the intervals."`
	Margin         *float64         `json:"margin" doc:"The largest difference that does not matter, as a share of a metric's range; null if none was declared, so that only better or worse can be shown."`
	Comparable     bool             `json:"comparable" doc:"Whether the runs measure the same items well enough to compare them."`
	Reasons        []string         `json:"incomparable_reasons" doc:"Why the runs cannot be compared."`
	Overall        comparedBody     `json:"overall" doc:"Overall score of both runs."`
	PassRate       comparedBody     `json:"pass_rate" doc:"Pass rate of both runs."`
	Metrics        []comparedBody   `json:"metrics" doc:"Metrics of both runs."`
	Items          changesBody      `json:"items" doc:"Items by what became of them."`
	Regressions    []regressionBody `json:"regressions" doc:"Items that the candidate does worse, worst first, at most 50."`
}

type comparedBody struct {
	Name       string          `json:"name" doc:"overall, pass_rate or the metric's name."`
	Better     string          `json:"better" enum:"higher,lower" doc:"Which direction is better."`
	Baseline   *float64        `json:"baseline" doc:"Value of the baseline; null if it has none."`
	Candidate  *float64        `json:"candidate" doc:"Value of the candidate; null if it has none."`
	Delta      *float64        `json:"delta" doc:"Candidate minus baseline, over the items that both scored; null if there are none."`
	CILow      *float64        `json:"ci_low" doc:"Lower end of the interval of delta; null if it has none."`
	CIHigh     *float64        `json:"ci_high" doc:"Upper end of the interval of delta; null if it has none."`
	Verdict    string          `json:"verdict" enum:"improved,regressed,unchanged,inconclusive" doc:"What the interval shows, in a word."`
	Statistics stat.Comparison `json:"statistics" doc:"The comparison in full."`
}

type changesBody struct {
	Improved      int `json:"improved" doc:"Items that the candidate does better."`
	Regressed     int `json:"regressed" doc:"Items that the candidate does worse."`
	Unchanged     int `json:"unchanged" doc:"Items that both do equally well."`
	Changed       int `json:"changed" doc:"Items in both runs whose content differs; they are not compared."`
	OnlyBaseline  int `json:"only_baseline" doc:"Items of the baseline alone."`
	OnlyCandidate int `json:"only_candidate" doc:"Items of the candidate alone."`
}

type regressionBody struct {
	TestCaseID httpapi.ID     `json:"test_case_id" doc:"The dataset item."`
	Delta      float64        `json:"delta" doc:"Candidate minus baseline."`
	By         string         `json:"by" enum:"overall,pass_rate" doc:"The figure that delta is a difference of: the pass rate decides where a run has no overall score for the item."`
	Baseline   itemScoresBody `json:"baseline" doc:"The item in the baseline."`
	Candidate  itemScoresBody `json:"candidate" doc:"The item in the candidate."`
}

type itemScoresBody struct {
	Overall  *float64            `json:"overall" doc:"Mean overall score; null if a part of it is missing."`
	PassRate float64             `json:"pass_rate" doc:"Share of the item's repetitions that passed."`
	Scores   map[string]*float64 `json:"scores" doc:"Mean score by metric; null where the metric could not be computed."`
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

func toComparedBody(c figure.Compared) comparedBody {
	b := comparedBody{
		Name: c.Name, Better: string(c.Better), Baseline: c.Comparison.Baseline.Value, Candidate: c.Comparison.Candidate.Value, Delta: c.Difference.Value,
		Verdict: string(c.Verdict.Outcome()), Statistics: c.Comparison,
	}
	if ci := c.Difference.CI; ci != nil {
		b.CILow, b.CIHigh = ci.Lower, ci.Upper
	}
	return b
}
