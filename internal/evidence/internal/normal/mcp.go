package normal

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
)

// Names that MCP reserves in the metadata of a message.
const (
	mcpProtocol = "io.modelcontextprotocol/protocolVersion"
	mcpServer   = "io.modelcontextprotocol/serverInfo"
	mcpTask     = "io.modelcontextprotocol/related-task"
)

// urlElicitationRequired is the code of an error that asks the user to visit a page
// before the call is made again.
const urlElicitationRequired = "-32042"

// readMCP reads one message of JSON-RPC. A message that no evidence follows from, such as
// a ping, gives none.
func (n *normalizer) readMCP(v kind.Values) {
	if v.Text("jsonrpc") != "2.0" {
		n.refuse("/data/jsonrpc", "enum", `must be "2.0"`)
		return
	}
	result, failure := v.Within("result"), v.Within("error")
	switch method := v.Text("method"); {
	case method == "tools/call":
		n.mcpCall(v, v.Within("params"))
	case method == "elicitation/create":
		n.mcpElicitation(n.mcpKey(v, v.Within("params"))+":elicitation", v.Within("params"))
	case method != "":
	case result != nil:
		n.mcpResult(v, result)
	case failure != nil:
		n.mcpFailure(v, failure)
	default:
		n.refuse("/data", "one_of_required", "must have a method, a result or an error")
	}
}

// mcpKey names an exchange: the id of a request is good within a session. Revisions
// without sessions have the trace of the call instead.
func (n *normalizer) mcpKey(v, within kind.Values) string {
	meta := within.Within("_meta")
	session := cmp.Or(n.event.Subject, meta.Text("sessionId"), meta.Text("session_id"))
	if session == "" {
		if trace, id := n.mcpTrace(meta); trace != "" {
			session = trace + "-" + id
		}
	}
	if session == "" {
		n.warn("the message names neither a session nor a trace: calls with the same JSON-RPC id look the same")
	}
	id := v.Text("id")
	if id == "" {
		id = string(v["id"])
	}
	return "mcp:" + session + ":" + id
}

// mcpTrace is the trace that a message belongs to: the event says so, or its metadata.
func (n *normalizer) mcpTrace(meta kind.Values) (trace, id string) {
	if n.trace != "" {
		return n.trace, n.span
	}
	return traceparent(meta.Text("traceparent"))
}

// mcpEvidence begins evidence about the call that a message belongs to. The request
// and its result each know a part, and share the id.
func (n *normalizer) mcpEvidence(v, within kind.Values) *body {
	if v["id"] == nil || v["id"].Kind() == 'n' {
		n.refuse("/data/id", "required", "is required")
		return nil
	}
	b := n.body("tool-invocation-evidence")
	b.key("invocation_id", n.mcpKey(v, within))
	b.key("connector_key", n.event.Source)
	b.choice("tool_type", "mcp")
	b.within(n.mcpTrace(within.Within("_meta")))
	return b
}

// mcpReply is mcpEvidence about an answer. When the call occurred, its request says.
func (n *normalizer) mcpReply(v, within kind.Values) *body {
	b := n.mcpEvidence(v, within)
	if b != nil {
		delete(b.values, "occurred_at")
	}
	return b
}

// mcpCall reads the request to call a tool.
func (n *normalizer) mcpCall(v, params kind.Values) {
	if words(params["name"]) == "" {
		n.refuse("/data/params/name", "required", "is required, a string")
		return
	}
	b := n.mcpEvidence(v, params)
	if b == nil {
		return
	}
	b.text("tool_name", words(params["name"]))
	b.choice("status", "dispatched")
	b.time("started_at", n.event.Time)
	b.texts("protocol", map[string]string{"name": "mcp", "method": "tools/call", "version": params.Within("_meta").Text(mcpProtocol)})
	b.digested("arguments", "arguments_digest", params["arguments"])
	if responses := either(params, "inputResponses"); responses != nil {
		b.attributes(map[string]jsontext.Value{"input_responses": responses})
	}
	b.report(true)
}

// mcpResult reads a result. It does not say which method it answers, so its shape
// decides.
func (n *normalizer) mcpResult(v, result kind.Values) {
	has := func(name string) bool { return either(result, name) != nil }
	switch {
	case result["tools"].Kind() == '[':
		n.mcpManifest(result)
	case has("supportedVersions") && has("capabilities"), has("protocolVersion") && has("capabilities"):
		n.mcpServerInfo(result)
	case result.Text("resultType") == "input_required":
		n.mcpInputRequired(v, result)
	case result.Within("_meta")[mcpTask] != nil:
		n.warn("the result of a task does not name the call that started it")
	case result.Within("task").Text("taskId") != "":
		n.mcpTaskStarted(v, result)
	case isElicited(result):
		n.mcpElicited(v, result)
	case result["content"].Kind() == '[' || has("structuredContent") || has("isError") || has("toolResult"):
		n.mcpToolResult(v, result)
	}
}

