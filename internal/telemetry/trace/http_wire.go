package trace

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/span"
)

const (
	tag     = "Traces"
	tagOTLP = "OpenTelemetry"

	mediaProtobuf = "application/x-protobuf"
	mediaJSON     = "application/json"
)

// TraceBody is a trace on the wire. Telemetry arrives without entries in the audit
// log, so all of it but the id is volatile. It is exported because other bodies embed
// it, and the framework reads exported fields only.
type TraceBody struct { //nolint:revive // a plain Body would read like the field of an output
	ID             string                     `json:"id" doc:"W3C trace id: 32 lower-case hexadecimal digits." example:"0af7651916cd43dd8448eb211c80319c"`
	TraceRef       *int64                     `json:"trace_ref" volatile:"true" doc:"Number of the trace within the organization; null until the trace has been created or read by id."`
	Name           *string                    `json:"name" volatile:"true" doc:"Name of the trace, or else of its root span; null if neither has one."`
	Status         statusText                 `json:"status" volatile:"true" doc:"A trace is running until its root span ends, and completed or failed from then on."`
	StartTime      httpapi.Time               `json:"start_time" volatile:"true" doc:"Start of the earliest span."`
	EndTime        httpapi.Null[httpapi.Time] `json:"end_time" volatile:"true" doc:"End of the root span; null while the trace is running."`
	DurationMS     *float64                   `json:"duration_ms" volatile:"true" doc:"Milliseconds from start to end, to the microsecond; null while the trace is running."`
	ConversationID *string                    `json:"conversation_id" volatile:"true" doc:"Conversation that the trace is a turn of; null if unknown."`
	UserID         *string                    `json:"user_id" volatile:"true" doc:"End user of the application, as the application names them; null if unknown."`
	Environment    *string                    `json:"environment" volatile:"true" doc:"Deployment environment; null if unknown."`
	ServiceName    *string                    `json:"service_name" volatile:"true" doc:"OpenTelemetry service name; null if unknown."`
	AgentName      *string                    `json:"agent_name" volatile:"true" doc:"Name of the agent; null if unknown."`
	ReleaseID      *string                    `json:"release_id" volatile:"true" doc:"Release of the application; null if unknown."`
	Input          httpapi.JSON               `json:"input" volatile:"true" doc:"Input of the trace as any JSON value, null if there is none. In a list, the beginning of it as text."`
	Output         httpapi.JSON               `json:"output" volatile:"true" doc:"Output of the trace as any JSON value, null if there is none. In a list, the beginning of it as text."`
	Usage          httpapi.Usage              `json:"usage" volatile:"true" doc:"Tokens used by all spans."`
	CostUSD        *float64                   `json:"cost_usd" volatile:"true" doc:"Sum of the known costs of all spans in US dollars; null if none is known."`
	SpanCount      int                        `json:"span_count" volatile:"true" doc:"Number of spans."`
	ErrorCount     int                        `json:"error_count" volatile:"true" doc:"Number of spans that ended with an error."`
	Tags           []string                   `json:"tags" volatile:"true" doc:"Labels, sorted."`
	Metadata       httpapi.Object             `json:"metadata" volatile:"true" doc:"Free-form object, as it was sent."`
	Stub           bool                       `json:"stub" volatile:"true" doc:"Whether the trace has only been referred to so far and nothing of it has arrived."`
	AutoClosed     bool                       `json:"auto_closed" volatile:"true" doc:"Whether the status is completed only because nothing has arrived for 30 minutes."`
	CreatedAt      httpapi.Time               `json:"created_at" volatile:"true" doc:"Arrival of the first part of the trace."`
	UpdatedAt      httpapi.Time               `json:"updated_at" volatile:"true" doc:"Arrival of the latest part of the trace."`
}

