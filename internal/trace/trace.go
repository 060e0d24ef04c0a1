package trace

import (
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/trace/internal/spandb"
)

// ErrNotFound is returned when the organization has no such trace.
var ErrNotFound = fault.New(fault.NotFound, "trace_not_found", "The trace does not exist.")

// What is read from spans, and which of it. The package that stores spans
// declares these types because its statements produce and use them.
type (
	Trace     = spandb.Trace
	Status    = spandb.Status
	Span      = spandb.Span
	SpanEvent = spandb.SpanEvent
	SpanLink  = spandb.SpanLink
	Usage     = spandb.Usage
	Cost      = spandb.Cost

	Filter = spandb.Filter
	Page   = spandb.Page

	ConversationFilter  = spandb.ConversationFilter
	ConversationPage    = spandb.ConversationPage
	ConversationTotals  = spandb.ConversationTotals
	ListedConversations = spandb.ListedConversations

	MetricsQuery = spandb.MetricsQuery
	MetricGroup  = spandb.MetricGroup
	GroupBy      = spandb.GroupBy
	Percentiles  = spandb.Percentiles
)

// The statuses of a trace.
const (
	StatusRunning   = spandb.StatusRunning
	StatusCompleted = spandb.StatusCompleted
	StatusFailed    = spandb.StatusFailed
)
