package testkit

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// TokenUsage is tokens.
	TokenUsage = api.Usage
	// Trace is a trace with its spans.
	Trace = api.TraceDetail
	// Span is a span of a trace.
	Span = api.Span
	// MetricGroup are the figures of one group of spans.
	MetricGroup = api.TraceMetricGroup
	// ConversationTotals are of turns of a conversation.
	ConversationTotals = api.ConversationTotals
	// ConversationPage is a page of conversations.
	ConversationPage = api.ConversationList
	// ListedConversation is a conversation of a list.
	ListedConversation = api.ConversationSummary
	// EndUserPage is a page of end users.
	EndUserPage = api.EndUserList
	// EndUser is an end user of a list.
	EndUser = api.EndUser
	// EndUserTotals are of traces of an end user.
	EndUserTotals = api.EndUserTotals
)

// ExportedTrace is a line of an export.
type ExportedTrace struct {
	Trace
	Cursor string `json:"cursor"`
}

// ExportTraces reads an export to its end.
func (c *Client) ExportTraces(ctx context.Context, query string) ([]ExportedTrace, error) {
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
	var out []ExportedTrace
	for line := range bytes.Lines(res.Body) {
		var t ExportedTrace
		if err := json.Unmarshal(line, &t); err != nil {
			return out, err
		}
		out = append(out, t)
	}
	return out, nil
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
