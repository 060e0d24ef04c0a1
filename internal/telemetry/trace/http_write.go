package trace

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

func (s *Service) registerWrites(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "createTrace", Method: http.MethodPost, Path: "/api/traces", Tag: tag, Scope: principal.TracesWrite, Status: 201, RepeatStatus: 200, BodyLimit: httpapi.LargeBodyLimit,
		Summary: "Create a trace",
		Description: "Spans may be part of the request or follow later. Repeating a request with the same id and content returns 200 and changes nothing; other content is 409 `already_exists`. " +
			"A trace that is only referred to so far, or known only from telemetry, is completed. " + startsInThePast + whenDeferred,
	}, s.postTrace)
	httpapi.Register(e, httpapi.Op{
		ID: "updateTrace", Method: http.MethodPatch, Path: "/api/traces/{id}", Tag: tag, Scope: principal.TracesWrite, Status: 200, OptionalBody: true, Repeatable: true,
		Summary: "Update a trace",
		Description: "Changes the fields that are sent; null clears a field. A running trace can become completed or failed, and one that has ended cannot become running again. " +
			"Of two concurrent updates the later one wins. " + whenDeferred,
	}, s.patchTrace)
	httpapi.Register(e, httpapi.Op{
		ID: "addTraceSpans", Method: http.MethodPost, Path: "/api/traces/{id}/spans", Tag: tag, Scope: principal.TracesWrite, Status: 201, BodyLimit: httpapi.LargeBodyLimit, Repeatable: true,
		Summary: "Add spans",
		Description: "Takes one span, or up to 500 as `{\"spans\": [...]}`. A trace that does not exist yet is created. A span that is sent again replaces its earlier version, " +
			"except that an open span never replaces an ended one. Invalid spans are listed in `rejected` and do not affect the others; if no span is valid, the response is 400. " +
			startsInThePast + whenDeferred,
	}, s.postSpans)
}

const (
	startsInThePast = "Times in the past are accepted back to 2000-01-01, so that history can be imported; retention then counts from the import. "
	whenDeferred    = "With `X-Ingest: deferred` the data is safe and becomes readable when ClickHouse is back."
)

// TracePath is the path of a trace. It is exported, like every struct that
// inputs embed, because the framework reads exported fields only.
//
//nolint:revive // spans, feedback and conversations have paths too; Path alone would not say whose it is
type TracePath struct {
	ID string `path:"id" maxLength:"32" doc:"Id of the trace (32 hexadecimal digits), or its trace_ref."`
}

// createTraceBody bounds the texts of a trace. Telemetry may have longer ones: a
// span is not rejected for its resource.
type createTraceBody struct {
	TraceID        string         `json:"traceId,omitempty" maxLength:"32" doc:"W3C trace id, 32 hexadecimal digits; generated if absent."`
	OtelTraceID    string         `json:"otelTraceId,omitempty" maxLength:"32" doc:"Another name for traceId."`
	Name           string         `json:"name" minLength:"1" maxLength:"1024" example:"Answer a question" doc:"Name of the trace."`
	Status         statusText     `json:"status,omitempty" doc:"Status; by default completed if there is an endTime, otherwise running."`
	StartTime      time.Time      `json:"startTime,omitzero" doc:"Start of the trace; by default the current time. A time more than an hour ahead is replaced by the current time."`
	EndTime        time.Time      `json:"endTime,omitzero" doc:"End of the trace; by default the current time if the trace is not running."`
	ConversationID string         `json:"conversationId,omitempty" maxLength:"256" doc:"Conversation that the trace is a turn of."`
	UserID         string         `json:"userId,omitempty" maxLength:"256" doc:"End user of the application, as the application names them."`
	Environment    string         `json:"environment,omitempty" maxLength:"64" example:"production" doc:"Deployment environment, for example development, test, staging or production."`
	ServiceName    string         `json:"serviceName,omitempty" maxLength:"256" doc:"Name of the service."`
	AgentName      string         `json:"agentName,omitempty" maxLength:"256" doc:"Name of the agent."`
	ReleaseID      string         `json:"releaseId,omitempty" maxLength:"64" doc:"Release of the application."`
	Input          httpapi.JSON   `json:"input,omitzero" doc:"Input of the trace; any JSON value."`
	Output         httpapi.JSON   `json:"output,omitzero" doc:"Output of the trace; any JSON value."`
	Tags           httpapi.Tags   `json:"tags,omitempty" maxItems:"64" doc:"Labels to filter by."`
	Metadata       httpapi.Object `json:"metadata,omitempty" doc:"Free-form object; names are kept as sent."`
	Spans          []spanValue    `json:"spans,omitempty" maxItems:"500" doc:"Spans of the trace; all of them must be valid."`
}

