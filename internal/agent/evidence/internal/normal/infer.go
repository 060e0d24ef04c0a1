package normal

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// infer is the format of an event whose sender does not say; empty if nothing tells.
func infer(e Event) Format {
	if f := formatOfType(e.Type); f != "" {
		return f
	}
	data := e.Data
	if all := kind.Elements(data); len(all) > 0 {
		data = all[0]
	}
	return formatOfShape(object(data), data)
}

// formatOfType looks for a name that a type mentions as a word of its own.
func formatOfType(name string) Format {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, nativePrefix) {
		return FormatNative
	}
	log := false
	var found Format
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' }) {
		switch word {
		case "openinference":
			return FormatOpenInference
		case "otel", "otlp", "opentelemetry":
			found = FormatSpan
		case "mcp", "modelcontextprotocol":
			return FormatMCP
		case "a2a":
			return FormatA2A
		case "opa", "openpolicyagent":
			return FormatOPA
		case "log", "logs":
			log = true
		}
	}
	if found == FormatSpan && log {
		return FormatLog
	}
	return found
}

// formatOfShape looks for members that one format alone has.
func formatOfShape(v kind.Values, data jsontext.Value) Format {
	has := func(names ...string) bool { return either(v, names...) != nil }
	switch {
	case v == nil:
		return ""
	case has("decision_id"):
		return FormatOPA
	case has("jsonrpc"):
		return formatOfRPC(v)
	case has("resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "eventName", "event_name", "logRecords"):
		return FormatLog
	case has("resourceSpans", "resource_spans", "scopeSpans", "scope_spans") || has("spanId", "span_id", "context") && has("name"):
		if bytes.Contains(data, []byte(`"openinference.span.kind"`)) {
			return FormatOpenInference
		}
		return FormatSpan
	case isA2A(v) || isCard(v):
		return FormatA2A
	}
	return ""
}

// formatOfRPC tells the two protocols apart that are carried by JSON-RPC.
func formatOfRPC(v kind.Values) Format {
	switch method := v.Text("method"); method {
	case "":
	case "message/send", "message/stream", "tasks/resubscribe":
		return FormatA2A
	default:
		// The methods of A2A have been named like functions since 1.0.
		if method[0] >= 'A' && method[0] <= 'Z' {
			return FormatA2A
		}
		return FormatMCP
	}
	if result := v.Within("result"); isA2A(result) || isCard(result) {
		return FormatA2A
	}
	return FormatMCP
}

// isA2A reports whether an object is an event of a task, or a message.
func isA2A(v kind.Values) bool {
	switch v.Text("kind") {
	case "task", "status-update", "artifact-update", "message":
		return true
	}
	if either(v, "statusUpdate", "status_update", "artifactUpdate", "artifact_update") != nil {
		return true
	}
	if v.Within("status").Text("state") != "" && either(v, "id", "taskId", "task_id") != nil {
		return true
	}
	return isA2AMessage(v.Within("message")) || isA2AMessage(v) || v.Within("task").Within("status") != nil && v.Within("task").Text("id") != ""
}

func isA2AMessage(v kind.Values) bool {
	return either(v, "messageId", "message_id") != nil && either(v, "parts") != nil
}
