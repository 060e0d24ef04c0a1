package spandb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// candidatesQuery finds the traces of which a span starts in some minutes, the
// newest minute first. It reads the key of trace_starts backwards and stops
// early. A trace may come several times.
type candidatesQuery struct {
	org    principal.OrgID
	filter Filter
	in     Window
	idle   int64
	limit  int
}

func (q candidatesQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("low", q.in.Low/minute*60)
	n.set("high", q.in.High/minute*60)
	n.set("limit", q.limit)
	return "SELECT toInt64(toUnixTimestamp(minute)), trace_id\nFROM trace_starts\n" +
		"WHERE org_id = @org AND minute >= toDateTime(@low, 'UTC') AND minute <= toDateTime(@high, 'UTC')" + q.conditions(n) +
		"\nORDER BY minute DESC\nLIMIT @limit", n
}

// conditions are the filter's, with their arguments.
func (q candidatesQuery) conditions(n *arguments) string {
	var t strings.Builder
	for _, c := range q.filter.narrow() {
		t.WriteString("\n  AND " + c)
	}
	q.filter.values(n, q.idle)
	q.in.set(n)
	return t.String()
}

// minuteQuery finds traces by their first span of one minute, newest first.
// Unlike candidatesQuery it reads the whole minute, however much it holds.
type minuteQuery struct {
	candidatesQuery
	below Position
}

func (q minuteQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("minute", q.in.Low/minute*60)
	n.set("start", q.below.Start)
	n.set("limit", q.limit)
	return "SELECT toUnixTimestamp64Micro(min(first_start)) AS first, trace_id\nFROM trace_starts\n" +
		"WHERE org_id = @org AND minute = toDateTime(@minute, 'UTC')" + q.conditions(n) +
		"\nGROUP BY trace_id\nHAVING (first, trace_id) < (@start, " + literal(q.below.ID[:]) + ")" +
		"\nORDER BY first DESC, trace_id DESC\nLIMIT @limit", n
}

// candidate is a trace and a time of it: of a minute, or of its first start in
// a minute.
type candidate struct {
	at int64 // microseconds since 1970
	id span.TraceID
}