type updateTraceInput struct {
	TracePath
	Body updateTraceBody
}

type updateTraceBody struct {
	Name           httpapi.Set[string]           `json:"name,omitzero" minLength:"1" maxLength:"1024" doc:"Name of the trace."`
	Status         httpapi.Set[statusText]       `json:"status,omitzero" doc:"Status."`
	EndTime        httpapi.Set[httpapi.Time]     `json:"endTime,omitzero" doc:"End of the trace; by default the current time when the status ends the trace."`
	ConversationID httpapi.Patch[string]         `json:"conversationId,omitzero" maxLength:"256" doc:"Conversation that the trace is a turn of."`
	UserID         httpapi.Patch[string]         `json:"userId,omitzero" maxLength:"256" doc:"End user of the application."`
	Environment    httpapi.Patch[string]         `json:"environment,omitzero" maxLength:"64" doc:"Deployment environment."`
	AgentName      httpapi.Patch[string]         `json:"agentName,omitzero" maxLength:"256" doc:"Name of the agent."`
	ReleaseID      httpapi.Patch[string]         `json:"releaseId,omitzero" maxLength:"64" doc:"Release of the application."`
	Input          httpapi.Patch[httpapi.JSON]   `json:"input,omitzero" doc:"Input of the trace; any JSON value."`
	Output         httpapi.Patch[httpapi.JSON]   `json:"output,omitzero" doc:"Output of the trace; any JSON value."`
	Tags           httpapi.Patch[httpapi.Tags]   `json:"tags,omitzero" maxItems:"64" doc:"Labels, which replace those that the request before set."`
	Metadata       httpapi.Patch[httpapi.Object] `json:"metadata,omitzero" doc:"Free-form object, which replaces the earlier one."`
}

type addSpansInput struct {
	TracePath
	Body addSpansBody
}

type createTraceOutput struct {
	Status   int
	Ingest   string `header:"X-Ingest" enum:"deferred" doc:"deferred if the trace is stored safely but not readable yet; otherwise absent."`
	Location string `header:"Location" doc:"Path of the trace."`
	Body     writtenTraceBody
}

type updateTraceOutput struct {
	Ingest string `header:"X-Ingest" enum:"deferred" doc:"deferred if the change is stored safely but not readable yet; otherwise absent."`
	Body   writtenTraceBody
}

type writtenTraceBody struct {
	TraceBody
	DeferredField
}

// DeferredField says in the body what the header X-Ingest says.
type DeferredField struct {
	Deferred bool `json:"deferred" volatile:"true" doc:"Whether what was sent is stored safely but not readable yet, because ClickHouse does not take it; it becomes readable without being sent again."`
}

type addSpansOutput struct {
	Ingest   string `header:"X-Ingest" enum:"deferred" doc:"deferred if the spans are stored safely but not readable yet; otherwise absent."`
	Location string `header:"Location" doc:"Path of the spans of the trace."`
	Body     addedSpansBody
}

type addedSpansBody struct {
	Spans    []addedSpanBody    `json:"spans" doc:"Spans that were accepted."`
	Accepted int                `json:"accepted" doc:"Number of spans that were accepted."`
	Rejected []rejectedSpanBody `json:"rejected" doc:"Spans that were rejected."`
	DeferredField
}

type addedSpanBody struct {
	Index     int          `json:"index" doc:"Position in the request."`
	ID        string       `json:"id" doc:"Id of the span, as sent or generated."`
	SpanID    string       `json:"span_id" doc:"Same as id, under its OpenTelemetry name."`
	Name      string       `json:"name" doc:"Name, as stored."`
	StartTime httpapi.Time `json:"start_time" doc:"Start of the span, as stored."`
}