// mcpToolResult reads what a tool replied.
func (n *normalizer) mcpToolResult(v, result kind.Values) {
	b := n.mcpReply(v, result)
	if b == nil {
		return
	}
	failed := result["isError"].Kind() == 't'
	b.time("ended_at", n.event.Time)
	b.boolean("is_error", failed)
	reply := kind.Values{}
	for name, part := range result {
		if name != "_meta" && name != "resultType" {
			reply[name] = part
		}
	}
	b.digested("result", "result_digest", encode(reply))
	if failed {
		b.choice("status", "failed")
		b.texts("error", map[string]string{"type": "tool_error", "message": contentText(result["content"])})
	} else {
		b.choice("status", "succeeded")
	}
	b.report(true)
}

// contentText is the texts of content blocks, one per line.
func contentText(v jsontext.Value) string {
	var lines []string
	for _, block := range list(v) {
		if text := object(block).Text("text"); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// mcpFailure reads an error of the protocol, as opposed to one of a tool.
func (n *normalizer) mcpFailure(v, failure kind.Values) {
	b := n.mcpReply(v, failure)
	if b == nil {
		return
	}
	code := string(failure["code"])
	if code == urlElicitationRequired {
		b.choice("status", "awaiting_approval")
		b.report(true)
		return
	}
	b.time("ended_at", n.event.Time)
	b.choice("status", "failed")
	b.boolean("is_error", true)
	b.texts("error", map[string]string{"type": code, "message": failure.Text("message")})
	b.report(true)
}

// mcpTaskStarted reads that a tool works on, in a task that the client may ask about.
func (n *normalizer) mcpTaskStarted(v, result kind.Values) {
	b := n.mcpReply(v, result)
	if b == nil {
		return
	}
	b.choice("status", "dispatched")
	b.attributes(map[string]jsontext.Value{"mcp_task_id": result.Within("task")["taskId"]})
	b.report(true)
}

// mcpInputRequired reads that a server needs something before it does what it was asked.
// Each question to the user is a step of its own.
func (n *normalizer) mcpInputRequired(v, result kind.Values) {
	b := n.mcpReply(v, result)
	if b == nil {
		return
	}
	b.choice("status", "awaiting_approval")
	b.report(true)
	requests := result.Within("inputRequests")
	for _, name := range sorted(requests) {
		if request := object(requests[name]); request.Text("method") == "elicitation/create" {
			n.mcpElicitation(n.mcpKey(v, result)+":elicitation:"+name, request.Within("params"))
		}
	}
}

// mcpElicitation reads a question to the user.
func (n *normalizer) mcpElicitation(key string, params kind.Values) {
	if !n.timed() {
		return
	}
	b := n.mcpQuestion(key)
	b.text("name", "elicitation/create")
	b.choice("status", "waiting")
	b.time("started_at", n.event.Time)
	asked := kind.Values{}
	for name, v := range params {
		if name != "_meta" {
			asked[name] = v
		}
	}
	b.digested("input", "input_digest", encode(asked))
	b.report(true)
}

// mcpQuestion begins a step that waits for the user.
func (n *normalizer) mcpQuestion(key string) *body {
	b := n.body("primitive-step-runs")
	b.key("idempotency_key", key)
	b.key("connector_key", n.event.Source)
	b.text("otel_trace_id", n.trace)
	b.choice("primitive_type", "user_input")
	return b
}

// isElicited reports whether a result is a user's answer.
func isElicited(result kind.Values) bool {
	switch result.Text("action") {
	case "accept", "decline", "cancel":
		return result["content"] == nil || result["content"].Kind() == '{' || result["content"].Kind() == 'n'
	}
	return false
}

// mcpElicited reads a user's answer.
func (n *normalizer) mcpElicited(v, result kind.Values) {
	if v["id"] == nil {
		n.refuse("/data/id", "required", "is required")
		return
	}
	b := n.mcpQuestion(n.mcpKey(v, result) + ":elicitation")
	delete(b.values, "occurred_at") // the question says when
	switch result.Text("action") {
	case "accept":
		b.choice("status", "succeeded")
	case "decline":
		b.choice("status", "denied")
	case "cancel":
		b.choice("status", "cancelled")
	}
	b.time("ended_at", n.event.Time)
	b.digested("output", "output_digest", either(result, "content"))
	b.report(true)
}
