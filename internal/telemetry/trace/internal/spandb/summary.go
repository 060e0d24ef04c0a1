package spandb

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/span/payload"
)

// Summary is what the spans of a trace say together. Summarize makes it from
// rows; where there are many, ClickHouse does. Both give the same.
type Summary struct {
	ID                   span.TraceID
	first, last, lastEnd int64 // microseconds since 1970
	Ingested             int64 // milliseconds since 1970
	rank                 uint8 // the highest of a row
	name                 string
	ended, failed        bool
	end                  int64 // of the row with the highest authority, microseconds since 1970

	service, environment, release, agent string
	conversation, user                   string
	tags                                 []string
	metadata                             string
	Spans, errors                        uint64
	usage                                Usage
	cost                                 Cost
	Input, Output                        SourcedText
}

// SourcedText is a text that describes the trace as a whole, and the row that it
// comes from. The zero value is none.
type SourcedText struct {
	Span    span.ID
	start   int64
	version uint64
	preview string
	part    part
}

// The ranks of rows: which of them describes the trace.
const (
	rankSpan  = iota
	rankEntry // the trace enters a process
	rankRoot
	rankTrace // the trace row
)

// teller is how well a row tells what the trace was given or gave, from the
// least to the best.
type teller uint8

const (
	tellsAny     teller = iota // any span with a payload
	tellsService               // the trace enters a process below its root: what is asked there need not be what the user asked
	tellsModel                 // the first question to a model, the last answer
	tellsEntry                 // the trace enters a process, and has no root
	tellsTrace                 // the root or the trace row
)

// in is the teller in a trace whose highest rank is given.
func (t teller) in(rank uint8) teller {
	if t == tellsEntry && rank >= rankRoot {
		return tellsService
	}
	return t
}

// heard reports whether the teller counts in a trace whose highest rank is given:
// what any span below the root says does not describe the trace.
func (t teller) heard(rank uint8) bool { return t > tellsAny || rank < rankRoot }

// part is what of a payload describes the trace.
type part uint8

const (
	partWhole    part = iota
	partMessage       // what the last user asked, or the model answered
	partLastTurn      // the same, of a step that may record a conversation
)

// part is what of the teller's payload counts; leads is true of agents, workflows
// and functions.
func (t teller) part(leads bool) part {
	switch {
	case t == tellsModel && !leads:
		return partMessage
	case leads:
		return partLastTurn
	default:
		return partWhole
	}
}

// InputOf is what of a span's input the trace was given.
func (t SourcedText) InputOf(text string) jsontext.Value {
	switch t.part {
	case partMessage:
		return said(payload.Question([]byte(text)))
	case partLastTurn:
		return said(payload.Request([]byte(text)))
	default:
		return JSONValue(text)
	}
}

// OutputOf is what of a span's output the trace gave.
func (t SourcedText) OutputOf(text string) jsontext.Value {
	if t.part == partWhole {
		return JSONValue(text)
	}
	return said(payload.Answer([]byte(text)))
}

// said is a text, or what is JSON if it is JSON.
func said(out []byte, text bool) jsontext.Value {
	if text {
		return textValue(string(out))
	}
	return JSONValue(string(out))
}

// closed reports whether the trace reads as completed because nothing came for
// long.
func (m *Summary) closed(now time.Time) bool { return !m.ended && m.Ingested < idleSince(now) }

// idleSince is when something of a trace must have come for the trace to be
// running, in milliseconds since 1970.
func idleSince(now time.Time) int64 { return now.Add(-IdleLimit).UnixMilli() }

// Trace is the trace as it reads now; its input and output are previews.
func (m *Summary) Trace(now time.Time, b Bounds) Trace {
	t := Trace{
		ID: m.ID, Name: m.name, Status: StatusRunning, Start: at(b.First),
		ConversationID: m.conversation, UserID: m.user, Environment: m.environment, ServiceName: m.service, AgentName: m.agent, ReleaseID: m.release,
		Usage: m.usage, Cost: m.cost, SpanCount: int(m.Spans), ErrorCount: int(m.errors), Tags: m.tags,
		CreatedAt: time.UnixMilli(b.created).UTC(), UpdatedAt: time.UnixMilli(m.Ingested).UTC(),
		Input: textValue(m.Input.preview), Output: textValue(m.Output.preview), Metadata: objectValue(m.metadata),
	}
	switch {
	case m.ended && m.failed:
		t.Status, t.End = StatusFailed, at(m.end)
	case m.ended:
		t.Status, t.End = StatusCompleted, at(m.end)
	case m.closed(now):
		t.Status, t.End, t.AutoClosed = StatusCompleted, at(max(m.lastEnd, m.last)), true
	}
	return t
}

// authority orders the rows of a trace by which of them describes the trace.
func (s *StoredSpan) authority() (rank uint8, order uint64) {
	switch {
	case s.ID == span.ID{}:
		return rankTrace, s.version
	case s.parent == span.ID{}:
		return rankRoot, s.version
	case s.entry():
		return rankEntry, ^uint64(s.start)
	}
	return rankSpan, ^uint64(s.start)
}

