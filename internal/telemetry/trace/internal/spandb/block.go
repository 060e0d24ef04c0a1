package spandb

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// Block is rows of the three tables that telemetry is written to, in columns.
// A request fills one of its own, whose rows a block takes over that requests of
// many organizations share.
type Block struct {
	spans    spanColumns
	payloads payloadColumns
	events   eventColumns

	all   []column
	ends  [3]int // of each table's columns in all
	marks []columnMark
	size  int
	// partitions are those that old rows belong to.
	partitions []partition
}

// spanColumns are the columns of spans.
type spanColumns struct {
	org                                          fixed
	trace, span, parent                          fixed
	start                                        numbers[int64]
	duration                                     numbers[uint64]
	state, status, kind                          numbers[int8]
	statusMessage                                texts
	primitive, name, service, environment        labels
	release, agent, model, provider, tool        labels
	conversation, user                           texts
	inputTokens, outputTokens, cached, reasoning numbers[uint32]
	cost                                         numbers[uint64]
	costKnown                                    numbers[uint8]
	firstToken                                   numbers[uint32]
	tags                                         labelLists
	attrs, attrsJSON                             textMaps
	resource                                     labels
	inputPreview, outputPreview                  texts
	retention                                    numbers[uint16]
	ingested                                     numbers[int64]
	version                                      numbers[uint64]
}

// payloadColumns are the columns of span_payloads.
type payloadColumns struct {
	org                          fixed
	trace, span                  fixed
	start                        numbers[int64]
	input, output, system, tools texts
	events, links, search        texts
	retention                    numbers[uint16]
	ingested                     numbers[int64]
	version                      numbers[uint64]
}

// eventColumns are the columns of span_events.
type eventColumns struct {
	org              fixed
	trace, span      fixed
	time             numbers[int64]
	id               fixed
	name, severity   labels
	body, attributes texts
	retention        numbers[uint16]
	ingested         numbers[int64]
	version          numbers[uint64]
}

// The names of types that the library's own columns do not carry.
const (
	typeMicros = "DateTime64(6, 'UTC')"
	typeMillis = "DateTime64(3, 'UTC')"
	typeState  = "Enum8('open' = 0, 'ended' = 1)"
	typeStatus = "Enum8('unset' = 0, 'ok' = 1, 'error' = 2)"
	typeKind   = "Enum8('internal' = 0, 'server' = 1, 'client' = 2, 'producer' = 3, 'consumer' = 4)"
)

// NewBlock makes an empty block.
func NewBlock() *Block {
	b := &Block{}
	b.init()
	return b
}

func (b *Block) init() {
	*b = Block{}
	for i, in := range []proto.Input{b.spans.columns(), b.payloads.columns(), b.events.columns()} {
		for _, c := range in {
			b.all = append(b.all, c.Data.(column))
		}
		b.ends[i] = len(b.all)
	}
	b.marks = make([]columnMark, len(b.all))
}

func (c *fixed) is(typ proto.ColumnType, size int) *fixed {
	c.typ, c.size = typ, size
	return c
}

func (c *numbers[T]) is(typ proto.ColumnType) *numbers[T] {
	c.typ = typ
	return c
}

