package testkit

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// TokenUsage is tokens as a client sees them.
type TokenUsage struct {
	InputTokens     int `json:"input_tokens"`
	OutputTokens    int `json:"output_tokens"`
	TotalTokens     int `json:"total_tokens"`
	CachedTokens    int `json:"cached_tokens"`
	ReasoningTokens int `json:"reasoning_tokens"`
}

// Trace is a trace as a client sees it, with its spans in a detail.
type Trace struct {
	ID             string         `json:"id"`
	TraceRef       int64          `json:"trace_ref"`
	Name           string         `json:"name"`
	Status         string         `json:"status"`
	StartTime      time.Time      `json:"start_time"`
	EndTime        time.Time      `json:"end_time"`
	DurationMS     *float64       `json:"duration_ms"`
	ConversationID string         `json:"conversation_id"`
	UserID         string         `json:"user_id"`
	Environment    string         `json:"environment"`
	ServiceName    string         `json:"service_name"`
	AgentName      string         `json:"agent_name"`
	ReleaseID      string         `json:"release_id"`
	Input          any            `json:"input"`
	Output         any            `json:"output"`
	Usage          TokenUsage     `json:"usage"`
	CostUSD        *float64       `json:"cost_usd"`
	SpanCount      int            `json:"span_count"`
	ErrorCount     int            `json:"error_count"`
	Tags           []string       `json:"tags"`
	Metadata       map[string]any `json:"metadata"`
	Stub           bool           `json:"stub"`
	AutoClosed     bool           `json:"auto_closed"`
	CreatedAt      time.Time      `json:"created_at"`
	UpdatedAt      time.Time      `json:"updated_at"`

	// A detail has these too.
	Spans          []Span           `json:"spans"`
	SpansTruncated bool             `json:"spans_truncated"`
	Events         []map[string]any `json:"events"`
	Feedback       []TraceFeedback  `json:"feedback"`

	// A line of an export has this too.
	Cursor string `json:"cursor"`
}

// Span is a span as a client sees it.
type Span struct {
	ID            string    `json:"id"`
	SpanID        string    `json:"span_id"`
	ParentSpanID  string    `json:"parent_span_id"`
	Name          string    `json:"name"`
	Kind          string    `json:"kind"`
	PrimitiveType string    `json:"primitive_type"`
	StartTime     time.Time `json:"start_time"`
	EndTime       time.Time `json:"end_time"`
	DurationMS    *float64  `json:"duration_ms"`
	Status        struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
	Attributes   map[string]any   `json:"attributes"`
	Resource     map[string]any   `json:"resource"`
	Events       []map[string]any `json:"events"`
	Links        []map[string]any `json:"links"`
	Input        any              `json:"input"`
	Output       any              `json:"output"`
	Model        string           `json:"model"`
	Provider     string           `json:"provider"`
	ToolName     string           `json:"tool_name"`
	AgentName    string           `json:"agent_name"`
	Usage        TokenUsage       `json:"usage"`
	CostUSD      *float64         `json:"cost_usd"`
	FirstTokenMS *float64         `json:"first_token_ms"`
	IngestedAt   time.Time        `json:"ingested_at"`
}

// TracePage is a page of traces.
type TracePage struct {
	Traces     []Trace `json:"traces"`
	Limit      int     `json:"limit"`
	Offset     int     `json:"offset"`
	HasMore    bool    `json:"has_more"`
	NextCursor string  `json:"next_cursor"`
	Total      *int    `json:"total"`
}

// SpanPage is a page of spans.
type SpanPage struct {
	Spans      []Span `json:"spans"`
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor"`
	Total      *int   `json:"total"`
}

// Percentiles are as a client sees them; nil is too few to tell.
type Percentiles struct {
	P50 *float64 `json:"p50"`
	P90 *float64 `json:"p90"`
	P95 *float64 `json:"p95"`
	P99 *float64 `json:"p99"`
	N   int      `json:"n"`
}

