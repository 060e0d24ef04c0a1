package trace

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

func (s *Service) registerMetrics(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getTraceMetrics", Method: http.MethodGet, Path: "/api/traces/metrics", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get span metrics",
		Description: "Returns counts, errors, tokens, costs and latencies of the spans that start within a window of up to 92 days, by group and as time series. Every span counts once, in its newest version. " +
			"Rates come with a 95 % interval, percentiles with the number of values they are computed from. " +
			"At most the 100 largest groups are listed; `other` sums up the rest.",
	}, s.getMetrics)
}

type metricsInput struct {
	StartAfter  time.Time `query:"startAfter" doc:"Start of the window; by default 24 hours before startBefore, at most 92 days."`
	StartBefore time.Time `query:"startBefore" doc:"End of the window; by default the current time."`
	GroupBy     string    `query:"groupBy" enum:"none,model,agent,release,environment,service,provider" default:"none" doc:"Property of spans to group by."`
	Interval    string    `query:"interval" enum:"auto,5m,hour,day" default:"auto" doc:"Length of an interval of the series, in UTC; auto chooses one that suits the window."`
	Environment string    `query:"environment" maxLength:"1024" doc:"Only spans of this environment."`
	AgentName   string    `query:"agentName" maxLength:"1024" doc:"Only spans of this agent."`
	ReleaseID   string    `query:"releaseId" maxLength:"1024" doc:"Only spans of this release."`
	Model       string    `query:"model" maxLength:"1024" doc:"Only spans that name this model."`
}

type metricsBody struct {
	Window   windowBody                `json:"window" doc:"Window in which the spans start."`
	Interval string                    `json:"interval" enum:"5m,hour,day" doc:"Length of an interval of the series."`
	GroupBy  string                    `json:"group_by" enum:"none,model,agent,release,environment,service,provider" doc:"Property that the groups are by."`
	Groups   []metricGroup             `json:"groups" doc:"Largest first, at most 100."`
	Other    httpapi.Null[metricGroup] `json:"other" doc:"All smaller groups together; null if there are at most 100 groups."`
}

type windowBody struct {
	From httpapi.Time `json:"from" doc:"Start of the window, excluded."`
	To   httpapi.Time `json:"to" doc:"End of the window, excluded."`
}

type metricGroup struct {
	Key            *string         `json:"key" doc:"Value that the spans have in common; null for spans without one, for other, and if groupBy is none."`
	Spans          uint64          `json:"spans" doc:"Number of spans."`
	Traces         uint64          `json:"traces" doc:"Number of traces with a span in the group; exact up to some thousands, within one percent above."`
	Errors         uint64          `json:"errors" doc:"Number of spans that ended with an error."`
	ErrorRate      proportionBody  `json:"error_rate" doc:"Share of spans that ended with an error."`
	InputTokens    uint64          `json:"input_tokens" doc:"Sum of input tokens."`
	OutputTokens   uint64          `json:"output_tokens" doc:"Sum of output tokens."`
	CostUSD        *float64        `json:"cost_usd" doc:"Sum of the known costs in US dollars; null if none is known."`
	CostKnownSpans uint64          `json:"cost_known_spans" doc:"Number of spans whose cost is known."`
	LatencyMS      percentilesBody `json:"latency_ms" doc:"Duration of spans that have ended, in milliseconds."`
	FirstTokenMS   percentilesBody `json:"first_token_ms" doc:"Time to the first token of spans that report it, in milliseconds."`
	Series         []metricPoint   `json:"series" doc:"Figures per interval, by time; intervals without spans are left out."`
}

type proportionBody struct {
	Value  float64 `json:"value" doc:"Share, from 0 to 1."`
	N      uint64  `json:"n" doc:"Number of observations."`
	Low    float64 `json:"low" doc:"Lower end of the 95 % interval."`
	High   float64 `json:"high" doc:"Upper end of the 95 % interval."`
	Method string  `json:"method" enum:"wilson_95" doc:"Method of the interval."`
}