func (s *spanColumns) columns() proto.Input {
	return proto.Input{
		{Name: "org_id", Data: s.org.is("UUID", 16)},
		{Name: "trace_id", Data: s.trace.is("FixedString(16)", 16)},
		{Name: "span_id", Data: s.span.is("FixedString(8)", 8)},
		{Name: "parent_span_id", Data: s.parent.is("FixedString(8)", 8)},
		{Name: "start_time", Data: s.start.is(typeMicros)},
		{Name: "duration_us", Data: s.duration.is("UInt64")},
		{Name: "state", Data: s.state.is(typeState)},
		{Name: "status", Data: s.status.is(typeStatus)},
		{Name: "status_message", Data: &s.statusMessage},
		{Name: "kind", Data: s.kind.is(typeKind)},
		{Name: "primitive_type", Data: &s.primitive},
		{Name: "name", Data: &s.name},
		{Name: "service_name", Data: &s.service},
		{Name: "environment", Data: &s.environment},
		{Name: "release_id", Data: &s.release},
		{Name: "agent_name", Data: &s.agent},
		{Name: "model", Data: &s.model},
		{Name: "provider", Data: &s.provider},
		{Name: "tool_name", Data: &s.tool},
		{Name: "conversation_id", Data: &s.conversation},
		{Name: "user_id", Data: &s.user},
		{Name: "input_tokens", Data: s.inputTokens.is("UInt32")},
		{Name: "output_tokens", Data: s.outputTokens.is("UInt32")},
		{Name: "cached_tokens", Data: s.cached.is("UInt32")},
		{Name: "reasoning_tokens", Data: s.reasoning.is("UInt32")},
		{Name: "cost_nano_usd", Data: s.cost.is("UInt64")},
		{Name: "cost_known", Data: s.costKnown.is("Bool")},
		{Name: "first_token_us", Data: s.firstToken.is("UInt32")},
		{Name: "tags", Data: &s.tags},
		{Name: "attrs", Data: &s.attrs},
		{Name: "attrs_json", Data: &s.attrsJSON},
		{Name: "resource", Data: &s.resource},
		{Name: "input_preview", Data: &s.inputPreview},
		{Name: "output_preview", Data: &s.outputPreview},
		{Name: "retention_days", Data: s.retention.is("UInt16")},
		{Name: "ingested_at", Data: s.ingested.is(typeMillis)},
		{Name: "version", Data: s.version.is("UInt64")},
	}
}

func (p *payloadColumns) columns() proto.Input {
	return proto.Input{
		{Name: "org_id", Data: p.org.is("UUID", 16)},
		{Name: "trace_id", Data: p.trace.is("FixedString(16)", 16)},
		{Name: "start_time", Data: p.start.is(typeMicros)},
		{Name: "span_id", Data: p.span.is("FixedString(8)", 8)},
		{Name: "input", Data: &p.input},
		{Name: "output", Data: &p.output},
		{Name: "system", Data: &p.system},
		{Name: "tools", Data: &p.tools},
		{Name: "events", Data: &p.events},
		{Name: "links", Data: &p.links},
		{Name: "search_text", Data: &p.search},
		{Name: "retention_days", Data: p.retention.is("UInt16")},
		{Name: "ingested_at", Data: p.ingested.is(typeMillis)},
		{Name: "version", Data: p.version.is("UInt64")},
	}
}

func (e *eventColumns) columns() proto.Input {
	return proto.Input{
		{Name: "org_id", Data: e.org.is("UUID", 16)},
		{Name: "trace_id", Data: e.trace.is("FixedString(16)", 16)},
		{Name: "time", Data: e.time.is(typeMicros)},
		{Name: "span_id", Data: e.span.is("FixedString(8)", 8)},
		{Name: "event_id", Data: e.id.is("FixedString(16)", 16)},
		{Name: "name", Data: &e.name},
		{Name: "severity", Data: &e.severity},
		{Name: "body", Data: &e.body},
		{Name: "attributes", Data: &e.attributes},
		{Name: "retention_days", Data: e.retention.is("UInt16")},
		{Name: "ingested_at", Data: e.ingested.is(typeMillis)},
		{Name: "version", Data: e.version.is("UInt64")},
	}
}

// ClockAhead is how far a sender's clock may run before ours; what starts later
// than that starts now, because a partition of the far future would never
// be dropped.
const ClockAhead = int64(time.Hour / time.Microsecond)

// Stamp is what a row gets when it is stored, in addition to what was sent.
type Stamp struct {
	Org       principal.OrgID
	Ingested  int64  // microseconds since 1970
	Retention uint16 // days
	Cost      uint64 // billionths of a US dollar
	CostKnown bool
}

