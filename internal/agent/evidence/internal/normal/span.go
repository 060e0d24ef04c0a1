package normal

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// readSpans reads an event that is a span or holds several: a request of OTLP, a part
// of one, one span, or a span as tools print it.
func (n *normalizer) readSpans() {
	v := object(n.event.Data)
	if v == nil {
		n.refuse("/data", "type", "must be an object")
		return
	}
	body, err := span.TracesFromJSON(tracesRequest(v, n.event.Data), neverPause)
	if err != nil {
		n.refuse("/data", "format", "cannot be read as spans of OTLP/JSON")
		return
	}
	s := spans{n: n}
	var decoder span.Decoder
	switch err := decoder.Traces(body, &s.bad, func(r *span.Record) error { s.take(r); return n.unlessFull() }); {
	case n.full:
		return
	case err != nil:
		n.refuse("/data", "format", "cannot be read as spans of OTLP/JSON")
		return
	}
	s.finish()
}

// neverPause lets a decoder read on: an event is small.
func neverPause() error { return nil }

// tracesRequest makes a request of OTLP of whatever holds spans.
func tracesRequest(v kind.Values, data jsontext.Value) []byte {
	wrap := func(before string, v jsontext.Value, after string) []byte {
		return append(append([]byte(before), v...), after...)
	}
	switch {
	case either(v, "resourceSpans", "resource_spans") != nil:
		return data
	case either(v, "scopeSpans", "scope_spans") != nil:
		return wrap(`{"resourceSpans":[`, data, `]}`)
	}
	resource := []byte("{}")
	if isFlat(v) {
		if attributes := v.Within("resource")["attributes"]; attributes.Kind() == '{' {
			resource = encode(map[string]jsontext.Value{"attributes": keyValues(attributes, 0)})
		}
		data = flatSpan(v)
	}
	return wrap(`{"resourceSpans":[{"resource":`+string(resource)+`,"scopeSpans":[{"spans":[`, data, `]}]}]}`)
}

// spans are those of one event.
type spans struct {
	n *normalizer
	// bad counts what cannot be taken, and unknown what follows no convention.
	bad     span.Rejected
	unknown int
	agents  []agentSpan
	// parents are the spans above each span, as far as the event has them.
	parents map[spanKey]span.ID
}

// spanKey names a span.
type spanKey struct {
	trace span.TraceID
	id    span.ID
}

// take makes reports of one span.
func (s *spans) take(r *span.Record) {
	switch {
	case r.TraceID == (span.TraceID{}) || r.ID == (span.ID{}):
		s.bad.Add("trace_id and span_id must not be zero")
		return
	case r.Start == 0 && storable(s.n.event.Time):
		r.Start = s.n.event.Time.UnixMicro()
	case r.Start < span.Earliest || r.Start > latest:
		s.bad.Add("start_time " + span.TooEarly)
		return
	}
	if s.parents == nil {
		s.parents = map[spanKey]span.ID{}
	}
	s.parents[spanKey{r.TraceID, r.ID}] = r.ParentID
	s.n.spanEvaluations(r)
	if r.Primitive == "" {
		s.unknown++
		return
	}
	s.n.step(r)
	switch {
	case r.Primitive == "tool_call":
		s.n.toolOfSpan(r)
	case r.Primitive == "memory_write":
		s.n.memoryOfSpan(r)
	case r.Primitive == "agent_invocation" && len(r.Agent) > 0 && attribute(r, "gen_ai.operation.name") != "create_agent":
		s.agents = append(s.agents, agentSpan{key: spanKey{r.TraceID, r.ID}, name: string(r.Agent), start: r.Start})
	}
}

// latest is the end of the year 9999 in microseconds since 1970.
const latest = 253_402_300_799_999_999

// finish says what only all spans show.
func (s *spans) finish() {
	n := s.n
	s.handoffs()
	if s.bad.Count > 0 {
		if len(n.result.Reports) == 0 && s.unknown == 0 {
			n.refuse("/data", "format", s.bad.Reason)
			return
		}
		n.leaveOut(strconv.Itoa(s.bad.Count) + " spans are left out: " + s.bad.Reason)
	}
	if s.unknown > 0 {
		n.warn(strconv.Itoa(s.unknown) + " spans follow no convention that says what kind of step they are")
	}
	if isOlder(n.event.Data) {
		n.warn("the span uses older names of the GenAI conventions")
	}
}

// isOlder reports whether attributes have names that the conventions have given up.
func isOlder(data []byte) bool {
	for _, name := range []string{`"gen_ai.system"`, `"gen_ai.prompt"`, `"gen_ai.prompt.`, `"gen_ai.completion"`, `"gen_ai.completion.`, `"gen_ai.usage.prompt_tokens"`, `"gen_ai.usage.completion_tokens"`} {
		if bytes.Contains(data, []byte(name)) {
			return true
		}
	}
	return false
}

// agentSpan is the invocation of an agent that has a name.
type agentSpan struct {
	key   spanKey
	name  string
	start int64
}

// handoffs makes a step wherever an agent was invoked on behalf of another one.
func (s *spans) handoffs() {
	by := make(map[spanKey]*agentSpan, len(s.agents))
	for i := range s.agents {
		by[s.agents[i].key] = &s.agents[i]
	}
	for i := range s.agents {
		to := &s.agents[i]
		if from := s.above(to, by); from != nil && from.name != to.name {
			s.n.handoff(from, to)
		}
		if s.n.full {
			return
		}
	}
}

// above is the nearest agent that a span is within; nil if the event has none.
func (s *spans) above(of *agentSpan, agents map[spanKey]*agentSpan) *agentSpan {
	at := of.key
	for range len(s.parents) { // a circle has no end
		at.id = s.parents[at]
		if at.id == (span.ID{}) || at == of.key {
			return nil
		}
		if found := agents[at]; found != nil {
			return found
		}
	}
	return nil
}

// attribute is an attribute of a span that is a text or a number, as text.
func attribute(r *span.Record, key string) string {
	for i := range r.Attributes {
		if string(r.Attributes[i].Key) == key {
			return string(r.Attributes[i].Value)
		}
	}
	return ""
}

// attributeValue is an attribute of a span as JSON; nothing if there is none.
func attributeValue(r *span.Record, key string) jsontext.Value {
	for i := range r.Attributes {
		if a := &r.Attributes[i]; string(a.Key) == key {
			return jsonOf(a)
		}
	}
	return nil
}

func jsonOf(a *span.Attribute) jsontext.Value {
	if v := jsontext.Value(bytes.Clone(a.Value)); a.JSON && v.IsValid() {
		return v
	}
	return kind.TextValue(string(a.Value))
}

// payload is what went in or came out of a span: JSON if it is an object or a list, else
// a text.
func payload(text []byte) jsontext.Value {
	if len(text) == 0 {
		return nil
	}
	v := jsontext.Value(bytes.Clone(text))
	if k := v.Kind(); (k == '{' || k == '[') && v.IsValid() {
		return v
	}
	return kind.TextValue(string(text))
}
