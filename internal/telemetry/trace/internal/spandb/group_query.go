package spandb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
)

// groupListQuery finds the groups that spans of some time name, the one with
// the latest span first. It reads few and narrow columns; what a group says as
// a whole is read for those of a page only.
type groupListQuery struct {
	org           principal.OrgID
	filter        TraceGroupFilter
	in            Window
	after         TraceGroupPosition
	limit, offset int
	// count asks how many there are instead.
	count bool
}

func (q groupListQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("from", q.in.Low)
	n.set("to", q.in.High)
	id := q.filter.By.column()
	from := "FROM spans\nWHERE org_id = @org AND " + within + "\n  AND " + strings.Join(append([]string{id + " != ''"}, q.filter.conditions(n)...), "\n  AND ")
	if q.count {
		return "SELECT uniqExact(" + id + ")\n" + from, n
	}
	below := ""
	if q.after != (TraceGroupPosition{}) {
		n.set("last", q.after.Last)
		n.set("hash", q.after.Hash)
		below = "\nHAVING (last, hash) < (@last, @hash)"
	}
	return "SELECT " + id + ", toUnixTimestamp64Micro(max(start_time)) AS last, cityHash64(" + id + ") AS hash\n" + from +
		"\nGROUP BY " + id + below + "\nORDER BY last DESC, hash DESC\nLIMIT " + strconv.Itoa(q.offset) + ", " + strconv.Itoa(q.limit), n
}

// conditions find the traces that match.
func (f TraceGroupFilter) conditions(n *arguments) (all []string) {
	for _, c := range []struct{ value, name, column string }{
		{f.UserID, "user", "user_id"},
		{f.Environment, "environment", "environment"},
		{f.ServiceName, "service", "service_name"},
	} {
		if c.value != "" {
			n.set(c.name, c.value)
			all = append(all, "trace_id IN (SELECT trace_id FROM spans WHERE org_id = @org AND "+within+" AND "+c.column+" = @"+c.name+")")
		}
	}
	return all
}

// foundGroup is a group and its place in the list.
type foundGroup struct {
	id       string
	position TraceGroupPosition
}

func (s DB) findGroups(ctx context.Context, q groupListQuery) ([]foundGroup, error) {
	var out []foundGroup
	err := s.read(ctx, q, func(rows scanner) error {
		var g foundGroup
		err := rows.Scan(&g.id, &g.position.Last, &g.position.Hash)
		out = append(out, g)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find traces by %s: %w", q.filter.By, err)
	}
	return out, nil
}

// groupTotalsQuery makes the totals of groups from those of their traces that
// match and start in some time. A trace belongs to the group that it names as a
// whole.
type groupTotalsQuery struct {
	org    principal.OrgID
	filter TraceGroupFilter
	in     Window
	ids    []string
}

func (q groupTotalsQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	q.in.set(n)
	n.set("first", q.in.Low)
	n.set("last", q.in.High)
	n.set("ids", q.ids)
	id := q.filter.By.summary()
	named := "SELECT trace_id FROM spans WHERE org_id = @org AND " + within + " AND " +
		strings.Join(append([]string{q.filter.By.column() + " IN (@ids)"}, q.filter.conditions(n)...), " AND ")
	started := "SELECT trace_id FROM traces\n    WHERE org_id = @org AND trace_id IN (" + named + ")\n    GROUP BY trace_id" +
		"\n    HAVING min(first_start) >= fromUnixTimestamp64Micro(@first, 'UTC') AND min(first_start) <= fromUnixTimestamp64Micro(@last, 'UTC')"
	from := "(\n  SELECT " + summaryRows + "\n  FROM spans FINAL\n  WHERE org_id = @org AND " + within + "\n  AND trace_id IN (\n    " + started + "))"
	return "SELECT " + id + `, argMaxIf(t_user, t_first, t_user != ''), min(t_first), uniqExactIf(t_conversation, t_conversation != ''),
  count(), countIf(t_ended AND t_failed), sum(t_spans), sum(t_errors),
  sum(t_input_tokens), sum(t_output_tokens), sum(t_cached_tokens), sum(t_reasoning_tokens), sum(t_cost), countIf(t_cost_known)
FROM (
` + summarySQL(from, id+" IN (@ids)") + `)
GROUP BY ` + id, n
}

// groupTotals completes the groups that have a trace in the time of the query.
func (s DB) groupTotals(ctx context.Context, q groupTotalsQuery) (map[string]TraceGroup, error) {
	if len(q.ids) == 0 {
		return nil, nil
	}
	out := make(map[string]TraceGroup, len(q.ids))
	err := s.read(ctx, q, func(rows scanner) error {
		var g TraceGroup
		var first int64
		var conversations, traces, failed, spans, errors, known uint64
		t := &g.Totals
		err := rows.Scan(&g.ID, &g.UserID, &first, &conversations, &traces, &failed, &spans, &errors,
			&t.Usage.InputTokens, &t.Usage.OutputTokens, &t.Usage.CachedTokens, &t.Usage.ReasoningTokens, &t.Cost.NanoUSD, &known)
		if err != nil {
			return err
		}
		g.First, g.Conversations = at(first), int(conversations)
		t.Traces, t.Failed, t.Spans, t.Errors = int(traces), int(failed), int(spans), int(errors)
		t.Cost.Known, t.CostKnown = known > 0, int(known)
		out[g.ID] = g
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read totals of traces by %s: %w", q.filter.By, err)
	}
	return out, nil
}
