package trace

import (
	"context"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerConversations(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getConversation", Method: http.MethodGet, Path: "/api/conversations/{conversationId}", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get a conversation",
		Description: "The traces that name the conversation, in the order in which they started, and the totals of all of them. " +
			"A page whose inputs and outputs are large ends before its limit.",
	}, s.getConversation)
}

type conversationInput struct {
	ConversationID string `path:"conversationId" minLength:"1" maxLength:"1024"`
	httpapi.Page
	StartAfter  time.Time `query:"startAfter" doc:"92 days before startBefore if absent."`
	StartBefore time.Time `query:"startBefore"`
}

type conversationOutput struct {
	Body conversationBody
}

type conversationBody struct {
	ConversationID string             `json:"conversation_id"`
	Window         windowBody         `json:"window" doc:"The time in which traces were looked for."`
	Turns          []turnBody         `json:"turns"`
	Totals         conversationTotals `json:"totals" doc:"Of all turns, not only of this page."`
	httpapi.Paging
}

// turnBody is a trace as a turn of a conversation.
type turnBody struct {
	TraceID       string        `json:"trace_id" doc:"32 hexadecimal digits."`
	Name          string        `json:"name"`
	Status        Status        `json:"status" enum:"running,completed,failed"`
	StartTime     httpapi.Time  `json:"start_time"`
	EndTime       *httpapi.Time `json:"end_time,omitempty" doc:"Absent while the trace is running."`
	DurationMS    *int64        `json:"duration_ms,omitempty" doc:"Absent while the trace is running."`
	UserID        string        `json:"user_id"`
	AgentName     string        `json:"agent_name"`
	Input         httpapi.JSON  `json:"input,omitzero"`
	Output        httpapi.JSON  `json:"output,omitzero"`
	Usage         httpapi.Usage `json:"usage"`
	CostUSD       *float64      `json:"cost_usd" nullable:"true" doc:"US dollars; null if unknown."`
	SpanCount     int           `json:"span_count"`
	ErrorCount    int           `json:"error_count"`
	FeedbackCount int64         `json:"feedback_count"`
}

type conversationTotals struct {
	Turns          int           `json:"turns"`
	FailedTurns    int           `json:"failed_turns"`
	Spans          int           `json:"spans"`
	Errors         int           `json:"errors"`
	Usage          httpapi.Usage `json:"usage"`
	CostUSD        *float64      `json:"cost_usd" nullable:"true" doc:"The sum of the known costs; null if none is known."`
	CostKnownTurns int           `json:"cost_known_turns" doc:"How many turns the cost is of."`
}

func (s *Service) getConversation(ctx context.Context, in *conversationInput) (*conversationOutput, error) {
	c, err := s.Conversation(ctx, principal.From(ctx).Org, ConversationQuery{
		ID: in.ConversationID, From: in.StartAfter, To: in.StartBefore, Limit: in.Limit, Offset: in.Offset,
	})
	if err != nil {
		return nil, err
	}
	n := c.Totals
	out := conversationBody{
		ConversationID: in.ConversationID, Window: windowBody{From: httpapi.Time(c.From), To: httpapi.Time(c.To)}, Turns: make([]turnBody, len(c.Turns)),
		Totals: conversationTotals{
			Turns: n.Turns, FailedTurns: n.Failed, Spans: n.Spans, Errors: n.Errors,
			Usage: toUsageBody(n.Usage), CostUSD: toCost(n.Cost), CostKnownTurns: n.CostKnown,
		},
		Paging: in.Page.Paging(len(c.Turns), int64(n.Turns)),
	}
	for i, t := range c.Turns {
		out.Turns[i] = toTurnBody(t)
	}
	return &conversationOutput{Body: out}, nil
}

func toTurnBody(t Turn) turnBody {
	b := turnBody{
		TraceID: t.Trace.ID.String(), Name: t.Trace.Name, Status: t.Trace.Status, StartTime: httpapi.Time(t.Trace.Start),
		UserID: t.Trace.UserID, AgentName: t.Trace.AgentName, Input: httpapi.JSON(t.Trace.Input), Output: httpapi.JSON(t.Trace.Output),
		Usage: toUsageBody(t.Trace.Usage), CostUSD: toCost(t.Trace.Cost), SpanCount: t.Trace.SpanCount, ErrorCount: t.Trace.ErrorCount,
		FeedbackCount: t.Feedback,
	}
	b.EndTime, b.DurationMS = toEnd(t.Trace.Start, t.Trace.End)
	return b
}
