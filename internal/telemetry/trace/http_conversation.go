package trace

import (
	"context"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

func (s *Service) registerConversations(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listConversations", Method: http.MethodGet, Path: "/api/conversations", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "List conversations",
		Description: "Returns the conversations of which a trace starts within a window of up to 92 days, by their latest activity, newest first. " +
			"Totals cover the turns that start in the window. A page may be shorter than its limit and still have a next one.",
	}, s.getConversations)
	httpapi.Register(e, httpapi.Op{
		ID: "getConversation", Method: http.MethodGet, Path: "/api/conversations/{conversationId}", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get a conversation",
		Description: "Returns the traces of the conversation as turns, in the order of their start, and totals of all of them. " +
			"A page with large inputs and outputs may be shorter than its limit.",
	}, s.getConversation)
}

type listConversationsInput struct {
	httpapi.CursorPage
	UserID      string `query:"userId" maxLength:"1024" doc:"Only conversations with a turn of this end user."`
	Environment string `query:"environment" maxLength:"1024" doc:"Only conversations with a turn in this environment."`
	ServiceName string `query:"serviceName" maxLength:"1024" doc:"Only conversations with a turn of this service."`
	GroupWindow
}

type listConversationsBody struct {
	Window        windowBody               `json:"window" doc:"Window in which turns start."`
	Conversations []listedConversationBody `json:"conversations" doc:"Conversations of this page."`
	httpapi.CursorPaging
}

// listedConversationBody is a conversation without its turns.
type listedConversationBody struct {
	ID             string             `json:"id" doc:"Id of the conversation, as the application named it."`
	ConversationID string             `json:"conversation_id" doc:"Same as id, under the name that traces have it by."`
	UserID         *string            `json:"user_id" doc:"End user of the latest turn that names one; null if none does."`
	FirstStartTime httpapi.Time       `json:"first_start_time" doc:"Start of the first turn in the window."`
	LastStartTime  httpapi.Time       `json:"last_start_time" doc:"Start of the latest span that names the conversation; the list is ordered by it."`
	Totals         conversationTotals `json:"totals" doc:"Totals of the turns in the window."`
}

type conversationInput struct {
	ConversationID string `path:"conversationId" minLength:"1" maxLength:"1024" doc:"Id of the conversation, as the application named it."`
	httpapi.CursorPage
	StartAfter  time.Time `query:"startAfter" doc:"Only turns that start after this time; by default 92 days before startBefore."`
	StartBefore time.Time `query:"startBefore" doc:"Only turns that start before this time; by default the current time."`
}

type conversationBody struct {
	ID             string             `json:"id" doc:"Id of the conversation, as the application named it."`
	ConversationID string             `json:"conversation_id" doc:"Same as id, under the name that traces have it by."`
	Window         windowBody         `json:"window" doc:"Window in which turns start."`
	Turns          []turnBody         `json:"turns" doc:"Turns of this page, in the order of their start."`
	Totals         conversationTotals `json:"totals" doc:"Totals of all turns in the window."`
	httpapi.CursorPaging
}

// turnBody is a trace as a turn of a conversation.
type turnBody struct {
	TraceID       string                     `json:"trace_id" doc:"Id of the trace."`
	Name          *string                    `json:"name" doc:"Name of the trace, or else of its root span; null if neither has one."`
	Status        statusText                 `json:"status" doc:"Status of the trace."`
	StartTime     httpapi.Time               `json:"start_time" doc:"Start of the trace."`
	EndTime       httpapi.Null[httpapi.Time] `json:"end_time" doc:"End of the trace; null while it is running."`
	DurationMS    *float64                   `json:"duration_ms" doc:"Milliseconds from start to end, to the microsecond; null while the trace is running."`
	UserID        *string                    `json:"user_id" doc:"End user of the application; null if unknown."`
	AgentName     *string                    `json:"agent_name" doc:"Name of the agent; null if unknown."`
	Input         httpapi.JSON               `json:"input" doc:"Input of the trace as any JSON value; null if there is none."`
	Output        httpapi.JSON               `json:"output" doc:"Output of the trace as any JSON value; null if there is none."`
	Usage         httpapi.Usage              `json:"usage" doc:"Tokens used by the turn."`
	CostUSD       *float64                   `json:"cost_usd" doc:"Cost in US dollars; null if unknown."`
	SpanCount     int                        `json:"span_count" doc:"Number of spans."`
	ErrorCount    int                        `json:"error_count" doc:"Number of spans that ended with an error."`
	FeedbackCount int64                      `json:"feedback_count" doc:"Number of feedback entries."`
}