// spanBody is a span on the wire.
type spanBody struct {
	ID            string                     `json:"id" doc:"W3C span id: 16 lower-case hexadecimal digits." example:"b7ad6b7169203331"`
	SpanID        string                     `json:"span_id" doc:"Same as id, under its OpenTelemetry name." example:"b7ad6b7169203331"`
	ParentSpanID  *string                    `json:"parent_span_id" doc:"Id of the parent span; null for a root span."`
	Name          *string                    `json:"name" doc:"Name of the operation; null if the sender gave none."`
	Kind          string                     `json:"kind" enum:"internal,server,client,producer,consumer" doc:"OpenTelemetry span kind."`
	PrimitiveType httpapi.Null[stepText]     `json:"primitive_type" doc:"Type of the step; null if it is not known."`
	StartTime     httpapi.Time               `json:"start_time" doc:"Start of the span."`
	EndTime       httpapi.Null[httpapi.Time] `json:"end_time" doc:"End of the span; null while it is open."`
	DurationMS    *float64                   `json:"duration_ms" doc:"Milliseconds from start to end, to the microsecond; null while the span is open."`
	Status        spanStatusBody             `json:"status" doc:"Outcome of the span."`
	Attributes    httpapi.Object             `json:"attributes" doc:"OpenTelemetry attributes, flat."`
	Resource      httpapi.Object             `json:"resource" doc:"OpenTelemetry resource attributes of the sender."`
	Events        []spanEventBody            `json:"events" doc:"Events of the span and log records that name it, by time."`
	Links         []spanLinkBody             `json:"links" doc:"Links to other spans."`
	Input         httpapi.JSON               `json:"input" doc:"Input of the step as any JSON value; null if there is none."`
	Output        httpapi.JSON               `json:"output" doc:"Output of the step as any JSON value; null if there is none."`
	System        httpapi.JSON               `json:"system" doc:"System instructions of a model call; null if there are none."`
	Tools         httpapi.JSON               `json:"tools" doc:"Tools that were offered to the model; null if there were none."`
	Model         *string                    `json:"model" doc:"Model that answered, or else the one requested; null if unknown."`
	Provider      *string                    `json:"provider" doc:"Provider of the model; null if unknown."`
	ToolName      *string                    `json:"tool_name" doc:"Name of the tool that was called; null if none was."`
	AgentName     *string                    `json:"agent_name" doc:"Name of the agent; null if unknown."`
	Usage         httpapi.Usage              `json:"usage" doc:"Tokens used by the step."`
	CostUSD       *float64                   `json:"cost_usd" doc:"Cost in US dollars; null if unknown."`
	FirstTokenMS  *float64                   `json:"first_token_ms" doc:"Milliseconds from start to the first token; null if unknown."`
	IngestedAt    httpapi.Time               `json:"ingested_at" doc:"Arrival of this version of the span."`
}

// spanStatusBody is the outcome of a span on the wire.
type spanStatusBody struct {
	Code    string  `json:"code" enum:"unset,ok,error" doc:"OpenTelemetry status code."`
	Message *string `json:"message" doc:"Message of the status, usually of an error; null if there is none."`
}

// spanEventBody is an event of a span, or a log record, on the wire.
type spanEventBody struct {
	Time       httpapi.Null[eventTime] `json:"time" doc:"Time of the event, to the microsecond; null if the sender gave none."`
	Name       *string                 `json:"name" doc:"Name of the event; null if the sender gave none."`
	Severity   *string                 `json:"severity" doc:"Severity text of a log record; null for an event of the span."`
	Body       httpapi.JSON            `json:"body" doc:"Body of a log record as any JSON value; null for an event of the span."`
	Attributes httpapi.Object          `json:"attributes" doc:"Attributes of the event."`
}

// spanLinkBody is a link to another span on the wire.
type spanLinkBody struct {
	TraceID    *string        `json:"trace_id" doc:"Id of the linked trace; null if the sender gave none."`
	SpanID     *string        `json:"span_id" doc:"Id of the linked span; null if the sender gave none."`
	Attributes httpapi.Object `json:"attributes" doc:"Attributes of the link."`
}

// statusText is the status of a trace.
type statusText string

// Schema lists the statuses.
func (statusText) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(StatusRunning, StatusCompleted, StatusFailed)
}

// stepText is the type of a step in a response.
type stepText string

// Schema lists the types.
func (stepText) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(span.PrimitiveTypes[:]...)
}

// eventTime is a time with microseconds: events of one span are often less than
// a millisecond apart.
type eventTime time.Time

// MarshalJSON writes 2026-01-31T12:00:00.000000Z.
func (t eventTime) MarshalJSON() ([]byte, error) {
	return span.AppendTime(nil, time.Time(t).UnixMicro()), nil
}

// UnmarshalJSON reads RFC 3339.
func (t *eventTime) UnmarshalJSON(b []byte) error { return (*time.Time)(t).UnmarshalJSON(b) }

// Schema documents the format.
func (eventTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-31T12:00:00.000000Z"}}
}

