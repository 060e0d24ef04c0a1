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

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/request"
)

func (s *Service) registerWrites(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "createTrace", Method: http.MethodPost, Path: "/api/traces", Tag: tag, Scope: principal.TracesWrite, Status: 201, Again: 200, BodyLimit: httpapi.LargeBodyLimit,
		Summary: "Create a trace",
		Description: "Spans may come with it, or later. The same id with the same content answers 200 and changes nothing; with other content 409 `already_exists`. " +
			"A trace that so far is only named, or known only from telemetry, is filled. " + whenDeferred,
	}, s.postTrace)
	httpapi.Register(e, httpapi.Op{
		ID: "updateTrace", Method: http.MethodPatch, Path: "/api/traces/{id}", Tag: tag, Scope: principal.TracesWrite, Status: 200, OptionalBody: true,
		Summary: "Update a trace",
		Description: "Fields that are absent stay as they are; null clears a field. A running trace can be completed or failed; one that has ended does not run again. " +
			"Of two changes at the same moment the later one stays. " + whenDeferred,
	}, s.patchTrace)
	httpapi.Register(e, httpapi.Op{
		ID: "addSpans", Method: http.MethodPost, Path: "/api/traces/{id}/spans", Tag: tag, Scope: principal.TracesWrite, Status: 201, BodyLimit: httpapi.LargeBodyLimit,
		Summary: "Add one span, or up to 500",
		Description: "The body is one span, or `{\"spans\": [...]}`. Spans of an id that is not known yet make its trace. A span that is sent again replaces its earlier version, " +
			"except that an open one never replaces an ended one. Spans that are not valid are listed in `rejected` and leave the others alone; if none is valid the answer is 400. " + whenDeferred,
	}, s.postSpans)
	s.registerFeedback(e)
	s.registerDelete(e)
	s.registerPromotion(e)
}

const whenDeferred = "`X-Ingest: deferred` says that what was sent is safe and will be readable when ClickHouse is back."

// TracePath is the path of a trace. It is exported, like every struct that
// inputs embed, because the framework reads exported fields only.
//
//nolint:revive // spans, feedback and conversations have paths too; Path alone would not say whose it is
type TracePath struct {
	ID string `path:"id" maxLength:"32" doc:"The trace: its 32 hexadecimal digits, or its number."`
}

type createTraceInput struct {
	Body createTraceBody
}

type createTraceBody struct {
	TraceID        string       `json:"traceId,omitempty" maxLength:"32" doc:"32 hexadecimal digits; made if absent."`
	OtelTraceID    string       `json:"otelTraceId,omitempty" maxLength:"32" doc:"The same as traceId."`
	Name           nameText     `json:"name" example:"Answer a question"`
	Status         statusText   `json:"status,omitempty" doc:"running if absent, or completed if there is an endTime."`
	StartTime      time.Time    `json:"startTime,omitzero" doc:"The present if absent."`
	EndTime        time.Time    `json:"endTime,omitzero" doc:"The present if absent and the trace is not running."`
	ConversationID labelText    `json:"conversationId,omitempty"`
	UserID         labelText    `json:"userId,omitempty" doc:"The user of the application."`
	Environment    labelText    `json:"environment,omitempty" example:"production"`
	ServiceName    labelText    `json:"serviceName,omitempty"`
	AgentName      labelText    `json:"agentName,omitempty"`
	ReleaseID      labelText    `json:"releaseId,omitempty"`
	Input          httpapi.JSON `json:"input,omitzero" doc:"What went in; any JSON value."`
	Output         httpapi.JSON `json:"output,omitzero" doc:"What came out; any JSON value."`
	Tags           tagList      `json:"tags,omitempty" doc:"Labels to filter by."`
	Metadata       httpapi.Map  `json:"metadata,omitempty" doc:"Free-form; names are kept as sent."`
	Spans          []spanValue  `json:"spans,omitempty" maxItems:"500" doc:"Spans that come with the trace; all of them must be valid."`
}

type updateTraceInput struct {
	TracePath
	Body updateTraceBody
}

