package span

import (
	"bytes"
	"crypto/sha256"
	"math"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/easyproto"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// Bounds of a span that is sent as JSON. The document states the same ones.
const (
	MaxSpans       = 500  // of one request
	MaxName        = 1024 // characters of a name
	MaxShort       = 256  // characters of a model, a provider, a kind
	MaxMessage     = 10_000
	MaxSpanEvents  = 1000
	maxKeyLength   = 1024
	MaxTokens      = math.MaxUint32
	MaxDurationMS  = 400 * 24 * 3600 * 1000
	micro          = int64(time.Microsecond)
	microsPerMilli = 1000
)

// MaxCost is more than any span costs, in US dollars.
const MaxCost = 1e9

const (
	// Earliest is 2000-01-01 in microseconds since 1970. Nothing that started
	// before is telemetry: it is a time in the wrong unit, and nobody would find
	// its trace.
	Earliest = 946_684_800 * 1_000_000
	// TooEarly is what a sender sees of a time before Earliest.
	TooEarly = "must not be before 2000-01-01T00:00:00Z"
)

// Kinds are the kinds by name, with OTLP's number.
var Kinds = map[string]int32{"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}

// statusCodes are the codes of a span's status by name, with OTLP's number.
var statusCodes = map[string]int32{"unset": StatusUnset, "ok": StatusOK, "error": StatusError}

// jsonFields is a span as it is sent, in the documented casing. Every value is
// read by itself, so that one that is wrong is reported with its place.
type jsonFields struct {
	SpanID        jsontext.Value `json:"spanId"`
	ParentSpanID  jsontext.Value `json:"parentSpanId"`
	Name          jsontext.Value `json:"name"`
	Kind          jsontext.Value `json:"kind"`
	PrimitiveType jsontext.Value `json:"primitiveType"`
	StartTime     jsontext.Value `json:"startTime"`
	EndTime       jsontext.Value `json:"endTime"`
	DurationMS    jsontext.Value `json:"durationMs"`
	Status        jsontext.Value `json:"status"`
	Attributes    jsontext.Value `json:"attributes"`
	Events        jsontext.Value `json:"events"`
	Links         jsontext.Value `json:"links"`
	Input         jsontext.Value `json:"input"`
	Output        jsontext.Value `json:"output"`
	Model         jsontext.Value `json:"model"`
	Provider      jsontext.Value `json:"provider"`
	Usage         jsontext.Value `json:"usage"`
	CostUSD       jsontext.Value `json:"costUsd"`
}

// JSONSpan is a span of a request, checked. What OTLP can say is encoded as
// OTLP, so that conventions read it as they read telemetry; what the sender
// gave in fields of their own stands next to it and wins.
type JSONSpan struct {
	ID          ID
	name        string
	start       int64 // microseconds since 1970
	otlp        []byte
	primitive   string
	model       string
	provider    string
	input       []byte
	output      []byte
	usage       jsonUsage
	cost        float64
	costSent    bool
	Index, Size int // place in the request, and about the memory that it takes
}

// jsonUsage are counts that may be absent.
type jsonUsage struct{ input, output, cached, reasoning *uint32 }

// fill puts into an empty record what the sender gave in fields of their own.
func (s *JSONSpan) fill(r *Record) {
	text := func(f fact, to *[]byte, v string) {
		if v != "" {
			r.label(f, fromAssay, to, &value{kind: valueText, text: []byte(v)})
		}
	}
	count := func(f fact, to, n *uint32) {
		if n != nil {
			r.count(f, fromAssay, to, &value{kind: valueInt, num: int64(*n)})
		}
	}
	text(factModel, &r.Model, s.model)
	text(factProvider, &r.Provider, s.provider)
	count(factInputTokens, &r.InputTokens, s.usage.input)
	count(factOutputTokens, &r.OutputTokens, s.usage.output)
	count(factCachedTokens, &r.CachedTokens, s.usage.cached)
	count(factReasoning, &r.ReasoningTokens, s.usage.reasoning)
	if s.costSent {
		r.dollars(fromAssay, &value{kind: valueReal, real: s.cost})
	}
	r.step(fromAssay, s.primitive)
	r.Input, r.Output = s.input, s.output
}

// JSON reads a span that was sent as JSON; reason says why it is not taken.
func (d *Decoder) JSON(s *JSONSpan) (r *Record, reason string, err error) {
	d.record.reset()
	s.fill(&d.record)
	reason, err = d.span(s.otlp)
	return &d.record, reason, err
}

// JSONReader reads spans of one trace.
type JSONReader struct {
	Trace     TraceID
	check     FieldCheck
	marshaler easyproto.Marshaler
}

// Read checks one span. What is wrong is listed with pointers that begin at
// the span itself.
func (d *JSONReader) Read(index int, raw jsontext.Value) (JSONSpan, []fault.Field) {
	c := &d.check
	*c = FieldCheck{}
	s := JSONSpan{Index: index, Size: len(raw) + 512}
	var in jsonFields
	if !c.object("", raw, &in) {
		c.required("", raw)
		return s, c.Fields
	}
	d.marshaler.Reset()
	m := d.marshaler.MessageMarshaler()
	d.names(m, raw, &in, &s)
	d.times(m, &in, &s)
	d.status(m, in.Status)
	d.attributes(m, 9, "/attributes", in.Attributes)
	d.events(m, in.Events)
	d.links(m, in.Links)
	d.ownFields(&in, &s)
	if len(c.Fields) > 0 {
		return s, c.Fields
	}
	s.otlp = d.marshaler.Marshal(nil)
	s.Size += len(s.otlp)
	return s, nil
}

// newID is the id of a span that was sent without one. It comes from what was
// sent, so that a request that is sent again makes no second span; in which
// order a client writes the members does not matter.
func (d *JSONReader) newID(index int, raw jsontext.Value) (id ID) {
	canonical := raw.Clone()
	if canonical.Canonicalize() != nil {
		canonical = raw
	}
	sum := sha256.New()
	sum.Write(d.Trace[:])
	sum.Write(strconv.AppendInt(nil, int64(index), 10))
	sum.Write(canonical)
	copy(id[:], sum.Sum(nil))
	return id
}

func (d *JSONReader) names(m *easyproto.MessageMarshaler, raw jsontext.Value, in *jsonFields, s *JSONSpan) {
	c := &d.check
	if text, ok := c.text("/spanId", in.SpanID, 16); ok {
		if s.ID, ok = ParseID(text); !ok {
			c.Add("/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
	} else {
		s.ID = d.newID(s.Index, raw)
	}
	m.AppendBytes(1, d.Trace[:])
	m.AppendBytes(2, s.ID[:])
	if text, ok := c.text("/parentSpanId", in.ParentSpanID, 16); ok && text != "" {
		parent, ok := ParseID(text)
		if !ok {
			c.Add("/parentSpanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
		m.AppendBytes(4, parent[:])
	}
	var ok bool
	if s.name, ok = c.text("/name", in.Name, MaxName); !ok || s.name == "" {
		c.required("/name", in.Name)
	}
	m.AppendString(5, s.name)
	if text, ok := c.text("/kind", in.Kind, MaxShort); ok {
		kind, known := Kinds[text]
		if !known {
			c.Add("/kind", "enum", "must be one of: internal, server, client, producer, consumer")
		}
		m.AppendInt32(6, kind)
	}
	if text, ok := c.text("/primitiveType", in.PrimitiveType, MaxShort); ok {
		if s.primitive = primitiveType([]byte(text)); s.primitive == "" {
			c.Add("/primitiveType", "enum", "must be one of the documented primitive types")
		}
	}
}

// times reads when the span began and ended. An end wins over a duration,
// which a response repeats beside it.
func (d *JSONReader) times(m *easyproto.MessageMarshaler, in *jsonFields, s *JSONSpan) {
	c := &d.check
	start, ok := c.time("/startTime", in.StartTime)
	if !ok {
		c.required("/startTime", in.StartTime)
	} else if start < Earliest {
		c.Add("/startTime", "min", TooEarly)
	}
	end, ended := c.time("/endTime", in.EndTime)
	duration, lasted := c.number("/durationMs", in.DurationMS, 0, MaxDurationMS)
	switch {
	case ended && end < start:
		c.Add("/endTime", "min", "must not be before startTime")
	case !ended && lasted:
		end, ended = start+int64(duration*microsPerMilli), true
	}
	s.start = start
	m.AppendFixed64(7, uint64(max(0, start))*uint64(micro))
	if ended {
		m.AppendFixed64(8, uint64(max(0, end))*uint64(micro))
	}
}

func (d *JSONReader) status(m *easyproto.MessageMarshaler, raw jsontext.Value) {
	var in struct {
		Code    jsontext.Value `json:"code"`
		Message jsontext.Value `json:"message"`
	}
	c := &d.check
	if !c.object("/status", raw, &in) {
		return
	}
	status := m.AppendMessage(15)
	if text, ok := c.text("/status/message", in.Message, MaxMessage); ok {
		status.AppendString(2, text)
	}
	if text, ok := c.text("/status/code", in.Code, MaxShort); ok {
		code, known := statusCodes[text]
		if !known {
			c.Add("/status/code", "enum", "must be one of: unset, ok, error")
		}
		status.AppendInt32(3, code)
	}
}

func (d *JSONReader) events(m *easyproto.MessageMarshaler, raw jsontext.Value) {
	c := &d.check
	for i, e := range c.array("/events", raw, MaxSpanEvents) {
		at := "/events/" + strconv.Itoa(i)
		var in struct {
			Name       jsontext.Value `json:"name"`
			Time       jsontext.Value `json:"time"`
			Attributes jsontext.Value `json:"attributes"`
		}
		if !c.object(at, e, &in) {
			c.required(at, e)
			continue
		}
		event := m.AppendMessage(11)
		if at, ok := c.time(at+"/time", in.Time); ok {
			event.AppendFixed64(1, uint64(max(0, at))*uint64(micro))
		}
		name, ok := c.text(at+"/name", in.Name, MaxName)
		if !ok || name == "" {
			c.required(at+"/name", in.Name)
		}
		event.AppendString(2, name)
		d.attributes(event, 3, at+"/attributes", in.Attributes)
	}
}

func (d *JSONReader) links(m *easyproto.MessageMarshaler, raw jsontext.Value) {
	c := &d.check
	for i, l := range c.array("/links", raw, MaxSpanEvents) {
		at := "/links/" + strconv.Itoa(i)
		var in struct {
			TraceID    jsontext.Value `json:"traceId"`
			SpanID     jsontext.Value `json:"spanId"`
			Attributes jsontext.Value `json:"attributes"`
		}
		if !c.object(at, l, &in) {
			c.required(at, l)
			continue
		}
		link := m.AppendMessage(13)
		trace, _ := c.text(at+"/traceId", in.TraceID, 32)
		if id, ok := ParseTraceID(trace); ok {
			link.AppendBytes(1, id[:])
		} else {
			c.Add(at+"/traceId", "pattern", "must be 32 hexadecimal digits that are not all zero")
		}
		span, _ := c.text(at+"/spanId", in.SpanID, 16)
		if id, ok := ParseID(span); ok {
			link.AppendBytes(2, id[:])
		} else {
			c.Add(at+"/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
		d.attributes(link, 4, at+"/attributes", in.Attributes)
	}
}

// ownFields reads the fields that conventions would have to find in attributes.
func (d *JSONReader) ownFields(in *jsonFields, s *JSONSpan) {
	c := &d.check
	s.input, s.output = FreeForm(in.Input), FreeForm(in.Output)
	s.model, _ = c.text("/model", in.Model, MaxShort)
	s.provider, _ = c.text("/provider", in.Provider, MaxShort)
	s.cost, s.costSent = c.number("/costUsd", in.CostUSD, 0, MaxCost)
	var usage struct {
		Input     jsontext.Value `json:"inputTokens"`
		Output    jsontext.Value `json:"outputTokens"`
		Cached    jsontext.Value `json:"cachedTokens"`
		Reasoning jsontext.Value `json:"reasoningTokens"`
	}
	if c.object("/usage", in.Usage, &usage) {
		s.usage = jsonUsage{
			input: c.tokens("/usage/inputTokens", usage.Input), output: c.tokens("/usage/outputTokens", usage.Output),
			cached: c.tokens("/usage/cachedTokens", usage.Cached), reasoning: c.tokens("/usage/reasoningTokens", usage.Reasoning),
		}
	}
}

// FreeForm is a free-form value; null is none.
func FreeForm(raw jsontext.Value) []byte {
	if raw.Kind() == 'n' {
		return nil
	}
	return raw
}

// attributes encodes an object as KeyValue messages of a field.
func (d *JSONReader) attributes(m *easyproto.MessageMarshaler, field uint32, at string, raw jsontext.Value) {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return
	}
	if raw.Kind() != '{' {
		d.check.Add(at, "type", "must be an object")
		return
	}
	if !appendMembers(m, field, jsontext.NewDecoder(bytes.NewBuffer(raw)), 0) {
		d.check.Add(at, "length", "is nested deeper than "+strconv.Itoa(maxDepth)+" levels, or has a name of more than "+strconv.Itoa(maxKeyLength)+" bytes")
	}
}

// appendMembers appends the members of the object that comes next as KeyValue
// messages; it returns false if they are nested too deep or their names are too
// long.
func appendMembers(m *easyproto.MessageMarshaler, field uint32, dec *jsontext.Decoder, depth int) bool {
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil || len(key.String()) > maxKeyLength {
			return false
		}
		kv := m.AppendMessage(field)
		kv.AppendString(1, key.String())
		if !appendAny(kv.AppendMessage(2), dec, depth+1) {
			return false
		}
	}
	_, err := dec.ReadToken()
	return err == nil
}

// appendAny appends the value that comes next as an AnyValue; null is one
// without a value.
func appendAny(m *easyproto.MessageMarshaler, dec *jsontext.Decoder, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch dec.PeekKind() {
	case '{':
		return appendMembers(m.AppendMessage(6), 1, dec, depth)
	case '[':
		list := m.AppendMessage(5)
		_, err := dec.ReadToken()
		for err == nil && dec.PeekKind() != ']' {
			if !appendAny(list.AppendMessage(1), dec, depth+1) {
				return false
			}
		}
		if err == nil {
			_, err = dec.ReadToken()
		}
		return err == nil
	}
	token, err := dec.ReadToken()
	if err != nil {
		return false
	}
	switch token.Kind() {
	case '"':
		m.AppendString(1, token.String())
	case 't', 'f':
		m.AppendBool(2, token.Bool())
	case '0':
		if n, err := strconv.ParseInt(token.String(), 10, 64); err == nil {
			m.AppendInt64(3, n)
		} else {
			f, _ := strconv.ParseFloat(token.String(), 64)
			m.AppendDouble(4, f)
		}
	}
	return true
}
