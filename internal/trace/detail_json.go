package trace

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	kindNames   = [...]string{kindInternal: "internal", kindServer: "server", kindClient: "client", kindProducer: "producer", kindConsumer: "consumer"}
	statusNames = [...]string{statusUnset: "unset", statusOK: "ok", statusError: "error"}
)

// span is the span as it is shown, with the log records that name it.
func (s *storedSpan) span(events []storedEvent) Span {
	out := Span{
		ID: s.id, Parent: s.parent, Name: s.name, Kind: kindNames[s.kind], PrimitiveType: s.primitive, Start: at(s.start),
		StatusCode: statusNames[s.status], StatusMessage: s.statusMessage, Attributes: s.attributes(),
		Events: mergeEvents(s.events, events), Links: jsonList(s.links),
		Input: jsonValue(s.input), Output: jsonValue(s.output), System: jsonValue(s.system), Tools: jsonValue(s.tools),
		Model: s.model, Provider: s.provider, ToolName: s.tool, AgentName: s.agent,
		Usage: Usage{
			InputTokens: uint64(s.inputTokens), OutputTokens: uint64(s.outputTokens),
			CachedTokens: uint64(s.cachedTokens), ReasoningTokens: uint64(s.reasoningTokens),
		},
		Cost: Cost{Known: s.costKnown, NanoUSD: s.cost}, FirstToken: time.Duration(s.firstToken) * time.Microsecond,
		IngestedAt: time.UnixMilli(s.ingested).UTC(),
	}
	if end := s.end(); end > 0 {
		out.End = at(end)
	}
	if v := jsontext.Value(s.resource); v.Kind() == '{' && v.IsValid() {
		out.Resource = v
	}
	return out
}

// attributes is one flat object of all attributes, by name.
func (s *storedSpan) attributes() jsontext.Value {
	values := make(map[string]jsontext.Value, len(s.attrs)+len(s.attrsJSON))
	for key, text := range s.attrsJSON {
		values[strings.ToValidUTF8(key, "\uFFFD")] = jsonValue(text)
	}
	for key, text := range s.attrs {
		values[strings.ToValidUTF8(key, "\uFFFD")] = appendJSONString(nil, []byte(text))
	}
	b := []byte{'{'}
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONString(b, []byte(key)), ':')
		if v := values[key]; v != nil {
			b = append(b, v...)
		} else {
			b = append(b, "null"...)
		}
	}
	return append(b, '}')
}

// jsonList is a stored list; what is none becomes an empty one.
func jsonList(text string) jsontext.Value {
	if v := jsontext.Value(text); v.Kind() == '[' && v.IsValid() {
		return v
	}
	return nil
}

// mergeEvents adds log records to a span's own events, by time.
func mergeEvents(own string, records []storedEvent) jsontext.Value {
	list := jsonList(own)
	if len(records) == 0 {
		return list
	}
	type timed struct {
		at    time.Time
		value jsontext.Value
	}
	var all []timed
	var events []jsontext.Value
	if list != nil && json.Unmarshal(list, &events) == nil {
		for _, v := range events {
			var e struct {
				Time time.Time `json:"time"`
			}
			_ = json.Unmarshal(v, &e) // an event without a time comes first
			all = append(all, timed{at: e.Time, value: v})
		}
	}
	for i := range records {
		all = append(all, timed{at: at(records[i].at), value: records[i].value()})
	}
	slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	b := []byte{'['}
	for i, e := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e.value...)
	}
	return append(b, ']')
}

// value is the record in the form of an event.
func (e *storedEvent) value() jsontext.Value {
	b := appendTime([]byte(`{"time":`), e.at)
	b = appendJSONString(append(b, `,"name":`...), []byte(e.name))
	if e.severity != "" {
		b = appendJSONString(append(b, `,"severity":`...), []byte(e.severity))
	}
	if body := jsonValue(e.body); body != nil {
		b = append(append(b, `,"body":`...), body...)
	}
	attributes := jsontext.Value(e.attributes)
	if attributes.Kind() != '{' || !attributes.IsValid() {
		attributes = jsontext.Value("{}")
	}
	return append(append(append(b, `,"attributes":`...), attributes...), '}')
}
