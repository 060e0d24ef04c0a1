package trace

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/trace/internal/spandb"
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
	s.registerMetrics(e)
	s.registerExport(e)
	s.registerConversations(e)
}

// FilterQuery are the filters of lists of traces.
type FilterQuery struct {
	Status         []string                `query:"status,explode" enum:"running,completed,failed" doc:"Only traces with this status; repeat the parameter to allow several."`
	Search         string                  `query:"search" maxLength:"200" doc:"Only traces with a span that contains all of these words in its messages, outputs or attributes, or this text in its name; case-insensitive."`
	ConversationID string                  `query:"conversationId" maxLength:"1024" doc:"Only traces of this conversation."`
	UserID         string                  `query:"userId" maxLength:"1024" doc:"Only traces of this end user."`
	Environment    string                  `query:"environment" maxLength:"1024" doc:"Only traces of this environment."`
	AgentName      string                  `query:"agentName" maxLength:"1024" doc:"Only traces of this agent."`
	ReleaseID      string                  `query:"releaseId" maxLength:"1024" doc:"Only traces of this release."`
	MinDurationMS  httpapi.Filter[float64] `query:"minDurationMs" minimum:"0" maximum:"315360000000" doc:"Only traces that have ended and took at least this many milliseconds."`
	HasError       httpapi.Filter[bool]    `query:"hasError" doc:"Whether a span, or the trace itself, ended with an error."`
	Tag            string                  `query:"tag" maxLength:"1024" doc:"Only traces with this label."`
	StartAfter     time.Time               `query:"startAfter" doc:"Only traces that start after this time."`
	StartBefore    time.Time               `query:"startBefore" doc:"Only traces that start before this time."`
}

func (f FilterQuery) filter() Filter {
	out := Filter{
		Search: strings.TrimSpace(f.Search), ConversationID: f.ConversationID, UserID: f.UserID, Environment: f.Environment,
		AgentName: f.AgentName, ReleaseID: f.ReleaseID, Tag: f.Tag, HasError: f.HasError.OrNil(),
		StartAfter: f.StartAfter, StartBefore: f.StartBefore,
	}
	for _, status := range f.Status {
		out.Status = append(out.Status, Status(status))
	}
	if f.MinDurationMS.Sent {
		least := time.Duration(f.MinDurationMS.Value * float64(time.Millisecond))
		out.MinDuration = &least
	}
	return out
}

type listTracesInput struct {
	httpapi.CursorPage
	FilterQuery
}

type listTracesOutput struct {
	Body listTracesBody
}

type listTracesBody struct {
	Traces []TraceBody `json:"traces" doc:"Traces of this page."`
	httpapi.CursorPaging
}

type traceDetailOutput struct {
	Body traceDetailBody
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

type listSpansOutput struct {
	Body listSpansBody
}

type listSpansBody struct {
	Spans []spanBody `json:"spans" doc:"Spans of this page."`
	httpapi.CursorPaging
}

func (s *Service) getTraces(ctx context.Context, in *listTracesInput) (*listTracesOutput, error) {
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
	var out listTracesOutput
	out.Body.Traces = toTraceBodies(found.Traces)
	out.Body.CursorPaging = httpapi.CursorPaging{Limit: in.Limit, Offset: in.Offset, HasMore: found.More}
	if found.More {
		out.Body.NextCursor = httpapi.OrNull(toCursor(found.Next))
	}
	if in.IncludeTotal {
		out.Body.Total = &total
	}
	return &out, nil
}

func (s *Service) getTrace(ctx context.Context, in *TracePath) (*traceDetailOutput, error) {
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
	return &traceDetailOutput{Body: toTraceDetailBody(d, actors)}, nil
}

func (s *Service) getSpans(ctx context.Context, in *listSpansInput) (*listSpansOutput, error) {
	org := principal.From(ctx).Org
	after, err := fromSpanCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	id, err := s.resolve(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	found, err := s.Spans(ctx, org, id, SpanPage{Limit: in.Limit, Offset: in.Offset, After: after})
	if err != nil {
		return nil, err
	}
	var out listSpansOutput
	out.Body.Spans = toSpanBodies(found.Spans)
	out.Body.CursorPaging = httpapi.CursorPaging{Limit: in.Limit, Offset: in.Offset, HasMore: found.More}
	if found.More {
		out.Body.NextCursor = httpapi.OrNull(toSpanCursor(found.Next))
	}
	if in.IncludeTotal {
		total, err := s.CountSpans(ctx, org, id)
		if err != nil {
			return nil, err
		}
		out.Body.Total = &total
	}
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

// Cursors name a position: what list it is of, a start and an id.
const (
	cursorOfTraces        = "t1"
	cursorOfSpans         = "s1"
	cursorOfConversations = "v1"
)

func toCursor(p spandb.Position) string { return encodeCursor(cursorOfTraces, p.Start, p.ID[:]) }

func toSpanCursor(p spandb.SpanPosition) string {
	return encodeCursor(cursorOfSpans, p.Start, p.Span[:])
}

// fromCursor is the zero position if there is no cursor.
func fromCursor(text string) (p spandb.Position, err error) {
	p.Start, err = decodeCursor(cursorOfTraces, text, p.ID[:])
	return p, err
}

func fromSpanCursor(text string) (p spandb.SpanPosition, err error) {
	p.Start, err = decodeCursor(cursorOfSpans, text, p.Span[:])
	return p, err
}

func encodeCursor(list string, start int64, id []byte) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + ":" + strconv.FormatInt(start, 10) + ":" + hex.EncodeToString(id)))
}

func decodeCursor(list, text string, id []byte) (start int64, err error) {
	if text == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		parts := strings.Split(string(raw), ":")
		if len(parts) == 3 && parts[0] == list && len(parts[2]) == 2*len(id) {
			start, err = strconv.ParseInt(parts[1], 10, 64)
			_, bad := hex.Decode(id, []byte(parts[2]))
			if err == nil && bad == nil && start > 0 && encodeCursor(list, start, id) == text {
				return start, nil
			}
		}
	}
	return 0, fault.Invalid("query", "cursor", "format", "is not a cursor that this list returned")
}