type updateTraceBody struct {
	Name           httpapi.Patch[nameText]     `json:"name,omitzero"`
	Status         httpapi.Patch[statusText]   `json:"status,omitzero"`
	EndTime        httpapi.Patch[httpapi.Time] `json:"endTime,omitzero"`
	ConversationID httpapi.Patch[labelText]    `json:"conversationId,omitzero"`
	UserID         httpapi.Patch[labelText]    `json:"userId,omitzero"`
	Environment    httpapi.Patch[labelText]    `json:"environment,omitzero"`
	AgentName      httpapi.Patch[labelText]    `json:"agentName,omitzero"`
	ReleaseID      httpapi.Patch[labelText]    `json:"releaseId,omitzero"`
	Input          httpapi.Patch[httpapi.JSON] `json:"input,omitzero"`
	Output         httpapi.Patch[httpapi.JSON] `json:"output,omitzero"`
	Tags           httpapi.Patch[tagList]      `json:"tags,omitzero"`
	Metadata       httpapi.Patch[httpapi.Map]  `json:"metadata,omitzero"`
}

type addSpansInput struct {
	TracePath
	Body addSpansBody
}

type writtenTraceOutput struct {
	Status   int
	Ingest   string `header:"X-Ingest" doc:"deferred, if it is not readable yet."`
	Location string `header:"Location"`
	Body     TraceBody
}

type addSpansOutput struct {
	Ingest string `header:"X-Ingest" doc:"deferred, if the spans are not readable yet."`
	Body   addedSpansBody
}

type addedSpansBody struct {
	Spans    []addedSpanBody    `json:"spans"`
	Accepted int                `json:"accepted"`
	Rejected []rejectedSpanBody `json:"rejected"`
}

type addedSpanBody struct {
	Index     int          `json:"index" doc:"Position in the request."`
	SpanID    string       `json:"span_id"`
	Name      string       `json:"name"`
	StartTime httpapi.Time `json:"start_time" doc:"As it is stored."`
}

type rejectedSpanBody struct {
	Index  int           `json:"index" doc:"Position in the request."`
	Errors []fault.Field `json:"errors" doc:"Every problem, with its place in the span."`
}

func (s *Service) postTrace(ctx context.Context, in *createTraceInput) (*writtenTraceOutput, error) {
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
		if c.trace, err = s.Find(ctx, org, n.Trace); err != nil {
			return nil, err
		}
	}
	out := toWrittenOutput(c.trace, c.deferred)
	out.Status, out.Location = http.StatusCreated, "/api/traces/"+n.Trace.String()
	switch {
	case c.known && n.fromKey:
		request.From(ctx).Header.Set("Idempotent-Replayed", "true")
	case c.known:
		out.Status = http.StatusOK
	}
	return out, nil
}

