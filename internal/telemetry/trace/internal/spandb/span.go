package spandb

import (
	"context"
	"fmt"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// SpansQuery reads the newest versions of spans by their start, up to a limit
// for each trace. Which ones they are is found with the narrow columns first,
// so that a large trace costs little more than the page.
type SpansQuery struct {
	Org principal.OrgID
	Of  Scope
	// TraceRow also reads the trace row, before the spans and not counted by the limit.
	TraceRow bool
	After    SpanPosition
	Limit    int
	Offset   int
}

func (q SpansQuery) sql() (string, *arguments) {
	n := forOrg(q.Org)
	place := q.Of.SQL()
	limit, rows, order := q.Limit, " AND span_id != "+noSpan, ""
	if q.TraceRow {
		limit, rows, order = limit+1, "", "span_id != "+noSpan+", "
	}
	after := ""
	if q.After != (SpanPosition{}) {
		n.set("after", q.After.Start)
		after = "\n    HAVING (toUnixTimestamp64Micro(at), span_id) > (@after, " + literal(q.After.Span[:]) + ")"
	}
	page := "SELECT trace_id, span_id, newest FROM (\n    SELECT trace_id, span_id, max(version) AS newest, argMax(start_time, version) AS at\n    FROM spans\n  " +
		place + rows + "\n    GROUP BY trace_id, span_id" + after + ")\n    ORDER BY trace_id, " + order + "at, span_id\n    LIMIT " +
		strconv.Itoa(q.Offset) + ", " + strconv.Itoa(limit) + " BY trace_id"
	return "SELECT " + spanColumnsSQL + "\nFROM spans\n" + place + "\n  AND (trace_id, span_id, version) IN (\n    " + page +
		")\nORDER BY trace_id, start_time, span_id\nLIMIT 1 BY trace_id, span_id", n
}

// rowsQuery reads the rows of one trace by their start, all versions. It costs
// less than SpansQuery, and the columns of rows beyond the limit cost nothing.
type rowsQuery struct {
	org   principal.OrgID
	of    Scope
	limit int
}

func (q rowsQuery) sql() (string, *arguments) {
	return "SELECT " + spanColumnsSQL + "\nFROM spans\n" + q.of.SQL() + "\nORDER BY start_time, span_id, version DESC\nLIMIT " + strconv.Itoa(q.limit) +
		"\nSETTINGS query_plan_optimize_lazy_materialization = 1, query_plan_max_limit_for_lazy_materialization = " + strconv.Itoa(q.limit), forOrg(q.org)
}

// Before reports whether the span arrived before a time, in milliseconds since
// 1970, or then.
func (s *StoredSpan) Before(millis int64) bool { return s.ingested <= millis }

const spanColumnsSQL = `trace_id, span_id, parent_span_id, toUnixTimestamp64Micro(start_time), duration_us, toInt8(state), toInt8(status), status_message,
  toInt8(kind), primitive_type, name, service_name, environment, release_id, agent_name, model, provider, tool_name, conversation_id, user_id,
  input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, first_token_us, tags, attrs, attrs_json, resource,
  toUnixTimestamp64Milli(ingested_at), version`

// SpanPosition is a place in the order of a trace's spans.
type SpanPosition struct {
	Start int64 // microseconds since 1970
	Span  span.ID
}

func (p SpanPosition) before(q SpanPosition) bool {
	return p.Start < q.Start || p.Start == q.Start && string(p.Span[:]) < string(q.Span[:])
}

// StoredSpan is a row of spans, with its payload once that is read.
type StoredSpan struct {
	trace        span.TraceID
	ID, parent   span.ID
	start        int64 // microseconds since 1970
	duration     uint64
	state        int8
	status, kind int8

	statusMessage, primitive, name            string
	service, environment, release             string
	agent, model, provider, tool              string
	conversation, user                        string
	inputTokens, outputTokens                 uint32
	cachedTokens, reasoningTokens, firstToken uint32
	cost                                      uint64
	costKnown                                 bool
	tags                                      []string
	attrs, attrsJSON                          map[string]string
	resource                                  string
	ingested                                  int64 // milliseconds since 1970
	version                                   uint64

	payloadText
}

// Position is the span's place in its trace.
func (s *StoredSpan) Position() SpanPosition { return SpanPosition{Start: s.start, Span: s.ID} }

// end is zero while the span is open.
func (s *StoredSpan) end() int64 {
	if s.state != span.StateEnded {
		return 0
	}
	return s.start + int64(s.duration)
}

// size is about how many bytes the row's texts have.
func (s *StoredSpan) size() int {
	n := len(s.name) + len(s.statusMessage) + len(s.resource)
	for _, attrs := range []map[string]string{s.attrs, s.attrsJSON} {
		for key, text := range attrs {
			n += len(key) + len(text)
		}
	}
	return n
}

// payloadText is what went in and came out of a span, as texts.
type payloadText struct {
	Input, Output, system, tools, events, links string
}

func (p *payloadText) size() int {
	return len(p.Input) + len(p.Output) + len(p.system) + len(p.tools) + len(p.events) + len(p.links)
}

func (s DB) spans(ctx context.Context, q statement) ([]StoredSpan, error) {
	var out []StoredSpan
	account := admission.From(ctx)
	err := s.read(ctx, q, func(rows scanner) error {
		var r StoredSpan
		var trace, id, parent string
		err := rows.Scan(&trace, &id, &parent, &r.start, &r.duration, &r.state, &r.status, &r.statusMessage,
			&r.kind, &r.primitive, &r.name, &r.service, &r.environment, &r.release, &r.agent, &r.model, &r.provider, &r.tool, &r.conversation, &r.user,
			&r.inputTokens, &r.outputTokens, &r.cachedTokens, &r.reasoningTokens, &r.cost, &r.costKnown, &r.firstToken, &r.tags, &r.attrs, &r.attrsJSON, &r.resource,
			&r.ingested, &r.version)
		if err != nil {
			return err
		}
		copy(r.trace[:], trace)
		copy(r.ID[:], id)
		copy(r.parent[:], parent)
		out = append(out, r)
		return account.Wait(ctx, r.size())
	})
	if err != nil {
		return nil, fmt.Errorf("read spans: %w", err)
	}
	return out, nil
}

// payloadsQuery reads payloads in the order of their spans, all versions.
type payloadsQuery struct {
	org principal.OrgID
	of  Scope
	// from is where reading begins, in microseconds since 1970; zero is the
	// beginning.
	from  int64
	limit int
}

func (q payloadsQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	first, last := q.of.span()
	n.set("from", max(first, q.from))
	n.set("to", last)
	n.set("limit", q.limit)
	return "SELECT " + payloadColumnsSQL + "\nFROM span_payloads\nWHERE org_id = @org AND trace_id IN (" + idList(q.of.ids()) + ") AND " + within +
		"\nORDER BY trace_id, start_time, span_id\nLIMIT @limit", n
}

const payloadColumnsSQL = "trace_id, toUnixTimestamp64Micro(start_time), span_id, version, input, output, system, tools, events, links"

// payloadKey names one version of a span's payload.
type payloadKey struct {
	trace   span.TraceID
	span    span.ID
	version uint64
}

// storedPayload is a row of span_payloads.
type storedPayload struct {
	key   payloadKey
	start int64
	payloadText
}

func (p *storedPayload) position() SpanPosition {
	return SpanPosition{Start: p.start, Span: p.key.span}
}

// payloads hands payloads to each, one by one, until each returns errStop.
func (s DB) payloads(ctx context.Context, q statement, each func(*storedPayload) error) error {
	err := s.read(ctx, q, func(rows scanner) error {
		var p storedPayload
		var trace, span string
		if err := rows.Scan(&trace, &p.start, &span, &p.key.version, &p.Input, &p.Output, &p.system, &p.tools, &p.events, &p.links); err != nil {
			return err
		}
		copy(p.key.trace[:], trace)
		copy(p.key.span[:], span)
		return each(&p)
	})
	if err != nil {
		return fmt.Errorf("read payloads: %w", err)
	}
	return nil
}

// eventsQuery reads the log records that name the traces, by time.
type eventsQuery struct {
	org   principal.OrgID
	ids   []span.TraceID
	limit int
}

func (q eventsQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	n.set("limit", q.limit)
	return "SELECT trace_id, span_id, toUnixTimestamp64Micro(time), name, severity, body, attributes\nFROM span_events\n" +
		"WHERE org_id = @org AND trace_id IN (" + idList(q.ids) + ")\nORDER BY trace_id, time, span_id, event_id\nLIMIT 1 BY trace_id, span_id, time, event_id\nLIMIT @limit", n
}

// storedEvent is a log record that names a trace.
type storedEvent struct {
	trace                            span.TraceID
	span                             span.ID
	at                               int64 // microseconds since 1970
	name, severity, body, attributes string
}

func (s DB) events(ctx context.Context, q eventsQuery) ([]storedEvent, error) {
	var out []storedEvent
	err := s.read(ctx, q, func(rows scanner) error {
		var e storedEvent
		var trace, span string
		if err := rows.Scan(&trace, &span, &e.at, &e.name, &e.severity, &e.body, &e.attributes); err != nil {
			return err
		}
		copy(e.trace[:], trace)
		copy(e.span[:], span)
		out = append(out, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read events of spans: %w", err)
	}
	return out, nil
}
