package tenancy

import (
	"context"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
)

type usageInput struct {
	KeyPath
	httpapi.Page
	Days int `query:"days" minimum:"1" maximum:"90" default:"7" doc:"How many days, today included."`
}

type usageOutput struct{ Body usageBody }

type usageBody struct {
	KeyID         int64               `json:"key_id"`
	Window        usageWindow         `json:"window"`
	TotalRequests int64               `json:"total_requests"`
	ErrorRate     *float64            `json:"error_rate" nullable:"true" doc:"Share of requests answered with 400 or more; null without requests."`
	AvgLatencyMS  *float64            `json:"avg_latency_ms" nullable:"true"`
	P50LatencyMS  *float64            `json:"p50_latency_ms" nullable:"true"`
	P95LatencyMS  *float64            `json:"p95_latency_ms" nullable:"true"`
	RateLimited   int64               `json:"rate_limited"`
	ByDay         []usageDayBody      `json:"by_day"`
	ByEndpoint    []usageEndpointBody `json:"by_endpoint"`
	CurrentWindow currentWindowBody   `json:"current_window"`
	httpapi.Paging
}

type usageWindow struct {
	From httpapi.Time `json:"from"`
	To   httpapi.Time `json:"to"`
}

type usageDayBody struct {
	Date     string `json:"date" format:"date"`
	Requests int64  `json:"requests"`
	Errors   int64  `json:"errors"`
}

type usageEndpointBody struct {
	Operation    string  `json:"operation"`
	Method       string  `json:"method"`
	Route        string  `json:"route"`
	Requests     int64   `json:"requests"`
	Errors       int64   `json:"errors"`
	P50LatencyMS float64 `json:"p50_latency_ms"`
	P95LatencyMS float64 `json:"p95_latency_ms"`
}

type currentWindowBody struct {
	Limit     int          `json:"limit"`
	Remaining int          `json:"remaining"`
	ResetsAt  httpapi.Time `json:"resets_at"`
}

func (s *Service) getUsage(ctx context.Context, in *usageInput) (*usageOutput, error) {
	org := principal.From(ctx).Org
	k, u, err := s.Usage(ctx, org, in.ID, in.Days)
	if err != nil {
		return nil, err
	}
	q, err := s.Standing(ctx, org, k)
	if err != nil {
		return nil, err
	}
	b := usageBody{
		KeyID: k.ID, Window: usageWindow{From: httpapi.Time(u.From), To: httpapi.Time(u.To)},
		TotalRequests: u.Requests, RateLimited: u.RateLimited, ByDay: make([]usageDayBody, len(u.ByDay)), ByEndpoint: []usageEndpointBody{},
		CurrentWindow: currentWindowBody{Limit: q.Limit, Remaining: q.Remaining, ResetsAt: httpapi.Time(s.now().Add(q.ResetAfter))},
	}
	if u.Requests > 0 {
		rate := float64(u.Errors) / float64(u.Requests)
		b.ErrorRate, b.AvgLatencyMS, b.P50LatencyMS, b.P95LatencyMS = &rate, &u.Average, &u.P50, &u.P95
	}
	for i, d := range u.ByDay {
		b.ByDay[i] = usageDayBody{Date: d.Date.Format("2006-01-02"), Requests: d.Requests, Errors: d.Errors}
	}
	total := int64(len(u.ByOperation))
	page := u.ByOperation[min(in.Offset, len(u.ByOperation)):]
	page = page[:min(in.Limit, len(page))]
	for _, o := range page {
		route := s.routes[o.Operation]
		b.ByEndpoint = append(b.ByEndpoint, usageEndpointBody{
			Operation: o.Operation, Method: route.Method, Route: route.Path, Requests: o.Requests, Errors: o.Errors, P50LatencyMS: o.P50, P95LatencyMS: o.P95,
		})
	}
	b.Paging = in.Page.Paging(len(page), total)
	return &usageOutput{Body: b}, nil
}
