package trace

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// listedConversations is how far back conversations are listed, unless the
// caller asks for another time, which may be as long as conversationTime.
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
	After conversationPosition
}

// conversationPosition is a place in the list of conversations, which is by
// their last activity, newest first. The hash of its id settles ties.
type conversationPosition struct {
	last int64 // microseconds since 1970
	hash uint64
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
	Next conversationPosition
	More bool
}

// ListConversations returns conversations of which a trace starts in some time,
// those with the newest activity first.
func (s *Service) ListConversations(ctx context.Context, org principal.OrgID, f ConversationFilter, p ConversationPage) (ListedConversations, error) {
	in, err := f.window(s.now())
	if err != nil {
		return ListedConversations{}, err
	}
	out := ListedConversations{From: f.From, To: f.To}
	found, err := s.store.conversations(ctx, conversationsQuery{org: org, filter: f, in: in, after: p.After, limit: p.Limit + 1, offset: p.Offset})
	if err != nil {
		return ListedConversations{}, err
	}
	if len(found) > p.Limit {
		found = found[:p.Limit]
		out.Next, out.More = found[p.Limit-1].position, true
	}
	figures, err := s.store.conversationFigures(ctx, figuresQuery{org: org, in: in, ids: conversationIDs(found)})
	if err != nil {
		return ListedConversations{}, err
	}
	for _, c := range found {
		// One whose traces started earlier, or have moved on to another
		// conversation, is none of this time.
		if listed, ok := figures[c.id]; ok {
			listed.ID, listed.Last = c.id, at(c.position.last)
			out.Conversations = append(out.Conversations, listed)
		}
	}
	return out, nil
}

// CountConversations returns how many conversations were active.
func (s *Service) CountConversations(ctx context.Context, org principal.OrgID, f ConversationFilter) (int64, error) {
	in, err := f.window(s.now())
	if err != nil {
		return 0, err
	}
	return s.store.countConversations(ctx, conversationsQuery{org: org, filter: f, in: in})
}

// window settles the time of the filter.
func (f *ConversationFilter) window(now time.Time) (window, error) {
	if f.To.IsZero() {
		f.To = now.Add(time.Hour)
	}
	if f.From.IsZero() {
		f.From = f.To.Add(-listedConversations)
	}
	switch length := f.To.Sub(f.From); {
	case length <= 0:
		return window{}, fault.Invalid("query", "startBefore", "min", "must be after startAfter")
	case length > conversationTime:
		return window{}, fault.Invalid("query", "startAfter", "min", "must be at most 92 days before startBefore")
	}
	return window{low: max(span.Earliest, f.From.UnixMicro()+1), high: f.To.UnixMicro() - 1}, nil
}
