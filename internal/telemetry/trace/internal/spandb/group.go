package spandb

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

const (
	// ConversationTime is how far back a conversation is looked for, unless the
	// caller asks for another time.
	ConversationTime = 92 * 24 * time.Hour
	// listedTime is how far back groups of traces are listed, unless the caller
	// asks for another time, which may be as long as ConversationTime.
	listedTime = 7 * 24 * time.Hour
)

// TraceKey is what the traces of a group have in common.
type TraceKey string

// What traces are grouped by.
const (
	ByConversation TraceKey = "conversation"
	ByUser         TraceKey = "user"
)

// column is where a span names the group, and summary where a trace does.
func (k TraceKey) column() string  { return string(k) + "_id" }
func (k TraceKey) summary() string { return "t_" + string(k) }

// TraceGroupFilter says which groups are meant; a zero field says nothing. A
// group matches if one of its traces does. Those of a user that do not match are
// left out; a conversation is one thing and has all of them.
type TraceGroupFilter struct {
	By                               TraceKey
	UserID, Environment, ServiceName string
	// From and To are when traces must start.
	From, To time.Time
}

// TraceGroupPage says which part of a list of groups is meant.
type TraceGroupPage struct {
	Limit, Offset int
	// After is where the page before ended; the zero position is the start.
	After TraceGroupPosition
}

// TraceGroupPosition is a place in the list of groups, which is by their last
// activity, newest first. The hash of its id settles ties.
type TraceGroupPosition struct {
	Last int64 // microseconds since 1970
	Hash uint64
}

// TraceGroup is what the traces of one conversation, or of one user, are
// together.
type TraceGroup struct {
	ID string
	// UserID is the user of the latest trace that names one.
	UserID string
	// First is the start of the first trace, Last that of the latest span that
	// names the group.
	First, Last time.Time
	// Conversations is how many its traces name.
	Conversations int
	Totals        TraceTotals
}

// TraceGroups is a page of groups.
type TraceGroups struct {
	From, To time.Time
	Groups   []TraceGroup
	// Next is where the next page begins; More is false if there is none.
	Next TraceGroupPosition
	More bool
}

// TraceGroups returns groups of which a trace starts in some time, those with
// the newest activity first.
func (s DB) TraceGroups(ctx context.Context, org principal.OrgID, f TraceGroupFilter, p TraceGroupPage, now time.Time) (TraceGroups, error) {
	in, err := f.window(now)
	if err != nil {
		return TraceGroups{}, err
	}
	out := TraceGroups{From: f.From, To: f.To}
	found, err := s.findGroups(ctx, groupListQuery{org: org, filter: f, in: in, after: p.After, limit: p.Limit + 1, offset: p.Offset})
	if err != nil {
		return TraceGroups{}, err
	}
	if len(found) > p.Limit {
		found = found[:p.Limit]
		out.Next, out.More = found[p.Limit-1].position, true
	}
	ids := make([]string, len(found))
	for i, g := range found {
		ids[i] = g.id
	}
	if f.By == ByConversation { // which counts as a whole
		f = TraceGroupFilter{By: f.By}
	}
	totals, err := s.groupTotals(ctx, groupTotalsQuery{org: org, filter: f, in: in, ids: ids})
	if err != nil {
		return TraceGroups{}, err
	}
	for _, g := range found {
		// One whose traces started earlier, or have moved on to another group, is
		// none of this time.
		if listed, ok := totals[g.id]; ok {
			listed.Last = at(g.position.Last)
			out.Groups = append(out.Groups, listed)
		}
	}
	return out, nil
}

// CountTraceGroups returns how many groups were active.
func (s DB) CountTraceGroups(ctx context.Context, org principal.OrgID, f TraceGroupFilter, now time.Time) (int64, error) {
	in, err := f.window(now)
	if err != nil {
		return 0, err
	}
	var n uint64
	if err := s.read(ctx, groupListQuery{org: org, filter: f, in: in, count: true}, func(rows scanner) error { return rows.Scan(&n) }); err != nil {
		return 0, fmt.Errorf("count traces by %s: %w", f.By, err)
	}
	return int64(n), nil
}

// window settles the time of the filter.
func (f *TraceGroupFilter) window(now time.Time) (Window, error) {
	if f.To.IsZero() {
		f.To = now.Add(time.Hour)
	}
	if f.From.IsZero() {
		f.From = f.To.Add(-listedTime)
	}
	switch length := f.To.Sub(f.From); {
	case length <= 0:
		return Window{}, fault.Invalid("query", "startBefore", "min", "must be after startAfter")
	case length > ConversationTime:
		return Window{}, fault.Invalid("query", "startAfter", "min", "must be at most 92 days before startBefore")
	}
	return Window{Low: max(span.Earliest, f.From.UnixMicro()+1), High: f.To.UnixMicro() - 1}, nil
}

// TraceTotals are of all traces of a group.
type TraceTotals struct {
	Traces, Failed int
	Spans, Errors  int
	Usage          Usage
	// Cost is the sum of the costs that are known, of CostKnown traces.
	Cost      Cost
	CostKnown int
}

// Add counts one trace.
func (n *TraceTotals) Add(t *Trace) {
	n.Traces++
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