// EndedBit puts an ended span above every open one, whatever arrived last.
const EndedBit = 1 << 62

// version orders the rows of one span.
func (s Stamp) version(ended bool) uint64 {
	v := uint64(s.Ingested)
	if ended {
		v |= EndedBit
	}
	return v
}

// AppendSpan adds a span, and its payload if it has one.
func (b *Block) AppendSpan(r *span.Record, s Stamp) {
	c := &b.spans
	ended := r.End > 0
	c.org.appendUUID(s.Org)
	c.trace.append(r.TraceID[:])
	c.span.append(r.ID[:])
	c.parent.append(r.ParentID[:])
	c.start.append(r.Start)
	if ended {
		c.duration.append(uint64(max(0, r.End-r.Start)))
		c.state.append(span.StateEnded)
	} else {
		c.duration.append(0)
		c.state.append(span.StateOpen)
	}
	c.status.append(r.Status)
	c.kind.append(r.Kind)
	c.statusMessage.append(r.StatusMessage)
	c.primitive.appendWord(r.Primitive)
	c.name.append(r.Name)
	c.service.append(r.Service)
	c.environment.append(r.Environment)
	c.release.append(r.Release)
	c.agent.append(r.Agent)
	c.model.append(r.Model)
	c.provider.append(r.Provider)
	c.tool.append(r.Tool)
	c.conversation.append(r.Conversation)
	c.user.append(r.User)
	c.inputTokens.append(r.InputTokens)
	c.outputTokens.append(r.OutputTokens)
	c.cached.append(r.CachedTokens)
	c.reasoning.append(r.ReasoningTokens)
	c.cost.append(s.Cost)
	if s.CostKnown {
		c.costKnown.append(1)
	} else {
		c.costKnown.append(0)
	}
	c.firstToken.append(r.FirstToken)
	c.tags.append(r.Tags)
	for i := range r.Attributes {
		a := &r.Attributes[i]
		if a.JSON {
			c.attrsJSON.add(a.Key, a.Value)
		} else {
			c.attrs.add(a.Key, a.Value)
		}
		b.size += len(a.Key) + len(a.Value)
	}
	c.attrs.end()
	c.attrsJSON.end()
	c.resource.append(r.Resource)
	c.inputPreview.append(r.InputPreview())
	c.outputPreview.append(r.OutputPreview())
	c.retention.append(s.Retention)
	c.ingested.append(s.Ingested / 1000)
	c.version.append(s.version(ended))
	b.size += spanBytes
	if r.HasPayload() {
		b.appendPayload(r, s, ended)
	}
}

// spanBytes is about what a span takes without its attributes and payload.
const spanBytes = 256

func (b *Block) appendPayload(r *span.Record, s Stamp, ended bool) {
	c := &b.payloads
	search := r.SearchText()
	c.org.appendUUID(s.Org)
	c.trace.append(r.TraceID[:])
	c.start.append(r.Start)
	c.span.append(r.ID[:])
	c.input.append(r.Input)
	c.output.append(r.Output)
	c.system.append(r.System)
	c.tools.append(r.Tools)
	c.events.append(r.Events)
	c.links.append(r.Links)
	c.search.append(search)
	c.retention.append(s.Retention)
	c.ingested.append(s.Ingested / 1000)
	c.version.append(s.version(ended))
	b.size += len(r.Input) + len(r.Output) + len(r.System) + len(r.Tools) + len(r.Events) + len(r.Links) + len(search) + 64
}