func toTraceBody(t Trace) TraceBody {
	b := TraceBody{
		ID: t.ID.String(), TraceRef: httpapi.OrNull(t.Ref), Name: httpapi.OrNull(t.Name), Status: statusText(t.Status), StartTime: httpapi.Time(t.Start),
		ConversationID: httpapi.OrNull(t.ConversationID), UserID: httpapi.OrNull(t.UserID), Environment: httpapi.OrNull(t.Environment),
		ServiceName: httpapi.OrNull(t.ServiceName), AgentName: httpapi.OrNull(t.AgentName), ReleaseID: httpapi.OrNull(t.ReleaseID),
		Input: httpapi.JSON(t.Input), Output: httpapi.JSON(t.Output),
		Usage: toUsage(t.Usage), CostUSD: toCost(t.Cost), SpanCount: t.SpanCount, ErrorCount: t.ErrorCount,
		Tags: httpapi.OrEmpty(t.Tags), Metadata: httpapi.Object(t.Metadata), Stub: t.Stub, AutoClosed: t.AutoClosed,
		CreatedAt: httpapi.Time(t.CreatedAt), UpdatedAt: httpapi.Time(t.UpdatedAt),
	}
	b.EndTime, b.DurationMS = toEnd(t.Start, t.End)
	return b
}

func toSpanBody(s Span) spanBody {
	b := spanBody{
		ID: s.ID.String(), SpanID: s.ID.String(), ParentSpanID: httpapi.OrNull(s.Parent.String()), Name: httpapi.OrNull(s.Name), Kind: s.Kind,
		PrimitiveType: httpapi.NullOf(httpapi.OrNull(stepText(s.PrimitiveType))), StartTime: httpapi.Time(s.Start),
		Status:     spanStatusBody{Code: s.StatusCode, Message: httpapi.OrNull(s.StatusMessage)},
		Attributes: httpapi.Object(s.Attributes), Resource: httpapi.Object(s.Resource), Events: toEventBodies(s.Events), Links: toLinkBodies(s.Links),
		Input: httpapi.JSON(s.Input), Output: httpapi.JSON(s.Output), System: httpapi.JSON(s.System), Tools: httpapi.JSON(s.Tools),
		Model: httpapi.OrNull(s.Model), Provider: httpapi.OrNull(s.Provider), ToolName: httpapi.OrNull(s.ToolName), AgentName: httpapi.OrNull(s.AgentName),
		Usage: toUsage(s.Usage), CostUSD: toCost(s.Cost), IngestedAt: httpapi.Time(s.IngestedAt),
	}
	b.EndTime, b.DurationMS = toEnd(s.Start, s.End)
	if s.FirstToken > 0 {
		b.FirstTokenMS = milliseconds(s.FirstToken)
	}
	return b
}

func toSpanBodies(spans []Span) []spanBody {
	out := make([]spanBody, len(spans))
	for i, s := range spans {
		out[i] = toSpanBody(s)
	}
	return out
}

func toEventBodies(events []SpanEvent) []spanEventBody {
	out := make([]spanEventBody, len(events))
	for i, e := range events {
		out[i] = spanEventBody{Name: httpapi.OrNull(e.Name), Severity: httpapi.OrNull(e.Severity), Body: httpapi.JSON(e.Body), Attributes: httpapi.Object(e.Attributes)}
		if !e.Time.IsZero() {
			at := eventTime(e.Time)
			out[i].Time = httpapi.NullOf(&at)
		}
	}
	return out
}

func toLinkBodies(links []SpanLink) []spanLinkBody {
	out := make([]spanLinkBody, len(links))
	for i, l := range links {
		out[i] = spanLinkBody{TraceID: httpapi.OrNull(l.TraceID), SpanID: httpapi.OrNull(l.SpanID), Attributes: httpapi.Object(l.Attributes)}
	}
	return out
}

func toUsage(u Usage) httpapi.Usage {
	return httpapi.NewUsage(u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens)
}

// toCost is null for a cost that is not known.
func toCost(c Cost) *float64 {
	if !c.Known {
		return nil
	}
	usd := c.USD()
	return &usd
}

// toEnd is nothing for what has not ended.
func toEnd(start, end time.Time) (at httpapi.Null[httpapi.Time], ms *float64) {
	if end.IsZero() {
		return at, nil
	}
	return httpapi.NullOf((*httpapi.Time)(&end)), milliseconds(end.Sub(start))
}

// milliseconds are exact to the microsecond.
func milliseconds(d time.Duration) *float64 {
	ms := float64(d.Microseconds()) / 1000
	return &ms
}
