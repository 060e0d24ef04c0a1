package trace

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerMetrics(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getTraceMetrics", Method: http.MethodGet, Path: "/api/traces/metrics", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get figures of spans",
		Description: "Counts, errors, tokens, costs and latencies of the spans that start in a time of up to 92 days, by group and as series. Every span counts once, in its newest version. " +
			"A share comes with its 95 % interval, a percentile with the number of values it is of, and is null if they are too few to tell. " +
			"At most 100 groups are shown, the largest; `other` has the rest together.",
	}, s.getMetrics)
}

type metricsInput struct {
	StartAfter  time.Time `query:"startAfter" doc:"A day before startBefore if absent; at most 92 days."`
	StartBefore time.Time `query:"startBefore" doc:"The present if absent."`
	GroupBy     string    `query:"groupBy" enum:"none,model,agent,release,environment,service,provider" default:"none"`
	Interval    string    `query:"interval" enum:"auto,5m,hour,day" default:"auto" doc:"The length of a point of the series, in UTC."`
	Environment string    `query:"environment" maxLength:"1024"`
	AgentName   string    `query:"agentName" maxLength:"1024"`
	ReleaseID   string    `query:"releaseId" maxLength:"1024"`
	Model       string    `query:"model" maxLength:"1024"`
}

type metricsOutput struct {
	Body metricsBody
}

type metricsBody struct {
	Window   windowBody    `json:"window"`
	Interval string        `json:"interval" enum:"5m,hour,day"`
	GroupBy  string        `json:"group_by" enum:"none,model,agent,release,environment,service,provider"`
	Groups   []metricGroup `json:"groups" doc:"Largest first, at most 100."`
	Other    *metricGroup  `json:"other,omitempty" doc:"The spans of all smaller groups together, if there are more than 100 groups."`
}

type windowBody struct {
	From httpapi.Time `json:"from"`
	To   httpapi.Time `json:"to"`
}

type metricGroup struct {
	Key            string          `json:"key" doc:"Empty for spans that name none."`
	Spans          uint64          `json:"spans"`
	Traces         uint64          `json:"traces" doc:"Traces with a span in the group; exact for some thousands, and within a percent above."`
	Errors         uint64          `json:"errors"`
	ErrorRate      proportionBody  `json:"error_rate"`
	InputTokens    uint64          `json:"input_tokens"`
	OutputTokens   uint64          `json:"output_tokens"`
	CostUSD        *float64        `json:"cost_usd" nullable:"true" doc:"The sum of the known costs; null if none is known."`
	CostKnownSpans uint64          `json:"cost_known_spans" doc:"How many spans the cost is of."`
	LatencyMS      percentilesBody `json:"latency_ms" doc:"Of spans that have ended."`
	FirstTokenMS   percentilesBody `json:"first_token_ms" doc:"From the start to the first token, of spans that tell."`
	Series         []metricPoint   `json:"series" doc:"By time; intervals without spans are left out."`
}

type proportionBody struct {
	Value  float64 `json:"value"`
	N      uint64  `json:"n"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Method string  `json:"method" enum:"wilson_95"`
}

type percentilesBody struct {
	P50 *float64 `json:"p50" nullable:"true" doc:"Null below 2 values."`
	P90 *float64 `json:"p90" nullable:"true" doc:"Null below 10 values."`
	P95 *float64 `json:"p95" nullable:"true" doc:"Null below 20 values."`
	P99 *float64 `json:"p99" nullable:"true" doc:"Null below 20 values."`
	N   uint64   `json:"n"`
}

type metricPoint struct {
	At           httpapi.Time `json:"at" doc:"Where the interval begins."`
	Spans        uint64       `json:"spans"`
	Errors       uint64       `json:"errors"`
	InputTokens  uint64       `json:"input_tokens"`
	OutputTokens uint64       `json:"output_tokens"`
	CostUSD      *float64     `json:"cost_usd" nullable:"true"`
	P50MS        *float64     `json:"p50_ms" nullable:"true"`
	P95MS        *float64     `json:"p95_ms" nullable:"true"`
}

// intervals are the lengths by name; auto is zero.
var intervals = map[string]time.Duration{"auto": 0, "5m": 5 * time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

func (s *Service) getMetrics(ctx context.Context, in *metricsInput) (*metricsOutput, error) {
	m, err := s.Metrics(ctx, principal.From(ctx).Org, MetricsQuery{
		From: in.StartAfter, To: in.StartBefore, GroupBy: GroupBy(in.GroupBy), Interval: intervals[in.Interval],
		Environment: in.Environment, AgentName: in.AgentName, ReleaseID: in.ReleaseID, Model: in.Model,
	})
	if err != nil {
		return nil, err
	}
	out := metricsBody{Window: windowBody{From: httpapi.Time(m.From), To: httpapi.Time(m.To)}, GroupBy: in.GroupBy, Groups: make([]metricGroup, len(m.Groups))}
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
		out.Other = &other
	}
	return &metricsOutput{Body: out}, nil
}

func toMetricGroup(g MetricGroup) metricGroup {
	rate := wilson(g.Errors, g.Spans)
	out := metricGroup{
		Key: g.Key, Spans: g.Spans, Traces: g.Traces, Errors: g.Errors, InputTokens: g.InputTokens, OutputTokens: g.OutputTokens,
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
		P50: when(enoughForP50, p.P50), P90: when(enoughForP90, p.P90), P95: when(enoughForP95, p.P95), P99: when(enoughForP95, p.P99), N: p.N,
	}
}

// rounded leaves six digits: more would claim what no count of spans tells.
func rounded(share float64) float64 { return math.Round(share*1e6) / 1e6 }
