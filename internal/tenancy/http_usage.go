package tenancy

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

type usageInput struct {
	KeyPath
	Days int `query:"days" minimum:"1" maximum:"90" default:"7" doc:"Number of days to cover, including today."`
}

type usageBody struct {
	APIKeyID      int64               `json:"api_key_id" doc:"Id of the key."`
	Window        usageWindow         `json:"window" doc:"The time that the figures cover."`
	TotalRequests int64               `json:"total_requests" doc:"Number of requests."`
	ErrorRate     *float64            `json:"error_rate" doc:"Share of requests with a status of 400 or above, from 0 to 1; null if there were no requests."`
	AvgLatencyMS  *float64            `json:"avg_latency_ms" doc:"Average latency in milliseconds; null if there were no requests."`
	P50LatencyMS  *float64            `json:"p50_latency_ms" doc:"Median latency in milliseconds; null if there were no requests."`
	P95LatencyMS  *float64            `json:"p95_latency_ms" doc:"95th percentile of the latency in milliseconds; null if there were no requests."`
	RateLimited   int64               `json:"rate_limited" doc:"Number of requests that exceeded the rate limit."`
	ByDay         []usageDayBody      `json:"by_day" doc:"The days with requests, oldest first."`
	ByEndpoint    []usageEndpointBody `json:"by_endpoint" doc:"The operations with requests, busiest first."`
	CurrentWindow currentWindowBody   `json:"current_window" doc:"Where the key stands in its rate limit now."`
}

type usageWindow struct {
	From httpapi.Time `json:"from" doc:"Beginning of the first day, in UTC."`
	To   httpapi.Time `json:"to" doc:"Time of the request."`
}

type usageDayBody struct {
	Date     string `json:"date" format:"date" doc:"The day, in UTC."`
	Requests int64  `json:"requests" doc:"Number of requests."`
	Errors   int64  `json:"errors" doc:"Number of requests with a status of 400 or above."`
}

type usageEndpointBody struct {
	Operation    *string `json:"operation" doc:"Id of the operation in the OpenAPI document; null for requests that matched none."`
	Method       *string `json:"method" doc:"HTTP method; null if this release does not have the operation."`
	Route        *string `json:"route" doc:"Path with its parameters in braces; null if this release does not have the operation."`
	Requests     int64   `json:"requests" doc:"Number of requests."`
	Errors       int64   `json:"errors" doc:"Number of requests with a status of 400 or above."`
	P50LatencyMS float64 `json:"p50_latency_ms" doc:"Median latency in milliseconds."`
	P95LatencyMS float64 `json:"p95_latency_ms" doc:"95th percentile of the latency in milliseconds."`
}

type currentWindowBody struct {
	Limit     int          `json:"limit" doc:"Requests that the key may make in an hour."`
	Remaining int          `json:"remaining" doc:"Requests that the key may still make now."`
	ResetsAt  httpapi.Time `json:"resets_at" doc:"When the whole limit is available again."`
}

// noOperation is what requests without a route are metered as.
const noOperation = "none"

func (s *Service) getUsage(ctx context.Context, in *usageInput) (*httpapi.Body[usageBody], error) {
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
		APIKeyID: k.ID, Window: usageWindow{From: httpapi.Time(u.From), To: httpapi.Time(u.To)},
		TotalRequests: u.Requests, RateLimited: u.RateLimited, ByDay: make([]usageDayBody, len(u.ByDay)), ByEndpoint: make([]usageEndpointBody, len(u.ByOperation)),
		CurrentWindow: currentWindowBody{Limit: q.Limit, Remaining: q.Remaining, ResetsAt: httpapi.Time(s.now().Add(q.ResetAfter))},
	}
	if u.Requests > 0 {
		rate := float64(u.Errors) / float64(u.Requests)
		b.ErrorRate, b.AvgLatencyMS, b.P50LatencyMS, b.P95LatencyMS = &rate, &u.Average, &u.P50, &u.P95
	}
	for i, d := range u.ByDay {
		b.ByDay[i] = usageDayBody{Date: d.Date.Format("2006-01-02"), Requests: d.Requests, Errors: d.Errors}
	}
	for i, o := range u.ByOperation {
		if o.Operation == noOperation {
			o.Operation = ""
		}
		route := s.routes[o.Operation]
		b.ByEndpoint[i] = usageEndpointBody{
			Operation: httpapi.OrNull(o.Operation), Method: httpapi.OrNull(route.Method), Route: httpapi.OrNull(route.Path),
			Requests: o.Requests, Errors: o.Errors, P50LatencyMS: o.P50, P95LatencyMS: o.P95,
		}
	}
	return httpapi.NewBody(b), nil
}
