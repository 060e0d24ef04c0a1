package spandb

import (
	"time"

	"github.com/assayhq/assay/internal/telemetry/trace/internal/view"
)

// What statements produce.
type (
	// Status is where a trace stands.
	Status = view.Status
	// Trace is one trace as its spans show it.
	Trace = view.Trace
	// Usage is how many tokens were used.
	Usage = view.Usage
	// Cost is what was spent.
	Cost = view.Cost
	// Span is one span of a trace.
	Span = view.Span
	// SpanEvent is something that happened during a span.
	SpanEvent = view.SpanEvent
	// SpanLink points to a span, usually of another trace.
	SpanLink = view.SpanLink
)

// The statuses.
const (
	StatusRunning   = view.StatusRunning
	StatusCompleted = view.StatusCompleted
	StatusFailed    = view.StatusFailed
)

// IdleLimit is after how long without a new span a trace reads as closed.
const IdleLimit = 30 * time.Minute

// at is a time of a column.
func at(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
