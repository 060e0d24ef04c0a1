package trace

import (
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// ErrConversationNotFound is returned when no trace of the organization is part
// of the conversation.
var ErrConversationNotFound = fault.New(fault.NotFound, "conversation_not_found", "The conversation does not exist in this window. Set startAfter to look further back.")

// errConversationLong is returned when a conversation cannot be read at once.
var errConversationLong = fault.New(fault.Validation, "too_much_data", "The conversation has more than 10,000 traces in this time. Narrow it with startAfter and startBefore.")

// maxTurns is how many traces of a conversation are put in order.
const maxTurns = 10_000

// ConversationQuery says which part of which conversation is meant.
type ConversationQuery struct {
	ID string
	// Traces that start after From and before To.
	From, To time.Time
	// After is the turn that a page begins after.
	After         spandb.Position
	Limit, Offset int
}

// Conversation is a page of the traces of one conversation, by their start.
type Conversation struct {
	From, To time.Time
	Turns    []Turn
	// Totals are of the turns on all pages.
	Totals Totals
	// Next is where the next page begins; More is false if there is none.
	Next spandb.Position
	More bool
}

// Turn is one trace of a conversation. Its input and output are whole.
type Turn struct {
	Trace    Trace
	Feedback int64
}

// Conversation returns the traces of a conversation in the order in which they
// started.
func (s *Service) Conversation(ctx context.Context, org principal.OrgID, q ConversationQuery) (Conversation, error) {
	now := s.now()
	if q.To.IsZero() {
		q.To = now.Add(time.Hour)
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-spandb.ConversationTime)
	}
	ids, err := s.store.Conversation(ctx, spandb.ConversationQuery{Org: org, ID: q.ID, In: spandb.Window{Low: q.From.UnixMicro() + 1, High: q.To.UnixMicro() - 1}, Limit: maxTurns + 1})
	switch {
	case err != nil:
		return Conversation{}, err
	case len(ids) == 0:
		return Conversation{}, ErrConversationNotFound
	case len(ids) > maxTurns:
		return Conversation{}, errConversationLong
	}
	found, traces, err := s.turns(ctx, org, q, ids, now)
	if err != nil {
		return Conversation{}, err
	}
	if len(traces) == 0 {
		return Conversation{}, ErrConversationNotFound
	}
	out := Conversation{From: q.From, To: q.To}
	for i := range traces {
		out.Totals.Add(&traces[i])
	}
	low := 0
	for low < len(traces) && place(traces[low]).Compare(q.After) <= 0 {
		low++
	}
	low = min(low+q.Offset, len(traces))
	high := min(low+q.Limit, len(traces))
	if err := s.fillTurns(ctx, org, &out, found[low:high], traces[low:high]); err != nil {
		return Conversation{}, err
	}
	if end := low + len(out.Turns); end < len(traces) {
		out.Next, out.More = place(traces[end-1]), true
	}
	return out, nil
}

// place is where a trace stands among others.
func place(t Trace) spandb.Position { return spandb.Position{Start: t.Start.UnixMicro(), ID: t.ID} }

// turns reads the traces that are part of the conversation, by their start.
func (s *Service) turns(ctx context.Context, org principal.OrgID, q ConversationQuery, ids []span.TraceID, now time.Time) ([]spandb.Summary, []Trace, error) {
	var found []spandb.Summary
	created := map[span.TraceID]spandb.Bounds{}
	for part := range slices.Chunk(ids, spandb.MaxSummaries/2) {
		in, err := s.store.Bounds(ctx, org, part)
		if err != nil {
			return nil, nil, err
		}
		in = slices.DeleteFunc(in, func(b spandb.Bounds) bool { return b.First <= q.From.UnixMicro() || b.First >= q.To.UnixMicro() })
		for _, b := range in {
			created[b.ID] = b
		}
		some, err := s.store.Summaries(ctx, spandb.SummaryQuery{Org: org, Of: in, Filter: Filter{ConversationID: q.ID}})
		if err != nil {
			return nil, nil, err
		}
		found = append(found, some...)
	}
	slices.SortFunc(found, func(a, b spandb.Summary) int { return created[a.ID].Position().Compare(created[b.ID].Position()) })
	traces := make([]Trace, len(found))
	for i := range found {
		traces[i] = found[i].Trace(now, created[found[i].ID])
	}
	return found, traces, nil
}

// turnsAtOnce is how many turns are completed before the next ones are asked
// for: what they hold may be large.
const turnsAtOnce = 25

// fillTurns completes the traces of a page. A page whose inputs and outputs are
// large ends early.
func (s *Service) fillTurns(ctx context.Context, org principal.OrgID, c *Conversation, of []spandb.Summary, traces []Trace) error {
	size := 0
	for low := 0; low < len(traces) && size < spandb.MaxPayload; low += turnsAtOnce {
		high := min(low+turnsAtOnce, len(traces))
		turns, err := s.complete(ctx, org, of[low:high], traces[low:high])
		if err != nil {
			return err
		}
		for _, t := range turns {
			size += len(t.Trace.Input) + len(t.Trace.Output)
		}
		c.Turns = append(c.Turns, turns...)
	}
	return nil
}

// complete makes turns of traces.
func (s *Service) complete(ctx context.Context, org principal.OrgID, of []spandb.Summary, traces []Trace) ([]Turn, error) {
	ids := make([]span.TraceID, len(of))
	for i := range of {
		ids[i] = of[i].ID
	}
	var feedback map[string]int64
	err := spandb.Together(ctx, func(ctx context.Context) error {
		return s.store.FillTexts(ctx, org, of, traces)
	}, func(ctx context.Context) (err error) {
		feedback, err = s.scores.Count(ctx, org, feedbackOf(ids...))
		return err
	})
	if err != nil {
		return nil, err
	}
	turns := make([]Turn, len(traces))
	for i, t := range traces {
		turns[i] = Turn{Trace: t, Feedback: feedback[t.ID.String()]}
	}
	return turns, nil
}