// MetricGroup are the figures of one group of spans.
type MetricGroup struct {
	Key       string `json:"key"`
	Spans     int    `json:"spans"`
	Traces    int    `json:"traces"`
	Errors    int    `json:"errors"`
	ErrorRate struct {
		Value  float64 `json:"value"`
		N      int     `json:"n"`
		Low    float64 `json:"low"`
		High   float64 `json:"high"`
		Method string  `json:"method"`
	} `json:"error_rate"`
	InputTokens    int         `json:"input_tokens"`
	OutputTokens   int         `json:"output_tokens"`
	CostUSD        *float64    `json:"cost_usd"`
	CostKnownSpans int         `json:"cost_known_spans"`
	LatencyMS      Percentiles `json:"latency_ms"`
	FirstTokenMS   Percentiles `json:"first_token_ms"`
	Series         []struct {
		At           time.Time `json:"at"`
		Spans        int       `json:"spans"`
		Errors       int       `json:"errors"`
		CostUSD      *float64  `json:"cost_usd"`
		InputTokens  int       `json:"input_tokens"`
		OutputTokens int       `json:"output_tokens"`
		P50MS        *float64  `json:"p50_ms"`
		P95MS        *float64  `json:"p95_ms"`
	} `json:"series"`
}

// TraceMetrics are figures of spans.
type TraceMetrics struct {
	Window struct {
		From time.Time `json:"from"`
		To   time.Time `json:"to"`
	} `json:"window"`
	Interval string        `json:"interval"`
	GroupBy  string        `json:"group_by"`
	Groups   []MetricGroup `json:"groups"`
	Other    *MetricGroup  `json:"other"`
}

// Conversation is a conversation as a client sees it.
type Conversation struct {
	ID             string `json:"id"`
	ConversationID string `json:"conversation_id"`
	Turns          []struct {
		TraceID       string     `json:"trace_id"`
		Name          string     `json:"name"`
		Status        string     `json:"status"`
		StartTime     time.Time  `json:"start_time"`
		EndTime       time.Time  `json:"end_time"`
		Input         any        `json:"input"`
		Output        any        `json:"output"`
		Usage         TokenUsage `json:"usage"`
		CostUSD       *float64   `json:"cost_usd"`
		FeedbackCount int        `json:"feedback_count"`
	} `json:"turns"`
	Totals  ConversationTotals `json:"totals"`
	HasMore bool               `json:"has_more"`
	Total   int                `json:"total"`
}

// ConversationTotals are of turns of a conversation.
type ConversationTotals struct {
	Turns          int        `json:"turns"`
	FailedTurns    int        `json:"failed_turns"`
	Spans          int        `json:"spans"`
	Errors         int        `json:"errors"`
	Usage          TokenUsage `json:"usage"`
	CostUSD        *float64   `json:"cost_usd"`
	CostKnownTurns int        `json:"cost_known_turns"`
}

// ConversationPage is a page of conversations.
type ConversationPage struct {
	Conversations []ListedConversation `json:"conversations"`
	HasMore       bool                 `json:"has_more"`
	NextCursor    string               `json:"next_cursor"`
	Total         *int                 `json:"total"`
}

// ListedConversation is a conversation of a list.
type ListedConversation struct {
	ID             string             `json:"id"`
	ConversationID string             `json:"conversation_id"`
	UserID         *string            `json:"user_id"`
	FirstStartTime time.Time          `json:"first_start_time"`
	LastStartTime  time.Time          `json:"last_start_time"`
	Totals         ConversationTotals `json:"totals"`
}

// EndUserPage is a page of end users.
type EndUserPage struct {
	EndUsers   []EndUser `json:"end_users"`
	HasMore    bool      `json:"has_more"`
	NextCursor string    `json:"next_cursor"`
	Total      *int      `json:"total"`
}

// EndUser is an end user of a list.
type EndUser struct {
	ID             string        `json:"id"`
	UserID         string        `json:"user_id"`
	FirstStartTime time.Time     `json:"first_start_time"`
	LastStartTime  time.Time     `json:"last_start_time"`
	Totals         EndUserTotals `json:"totals"`
}

// EndUserTotals are of traces of an end user.
type EndUserTotals struct {
	Traces          int        `json:"traces"`
	FailedTraces    int        `json:"failed_traces"`
	Conversations   int        `json:"conversations"`
	Spans           int        `json:"spans"`
	Errors          int        `json:"errors"`
	Usage           TokenUsage `json:"usage"`
	CostUSD         *float64   `json:"cost_usd"`
	CostKnownTraces int        `json:"cost_known_traces"`
}

// Traces reads a page of traces.
func (c *Client) Traces(ctx context.Context, query string) (out TracePage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/traces?"+query, nil, &out)
	return out, err
}

// Trace reads a trace with its spans.
func (c *Client) Trace(ctx context.Context, id string) (out Trace, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/traces/"+url.PathEscape(id), nil, &out)
	return out, err
}

// TraceSpans reads a page of a trace's spans.
func (c *Client) TraceSpans(ctx context.Context, id, query string) (out SpanPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/traces/"+url.PathEscape(id)+"/spans?"+query, nil, &out)
	return out, err
}

