package trace

import (
	"strings"
	"time"

	"github.com/assayhq/assay/internal/httpapi"
)

// FilterText are the texts by which callers say which traces are meant.
type FilterText struct {
	Search         string `query:"search" json:"search,omitempty" maxLength:"200" doc:"Only traces with a span that contains all of these words in its messages, outputs or attributes, or this text in its name; case-insensitive."`
	ConversationID string `query:"conversationId" json:"conversationId,omitempty" maxLength:"1024" doc:"Only traces of this conversation."`
	UserID         string `query:"userId" json:"userId,omitempty" maxLength:"1024" doc:"Only traces of this end user."`
	Environment    string `query:"environment" json:"environment,omitempty" maxLength:"1024" doc:"Only traces of this environment."`
	AgentName      string `query:"agentName" json:"agentName,omitempty" maxLength:"1024" doc:"Only traces of this agent."`
	ReleaseID      string `query:"releaseId" json:"releaseId,omitempty" maxLength:"1024" doc:"Only traces of this release."`
}

// FilterFields are what every body says about the traces that are meant; statuses and times
// are of the bodies that have them.
type FilterFields struct {
	FilterText

	Tag           string   `json:"tag,omitempty" maxLength:"1024" doc:"Only traces with this label."`
	HasError      *bool    `json:"hasError,omitempty" doc:"Whether a span, or the trace itself, ended with an error."`
	MinDurationMS *float64 `json:"minDurationMs,omitempty" minimum:"0" maximum:"315360000000" doc:"Only traces that have ended and took at least this many milliseconds."`
}

// FilterInput is a filter in a body, with all that lists of traces can be filtered by.
type FilterInput struct {
	Status []statusText `json:"status,omitempty" maxItems:"3" doc:"Only traces with one of these statuses."`
	FilterFields

	StartAfter  *time.Time `json:"startAfter,omitempty" doc:"Only traces that start after this time."`
	StartBefore *time.Time `json:"startBefore,omitempty" doc:"Only traces that start before this time."`
}

// FilterQuery are the filters of lists of traces.
type FilterQuery struct {
	Status []statusText `query:"status,explode" doc:"Only traces with this status; repeat the parameter to allow several."`
	FilterText

	MinDurationMS httpapi.Filter[float64] `query:"minDurationMs" minimum:"0" maximum:"315360000000" doc:"Only traces that have ended and took at least this many milliseconds."`
	HasError      httpapi.Filter[bool]    `query:"hasError" doc:"Whether a span, or the trace itself, ended with an error."`
	Tag           string                  `query:"tag" maxLength:"1024" doc:"Only traces with this label."`
	StartAfter    time.Time               `query:"startAfter" doc:"Only traces that start after this time."`
	StartBefore   time.Time               `query:"startBefore" doc:"Only traces that start before this time."`
}

// FilterBody is a filter as responses show it, and as it is stored with what applies it later.
type FilterBody struct {
	Search         *string  `json:"search" doc:"Words that a span has to contain; null means any."`
	ConversationID *string  `json:"conversation_id" doc:"Conversation; null means any."`
	UserID         *string  `json:"user_id" doc:"End user; null means any."`
	Environment    *string  `json:"environment" doc:"Environment; null means any."`
	AgentName      *string  `json:"agent_name" doc:"Agent; null means any."`
	ReleaseID      *string  `json:"release_id" doc:"Release; null means any."`
	Tag            *string  `json:"tag" doc:"Label; null means any."`
	HasError       *bool    `json:"has_error" doc:"Whether an error occurred; null means either."`
	MinDurationMS  *float64 `json:"min_duration_ms" doc:"Least duration in milliseconds; null means any."`
}

// Filter is what the fields mean.
func (f FilterFields) Filter() Filter {
	out := Filter{
		Search: strings.TrimSpace(f.Search), ConversationID: f.ConversationID, UserID: f.UserID, Environment: f.Environment,
		AgentName: f.AgentName, ReleaseID: f.ReleaseID, Tag: f.Tag, HasError: f.HasError,
	}
	if f.MinDurationMS != nil {
		least := time.Duration(*f.MinDurationMS * float64(time.Millisecond))
		out.MinDuration = &least
	}
	return out
}

// Filter is what the body means.
func (f FilterInput) Filter() Filter {
	q := FilterQuery{Status: f.Status, FilterText: f.FilterText}
	if f.StartAfter != nil {
		q.StartAfter = *f.StartAfter
	}
	if f.StartBefore != nil {
		q.StartBefore = *f.StartBefore
	}
	return q.of(f.FilterFields)
}

func (f FilterQuery) filter() Filter {
	return f.of(FilterFields{FilterText: f.FilterText, Tag: f.Tag, HasError: f.HasError.OrNil(), MinDurationMS: f.MinDurationMS.OrNil()})
}

// of adds statuses and times to what fields mean.
func (f FilterQuery) of(fields FilterFields) Filter {
	out := fields.Filter()
	out.StartAfter, out.StartBefore = f.StartAfter, f.StartBefore
	for _, status := range f.Status {
		out.Status = append(out.Status, Status(status))
	}
	return out
}

// ToFilterBody shows a filter without its statuses and times.
func ToFilterBody(f Filter) FilterBody {
	b := FilterBody{
		Search: httpapi.OrNull(f.Search), ConversationID: httpapi.OrNull(f.ConversationID), UserID: httpapi.OrNull(f.UserID),
		Environment: httpapi.OrNull(f.Environment), AgentName: httpapi.OrNull(f.AgentName), ReleaseID: httpapi.OrNull(f.ReleaseID),
		Tag: httpapi.OrNull(f.Tag), HasError: f.HasError,
	}
	if f.MinDuration != nil {
		least := float64(*f.MinDuration) / float64(time.Millisecond)
		b.MinDurationMS = &least
	}
	return b
}

// Filter is what a body that was shown or stored means.
func (b FilterBody) Filter() Filter {
	of := func(v *string) string {
		if v == nil {
			return ""
		}
		return *v
	}
	return FilterFields{
		FilterText{of(b.Search), of(b.ConversationID), of(b.UserID), of(b.Environment), of(b.AgentName), of(b.ReleaseID)},
		of(b.Tag), b.HasError, b.MinDurationMS,
	}.Filter()
}
