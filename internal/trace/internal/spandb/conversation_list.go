package spandb

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// listedConversations is how far back conversations are listed, unless the
// caller asks for another time, which may be as long as ConversationTime.
const listedConversations = 7 * 24 * time.Hour

// ConversationFilter says which conversations are meant; a zero field says
// nothing. A conversation matches if one of its traces does.
type ConversationFilter struct {
	UserID, Environment, ServiceName string
	// From and To are when traces must start.
	From, To time.Time
}

// ConversationPage says which part of a list of conversations is meant.
type ConversationPage struct {
	Limit, Offset int
	// After is where the page before ended; the zero position is the start.
	After ConversationPosition
}

// ConversationPosition is a place in the list of conversations, which is by
// their last activity, newest first. The hash of its id settles ties.
type ConversationPosition struct {
	Last int64 // microseconds since 1970
	Hash uint64
}

// ListedConversation is a conversation without its turns.
type ListedConversation struct {
	ID string
	// UserID is the user of the latest turn that names one.
	UserID string
	// First is the start of the first turn, Last that of the latest span that
	// names the conversation.
	First, Last time.Time
	Totals      ConversationTotals
}

// ListedConversations is a page of conversations.
type ListedConversations struct {
	From, To      time.Time
	Conversations []ListedConversation
	// Next is where the next page begins; More is false if there is none.
	Next ConversationPosition
	More bool
}

// ListConversations returns conversations of which a trace starts in some time,
// those with the newest activity first.
func (s DB) ListConversations(ctx context.Context, org principal.OrgID, f ConversationFilter, p ConversationPage, now time.Time) (ListedConversations, error) {
	in, err := f.window(now)
	if err != nil {
		return ListedConversations{}, err
	}
	out := ListedConversations{From: f.From, To: f.To}
	found, err := s.conversations(ctx, conversationsQuery{org: org, filter: f, in: in, after: p.After, limit: p.Limit + 1, offset: p.Offset})
	if err != nil {
		return ListedConversations{}, err
	}
	if len(found) > p.Limit {
		found = found[:p.Limit]
		out.Next, out.More = found[p.Limit-1].position, true
	}
	figures, err := s.conversationFigures(ctx, figuresQuery{org: org, in: in, ids: conversationIDs(found)})
	if err != nil {
		return ListedConversations{}, err
	}
	for _, c := range found {
		// One whose traces started earlier, or have moved on to another
		// conversation, is none of this time.
		if listed, ok := figures[c.id]; ok {
			listed.ID, listed.Last = c.id, at(c.position.Last)
			out.Conversations = append(out.Conversations, listed)
		}
	}
	return out, nil
}

// TotalConversations returns how many conversations were active.
func (s DB) TotalConversations(ctx context.Context, org principal.OrgID, f ConversationFilter, now time.Time) (int64, error) {
	in, err := f.window(now)
	if err != nil {
		return 0, err
	}
	return s.countConversations(ctx, conversationsQuery{org: org, filter: f, in: in})
}

// window settles the time of the filter.
func (f *ConversationFilter) window(now time.Time) (Window, error) {
	if f.To.IsZero() {
		f.To = now.Add(time.Hour)
	}
	if f.From.IsZero() {
		f.From = f.To.Add(-listedConversations)
	}
	switch length := f.To.Sub(f.From); {
	case length <= 0:
		return Window{}, fault.Invalid("query", "startBefore", "min", "must be after startAfter")
	case length > ConversationTime:
		return Window{}, fault.Invalid("query", "startAfter", "min", "must be at most 92 days before startBefore")
	}
	return Window{Low: max(span.Earliest, f.From.UnixMicro()+1), High: f.To.UnixMicro() - 1}, nil
}

// ConversationTotals are of all traces of the conversation.
type ConversationTotals struct {
	Turns, Failed int
	Spans, Errors int
	Usage         Usage
	// Cost is the sum of the costs that are known, of CostKnown turns.
	Cost      Cost
	CostKnown int
}

// Add counts one turn.
func (n *ConversationTotals) Add(t *Trace) {
	n.Turns++
	if t.Status == StatusFailed {
		n.Failed++
	}
	n.Spans += t.SpanCount
	n.Errors += t.ErrorCount
	n.Usage.InputTokens += t.Usage.InputTokens
	n.Usage.OutputTokens += t.Usage.OutputTokens
	n.Usage.CachedTokens += t.Usage.CachedTokens
	n.Usage.ReasoningTokens += t.Usage.ReasoningTokens
	if t.Cost.Known {
		n.CostKnown++
		n.Cost.Known = true
		n.Cost.NanoUSD += t.Cost.NanoUSD
	}
}

// ConversationTime is how far back a conversation is looked for, unless the
// caller asks for another time.
const ConversationTime = 92 * 24 * time.Hour