func (s DB) candidates(ctx context.Context, q statement, unit int64) ([]candidate, error) {
	var out []candidate
	err := s.read(ctx, q, func(rows scanner) error {
		var c candidate
		var id string
		if err := rows.Scan(&c.at, &id); err != nil {
			return err
		}
		c.at *= unit
		copy(c.id[:], id)
		out = append(out, c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find traces: %w", err)
	}
	return out, nil
}

// boundsQuery reads when traces start and end, each by its key.
type boundsQuery struct {
	org principal.OrgID
	ids []span.TraceID
}

func (q boundsQuery) sql() (string, *arguments) {
	return "SELECT trace_id, toUnixTimestamp64Micro(min(first_start)), toUnixTimestamp64Micro(max(last_start)), toUnixTimestamp64Milli(min(first_ingest))\n" +
		"FROM traces\nWHERE org_id = @org AND trace_id IN (" + idList(q.ids) + ")\nGROUP BY trace_id", forOrg(q.org)
}

// Bounds returns the bounds of those of the traces that are stored.
func (s DB) Bounds(ctx context.Context, org principal.OrgID, ids []span.TraceID) (Scope, error) {
	out := make(Scope, 0, len(ids))
	err := s.read(ctx, boundsQuery{org: org, ids: ids}, func(rows scanner) error {
		var b Bounds
		var id string
		if err := rows.Scan(&id, &b.First, &b.last, &b.created); err != nil {
			return err
		}
		copy(b.ID[:], id)
		out = append(out, b)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read bounds of traces: %w", err)
	}
	return out, nil
}

// SummaryQuery reads what the spans of traces say together, of the traces that
// meet the filter.
type SummaryQuery struct {
	Org    principal.OrgID
	Of     Scope
	Filter Filter
	idle   int64
	// rooted says that the traces have roots.
	rooted bool
}

func (q SummaryQuery) sql() (string, *arguments) {
	n := forOrg(q.Org)
	// Of the versions of a span the newest counts, wherever it starts.
	from := "(\n  SELECT " + summaryRows + "\n  FROM spans\n  " + q.Of.SQL() + "\n  ORDER BY version DESC\n  LIMIT 1 BY trace_id, span_id)"
	q.Filter.values(n, q.idle)
	if q.rooted {
		return summaryOf(from, q.Filter.having(), tellsService), n
	}
	return summarySQL(from, q.Filter.having()), n
}

// spends is true of a span whose tokens and cost count. Spans of agents and
// workflows repeat what the calls within them used.
const spends = "primitive_type NOT IN ('agent_invocation', 'workflow')"

// entry is true of a span with which a trace enters a process: its parent is in
// another one, and may never come.
const entry = "(kind IN ('server', 'consumer') OR attrs_json['" + span.KeyRemoteParent + "'] = 'true')"

// summaryColumns are the columns that a summary is made of, and summaryRows how they
// are read.
const (
	storedColumns = `trace_id, span_id, parent_span_id, start_time, duration_us, state, status, primitive_type, name, service_name, environment, release_id, agent_name,
    conversation_id, user_id, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, tags,
    input_preview, output_preview, ingested_at, version`
	summaryColumns = storedColumns + `, entry, metadata`
	summaryRows    = storedColumns + `,
    ` + entry + ` AS entry, if(attrs_json['assay.metadata'] != '', attrs_json['assay.metadata'], attrs_json['` + span.KeyMetadata + `']) AS metadata`
)

// summarySQL makes one row of the rows of each trace. authority is a number, since
// those are compared much faster than tuples; from its high digits to its low ones it
// has a rank, the version or how early the span is, and the span's id. What rows are
// ranked by is computed in a statement of its own, because an alias is planned anew
// wherever it is used. It orders the rows by which of them describes the trace: its
// trace row, else its root, else the span with which it entered a process, else its first span; a
// text that the first of them lacks comes from the next one that has it. Input
// and output follow the order of teller: first those that describe the trace, then
// the first question to a model and the last answer.
func summarySQL(from, having string) string { return summaryOf(from, having, tellsEntry) }

// summaryOf is summarySQL with how well the spans tell with which a trace enters a
// process.
func summaryOf(from, having string, entries teller) string {
	text := `WITH
  argMaxIf((asks, leads, span_id, toUnixTimestamp64Micro(start_time), version, input_preview), bitShiftLeft(toUInt256(asks), 144) + authority, input_preview != '') AS input,
  argMaxIf((answers, leads, span_id, toUnixTimestamp64Micro(start_time), version, output_preview), bitShiftLeft(toUInt256(answers), 208) + bitShiftLeft(toUInt256(answered), 144) + authority, output_preview != '') AS output
SELECT
  trace_id,
  toUnixTimestamp64Micro(min(start_time)) AS t_first,
  toUnixTimestamp64Micro(max(start_time)) AS t_last,
  toUnixTimestamp64Micro(max(if(state = 'ended', start_time + toIntervalMicrosecond(duration_us), toDateTime64(0, 6, 'UTC')))) AS t_last_end,
  toUnixTimestamp64Milli(max(ingested_at)) AS t_ingested,
  max(rank) AS t_rank,
  argMax(toString(name), authority) AS t_name,
  toBool(t_rank > 0 AND argMax(state, authority) = 'ended') AS t_ended,
  toBool(argMax(status, authority) = 'error') AS t_failed,
  toUnixTimestamp64Micro(argMax(start_time + toIntervalMicrosecond(duration_us), authority)) AS t_end,
  argMaxIf(toString(service_name), authority, service_name != '') AS t_service,
  argMaxIf(toString(environment), authority, environment != '') AS t_environment,
  argMaxIf(toString(release_id), authority, release_id != '') AS t_release,
  argMaxIf(toString(agent_name), authority, agent_name != '') AS t_agent,
  argMaxIf(conversation_id, authority, conversation_id != '') AS t_conversation,
  argMaxIf(user_id, authority, user_id != '') AS t_user,
  arraySort(groupUniqArrayArray(arrayMap(x -> toString(x), tags))) AS t_tags,
  argMaxIf(metadata, authority, rank > 0 AND metadata != '') AS t_metadata,
  countIf(rank < 3) AS t_spans,
  countIf(rank < 3 AND status = 'error') AS t_errors,
  sumIf(input_tokens, spends) AS t_input_tokens,
  sumIf(output_tokens, spends) AS t_output_tokens,
  sumIf(cached_tokens, spends) AS t_cached_tokens,
  sumIf(reasoning_tokens, spends) AS t_reasoning_tokens,
  sumIf(cost_nano_usd, spends AND cost_known) AS t_cost,
  maxIf(cost_known, spends) AS t_cost_known,
  input.1, input.2, input.3, input.4, input.5, input.6,
  output.1, output.2, output.3, output.4, output.5, output.6
FROM (
SELECT ` + summaryColumns + `,
  multiIf(span_id = ` + noSpan + `, 3, parent_span_id = ` + noSpan + `, 2, entry, 1, 0) AS rank,
  rank < 3 AND ` + spends + ` AS spends,
  bitShiftLeft(toUInt256(rank), 128) + bitShiftLeft(toUInt256(if(rank > 1, version, bitNot(toUInt64(toUnixTimestamp64Micro(start_time))))), 64) + reinterpretAsUInt64(reverse(span_id)) AS authority,
  multiIf(rank > 1, 4, entry AND primitive_type != 'tool_call', ` + strconv.Itoa(int(entries)) + `, 0) AS describes,
  if(describes = 0 AND primitive_type = 'model_call', 2, describes) AS asks,
  if(describes = 0 AND primitive_type IN ('model_call', 'agent_invocation'), 2, describes) AS answers,
  if(answers = 2, toUInt64(toUnixTimestamp64Micro(start_time)) + duration_us, 0) AS answered,
  rank < 3 AND primitive_type IN ('agent_invocation', 'workflow', '') AS leads
FROM ` + from + `)
GROUP BY trace_id`
	if having != "" {
		text += "\nHAVING " + having
	}
	return text
}

// MaxSummaries is how many traces one statement summarizes; more would make
// its text too long.
const MaxSummaries = 2000

// Summaries returns what the traces of the scope say, of those that match.
func (s DB) Summaries(ctx context.Context, q SummaryQuery) ([]Summary, error) {
	if len(q.Of) == 0 {
		return nil, nil
	}
	if out, ok, err := s.fold(ctx, q); ok || err != nil {
		return out, err
	}
	return s.aggregate(ctx, q)
}

// aggregate has ClickHouse make the summaries.
func (s DB) aggregate(ctx context.Context, q SummaryQuery) ([]Summary, error) {
	out, below, err := s.summaries(ctx, q)
	if err != nil || len(below) == 0 {
		return out, err
	}
	// Only a whole trace shows that it has a root. Few of those have nothing to say
	// themselves and a service below them that has, so these are read again.
	again := SummaryQuery{Org: q.Org, rooted: true}
	for _, b := range q.Of {
		if below[b.ID] {
			again.Of = append(again.Of, b)
		}
	}
	better, _, err := s.summaries(ctx, again)
	texts := make(map[span.TraceID]Summary, len(better))
	for _, m := range better {
		texts[m.ID] = m
	}
	for i := range out {
		if m, ok := texts[out[i].ID]; ok {
			out[i].Input, out[i].Output = m.Input, m.Output
		}
	}
	return out, err
}

// summaries also returns the traces whose texts come from a service below their
// root.
func (s DB) summaries(ctx context.Context, q SummaryQuery) (out []Summary, below map[span.TraceID]bool, err error) {
	out, below = make([]Summary, 0, len(q.Of)), map[span.TraceID]bool{}
	err = s.read(ctx, q, func(rows scanner) error {
		var m Summary
		var id string
		var texts [2]fromSpan
		err := rows.Scan(&id, &m.first, &m.last, &m.lastEnd, &m.Ingested, &m.rank, &m.name, &m.ended, &m.failed, &m.end,
			&m.service, &m.environment, &m.release, &m.agent, &m.conversation, &m.user, &m.tags, &m.metadata, &m.Spans, &m.errors,
			&m.usage.InputTokens, &m.usage.OutputTokens, &m.usage.CachedTokens, &m.usage.ReasoningTokens, &m.cost.NanoUSD, &m.cost.Known,
			&texts[0].teller, &texts[0].leads, &texts[0].id, &texts[0].start, &texts[0].version, &texts[0].preview,
			&texts[1].teller, &texts[1].leads, &texts[1].id, &texts[1].start, &texts[1].version, &texts[1].preview)
		if err != nil {
			return err
		}
		copy(m.ID[:], id)
		m.Input, m.Output = texts[0].of(m.rank), texts[1].of(m.rank)
		if m.rank >= rankRoot && (teller(texts[0].teller) == tellsEntry || teller(texts[1].teller) == tellsEntry) {
			below[m.ID] = true
		}
		out = append(out, m)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read traces: %w", err)
	}
	return out, below, nil
}

// fromSpan is a text of a span as a summary finds it.
type fromSpan struct {
	teller  uint8
	leads   uint8 // 1 for a span of an agent or a workflow
	id      string
	start   int64
	version uint64
	preview string
}

// of is the text of a trace whose highest rank is given.
func (f fromSpan) of(rank uint8) (p SourcedText) {
	t := teller(f.teller)
	if f.preview == "" || !t.heard(rank) {
		return SourcedText{}
	}
	p = SourcedText{start: f.start, version: f.version, preview: f.preview, part: t.part(f.leads == 1)}
	copy(p.Span[:], f.id)
	return p
}

// totalQuery counts the traces that start between two times and match.
type totalQuery struct {
	org    principal.OrgID
	filter Filter
	in     Window
	idle   int64
}

func (q totalQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("first", q.in.Low)
	n.set("last", q.in.High)
	// A trace that started the month before is not counted by what came later.
	started := "SELECT trace_id FROM traces\n  WHERE org_id = @org AND month >= toStartOfMonth(fromUnixTimestamp64Micro(@first, 'UTC')) - INTERVAL 1 MONTH" +
		" AND month <= toStartOfMonth(fromUnixTimestamp64Micro(@last, 'UTC'))\n  GROUP BY trace_id" +
		"\n  HAVING min(first_start) >= fromUnixTimestamp64Micro(@first, 'UTC') AND min(first_start) <= fromUnixTimestamp64Micro(@last, 'UTC')"
	if !q.filter.Filters() {
		return "SELECT count() FROM (\n  " + started + ")", n
	}
	q.filter.values(n, q.idle)
	q.in.set(n)
	conditions := append([]string{"trace_id IN (\n  " + started + ")"}, q.filter.narrow()...)
	from := "(\n  SELECT " + summaryRows + "\n  FROM spans FINAL\n  WHERE org_id = @org AND " + within + "\n  AND " + strings.Join(conditions, "\n  AND ") + ")"
	return "SELECT count() FROM (\n" + summarySQL(from, q.filter.having()) + ")", n
}

func (s DB) total(ctx context.Context, q totalQuery) (int64, error) {
	var n uint64
	err := s.read(ctx, q, func(rows scanner) error { return rows.Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("count traces: %w", err)
	}
	return int64(n), nil
}
