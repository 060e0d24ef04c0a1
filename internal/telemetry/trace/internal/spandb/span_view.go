package spandb

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/telemetry/span"
)

var (
	kindNames   = [...]string{span.KindInternal: "internal", span.KindServer: "server", span.KindClient: "client", span.KindProducer: "producer", span.KindConsumer: "consumer"}
	statusNames = [...]string{span.StatusUnset: "unset", span.StatusOK: "ok", span.StatusError: "error"}
)

// span is the span as it is shown, with the log records that name it.
func (s *StoredSpan) span(events []storedEvent) Span {
	out := Span{
		ID: s.ID, Parent: s.parent, Name: s.name, Kind: kindNames[s.kind], PrimitiveType: s.primitive, Start: at(s.start),
		StatusCode: statusNames[s.status], StatusMessage: s.statusMessage, Attributes: s.attributes(), Resource: objectValue(s.resource),
		Events: mergeEvents(s.events, events), Links: storedLinks(s.links),
		Input: JSONValue(s.Input), Output: JSONValue(s.Output), System: JSONValue(s.system), Tools: JSONValue(s.tools),
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
	return out
}

// attributes is one flat object of all attributes, by name.
func (s *StoredSpan) attributes() jsontext.Value {
	values := make(map[string]jsontext.Value, len(s.attrs)+len(s.attrsJSON))
	for key, text := range s.attrsJSON {
		values[strings.ToValidUTF8(key, "\uFFFD")] = JSONValue(text)
	}
	for key, text := range s.attrs {
		values[strings.ToValidUTF8(key, "\uFFFD")] = span.AppendJSONString(nil, []byte(text))
	}
	b := []byte{'{'}
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(span.AppendJSONString(b, []byte(key)), ':')
		if v := values[key]; v != nil {
			b = append(b, v...)
		} else {
			b = append(b, "null"...)
		}
	}
	return append(b, '}')
}

// storedJSON is an event or a link as it is stored with its span.
type storedJSON struct {
	Time       time.Time      `json:"time"`
	Name       string         `json:"name"`
	TraceID    string         `json:"trace_id"`
	SpanID     string         `json:"span_id"`
	Attributes jsontext.Value `json:"attributes"`
}

// storedList reads a stored list; what is not a list of objects is empty.
func storedList(text string) (list []storedJSON) {
	if text == "" || json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	for i := range list {
		list[i].Attributes = objectValue(list[i].Attributes)
	}
	return list
}

// objectValue is a text as the object that it is; nil if it is none.
func objectValue[T ~string | ~[]byte](text T) jsontext.Value {
	if v := jsontext.Value(text); v.Kind() == '{' && v.IsValid() {
		return v
	}
	return nil
}

func storedLinks(text string) []SpanLink {
	var out []SpanLink
	for _, l := range storedList(text) {
		out = append(out, SpanLink{TraceID: l.TraceID, SpanID: l.SpanID, Attributes: l.Attributes})
	}
	return out
}

// mergeEvents adds log records to a span's own events, by time. An event
// without a time comes first.
func mergeEvents(own string, records []storedEvent) []SpanEvent {
	var out []SpanEvent
	for _, e := range storedList(own) {
		event := SpanEvent{Name: e.Name, Attributes: e.Attributes}
		if e.Time.Unix() != 0 {
			event.Time = e.Time
		}
		out = append(out, event)
	}
	for i := range records {
		r := &records[i]
		out = append(out, SpanEvent{Time: at(r.at), Name: r.name, Severity: r.severity, Body: JSONValue(r.body), Attributes: objectValue(r.attributes)})
	}
	slices.SortStableFunc(out, func(a, b SpanEvent) int { return a.Time.Compare(b.Time) })
	return out
}
