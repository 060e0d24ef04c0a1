package trace

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/span"
)

// summary is what the spans of a trace say together. It is made by ClickHouse
// for lists and by summarize for a trace whose spans are read anyway; both give
// the same.
type summary struct {
	id                   span.TraceID
	first, last, lastEnd int64 // microseconds since 1970
	ingested             int64 // milliseconds since 1970
	// rank is 2 if the trace has a row of its own, else 1 if it has a root.
	rank          uint8
	name          string
	ended, failed bool
	end           int64 // of the row that tells, microseconds since 1970

	service, environment, release, agent string
	conversation, user                   string
	tags                                 []string
	metadata                             string
	spans, errors                        uint64
	usage                                Usage
	cost                                 Cost
	input, output                        toldText
}

// toldText is a text that is said of the trace as a whole, and the row that
// says it. The zero value is none.
type toldText struct {
	span    span.ID
	start   int64
	version uint64
	preview string
}

// closed reports whether the trace reads as completed because nothing came for
// long.
func (m *summary) closed(now time.Time) bool { return !m.ended && m.ingested < idleSince(now) }

// idleSince is when something of a trace must have come for the trace to be
// running, in milliseconds since 1970.
func idleSince(now time.Time) int64 { return now.Add(-idleLimit).UnixMilli() }

// trace is the trace as it reads now; its input and output are previews.
func (m *summary) trace(now time.Time, b bounds) Trace {
	t := Trace{
		ID: m.id, Name: m.name, Status: StatusRunning, Start: at(b.first),
		ConversationID: m.conversation, UserID: m.user, Environment: m.environment, ServiceName: m.service, AgentName: m.agent, ReleaseID: m.release,
		Usage: m.usage, Cost: m.cost, SpanCount: int(m.spans), ErrorCount: int(m.errors), Tags: m.tags,
		CreatedAt: time.UnixMilli(b.created).UTC(), UpdatedAt: time.UnixMilli(m.ingested).UTC(),
		Input: textValue(m.input.preview), Output: textValue(m.output.preview), Metadata: jsonValue(m.metadata),
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

// told orders the rows of a trace by who tells what the trace is.
func (s *storedSpan) told() (rank uint8, order uint64) {
	switch {
	case s.id == span.ID{}:
		return 2, s.version
	case s.parent == span.ID{}:
		return 1, s.version
	}
	return 0, ^uint64(s.start)
}

// summarize makes the summary of a trace from all of its rows.
func summarize(rows []storedSpan) summary {
	byTold := make([]*storedSpan, len(rows))
	for i := range rows {
		byTold[i] = &rows[i]
	}
	slices.SortFunc(byTold, func(a, b *storedSpan) int {
		ar, ao := a.told()
		br, bo := b.told()
		return -cmp.Or(cmp.Compare(ar, br), cmp.Compare(ao, bo), bytes.Compare(a.id[:], b.id[:]))
	})
	top := byTold[0]
	m := summary{id: top.trace, name: top.name, first: top.start}
	m.rank, _ = top.told()
	m.ended = m.rank > 0 && top.state == span.StateEnded
	m.failed = top.status == span.StatusError
	m.end = top.start + int64(top.duration)
	text := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	for _, s := range byTold {
		m.add(s)
		text(&m.service, s.service)
		text(&m.environment, s.environment)
		text(&m.release, s.release)
		text(&m.agent, s.agent)
		text(&m.conversation, s.conversation)
		text(&m.user, s.user)
		rank, _ := s.told()
		if rank == 2 {
			m.metadata = s.attrsJSON[string(keyMetadata)]
		}
		if rank == 0 && m.rank > 0 {
			continue
		}
		if m.input == (toldText{}) && s.input != "" {
			m.input = toldText{span: s.id, start: s.start, version: s.version}
		}
		if m.output == (toldText{}) && s.output != "" {
			m.output = toldText{span: s.id, start: s.start, version: s.version}
		}
	}
	slices.Sort(m.tags)
	m.tags = slices.Compact(m.tags)
	return m
}

// add counts one row.
func (m *summary) add(s *storedSpan) {
	m.first, m.last = min(m.first, s.start), max(m.last, s.start)
	m.lastEnd = max(m.lastEnd, s.end())
	m.ingested = max(m.ingested, s.ingested)
	m.tags = append(m.tags, s.tags...)
	if s.id == (span.ID{}) {
		return
	}
	m.spans++
	if s.status == span.StatusError {
		m.errors++
	}
	if s.primitive == "agent_invocation" || s.primitive == "workflow" {
		return // it repeats what the calls within it used
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

// jsonValue is a text as the JSON that it is, or else as a JSON string. What
// repeats a name within an object counts as text: readers disagree on it.
func jsonValue(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	if v := jsontext.Value(text); v.IsValid() {
		return v
	}
	return textValue(text)
}
