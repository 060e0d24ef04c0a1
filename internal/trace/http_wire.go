package trace

import (
	"time"

	"github.com/assayhq/assay/internal/httpapi"
)

// TraceBody is a trace on the wire. It is exported because other bodies embed
// it, and the framework reads exported fields only.
type TraceBody struct { //nolint:revive // a plain Body would read like the field of an output
	ID             string        `json:"id" doc:"32 hexadecimal digits." example:"0af7651916cd43dd8448eb211c80319c"`
	TraceRef       int64         `json:"trace_ref,omitzero" doc:"The trace's number, once it has one."`
	Name           string        `json:"name"`
	Status         Status        `json:"status" enum:"running,completed,failed"`
	StartTime      httpapi.Time  `json:"start_time"`
	EndTime        *httpapi.Time `json:"end_time,omitempty" doc:"Absent while the trace is running."`
	DurationMS     *int64        `json:"duration_ms,omitempty" doc:"Absent while the trace is running."`
	ConversationID string        `json:"conversation_id"`
	UserID         string        `json:"user_id" doc:"The user of the application."`
	Environment    string        `json:"environment"`
	ServiceName    string        `json:"service_name"`
	AgentName      string        `json:"agent_name"`
	ReleaseID      string        `json:"release_id"`
	Input          httpapi.JSON  `json:"input,omitzero" doc:"What went in. In a list: the beginning of it, as text."`
	Output         httpapi.JSON  `json:"output,omitzero" doc:"What came out. In a list: the beginning of it, as text."`
	Usage          httpapi.Usage `json:"usage" doc:"The tokens of all spans."`
	CostUSD        *float64      `json:"cost_usd" nullable:"true" doc:"The known costs of all spans in US dollars; null if none is known."`
	SpanCount      int           `json:"span_count"`
	ErrorCount     int           `json:"error_count" doc:"Spans that ended with an error."`
	Tags           []string      `json:"tags"`
	Metadata       httpapi.JSON  `json:"metadata" doc:"Free-form; names are kept as sent."`
	Stub           bool          `json:"stub" doc:"True while the trace has been named and nothing of it has arrived."`
	AutoClosed     bool          `json:"auto_closed" doc:"True if the trace reads as completed only because nothing came for 30 minutes."`
	CreatedAt      httpapi.Time  `json:"created_at" doc:"When something of the trace arrived first."`
	UpdatedAt      httpapi.Time  `json:"updated_at" doc:"When something of the trace arrived last."`
}

// spanBody is a span on the wire.
type spanBody struct {
	SpanID        string         `json:"span_id" doc:"16 hexadecimal digits." example:"b7ad6b7169203331"`
	ParentSpanID  string         `json:"parent_span_id,omitempty" doc:"Absent if the span is a root."`
	Name          string         `json:"name"`
	Kind          string         `json:"kind" enum:"internal,server,client,producer,consumer"`
	PrimitiveType string         `json:"primitive_type,omitempty" doc:"What kind of step the span is, if that is known." example:"model_call"`
	StartTime     httpapi.Time   `json:"start_time"`
	EndTime       *httpapi.Time  `json:"end_time,omitempty" doc:"Absent while the span is open."`
	DurationMS    *int64         `json:"duration_ms,omitempty" doc:"Absent while the span is open."`
	Status        spanStatusBody `json:"status"`
	Attributes    httpapi.JSON   `json:"attributes" doc:"A flat object of OpenTelemetry attributes."`
	Resource      httpapi.JSON   `json:"resource,omitzero" doc:"What sent the span."`
	Events        httpapi.JSON   `json:"events" doc:"What happened during the span, with the log records that name it, by time."`
	Links         httpapi.JSON   `json:"links"`
	Input         httpapi.JSON   `json:"input,omitzero"`
	Output        httpapi.JSON   `json:"output,omitzero"`
	System        httpapi.JSON   `json:"system,omitzero" doc:"The system instructions of a call of a model."`
	Tools         httpapi.JSON   `json:"tools,omitzero" doc:"The tools that a model could call."`
	Model         string         `json:"model,omitempty"`
	Provider      string         `json:"provider,omitempty"`
	ToolName      string         `json:"tool_name,omitempty"`
	AgentName     string         `json:"agent_name,omitempty"`
	Usage         httpapi.Usage  `json:"usage"`
	CostUSD       *float64       `json:"cost_usd" nullable:"true" doc:"US dollars; null if unknown."`
	FirstTokenMS  *float64       `json:"first_token_ms,omitempty" doc:"From the start to the first token, if that is known."`
	IngestedAt    httpapi.Time   `json:"ingested_at" doc:"When this version of the span arrived."`
}