type rejectedSpanBody struct {
	Index  int           `json:"index" doc:"Position in the request."`
	Errors []fault.Field `json:"errors" doc:"Problems of the span; paths are relative to it."`
}

func (s *Service) postTrace(ctx context.Context, in *httpapi.Body[createTraceBody]) (*createTraceOutput, error) {
	org := principal.From(ctx).Org
	n, err := s.fromCreateBody(org, request.From(ctx).IdempotencyKey, in.Body)
	if err != nil {
		return nil, err
	}
	c, err := s.create(ctx, org, n)
	if err != nil {
		return nil, err
	}
	if !c.deferred && !c.whole {
		if c.trace, err = s.Find(ctx, org, n.TraceID); err != nil {
			return nil, err
		}
	}
	out := &createTraceOutput{Status: http.StatusCreated, Ingest: toIngest(c.deferred), Location: tracePath(n.TraceID), Body: writtenTraceBody{toTraceBody(c.trace), DeferredField{c.deferred}}}
	switch {
	case c.repeated && n.fromKey:
		request.From(ctx).Header.Set("Idempotent-Replayed", "true")
	case c.repeated:
		out.Status = http.StatusOK
	}
	return out, nil
}

func (s *Service) patchTrace(ctx context.Context, in *updateTraceInput) (*updateTraceOutput, error) {
	org := principal.From(ctx).Org
	id, err := s.resolve(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	t, deferred, err := s.update(ctx, org, id, in.Body.apply)
	if err != nil {
		return nil, err
	}
	return &updateTraceOutput{Ingest: toIngest(deferred), Body: writtenTraceBody{toTraceBody(t), DeferredField{deferred}}}, nil
}

func (s *Service) postSpans(ctx context.Context, in *addSpansInput) (*addSpansOutput, error) {
	org := principal.From(ctx).Org
	id, err := s.resolve(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	added, err := s.AddSpans(ctx, org, id, in.Body.spans)
	if err != nil {
		return nil, err
	}
	if len(added.Spans) == 0 {
		return nil, invalidSpans(added.Rejected, in.Body.list)
	}
	return toAddSpansOutput(id, added), nil
}

// invalidSpans refuses a request in which no span is valid.
func invalidSpans(rejected []Rejected, list bool) error {
	var fields []fault.Field
	for _, r := range rejected {
		for _, f := range r.Fields {
			if list {
				f.Path = "/spans/" + strconv.Itoa(r.Index) + f.Path
			}
			fields = append(fields, f)
		}
	}
	return fault.New(fault.Validation, "invalid_request", "The request is not valid.").WithFields(fields...)
}

// fromCreateBody checks what the schema cannot and settles the trace's id.
func (s *Service) fromCreateBody(org principal.OrgID, key string, b createTraceBody) (newTrace, error) {
	digest, err := b.digest()
	if err != nil {
		return newTrace{}, err
	}
	n := newTrace{digest: digest, TraceRow: spandb.TraceRow{
		Name: b.Name, Status: Status(b.Status), Start: b.StartTime, End: b.EndTime,
		ConversationID: b.ConversationID, UserID: b.UserID, Environment: b.Environment, ServiceName: b.ServiceName,
		AgentName: b.AgentName, ReleaseID: b.ReleaseID, Input: span.FreeForm(jsontext.Value(b.Input)), Output: span.FreeForm(jsontext.Value(b.Output)),
		Tags: b.Tags, Metadata: b.Metadata.Text(),
	}}
	var c span.FieldCheck
	checkTimes(&c, &n.TraceRow)
	switch text := b.TraceID + b.OtelTraceID; {
	case b.TraceID != "" && b.OtelTraceID != "" && b.TraceID != b.OtelTraceID:
		c.Add("/otelTraceId", "mutually_exclusive", "differs from traceId")
	case text == "":
		n.TraceID, n.fresh, n.fromKey = newID(org, key), key == "", key != ""
	default:
		var ok bool
		if n.TraceID, ok = span.ParseTraceID(text[:min(len(text), 32)]); !ok {
			c.Add("/traceId", "pattern", "must be 32 hexadecimal digits that are not all zero")
		}
	}
	raw := make([]jsontext.Value, len(b.Spans))
	for i, v := range b.Spans {
		raw[i] = jsontext.Value(v)
	}
	var rejected []Rejected
	if n.spans, rejected = readSpans(n.TraceID, raw); len(rejected)+len(c.Fields) > 0 {
		f, _ := fault.From(invalidSpans(rejected, true))
		return newTrace{}, f.WithFields(c.Fields...)
	}
	return n, nil
}

// checkTimes settles the status and holds the times against it.
func checkTimes(c *span.FieldCheck, o *spandb.TraceRow) {
	switch {
	case o.Status == "" && o.End.IsZero():
		o.Status = StatusRunning
	case o.Status == "":
		o.Status = StatusCompleted
	case o.Status == StatusRunning && !o.End.IsZero():
		c.Add("/endTime", "mutually_exclusive", "cannot be combined with the status running")
	}
	if !o.Start.IsZero() && o.Start.UnixMicro() < span.Earliest {
		c.Add("/startTime", "min", span.TooEarly)
	}
	if !o.Start.IsZero() && !o.End.IsZero() && o.End.Before(o.Start) {
		c.Add("/endTime", "min", "must not be before startTime")
	}
}

// digest names what creates a trace, whatever its id and the order of members.
func (b createTraceBody) digest() (sum [sha256.Size]byte, err error) {
	b.TraceID, b.OtelTraceID = "", ""
	text, err := json.Marshal(b, json.Deterministic(true))
	if err != nil {
		return sum, fmt.Errorf("encode trace: %w", err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return sum, fmt.Errorf("encode trace: %w", err)
	}
	return sha256.Sum256(canonical), nil
}

// apply makes the sent changes.
func (b updateTraceBody) apply(o *spandb.TraceRow) {
	value := func(to *jsontext.Value, f httpapi.Patch[httpapi.JSON]) {
		if f.Sent {
			*to = span.FreeForm(jsontext.Value(f.Value))
		}
	}
	b.Name.Apply(&o.Name)
	if b.Status.Sent {
		o.Status = Status(b.Status.Value)
	}
	b.EndTime.Apply((*httpapi.Time)(&o.End))
	b.ConversationID.Apply(&o.ConversationID)
	b.UserID.Apply(&o.UserID)
	b.Environment.Apply(&o.Environment)
	b.AgentName.Apply(&o.AgentName)
	b.ReleaseID.Apply(&o.ReleaseID)
	value(&o.Input, b.Input)
	value(&o.Output, b.Output)
	b.Tags.Apply((*httpapi.Tags)(&o.Tags))
	if b.Metadata.Sent {
		o.Metadata = b.Metadata.Value.Text()
	}
}

// tracePath is where a trace can be read.
func tracePath(id span.TraceID) string { return "/api/traces/" + id.String() }

// toIngest is the value of the header that marks deferred telemetry.
func toIngest(deferred bool) string {
	if deferred {
		return "deferred"
	}
	return ""
}

func toAddSpansOutput(trace span.TraceID, a Added) *addSpansOutput {
	out := &addSpansOutput{Ingest: toIngest(a.Deferred), Location: tracePath(trace) + "/spans"}
	out.Body = addedSpansBody{Spans: make([]addedSpanBody, len(a.Spans)), Accepted: len(a.Spans), Rejected: make([]rejectedSpanBody, len(a.Rejected)), DeferredField: DeferredField{a.Deferred}}
	for i, s := range a.Spans {
		out.Body.Spans[i] = addedSpanBody{Index: s.Index, ID: s.ID.String(), SpanID: s.ID.String(), Name: s.Name, StartTime: httpapi.Time(time.UnixMicro(s.Start))}
	}
	for i, r := range a.Rejected {
		out.Body.Rejected[i] = rejectedSpanBody{Index: r.Index, Errors: r.Fields}
	}
	return out
}
