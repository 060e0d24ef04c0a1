package rule

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

func (s *Service) registerPreview(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "previewJudgeRule", Method: http.MethodPost, Path: "/api/llm-judge/rules/preview", Tag: tag, Scope: principal.EvalWrite, Also: principal.TracesRead, Status: 200, Repeatable: true,
		Summary: "Estimate what a rule would cost",
		Description: "Counts the matching traces of each of the last seven days and estimates from them, and from what the newest verdicts of the judge have cost, how many traces a day " +
			"the rule would judge and what that would cost. Nothing is stored and nothing is asked. What cannot be estimated is null, with the reason.",
	}, s.postPreview)
}

type previewInputBody struct {
	ConfigID   httpapi.IDInput `json:"configId" doc:"The judge."`
	Filter     filterInput     `json:"filter,omitempty" doc:"Which traces are meant; all if it is not sent."`
	SampleRate float64         `json:"sampleRate" exclusiveMinimum:"0" maximum:"1" doc:"Share of the matching traces that is judged."`
}

type previewBody struct {
	Days          []int64       `json:"days" volatile:"true" doc:"Matching traces of each of the last seven periods of 24 hours, the newest first."`
	TracesPerDay  stat.Estimate `json:"traces_per_day" volatile:"true" doc:"Matching traces a day, with an interval of 97.5 %."`
	SampledPerDay stat.Estimate `json:"sampled_per_day" volatile:"true" doc:"Traces a day that would be judged, with an interval of 97.5 %."`
	Verdict       stat.Estimate `json:"cost_per_verdict_usd" volatile:"true" doc:"What a verdict costs in US dollars, from the newest 500 of the judge's current version, with an interval of 97.5 %."`
	UnknownCosts  int           `json:"unknown_costs" volatile:"true" doc:"Verdicts among the newest 500 whose cost is not known."`
	CostPerDay    costBody      `json:"cost_per_day_usd" volatile:"true" doc:"What the rule would cost a day."`
}

type costBody struct {
	Value  *float64 `json:"value" doc:"Estimate in US dollars; null if it is not known."`
	Lower  *float64 `json:"lower" doc:"Lower end of the interval; null if the data do not give one."`
	Upper  *float64 `json:"upper" doc:"Upper end of the interval; null if the data do not give one."`
	Level  *float64 `json:"level" doc:"Least share of such intervals that hold the value; null without an interval."`
	Reason *string  `json:"reason" doc:"Why the value is not known; null if it is."`
}

func (s *Service) postPreview(ctx context.Context, in *httpapi.Body[previewInputBody]) (*httpapi.Body[previewBody], error) {
	org := principal.From(ctx).Org
	p, err := s.Preview(ctx, org, int64(in.Body.ConfigID), in.Body.Filter.filter(), in.Body.SampleRate)
	if err != nil {
		return nil, err
	}
	out := &httpapi.Body[previewBody]{Body: previewBody{
		Days: p.Days, TracesPerDay: p.PerDay, SampledPerDay: p.Sampled, Verdict: p.PerVerdict, UnknownCosts: p.Unknown,
		CostPerDay: costBody{Value: p.Cost, Lower: p.Low, Upper: p.High, Reason: httpapi.OrNull(p.Why)},
	}}
	if p.Low != nil {
		level := fullLevel
		out.Body.CostPerDay.Level = &level
	}
	return out, nil
}