type percentilesBody struct {
	P50 *float64 `json:"p50" doc:"Median; null below 2 values."`
	P90 *float64 `json:"p90" doc:"90th percentile; null below 10 values."`
	P95 *float64 `json:"p95" doc:"95th percentile; null below 20 values."`
	P99 *float64 `json:"p99" doc:"99th percentile; null below 20 values."`
	N   uint64   `json:"n" doc:"Number of values."`
}

type metricPoint struct {
	At           httpapi.Time `json:"at" doc:"Start of the interval."`
	Spans        uint64       `json:"spans" doc:"Number of spans that start in the interval."`
	Errors       uint64       `json:"errors" doc:"Number of them that ended with an error."`
	InputTokens  uint64       `json:"input_tokens" doc:"Sum of input tokens."`
	OutputTokens uint64       `json:"output_tokens" doc:"Sum of output tokens."`
	CostUSD      *float64     `json:"cost_usd" doc:"Sum of the known costs in US dollars; null if none is known."`
	P50MS        *float64     `json:"p50_ms" doc:"Median duration in milliseconds; null below 2 values."`
	P95MS        *float64     `json:"p95_ms" doc:"95th percentile of the duration in milliseconds; null below 20 values."`
}

// intervals are the lengths by name; auto is zero.
var intervals = map[string]time.Duration{"auto": 0, "5m": 5 * time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

func (s *Service) getMetrics(ctx context.Context, in *metricsInput) (*httpapi.Body[metricsBody], error) {
	m, err := s.Metrics(ctx, principal.From(ctx).Org, MetricsQuery{
		From: in.StartAfter, To: in.StartBefore, GroupBy: GroupBy(in.GroupBy), Interval: intervals[in.Interval],
		Environment: in.Environment, AgentName: in.AgentName, ReleaseID: in.ReleaseID, Model: in.Model,
	})
	if err != nil {
		return nil, err
	}
	out := metricsBody{Window: toWindow(m.From, m.To), GroupBy: in.GroupBy, Groups: make([]metricGroup, len(m.Groups))}
	for name, length := range intervals {
		if length == m.Interval {
			out.Interval = name
		}
	}
	for i, g := range m.Groups {
		out.Groups[i] = toMetricGroup(g)
	}
	if m.Other != nil {
		other := toMetricGroup(*m.Other)
		out.Other = httpapi.NullOf(&other)
	}
	return httpapi.NewBody(out), nil
}

func toMetricGroup(g MetricGroup) metricGroup {
	rate := proportion(g.Errors, g.Spans)
	out := metricGroup{
		Key: httpapi.OrNull(g.Key), Spans: g.Spans, Traces: g.Traces, Errors: g.Errors, InputTokens: g.InputTokens, OutputTokens: g.OutputTokens,
		ErrorRate: proportionBody{Value: rounded(rate.Value), N: rate.N, Low: rounded(rate.Low), High: rounded(rate.High), Method: "wilson_95"},
		CostUSD:   toCost(g.Cost), CostKnownSpans: g.CostKnown, LatencyMS: toPercentiles(g.Latency), FirstTokenMS: toPercentiles(g.FirstToken),
		Series: make([]metricPoint, len(g.Series)),
	}
	for i, p := range g.Series {
		latency := toPercentiles(p.Latency)
		out.Series[i] = metricPoint{
			At: httpapi.Time(p.At), Spans: p.Spans, Errors: p.Errors, InputTokens: p.InputTokens, OutputTokens: p.OutputTokens,
			CostUSD: toCost(p.Cost), P50MS: latency.P50, P95MS: latency.P95,
		}
	}
	return out
}

func toPercentiles(p Percentiles) percentilesBody {
	when := func(least uint64, value float64) *float64 {
		if p.N < least {
			return nil
		}
		value = math.Round(value*1000) / 1000
		return &value
	}
	return percentilesBody{
		P50: when(enoughForP50, p.P50), P90: when(enoughForP90, p.P90), P95: when(enoughForP95, p.P95), P99: when(enoughForP99, p.P99), N: p.N,
	}
}

// rounded leaves six digits: more would claim what no count of spans tells.
func rounded(share float64) float64 { return math.Round(share*1e6) / 1e6 }

func toWindow(from, to time.Time) windowBody {
	return windowBody{From: httpapi.Time(from), To: httpapi.Time(to)}
}
