package normal

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// readLogs reads an event that is a log record or holds several. Those that tell the
// result of an evaluation are understood.
func (n *normalizer) readLogs() {
	v := object(n.event.Data)
	if v == nil {
		n.refuse("/data", "type", "must be an object")
		return
	}
	body, err := span.LogsFromJSON(logsRequest(v, n.event.Data), neverPause)
	if err != nil {
		n.refuse("/data", "format", "cannot be read as log records of OTLP/JSON")
		return
	}
	var decoder span.LogDecoder
	err = decoder.Logs(body, func(r *span.LogRecord) error {
		if string(r.Name) != evaluationEvent {
			return nil
		}
		if err := decoder.ReadTexts(); err != nil {
			return err
		}
		n.logEvaluation(r)
		return n.unlessFull()
	})
	if err != nil && !n.full {
		n.refuse("/data", "format", "cannot be read as log records of OTLP/JSON")
	}
}

// logEvaluation makes an explanation of a log record. Older senders put into the body
// what belongs to the attributes.
func (n *normalizer) logEvaluation(r *span.LogRecord) {
	attributes := object(r.Attributes)
	if attributes.Text("gen_ai.evaluation.name") == "" {
		if body := object(r.Body); body != nil {
			attributes = body
		}
	}
	at := n.event.Time
	if r.Time >= span.Earliest && r.Time <= latest {
		at = time.UnixMicro(r.Time)
	}
	trace, id := n.trace, n.span
	if r.TraceID != (span.TraceID{}) {
		trace, id = r.TraceID.String(), r.SpanID.String()
	}
	sum := r.ID()
	n.evaluation(attributes, at, trace, id, "otel:log:"+hex.EncodeToString(sum[:]))
}

// logsRequest makes a request of OTLP of whatever holds log records.
func logsRequest(v kind.Values, data jsontext.Value) []byte {
	switch {
	case either(v, "resourceLogs", "resource_logs") != nil:
		return data
	case either(v, "scopeLogs", "scope_logs") != nil:
		return []byte(`{"resourceLogs":[` + string(data) + `]}`)
	}
	if isFlat(v) {
		data = flatLog(v)
	}
	return []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + string(data) + `]}]}]}`)
}

// flatLog makes a log record of OTLP/JSON of one that is written plainly.
func flatLog(v kind.Values) jsontext.Value {
	id := func(names ...string) jsontext.Value {
		return optional(strings.TrimPrefix(words(either(v, names...)), "0x"))
	}
	return encodeSome(map[string]jsontext.Value{
		"traceId": id("trace_id", "traceId"), "spanId": id("span_id", "spanId"),
		"eventName":    optional(words(either(v, "event_name", "eventName", "name"))),
		"timeUnixNano": flatTime(either(v, "time", "timestamp", "time_unix_nano", "timeUnixNano")),
		"attributes":   keyValues(v["attributes"], 0),
		"body":         anyValue(v["body"], 0),
	})
}
