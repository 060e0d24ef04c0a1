package normal

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// maxNested is how deep values of attributes are read as such; what is below is kept as
// its text.
const maxNested = 16

// isFlat reports whether a span or a log record has its attributes as an object, and not
// as OTLP's list of pairs.
func isFlat(v kind.Values) bool {
	return v["attributes"].Kind() == '{' || either(v, "start_time", "startTime", "timestamp", "time") != nil
}

// flatSpan makes a span of OTLP/JSON of one that is written plainly: {trace_id, span_id,
// parent_span_id, name, start_time, end_time, status, attributes, events}, as
// OpenTelemetry's own libraries print it too.
func flatSpan(v kind.Values) jsontext.Value {
	within := v.Within("context")
	id := func(names ...string) jsontext.Value {
		text := words(either(v, names...))
		if text == "" {
			text = words(either(within, names...))
		}
		return optional(strings.TrimPrefix(text, "0x"))
	}
	out := map[string]jsontext.Value{
		"traceId": id("trace_id", "traceId"), "spanId": id("span_id", "spanId"), "parentSpanId": id("parent_span_id", "parentSpanId", "parent_id"),
		"name":              optional(v.Text("name")),
		"startTimeUnixNano": flatTime(either(v, "start_time", "startTime", "start_time_unix_nano", "startTimeUnixNano")),
		"endTimeUnixNano":   flatTime(either(v, "end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano")),
		"attributes":        keyValues(v["attributes"], 0),
		"status":            flatStatus(v),
	}
	var events []jsontext.Value
	for _, e := range kind.Elements(v["events"]) {
		event := object(e)
		events = append(events, encodeSome(map[string]jsontext.Value{
			"name":         optional(event.Text("name")),
			"timeUnixNano": flatTime(either(event, "time", "timestamp", "timeUnixNano", "time_unix_nano")),
			"attributes":   keyValues(event["attributes"], 0),
		}))
	}
	if events != nil {
		out["events"] = encode(events)
	}
	return encodeSome(out)
}

// flatStatus reads a status that is a word or an object with a code.
func flatStatus(v kind.Values) jsontext.Value {
	status := v.Within("status")
	code := either(status, "code", "status_code")
	if code == nil {
		code = either(v, "status", "status_code")
	}
	number := "0"
	switch strings.ToLower(strings.TrimPrefix(words(code), "STATUS_CODE_")) {
	case "ok":
		number = "1"
	case "error":
		number = "2"
	case "":
		if text := string(code); text == "1" || text == "2" {
			number = text
		}
	}
	message := words(either(status, "message", "description"))
	if message == "" {
		message = words(either(v, "status_message", "statusMessage"))
	}
	return encodeSome(map[string]jsontext.Value{"code": jsontext.Value(number), "message": optional(message)})
}

// flatTime is nanoseconds since 1970 of a time that is written as such, or as
// RFC 3339 with an offset or without; nothing if it is something else.
func flatTime(v jsontext.Value) jsontext.Value {
	text := string(v)
	if v.Kind() == '"' {
		text = words(v)
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
			if t, err := time.Parse(layout, text); err == nil && storable(t) && t.Year() < 2262 { // nanoseconds end there
				return strconv.AppendInt(nil, t.UnixNano(), 10)
			}
		}
	}
	// A number is nanoseconds, or something smaller that did not happen in 1970.
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0) {
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && f >= 1e17 {
		return strconv.AppendInt(nil, n, 10)
	}
	for f < 1e17 && f > 1e8 {
		f *= 1000
	}
	if f < 1e17 || f >= math.MaxInt64 {
		return nil
	}
	return strconv.AppendInt(nil, int64(f), 10)
}

// keyValues makes OTLP's pairs of an object; pairs stay as they are.
func keyValues(v jsontext.Value, depth int) jsontext.Value {
	if v.Kind() == '[' {
		return v
	}
	members := object(v)
	pairs := make([]jsontext.Value, 0, len(members))
	for _, name := range sorted(members) {
		if value := anyValue(members[name], depth); value != nil {
			pairs = append(pairs, encode(map[string]jsontext.Value{"key": kind.TextValue(name), "value": value}))
		}
	}
	return encode(pairs)
}

// anyValue makes a value of OTLP of a JSON value; nothing of null.
func anyValue(v jsontext.Value, depth int) jsontext.Value {
	one := func(name string, v jsontext.Value) jsontext.Value { return encode(map[string]jsontext.Value{name: v}) }
	k := v.Kind()
	if depth >= maxNested && (k == '{' || k == '[') {
		return one("stringValue", kind.TextValue(string(v)))
	}
	switch k {
	case '"':
		return one("stringValue", v)
	case 't', 'f':
		return one("boolValue", v)
	case '0':
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return one("intValue", strconv.AppendInt(nil, n, 10))
		}
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			return one("doubleValue", number(f))
		}
	case '[':
		values := []jsontext.Value{}
		for _, element := range kind.Elements(v) {
			if value := anyValue(element, depth+1); value != nil {
				values = append(values, value)
			}
		}
		return one("arrayValue", one("values", encode(values)))
	case '{':
		return one("kvlistValue", one("values", keyValues(v, depth+1)))
	}
	return nil
}

// encodeSome writes the members that have a value.
func encodeSome(members map[string]jsontext.Value) jsontext.Value {
	maps.DeleteFunc(members, func(_ string, v jsontext.Value) bool { return len(v) == 0 })
	return encode(members)
}