// TraceMetrics reads figures of spans.
func (c *Client) TraceMetrics(ctx context.Context, query string) (out TraceMetrics, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/traces/metrics?"+query, nil, &out)
	return out, err
}

// ExportTraces reads an export to its end.
func (c *Client) ExportTraces(ctx context.Context, query string) ([]Trace, error) {
	res, err := c.Send(ctx, http.MethodGet, "/api/traces/export?"+query, nil)
	if err != nil {
		return nil, err
	}
	if res.Status >= http.StatusBadRequest {
		return nil, res.fault()
	}
	if media := res.Header.Get("Content-Type"); media != "application/x-ndjson" {
		return nil, fmt.Errorf("an export of type %q", media)
	}
	var out []Trace
	for line := range bytes.Lines(res.Body) {
		var t Trace
		if err := json.Unmarshal(line, &t); err != nil {
			return out, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Conversations reads a page of conversations.
func (c *Client) Conversations(ctx context.Context, query string) (out ConversationPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/conversations?"+query, nil, &out)
	return out, err
}

// EndUsers reads a page of end users.
func (c *Client) EndUsers(ctx context.Context, query string) (out EndUserPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/end-users?"+query, nil, &out)
	return out, err
}

// Conversation reads a page of a conversation.
func (c *Client) Conversation(ctx context.Context, id, query string) (out Conversation, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/conversations/"+url.PathEscape(id)+"?includeTotal=true&"+query, nil, &out)
	return out, err
}

// SendOTLP sends spans as OTLP in protobuf; all of them must be taken.
func (c *Client) SendOTLP(t testing.TB, body []byte) {
	t.Helper()
	res, err := c.Send(t.Context(), http.MethodPost, "/v1/traces", bytes.NewReader(body), Header("Content-Type", "application/x-protobuf"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	require.Empty(t, res.Body, "some spans were rejected")
}

// OTLPSpan is a span to send. Empty ids are made; a span without a duration is
// open.
type OTLPSpan struct {
	Trace, ID, Parent string // hexadecimal; no parent makes a root
	Name, Service     string
	Start             time.Time
	Duration          time.Duration
	Error             string // the message of an error
	Attributes        map[string]any
	Events            []string
	Server            bool // whether the span serves a request of another process
	Remote            bool // whether its sender says that the parent is in another process
}

// NewTraceID makes a trace id.
func NewTraceID() string { return randomHex(16) }

// NewSpanID makes a span id.
func NewSpanID() string { return randomHex(8) }

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// Spans encodes spans as an OTLP request in protobuf.
func Spans(spans ...OTLPSpan) []byte {
	traces := ptrace.NewTraces()
	for _, s := range spans {
		rs := traces.ResourceSpans().AppendEmpty()
		if s.Service != "" {
			rs.Resource().Attributes().PutStr("service.name", s.Service)
		}
		s.fill(rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty())
	}
	body, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	if err != nil {
		panic("testkit: " + err.Error())
	}
	return body
}

func (s OTLPSpan) fill(out ptrace.Span) {
	id := func(text string, size int) []byte {
		if text == "" {
			text = randomHex(size)
		}
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != size {
			panic("testkit: " + text + " is no id of " + strconv.Itoa(size) + " bytes")
		}
		return b
	}
	out.SetTraceID(pcommon.TraceID(id(s.Trace, 16)))
	out.SetSpanID(pcommon.SpanID(id(s.ID, 8)))
	if s.Parent != "" {
		out.SetParentSpanID(pcommon.SpanID(id(s.Parent, 8)))
	}
	out.SetName(s.Name)
	out.SetKind(ptrace.SpanKindInternal)
	if s.Server {
		out.SetKind(ptrace.SpanKindServer)
	}
	if s.Remote {
		out.SetFlags(0x300)
	}
	out.SetStartTimestamp(pcommon.NewTimestampFromTime(s.Start))
	if s.Duration > 0 {
		out.SetEndTimestamp(pcommon.NewTimestampFromTime(s.Start.Add(s.Duration)))
	}
	if s.Error != "" {
		out.Status().SetCode(ptrace.StatusCodeError)
		out.Status().SetMessage(s.Error)
	}
	if err := out.Attributes().FromRaw(s.Attributes); err != nil {
		panic("testkit: " + err.Error())
	}
	for i, name := range s.Events {
		e := out.Events().AppendEmpty()
		e.SetName(name)
		e.SetTimestamp(pcommon.NewTimestampFromTime(s.Start.Add(time.Duration(i+1) * time.Millisecond)))
	}
}