func (s *Service) patchTrace(ctx context.Context, in *updateTraceInput) (*writtenTraceOutput, error) {
	org := principal.From(ctx).Org
	id, err := s.named(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	t, deferred, err := s.update(ctx, org, id, in.Body.apply)
	if err != nil {
		return nil, err
	}
	out := toWrittenOutput(t, deferred)
	out.Status = http.StatusOK
	return out, nil
}

func (s *Service) postSpans(ctx context.Context, in *addSpansInput) (*addSpansOutput, error) {
	org := principal.From(ctx).Org
	id, err := s.named(ctx, org, in.ID)
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
	return toAddSpansOutput(added), nil
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
	n := newTrace{digest: digest, ownRow: ownRow{
		Name: string(b.Name), Status: Status(b.Status), Start: b.StartTime, End: b.EndTime,
		ConversationID: string(b.ConversationID), UserID: string(b.UserID), Environment: string(b.Environment), ServiceName: string(b.ServiceName),
		AgentName: string(b.AgentName), ReleaseID: string(b.ReleaseID), Input: given(jsontext.Value(b.Input)), Output: given(jsontext.Value(b.Output)),
		Tags: b.Tags, Metadata: toMetadata(b.Metadata),
	}}
	var c fieldCheck
	s.checkTimes(&c, &n.ownRow)
	switch text := b.TraceID + b.OtelTraceID; {
	case b.TraceID != "" && b.OtelTraceID != "" && b.TraceID != b.OtelTraceID:
		c.add("/otelTraceId", "mutually_exclusive", "differs from traceId")
	case text == "":
		n.Trace, n.fresh, n.fromKey = newID(org, key), key == "", key != ""
	default:
		var ok bool
		if n.Trace, ok = ParseID(text[:min(len(text), 32)]); !ok {
			c.add("/traceId", "pattern", "must be 32 hexadecimal digits that are not all zero")
		}
	}
	raw := make([]jsontext.Value, len(b.Spans))
	for i, v := range b.Spans {
		raw[i] = jsontext.Value(v)
	}
	var rejected []Rejected
	if n.spans, rejected = s.readSpans(n.Trace, raw); len(rejected)+len(c.fields) > 0 {
		f, _ := fault.From(invalidSpans(rejected, true))
		return newTrace{}, f.WithFields(c.fields...)
	}
	return n, nil
}

// checkTimes settles the status and holds the times against it.
func (s *Service) checkTimes(c *fieldCheck, o *ownRow) {
	switch {
	case o.Status == "" && o.End.IsZero():
		o.Status = StatusRunning
	case o.Status == "":
		o.Status = StatusCompleted
	case o.Status == StatusRunning && !o.End.IsZero():
		c.add("/endTime", "mutually_exclusive", "cannot be combined with the status running")
	}
	if !o.Start.IsZero() && o.Start.UnixMicro() < s.now().UnixMicro()-behind {
		c.add("/startTime", "min", "is more than 400 days ago")
	}
	if !o.Start.IsZero() && !o.End.IsZero() && o.End.Before(o.Start) {
		c.add("/endTime", "min", "must not be before startTime")
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

// apply makes the sent changes. A name, a status and an end cannot be cleared:
// null leaves them as they are.
func (b updateTraceBody) apply(o *ownRow) {
	text := func(to *string, f httpapi.Patch[labelText]) {
		if f.Sent {
			*to = string(f.Value)
		}
	}
	value := func(to *jsontext.Value, f httpapi.Patch[httpapi.JSON]) {
		if f.Sent {
			*to = given(jsontext.Value(f.Value))
		}
	}
	if b.Name.Sent && !b.Name.Null {
		o.Name = string(b.Name.Value)
	}
	if b.Status.Sent && !b.Status.Null {
		o.Status = Status(b.Status.Value)
	}
	if b.EndTime.Sent && !b.EndTime.Null {
		o.End = time.Time(b.EndTime.Value)
	}
	text(&o.ConversationID, b.ConversationID)
	text(&o.UserID, b.UserID)
	text(&o.Environment, b.Environment)
	text(&o.AgentName, b.AgentName)
	text(&o.ReleaseID, b.ReleaseID)
	value(&o.Input, b.Input)
	value(&o.Output, b.Output)
	if b.Tags.Sent {
		o.Tags = b.Tags.Value
	}
	if b.Metadata.Sent {
		o.Metadata = toMetadata(b.Metadata.Value)
	}
}

// toMetadata encodes a free-form object; an absent one is nil.
func toMetadata(m httpapi.Map) jsontext.Value {
	if m == nil {
		return nil
	}
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		panic("trace: a decoded object does not encode: " + err.Error())
	}
	return text
}

func toWrittenOutput(t Trace, deferred bool) *writtenTraceOutput {
	return &writtenTraceOutput{Ingest: toIngest(deferred), Body: toTraceBody(t)}
}

// toIngest is the value of the header that tells of deferred telemetry.
func toIngest(deferred bool) string {
	if deferred {
		return "deferred"
	}
	return ""
}

func toAddSpansOutput(a Added) *addSpansOutput {
	out := &addSpansOutput{Ingest: toIngest(a.Deferred)}
	out.Body = addedSpansBody{Spans: make([]addedSpanBody, len(a.Spans)), Accepted: len(a.Spans), Rejected: make([]rejectedSpanBody, len(a.Rejected))}
	for i, s := range a.Spans {
		out.Body.Spans[i] = addedSpanBody{Index: s.Index, SpanID: s.ID.String(), Name: s.Name, StartTime: httpapi.Time(time.UnixMicro(s.Start))}
	}
	for i, r := range a.Rejected {
		out.Body.Rejected[i] = rejectedSpanBody{Index: r.Index, Errors: r.Fields}
	}
	return out
}