type conversationTotals struct {
	Turns          int           `json:"turns" doc:"Number of turns."`
	FailedTurns    int           `json:"failed_turns" doc:"Number of turns that failed."`
	Spans          int           `json:"spans" doc:"Number of spans."`
	Errors         int           `json:"errors" doc:"Number of spans that ended with an error."`
	Usage          httpapi.Usage `json:"usage" doc:"Tokens used by the turns."`
	CostUSD        *float64      `json:"cost_usd" doc:"Sum of the known costs in US dollars; null if none is known."`
	CostKnownTurns int           `json:"cost_known_turns" doc:"Number of turns whose cost is known."`
}

// The cursors of conversations, by their latest activity, and of the turns of
// one, by their start.
const (
	conversationCursor = groupCursor("conversations")
	turnCursor         = httpapi.Cursor[span.TraceID]("turns")
)

func (s *Service) getConversations(ctx context.Context, in *listConversationsInput) (*httpapi.Body[listConversationsBody], error) {
	f := GroupFilter{By: spandb.ByConversation, UserID: in.UserID, Environment: in.Environment, ServiceName: in.ServiceName}
	found, paging, err := s.readGroups(ctx, f, in.GroupWindow, in.CursorPage, conversationCursor)
	if err != nil {
		return nil, err
	}
	out := listConversationsBody{
		Window: toWindow(found.From, found.To), Conversations: make([]listedConversationBody, len(found.Groups)), CursorPaging: paging,
	}
	for i, g := range found.Groups {
		out.Conversations[i] = listedConversationBody{
			ID: g.ID, ConversationID: g.ID, UserID: httpapi.OrNull(g.UserID),
			FirstStartTime: httpapi.Time(g.First), LastStartTime: httpapi.Time(g.Last), Totals: toConversationTotals(g.Totals),
		}
	}
	return httpapi.NewBody(out), nil
}

func (s *Service) getConversation(ctx context.Context, in *conversationInput) (*httpapi.Body[conversationBody], error) {
	after, err := turnCursor.Place(in.Cursor)
	if err != nil {
		return nil, err
	}
	c, err := s.Conversation(ctx, principal.From(ctx).Org, ConversationQuery{
		ID: in.ConversationID, From: in.StartAfter, To: in.StartBefore,
		After: spandb.Position{Start: after.At, ID: after.Tie}, Limit: in.Limit, Offset: in.Offset,
	})
	if err != nil {
		return nil, err
	}
	next := ""
	if c.More {
		next = turnCursor.Text(httpapi.Place[span.TraceID]{At: c.Next.Start, Tie: c.Next.ID})
	}
	out := conversationBody{
		ID: in.ConversationID, ConversationID: in.ConversationID,
		Window: toWindow(c.From, c.To), Turns: make([]turnBody, len(c.Turns)),
		Totals: toConversationTotals(c.Totals), CursorPaging: in.Paging(next, int64(c.Totals.Traces)),
	}
	for i, t := range c.Turns {
		out.Turns[i] = toTurnBody(t)
	}
	return httpapi.NewBody(out), nil
}

func toConversationTotals(n Totals) conversationTotals {
	return conversationTotals{
		Turns: n.Traces, FailedTurns: n.Failed, Spans: n.Spans, Errors: n.Errors,
		Usage: toUsage(n.Usage), CostUSD: toCost(n.Cost), CostKnownTurns: n.CostKnown,
	}
}

func toTurnBody(t Turn) turnBody {
	b := turnBody{
		TraceID: t.Trace.ID.String(), Name: httpapi.OrNull(t.Trace.Name), Status: statusText(t.Trace.Status), StartTime: httpapi.Time(t.Trace.Start),
		UserID: httpapi.OrNull(t.Trace.UserID), AgentName: httpapi.OrNull(t.Trace.AgentName), Input: httpapi.JSON(t.Trace.Input), Output: httpapi.JSON(t.Trace.Output),
		Usage: toUsage(t.Trace.Usage), CostUSD: toCost(t.Trace.Cost), SpanCount: t.Trace.SpanCount, ErrorCount: t.Trace.ErrorCount,
		FeedbackCount: t.Feedback,
	}
	b.EndTime, b.DurationMS = toEnd(t.Trace.Start, t.Trace.End)
	return b
}
