package trace

import (
	"github.com/assayhq/assay/internal/httpapi"
)

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AddFeedback":         addFeedbackBody{},
	"AddTracesToDataset":  toDatasetBody{},
	"AddedSpan":           addedSpanBody{},
	"AddedSpans":          addedSpansBody{},
	"AddedTrace":          promotedItem{},
	"AddedTraces":         promotedBody{},
	"Conversation":        conversationBody{},
	"ConversationList":    listConversationsBody{},
	"ConversationSummary": listedConversationBody{},
	"ConversationTotals":  conversationTotals{},
	"ConversationTurn":    turnBody{},
	"CreateTrace":         createTraceBody{},
	"EndUser":             userBody{},
	"EndUserList":         listUsersBody{},
	"EndUserTotals":       userTotals{},
	"Feedback":            feedbackBody{},
	"Percentiles":         percentilesBody{},
	"Proportion":          proportionBody{},
	"RejectedSpan":        rejectedSpanBody{},
	"SkippedTrace":        unpromotedTrace{},
	"Span":                spanBody{},
	"SpanEvent":           spanEventBody{},
	"SpanLink":            spanLinkBody{},
	"SpanList":            listSpansBody{},
	"SpanName":            spanNameBody{},
	"SpanStatus":          spanStatusBody{},
	"TimeWindow":          windowBody{},
	"Trace":               TraceBody{},
	"TraceDetail":         traceDetailBody{},
	"TraceList":           listTracesBody{},
	"TraceMetricGroup":    metricGroup{},
	"TraceMetricPoint":    metricPoint{},
	"TraceMetrics":        metricsBody{},
	"UpdateTrace":         updateTraceBody{},
	"WrittenTrace":        writtenTraceBody{},
}
