package trace

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// ErrNotFound is returned when the organization has no such trace.
var ErrNotFound = fault.New(fault.NotFound, "trace_not_found", "The trace does not exist.")

// What is read from spans, and which of it. The package that stores spans
// declares these types because its statements produce and use them.
type (
	// Trace is one trace as its spans show it.
	Trace = spandb.Trace
	// Status is where a trace stands.
	Status = spandb.Status
	// Span is one span of a trace.
	Span = spandb.Span
	// SpanEvent is something that happened during a span.
	SpanEvent = spandb.SpanEvent
	// SpanLink points to a span, usually of another trace.
	SpanLink = spandb.SpanLink
	// Usage is how many tokens were used.
	Usage = spandb.Usage
	// Cost is what was spent.
	Cost = spandb.Cost

	// Filter says which traces are meant.
	Filter = spandb.Filter
	// Page says which part of a list is meant.
	Page = spandb.Page

	// Group is what the traces of a conversation or an end user are together.
	Group = spandb.TraceGroup
	// GroupFilter says which conversations or end users are meant.
	GroupFilter = spandb.TraceGroupFilter
	// GroupPage says which part of a list of them is meant.
	GroupPage = spandb.TraceGroupPage
	// Groups is a page of them.
	Groups = spandb.TraceGroups
	// Totals are of all traces of a conversation or an end user.
	Totals = spandb.TraceTotals

	// MetricsQuery says which figures are wanted.
	MetricsQuery = spandb.MetricsQuery
	// MetricGroup are the figures of the spans with one key.
	MetricGroup = spandb.MetricGroup
	// GroupBy is what spans are grouped by.
	GroupBy = spandb.GroupBy
	// Percentiles are by nearest rank, in milliseconds.
	Percentiles = spandb.Percentiles
)

// The statuses of a trace.
const (
	StatusRunning   = spandb.StatusRunning
	StatusCompleted = spandb.StatusCompleted
	StatusFailed    = spandb.StatusFailed
)
