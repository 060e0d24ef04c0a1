// Package view is what is read from spans: traces and their spans as readers see
// them.
package view

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/telemetry/span"
)

// Status is where a trace stands.
type Status string

// The statuses.
const (
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
)

// Trace is one trace as its spans show it.
type Trace struct {
	ID span.TraceID
	// Ref is the trace's number, zero if it has none.
	Ref    int64
	Name   string
	Status Status
	Start  time.Time
	// End is the zero time while the trace is running.
	End            time.Time
	ConversationID string
	UserID         string
	Environment    string
	ServiceName    string
	AgentName      string
	ReleaseID      string
	// Input and Output are whole in a detail and previews in a list; nil if
	// there is none.
	Input, Output jsontext.Value
	Usage         Usage
	Cost          Cost
	SpanCount     int
	ErrorCount    int
	Tags          []string
	Metadata      jsontext.Value
	Stub          bool
	AutoClosed    bool
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Usage is how many tokens were used.
type Usage struct {
	InputTokens, OutputTokens, CachedTokens, ReasoningTokens uint64
}

// Cost is what was spent. Known is false if no span names a cost and no price is
// known; it is then not zero but unknown.
type Cost struct {
	Known   bool
	NanoUSD uint64
}

// USD is the cost in dollars.
func (c Cost) USD() float64 { return float64(c.NanoUSD) / 1e9 }

// Span is one span of a trace.
type Span struct {
	ID            span.ID
	Parent        span.ID
	Name          string
	Kind          string // internal, server, client, producer or consumer
	PrimitiveType string
	Start         time.Time
	End           time.Time // the zero time while the span is open
	StatusCode    string    // unset, ok or error
	StatusMessage string
	Attributes    jsontext.Value // flat object
	Resource      jsontext.Value // object, nil if nothing is known
	Events        []SpanEvent    // by time
	Links         []SpanLink
	Input, Output jsontext.Value // nil if there is none
	System, Tools jsontext.Value
	Model         string
	Provider      string
	ToolName      string
	AgentName     string
	Usage         Usage
	Cost          Cost
	FirstToken    time.Duration
	IngestedAt    time.Time
}

// SpanEvent is something that happened during a span: an event of the span, or
// a log record that names it.
type SpanEvent struct {
	Time       time.Time // the zero time if the sender gave none
	Name       string
	Severity   string         // of a log record
	Body       jsontext.Value // of a log record, nil if there is none
	Attributes jsontext.Value // object
}

// SpanLink points to a span, usually of another trace.
type SpanLink struct {
	TraceID, SpanID string         // hexadecimal, as sent
	Attributes      jsontext.Value // object
}
