package trace

import "github.com/assayhq/assay/internal/change/event"

var (
	traceNoun    = event.Of("trace", "Trace")
	feedbackNoun = event.Of("feedback", "Feedback")
)

var (
	eventDeleted = traceNoun.Event("trace.deleted", "A trace was deleted.")
	// EventFeedback is followed by those who read what users say.
	EventFeedback = feedbackNoun.Event("trace.feedback_created", "Feedback about a trace was given.")
)
