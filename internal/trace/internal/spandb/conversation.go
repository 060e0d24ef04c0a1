package spandb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// ConversationQuery finds the traces of which a span names a conversation.
type ConversationQuery struct {
	Org   principal.OrgID
	ID    string
	In    Window
	Limit int
}

func (q ConversationQuery) sql() (string, *arguments) {
	n := forOrg(q.Org)
	q.In.set(n)
	n.set("conversation", q.ID)
	n.set("limit", q.Limit)
	return "SELECT DISTINCT trace_id\nFROM spans\nWHERE org_id = @org AND " + within + " AND conversation_id = @conversation\nLIMIT @limit", n
}

// Conversation returns the traces of which a span names a conversation.
func (s DB) Conversation(ctx context.Context, q ConversationQuery) ([]span.TraceID, error) {
	var out []span.TraceID
	err := s.read(ctx, q, func(rows scanner) error {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		out = append(out, span.TraceID([]byte(id)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find traces of conversation: %w", err)
	}
	return out, nil
}

// conversationsQuery finds the conversations that spans of some time name, the
// one with the latest span first. It reads few and narrow columns; what a
// conversation says as a whole is read for those of a page only.
type conversationsQuery struct {
	org           principal.OrgID
	filter        ConversationFilter
	in            Window
	after         ConversationPosition
	limit, offset int
	// count asks how many there are instead.
	count bool
}

func (q conversationsQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("from", q.in.Low)
	n.set("to", q.in.High)
	conditions := []string{"conversation_id != ''"}
	for _, c := range []struct{ value, name, column string }{
		{q.filter.UserID, "user", "user_id"},
		{q.filter.Environment, "environment", "environment"},
		{q.filter.ServiceName, "service", "service_name"},
	} {
		if c.value != "" {
			n.set(c.name, c.value)
			conditions = append(conditions, "trace_id IN (SELECT trace_id FROM spans WHERE org_id = @org AND "+within+" AND "+c.column+" = @"+c.name+")")
		}
	}
	from := "FROM spans\nWHERE org_id = @org AND " + within + "\n  AND " + strings.Join(conditions, "\n  AND ")
	if q.count {
		return "SELECT uniqExact(conversation_id)\n" + from, n
	}
	below := ""
	if q.after != (ConversationPosition{}) {
		n.set("last", q.after.Last)
		n.set("hash", q.after.Hash)
		below = "\nHAVING (last, hash) < (@last, @hash)"
	}
	return "SELECT conversation_id, toUnixTimestamp64Micro(max(start_time)) AS last, cityHash64(conversation_id) AS hash\n" + from +
		"\nGROUP BY conversation_id" + below + "\nORDER BY last DESC, hash DESC\nLIMIT " + strconv.Itoa(q.offset) + ", " + strconv.Itoa(q.limit), n
}

// foundConversation is a conversation and its place in the list.
type foundConversation struct {
	id       string
	position ConversationPosition
}

func conversationIDs(found []foundConversation) []string {
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.id
	}
	return ids
}

func (s DB) conversations(ctx context.Context, q conversationsQuery) ([]foundConversation, error) {
	var out []foundConversation
	err := s.read(ctx, q, func(rows scanner) error {
		var c foundConversation
		err := rows.Scan(&c.id, &c.position.Last, &c.position.Hash)
		out = append(out, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find conversations: %w", err)
	}
	return out, nil
}

func (s DB) countConversations(ctx context.Context, q conversationsQuery) (int64, error) {
	q.count = true
	var n uint64
	if err := s.read(ctx, q, func(rows scanner) error { return rows.Scan(&n) }); err != nil {
		return 0, fmt.Errorf("count conversations: %w", err)
	}
	return int64(n), nil
}

// figuresQuery makes the totals of conversations from those of their traces
// that start in some time. A trace belongs to the conversation that it names as
// a whole.
type figuresQuery struct {
	org principal.OrgID
	in  Window
	ids []string
}

func (q figuresQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	q.in.set(n)
	n.set("first", q.in.Low)
	n.set("last", q.in.High)
	n.set("conversations", q.ids)
	named := "SELECT trace_id FROM spans WHERE org_id = @org AND " + within + " AND conversation_id IN (@conversations)"
	started := "SELECT trace_id FROM traces\n    WHERE org_id = @org AND trace_id IN (" + named + ")\n    GROUP BY trace_id" +
		"\n    HAVING min(first_start) >= fromUnixTimestamp64Micro(@first, 'UTC') AND min(first_start) <= fromUnixTimestamp64Micro(@last, 'UTC')"
	from := "(\n  SELECT " + summaryRows + "\n  FROM spans FINAL\n  WHERE org_id = @org AND " + within + "\n  AND trace_id IN (\n    " + started + "))"
	return `SELECT t_conversation, argMaxIf(t_user, t_first, t_user != ''), min(t_first), count(), countIf(t_ended AND t_failed), sum(t_spans), sum(t_errors),
  sum(t_input_tokens), sum(t_output_tokens), sum(t_cached_tokens), sum(t_reasoning_tokens), sum(t_cost), countIf(t_cost_known)
FROM (
` + summarySQL(from, "t_conversation IN (@conversations)") + `)
GROUP BY t_conversation`, n
}

func (s DB) conversationFigures(ctx context.Context, q figuresQuery) (map[string]ListedConversation, error) {
	if len(q.ids) == 0 {
		return nil, nil
	}
	out := make(map[string]ListedConversation, len(q.ids))
	err := s.read(ctx, q, func(rows scanner) error {
		var c ListedConversation
		var id string
		var first int64
		var turns, failed, spans, errors, known uint64
		t := &c.Totals
		err := rows.Scan(&id, &c.UserID, &first, &turns, &failed, &spans, &errors,
			&t.Usage.InputTokens, &t.Usage.OutputTokens, &t.Usage.CachedTokens, &t.Usage.ReasoningTokens, &t.Cost.NanoUSD, &known)
		if err != nil {
			return err
		}
		c.First = time.UnixMicro(first).UTC()
		t.Turns, t.Failed, t.Spans, t.Errors = int(turns), int(failed), int(spans), int(errors)
		t.Cost.Known, t.CostKnown = known > 0, int(known)
		out[id] = c
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read figures of conversations: %w", err)
	}
	return out, nil
}
