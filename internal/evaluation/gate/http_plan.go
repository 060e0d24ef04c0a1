package gate

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

func (s *Service) registerPlan(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "planEvaluation", Method: http.MethodGet, Path: "/api/evaluations/{id}/plan", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Plan how many items a difference needs",
		Description: "Computes how many items show a difference of the overall score with the given power, from how much scores vary between the items of the newest " +
			"completed run, and how much their differences vary between the newest two. What cannot be known yet is assumed at its worst.",
	}, s.getPlan)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluationSeries", Method: http.MethodGet, Path: "/api/evaluations/{id}/series", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Compare several runs side by side",
		Description: "Returns the figures of up to ten runs, oldest first, and how much they vary from run to run: of the newest 50 completed runs those that had the " +
			"conditions of the newest, which are configuration, dataset version, release and sample.",
	}, s.getSeries)
}

type planInput struct {
	evaluation.Path
	Difference float64 `query:"difference" required:"true" minimum:"0.0001" maximum:"1" doc:"The difference of the overall score to be seen, such as 0.02."`
	Power      float64 `query:"power" minimum:"0.5" maximum:"0.99" default:"0.8" doc:"How often a run is to show it."`
}

type planBody struct {
	Difference    float64                  `json:"difference" doc:"The difference of the overall score."`
	Power         float64                  `json:"power" doc:"How often a run shows it."`
	RunID         httpapi.Null[httpapi.ID] `json:"run_id" doc:"The run that the spread of scores is from; null if there is none."`
	BaselineRunID httpapi.Null[httpapi.ID] `json:"baseline_run_id" doc:"The run that it was compared with; null if there is none."`
	Items         int                      `json:"items" doc:"Items of that run; 0 if there is none."`
	SD            float64                  `json:"sd" doc:"Standard deviation of the overall score between items."`
	SDAssumed     bool                     `json:"sd_assumed" doc:"Whether sd is the worst that is possible, because no run gives it."`
	PairedSD      float64                  `json:"paired_sd" doc:"Standard deviation of the differences of items between two runs."`
	PairedAssumed bool                     `json:"paired_sd_assumed" doc:"Whether paired_sd is that of runs with nothing in common, because no two runs give it. The numbers of items are then far too high, as a rule."`
	Threshold     int                      `json:"items_for_threshold" doc:"Items that show that the overall score is on one side of a fixed value that is the difference away."`
	Comparison    int                      `json:"items_for_comparison" doc:"Items on which a comparison of two runs shows the difference."`
	NonInferior   int                      `json:"items_for_non_inferior" doc:"Items on which a loss of the difference is ruled out, if there is none."`
}

type seriesBody struct {
	Runs     []seriesRunBody `json:"runs" doc:"The runs, oldest first."`
	Overall  stat.Estimate   `json:"overall_sd" doc:"How much the overall score varies from run to run under equal conditions: a standard deviation. Without a value if there are fewer than two."`
	PassRate stat.Estimate   `json:"pass_rate_sd" doc:"The same for the pass rate."`
}

type seriesRunBody struct {
	RunID     httpapi.ID    `json:"run_id" doc:"The run."`
	StartedAt httpapi.Time  `json:"started_at" doc:"When the run was started."`
	Overall   stat.Estimate `json:"overall" doc:"Overall score."`
	PassRate  stat.Estimate `json:"pass_rate" doc:"Share of items that passed."`
}

func (s *Service) getPlan(ctx context.Context, in *planInput) (*httpapi.Body[planBody], error) {
	id, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	p, err := s.Plan(ctx, principal.From(ctx).Org, id, in.Difference, in.Power)
	if err != nil {
		return nil, err
	}
	return &httpapi.Body[planBody]{Body: planBody{
		Difference: p.Difference, Power: p.Power, RunID: httpapi.NullID(p.Run), BaselineRunID: httpapi.NullID(p.Baseline), Items: p.Have, SD: p.SD, SDAssumed: p.AssumedSD,
		PairedSD: p.PairedSD, PairedAssumed: p.AssumedPairedSD, Threshold: p.Threshold, Comparison: p.Comparison, NonInferior: p.NonInferior,
	}}, nil
}

func (s *Service) getSeries(ctx context.Context, in *evaluation.Path) (*httpapi.Body[seriesBody], error) {
	id, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	found, err := s.Series(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	b := seriesBody{Runs: make([]seriesRunBody, len(found.Runs)), Overall: found.Overall, PassRate: found.PassRate}
	for i, r := range found.Runs {
		b.Runs[i] = seriesRunBody{RunID: httpapi.ID(r.ID), StartedAt: httpapi.Time(r.StartedAt), Overall: r.Outcome.Statistics.Overall, PassRate: r.Outcome.Statistics.PassRate}
	}
	return httpapi.NewBody(b), nil
}