// entry reports whether the trace enters a process with the span.
func (s *StoredSpan) entry() bool {
	return s.kind == span.KindServer || s.kind == span.KindConsumer || s.attrsJSON[span.KeyRemoteParent] == "true"
}

// repeats reports whether the span is of an agent or a workflow, which repeats
// what the calls within it used.
func (s *StoredSpan) repeats() bool {
	return s.primitive == "agent_invocation" || s.primitive == "workflow"
}

// leads reports whether the span is of an agent, a workflow or a function. These
// may record a whole conversation, or how they were called.
func (s *StoredSpan) leads() bool {
	return s.ID != (span.ID{}) && (s.repeats() || s.primitive == "")
}

// tells is how well the span tells what the trace was given (asks) and gave, if
// the trace has no root.
func (s *StoredSpan) tells() (asks, answers teller) {
	rank, _ := s.authority()
	switch {
	case rank >= rankRoot:
		return tellsTrace, tellsTrace
	case rank == rankEntry && s.primitive != "tool_call":
		return tellsEntry, tellsEntry
	case s.primitive == "model_call":
		return tellsModel, tellsModel
	case s.primitive == "agent_invocation":
		return tellsAny, tellsModel
	}
	return tellsAny, tellsAny
}

// sourced names the span as the source of a text.
func (s *StoredSpan) sourced(t teller) SourcedText {
	return SourcedText{Span: s.ID, start: s.start, version: s.version, part: t.part(s.leads())}
}

// Summarize makes the summary of a trace from all of its rows.
func Summarize(rows []StoredSpan) Summary {
	byAuthority := make([]*StoredSpan, len(rows))
	for i := range rows {
		byAuthority[i] = &rows[i]
	}
	slices.SortFunc(byAuthority, func(a, b *StoredSpan) int {
		ar, ao := a.authority()
		br, bo := b.authority()
		return -cmp.Or(cmp.Compare(ar, br), cmp.Compare(ao, bo), bytes.Compare(a.ID[:], b.ID[:]))
	})
	top := byAuthority[0]
	m := Summary{ID: top.trace, name: top.name, first: top.start}
	m.rank, _ = top.authority()
	m.ended = m.rank > 0 && top.state == span.StateEnded
	m.failed = top.status == span.StatusError
	m.end = top.start + int64(top.duration)
	text := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	for _, s := range byAuthority {
		m.add(s)
		text(&m.service, s.service)
		text(&m.environment, s.environment)
		text(&m.release, s.release)
		text(&m.agent, s.agent)
		text(&m.conversation, s.conversation)
		text(&m.user, s.user)
		if rank, _ := s.authority(); rank > rankSpan {
			text(&m.metadata, s.attrsJSON[string(keyMetadata)])
			text(&m.metadata, s.attrsJSON[span.KeyMetadata])
		}
	}
	m.chooseTexts(byAuthority)
	slices.Sort(m.tags)
	m.tags = slices.Compact(m.tags)
	return m
}

// chooseTexts finds which of the rows, the first in authority first, tell what
// the trace was given and gave.
func (m *Summary) chooseTexts(rows []*StoredSpan) {
	best, last := [2]teller{}, int64(0)
	for _, s := range rows {
		asks, answers := s.tells()
		asks, answers = asks.in(m.rank), answers.in(m.rank)
		if s.Input != "" && asks.heard(m.rank) && (m.Input == (SourcedText{}) || asks > best[0]) {
			m.Input, best[0] = s.sourced(asks), asks
		}
		if s.Output == "" || !answers.heard(m.rank) {
			continue
		}
		end := s.start + int64(s.duration)
		if m.Output == (SourcedText{}) || answers > best[1] || answers == tellsModel && best[1] == tellsModel && end > last {
			m.Output, best[1], last = s.sourced(answers), answers, end
		}
	}
}

// add counts one row.
func (m *Summary) add(s *StoredSpan) {
	m.first, m.last = min(m.first, s.start), max(m.last, s.start)
	m.lastEnd = max(m.lastEnd, s.end())
	m.Ingested = max(m.Ingested, s.ingested)
	m.tags = append(m.tags, s.tags...)
	if s.ID == (span.ID{}) {
		return
	}
	m.Spans++
	if s.status == span.StatusError {
		m.errors++
	}
	if s.repeats() {
		return
	}
	m.usage.InputTokens += uint64(s.inputTokens)
	m.usage.OutputTokens += uint64(s.outputTokens)
	m.usage.CachedTokens += uint64(s.cachedTokens)
	m.usage.ReasoningTokens += uint64(s.reasoningTokens)
	if s.costKnown {
		m.cost.Known = true
		m.cost.NanoUSD += s.cost
	}
}

// textValue is a text as a JSON string; invalid UTF-8 becomes U+FFFD.
func textValue(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return span.AppendJSONString(nil, []byte(text))
}

// JSONValue is a text as the JSON that it is, or else as a JSON string. What
// repeats a name within an object counts as text: readers disagree on it.
func JSONValue(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	if v := jsontext.Value(text); v.IsValid() {
		return v
	}
	return textValue(text)
}
