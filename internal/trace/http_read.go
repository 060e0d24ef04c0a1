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
)

func (s *Service) registerReads(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listTraces", Method: http.MethodGet, Path: "/api/traces", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "List traces",
		Description: "Newest first by the start of the trace. Traces are listed as soon as their first span is stored. Inputs and outputs are previews. " +
			"Filters on what spans say find a trace by spans of its first day. Looking for rare matches ends after a while: " +
			"then the page is short, perhaps empty, and `next_cursor` goes on.",
	}, s.getTraces)
	httpapi.Register(e, httpapi.Op{
		ID: "getTrace", Method: http.MethodGet, Path: "/api/traces/{id}", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get a trace with its spans",
		Description: "At most 1,000 spans, and fewer if their payloads are large: then `spans_truncated` is true and the list of spans has the others. " +
			"Reading a trace gives it a number, `trace_ref`.",
	}, s.getTrace)
	httpapi.Register(e, httpapi.Op{
		ID: "listSpans", Method: http.MethodGet, Path: "/api/traces/{id}/spans", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "List the spans of a trace",
		Description: "In the order of their start. A page whose payloads are large ends before its limit.",
	}, s.getSpans)
	s.registerMetrics(e)
	s.registerExport(e)
	s.registerConversations(e)
}

// FilterQuery are the filters of lists of traces.
type FilterQuery struct {
	Status         string    `query:"status" enum:"running,completed,failed"`
	Search         string    `query:"search" maxLength:"200" doc:"Words of messages, answers and attributes, all of them in one span, or a part of a span's name; in any case."`
	ConversationID string    `query:"conversationId" maxLength:"1024"`
	UserID         string    `query:"userId" maxLength:"1024" doc:"The user of the application."`
	Environment    string    `query:"environment" maxLength:"1024"`
	AgentName      string    `query:"agentName" maxLength:"1024"`
	ReleaseID      string    `query:"releaseId" maxLength:"1024"`
	MinDurationMS  int64     `query:"minDurationMs" minimum:"0" maximum:"315360000000" doc:"Traces that have ended and took at least as long."`
	HasError       string    `query:"hasError" enum:"true,false" doc:"Whether a span, or the trace itself, ended with an error."`
	Tag            string    `query:"tag" maxLength:"1024"`
	StartAfter     time.Time `query:"startAfter"`
	StartBefore    time.Time `query:"startBefore"`
}

func (f FilterQuery) filter() Filter {
	out := Filter{
		Status: Status(f.Status), Search: strings.TrimSpace(f.Search), ConversationID: f.ConversationID, UserID: f.UserID, Environment: f.Environment,
		AgentName: f.AgentName, ReleaseID: f.ReleaseID, Tag: f.Tag, MinDuration: time.Duration(f.MinDurationMS) * time.Millisecond,
		StartAfter: f.StartAfter, StartBefore: f.StartBefore,
	}
	if f.HasError != "" {
		has := f.HasError == "true"
		out.HasError = &has
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
	Traces []TraceBody `json:"traces"`
	httpapi.CursorPaging
}

type traceDetailOutput struct {
	Body traceDetailBody
}

type traceDetailBody struct {
	TraceBody
	Spans          []spanBody     `json:"spans" doc:"In the order of their start."`
	SpansTruncated bool           `json:"spans_truncated" doc:"Whether the trace has more spans than are shown."`
	Events         httpapi.JSON   `json:"events,omitzero" doc:"Log records that name the trace and none of its spans."`
	Feedback       []feedbackBody `json:"feedback" doc:"The newest hundred, newest first."`
}

type listSpansInput struct {
	TracePath
	httpapi.CursorPage
}

type listSpansOutput struct {
	Body listSpansBody
}

type listSpansBody struct {
	Spans []spanBody `json:"spans"`
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
	err = together(ctx, func(ctx context.Context) (err error) {
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
	id, err := s.named(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	d, err := s.Read(ctx, org, id)
	if err != nil {
		return nil, err
	}
	return &traceDetailOutput{Body: toTraceDetailBody(d)}, nil
}

func (s *Service) getSpans(ctx context.Context, in *listSpansInput) (*listSpansOutput, error) {
	org := principal.From(ctx).Org
	after, err := fromSpanCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	id, err := s.named(ctx, org, in.ID)
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

func toTraceDetailBody(d Detail) traceDetailBody {
	b := traceDetailBody{
		TraceBody: toTraceBody(d.Trace), Spans: toSpanBodies(d.Spans), SpansTruncated: d.Truncated,
		Events: httpapi.JSON(d.Events), Feedback: make([]feedbackBody, len(d.Feedback)),
	}
	for i, f := range d.Feedback {
		b.Feedback[i] = toFeedbackBody(f)
	}
	return b
}

// Cursors name a position: what list it is of, a start and an id.
const (
	cursorOfTraces = "t1"
	cursorOfSpans  = "s1"
)

func toCursor(p position) string { return encodeCursor(cursorOfTraces, p.start, p.id[:]) }

func toSpanCursor(p spanPosition) string { return encodeCursor(cursorOfSpans, p.start, p.span[:]) }

// fromCursor is the zero position if there is no cursor.
func fromCursor(text string) (p position, err error) {
	p.start, err = decodeCursor(cursorOfTraces, text, p.id[:])
	return p, err
}

func fromSpanCursor(text string) (p spanPosition, err error) {
	p.start, err = decodeCursor(cursorOfSpans, text, p.span[:])
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