type spanStatusBody struct {
	Code    string `json:"code" enum:"unset,ok,error"`
	Message string `json:"message,omitempty"`
}

func toTraceBody(t Trace) TraceBody {
	b := TraceBody{
		ID: t.ID.String(), TraceRef: t.Ref, Name: t.Name, Status: t.Status, StartTime: httpapi.Time(t.Start),
		ConversationID: t.ConversationID, UserID: t.UserID, Environment: t.Environment, ServiceName: t.ServiceName,
		AgentName: t.AgentName, ReleaseID: t.ReleaseID, Input: httpapi.JSON(t.Input), Output: httpapi.JSON(t.Output),
		Usage: toUsageBody(t.Usage), CostUSD: toCost(t.Cost), SpanCount: t.SpanCount, ErrorCount: t.ErrorCount,
		Tags: httpapi.OrEmpty(t.Tags), Metadata: orEmptyObject(t.Metadata), Stub: t.Stub, AutoClosed: t.AutoClosed,
		CreatedAt: httpapi.Time(t.CreatedAt), UpdatedAt: httpapi.Time(t.UpdatedAt),
	}
	b.EndTime, b.DurationMS = toEnd(t.Start, t.End)
	return b
}

func toSpanBody(s Span) spanBody {
	b := spanBody{
		SpanID: s.ID.String(), ParentSpanID: s.Parent.String(), Name: s.Name, Kind: s.Kind, PrimitiveType: s.PrimitiveType,
		StartTime: httpapi.Time(s.Start), Status: spanStatusBody{Code: s.StatusCode, Message: s.StatusMessage},
		Attributes: orEmptyObject(s.Attributes), Resource: httpapi.JSON(s.Resource), Events: orEmptyList(s.Events), Links: orEmptyList(s.Links),
		Input: httpapi.JSON(s.Input), Output: httpapi.JSON(s.Output), System: httpapi.JSON(s.System), Tools: httpapi.JSON(s.Tools),
		Model: s.Model, Provider: s.Provider, ToolName: s.ToolName, AgentName: s.AgentName,
		Usage: toUsageBody(s.Usage), CostUSD: toCost(s.Cost), IngestedAt: httpapi.Time(s.IngestedAt),
	}
	b.EndTime, b.DurationMS = toEnd(s.Start, s.End)
	if s.FirstToken > 0 {
		ms := float64(s.FirstToken.Microseconds()) / 1000
		b.FirstTokenMS = &ms
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

func toUsageBody(u Usage) httpapi.Usage {
	return httpapi.NewUsage(u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens)
}

// toCost is null for a cost that nobody knows.
func toCost(c Cost) *float64 {
	if !c.Known {
		return nil
	}
	usd := c.USD()
	return &usd
}

// toEnd is nothing for what has not ended.
func toEnd(start, end time.Time) (*httpapi.Time, *int64) {
	if end.IsZero() {
		return nil, nil
	}
	at, ms := httpapi.Time(end), end.Sub(start).Milliseconds()
	return &at, &ms
}

func orEmptyObject[T ~[]byte](v T) httpapi.JSON {
	if len(v) == 0 {
		return httpapi.JSON("{}")
	}
	return httpapi.JSON(v)
}

func orEmptyList[T ~[]byte](v T) httpapi.JSON {
	if len(v) == 0 {
		return httpapi.JSON("[]")
	}
	return httpapi.JSON(v)
}