// AppendEvent adds a log record.
func (b *Block) AppendEvent(r *span.LogRecord, s Stamp) {
	c := &b.events
	c.org.appendUUID(s.Org)
	c.trace.append(r.TraceID[:])
	c.time.append(r.Time)
	c.span.append(r.SpanID[:])
	id := r.ID()
	c.id.append(id[:])
	c.name.append(r.Name)
	c.severity.append(r.Severity)
	c.body.append(r.Body)
	c.attributes.append(r.Attributes)
	c.retention.append(s.Retention)
	c.ingested.append(s.Ingested / 1000)
	c.version.append(s.version(false))
	b.size += len(r.Body) + len(r.Attributes) + 128
}

// take adds the rows of another block. If it cannot, also because of a fault in
// the program, the block is as it was.
func (b *Block) take(from *Block) error {
	if err := from.check(); err != nil {
		return err
	}
	size, partitions := b.size, len(b.partitions)
	for i, c := range b.all {
		b.marks[i] = c.mark()
	}
	whole := false
	defer func() {
		if !whole {
			for i, c := range b.all {
				c.rollback(b.marks[i])
			}
			b.size, b.partitions = size, b.partitions[:partitions]
		}
	}()
	for i, c := range b.all {
		c.take(from.all[i])
	}
	b.size += from.size
	for _, p := range from.partitions {
		b.note(p)
	}
	whole = true
	return nil
}

// errUneven is returned for a block whose columns have not the same number of
// rows. What it holds cannot be told apart any more.
var errUneven = errors.New("the columns of a block differ in length")

// check reports a block that must not be stored.
func (b *Block) check() error {
	from := 0
	for _, to := range b.ends {
		rows := b.all[from].Rows()
		for i, c := range b.all[from:to] {
			if c.Rows() != rows || !c.sound() {
				return fmt.Errorf("%w: column %d has %d rows, column %d has %d", errUneven, from+i, c.Rows(), from, rows)
			}
		}
		from = to
	}
	return nil
}

// Rows is how many rows the block holds.
func (b *Block) Rows() int {
	return b.spans.start.Rows() + b.payloads.start.Rows() + b.events.time.Rows()
}

// Spans is how many of the rows are spans.
func (b *Block) Spans() int { return b.spans.start.Rows() }

// oldest is when the first of the rows was taken in.
func (b *Block) oldest() time.Time {
	first := int64(math.MaxInt64)
	for _, arrived := range [][]int64{b.spans.ingested.values, b.events.ingested.values} {
		if len(arrived) > 0 {
			first = min(first, arrived[0])
		}
	}
	return time.UnixMilli(first)
}

// Bytes is about how much memory the rows take.
func (b *Block) Bytes() int { return b.size }

// keptBytes is how much memory an emptied block may hold on to. One request of
// the largest size grows a block to several times what it usually needs.
const keptBytes = 64 << 20

// Reset empties the block.
func (b *Block) Reset() {
	if b.reset() > keptBytes {
		b.init()
	}
}

// reset empties the block and returns how much memory it holds on to.
func (b *Block) reset() (held int) {
	for _, c := range b.all {
		c.reset()
		held += c.bytes()
	}
	b.size, b.partitions = 0, b.partitions[:0]
	return held
}

// clean sets what texts go through that many rows have.
func (b *Block) clean(c Clean) {
	s, e := &b.spans, &b.events
	for _, l := range []*labels{
		&s.name, &s.service, &s.environment, &s.release, &s.agent, &s.model, &s.provider, &s.tool,
		&s.tags.items, &s.attrs.keys, &s.attrsJSON.keys, &e.name, &e.severity,
	} {
		l.clean = c.Text
	}
	s.resource.clean = c.JSON
}

// parts lists what is to be inserted, in order: who can read a span can read
// its payload.
func (b *Block) parts() []sealed.Part {
	var out []sealed.Part
	for _, p := range []sealed.Part{
		{Table: "span_payloads", Input: b.payloads.columns()},
		{Table: "span_events", Input: b.events.columns()},
		{Table: "spans", Input: b.spans.columns()},
	} {
		if p.Input[0].Data.Rows() > 0 {
			out = append(out, p)
		}
	}
	return out
}
