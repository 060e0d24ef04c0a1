package trace

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

func (s *Service) registerReads(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listTraces", Method: http.MethodGet, Path: "/api/traces", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "List traces",
		Description: "Returns traces by their start, newest first, as soon as their first span is stored. Inputs and outputs are previews. " +
			"Filters look at the spans of the first day of a trace. The search for rare matches stops after some seconds: " +
			"the page is then short, possibly empty, and `next_cursor` continues the search.",
	}, s.getTraces)
	httpapi.Register(e, httpapi.Op{
		ID: "getTrace", Method: http.MethodGet, Path: "/api/traces/{id}", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get a trace",
		Description: "Returns the trace with at most 1,000 spans, fewer if their payloads are large. If `spans_truncated` is true, list the spans to get the others. " +
			"The first read assigns the trace its `trace_ref`.",
	}, s.getTrace)
	httpapi.Register(e, httpapi.Op{
		ID: "listTraceSpans", Method: http.MethodGet, Path: "/api/traces/{id}/spans", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "List the spans of a trace",
		Description: "Returns spans in the order of their start. A page with large payloads may be shorter than its limit.",
	}, s.getSpans)
}

type listTracesInput struct {
	httpapi.CursorPage
	FilterQuery
}

type listTracesBody struct {
	Traces        []TraceBody                `json:"traces" doc:"Traces of this page."`
	DeferredSince httpapi.Null[httpapi.Time] `json:"deferred_since" volatile:"true" doc:"Time since which received telemetry waits for ClickHouse: it is stored safely, and missing here until ClickHouse takes it. Null if nothing waits."`
	httpapi.CursorPaging
}

type traceDetailBody struct {
	TraceBody
	Spans          []spanBody      `json:"spans" volatile:"true" doc:"Spans in the order of their start."`
	SpansTruncated bool            `json:"spans_truncated" volatile:"true" doc:"Whether the trace has more spans than these."`
	Events         []spanEventBody `json:"events" volatile:"true" doc:"Log records that name the trace and none of its spans; empty if spans_truncated is true."`
	Feedback       []feedbackBody  `json:"feedback" volatile:"true" doc:"The newest 100 entries, newest first."`
}

type listSpansInput struct {
	TracePath
	httpapi.CursorPage
}

type listSpansBody struct {
	Spans []spanBody `json:"spans" doc:"Spans of this page."`
	httpapi.CursorPaging
}

func (s *Service) getTraces(ctx context.Context, in *listTracesInput) (*httpapi.Body[listTracesBody], error) {
	org, f := principal.From(ctx).Org, in.filter()
	after, err := fromCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	var found Listed
	var total int64
	err = spandb.Together(ctx, func(ctx context.Context) (err error) {
		found, err = s.List(ctx, org, f, Page{Limit: in.Limit, Offset: in.Offset, After: after})
		return err
	}, func(ctx context.Context) (err error) {
		if in.IncludeTotal {
			total, err = s.Count(ctx, org, f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var out httpapi.Body[listTracesBody]
	out.Body.Traces = toTraceBodies(found.Traces)
	if since := s.DeferredSince(); !since.IsZero() {
		out.Body.DeferredSince = httpapi.NullTime(&since)
	}
	next := ""
	if found.More {
		next = toCursor(found.Next)
	}
	out.Body.CursorPaging = in.Paging(next, total)
	return &out, nil
}

func (s *Service) getTrace(ctx context.Context, in *TracePath) (*httpapi.Body[traceDetailBody], error) {
	org := principal.From(ctx).Org
	id, err := s.resolve(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	d, err := s.Read(ctx, org, id)
	if err != nil {
		return nil, err
	}
	by := make([]principal.Actor, len(d.Feedback))
	for i, f := range d.Feedback {
		by[i] = f.CreatedBy
	}
	actors, err := s.tenancy.Actors(ctx, org, by...)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toTraceDetailBody(d, actors)), nil
}

func (s *Service) getSpans(ctx context.Context, in *listSpansInput) (*httpapi.Body[listSpansBody], error) {
	org := principal.From(ctx).Org
	after, err := spanCursor.Place(in.Cursor)
	if err != nil {
		return nil, err
	}
	id, err := s.resolve(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	found, err := s.Spans(ctx, org, id, SpanPage{Limit: in.Limit, Offset: in.Offset, After: spandb.SpanPosition{Start: after.At, Span: after.Tie}})
	if err != nil {
		return nil, err
	}
	var total int64
	if in.IncludeTotal {
		if total, err = s.CountSpans(ctx, org, id); err != nil {
			return nil, err
		}
	}
	next := ""
	if found.More {
		next = spanCursor.Text(httpapi.Place[span.ID]{At: found.Next.Start, Tie: found.Next.Span})
	}
	var out httpapi.Body[listSpansBody]
	out.Body.Spans, out.Body.CursorPaging = toSpanBodies(found.Spans), in.Paging(next, total)
	return &out, nil
}

func toTraceBodies(traces []Trace) []TraceBody {
	out := make([]TraceBody, len(traces))
	for i, t := range traces {
		out[i] = toTraceBody(t)
	}
	return out
}

// toTraceDetailBody shows a trace; by is who gave each piece of its feedback.
func toTraceDetailBody(d Detail, by []httpapi.Actor) traceDetailBody {
	b := traceDetailBody{
		TraceBody: toTraceBody(d.Trace), Spans: toSpanBodies(d.Spans), SpansTruncated: d.Truncated,
		Events: toEventBodies(d.Events), Feedback: make([]feedbackBody, len(d.Feedback)),
	}
	for i, f := range d.Feedback {
		b.Feedback[i] = toFeedbackBody(f, by[i])
	}
	return b
}

// The cursors of traces and of spans: by their start, and those of one moment by
// their ids.
const (
	traceCursor = httpapi.Cursor[span.TraceID]("traces")
	spanCursor  = httpapi.Cursor[span.ID]("spans")
)

func toCursor(p spandb.Position) string {
	return traceCursor.Text(httpapi.Place[span.TraceID]{At: p.Start, Tie: p.ID})
}

// fromCursor is the zero position if there is no cursor.
func fromCursor(text string) (spandb.Position, error) {
	p, err := traceCursor.Place(text)
	return spandb.Position{Start: p.At, ID: p.Tie}, err
}
