package spandb

import (
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Arrival is a trace and when the newest of it came. Arrivals are ordered by the
// time, and those of one millisecond by the trace's id.
type Arrival struct {
	At int64 // milliseconds since 1970
	ID span.TraceID
}

// arrivalsQuery finds the traces to which something came after a place and until a
// time, of which a span started not long before: what was imported later than that
// is not new.
type arrivalsQuery struct {
	org   principal.OrgID
	after Arrival
	until int64 // milliseconds since 1970
	limit int
}

func (q arrivalsQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("low", (q.after.At*1000-reach)/minute*60)
	n.set("after", q.after.At)
	n.set("until", q.until)
	n.set("limit", q.limit)
	return "SELECT toUnixTimestamp64Milli(max(last_ingest)) AS last, trace_id\nFROM trace_starts\n" +
		"WHERE org_id = @org AND minute >= toDateTime(@low, 'UTC') AND last_ingest >= fromUnixTimestamp64Milli(@after, 'UTC')" +
		"\nGROUP BY trace_id\nHAVING (last, trace_id) > (@after, " + literal(q.after.ID[:]) + ") AND last <= @until" +
		"\nORDER BY last, trace_id\nLIMIT @limit", n
}

// Arrivals returns the traces to which something came after a place and until a
// time, in order.
func (s DB) Arrivals(ctx context.Context, org principal.OrgID, after Arrival, until time.Time, limit int) ([]Arrival, error) {
	found, err := s.candidates(ctx, arrivalsQuery{org: org, after: after, until: until.UnixMilli(), limit: limit}, 1)
	out := make([]Arrival, len(found))
	for i, c := range found {
		out[i] = Arrival{At: c.at, ID: c.id}
	}
	return out, err
}

// matchQuery finds those of some traces that may match.
type matchQuery struct {
	candidatesQuery
	ids []span.TraceID
}

func (q matchQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("low", q.in.Low/minute*60)
	n.set("high", q.in.High/minute*60)
	return "SELECT toInt64(0), trace_id\nFROM trace_starts\n" +
		"WHERE org_id = @org AND minute >= toDateTime(@low, 'UTC') AND minute <= toDateTime(@high, 'UTC') AND trace_id IN (" + idList(q.ids) + ")" + q.conditions(n) +
		"\nGROUP BY trace_id", n
}

// Matching returns those of the traces that match, in any order; their input and
// output are previews.
func (s DB) Matching(ctx context.Context, org principal.OrgID, f Filter, wanted []span.TraceID, now time.Time) ([]Trace, error) {
	bounds, err := s.Bounds(ctx, org, wanted)
	if err != nil || len(bounds) == 0 {
		return nil, err
	}
	q := candidatesQuery{org: org, filter: f, in: Window{Low: bounds[0].First, High: bounds[0].First}, idle: idleSince(now)}
	of := make(map[span.TraceID]Bounds, len(bounds))
	for _, b := range bounds {
		q.in.Low, q.in.High, of[b.ID] = min(q.in.Low, b.First), max(q.in.High, b.First), b
	}
	if len(f.narrow()) > 0 {
		may, err := s.candidates(ctx, matchQuery{q, wanted}, 1)
		if err != nil {
			return nil, err
		}
		among := ids(may)
		bounds = slices.DeleteFunc(bounds, func(b Bounds) bool { return !slices.Contains(among, b.ID) })
	}
	found, err := s.Summaries(ctx, SummaryQuery{Org: org, Of: bounds, Filter: f, idle: q.idle})
	if err != nil {
		return nil, err
	}
	out := make([]Trace, len(found))
	for i := range found {
		out[i] = found[i].Trace(now, of[found[i].ID])
	}
	return out, nil
}
