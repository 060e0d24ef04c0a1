package normal

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// urlElicitationRequired is the code of an error that asks the user to visit a page
// before the call is made again.
const urlElicitationRequired = "-32042"

// mcpResult reads a result. It does not say which method it answers, so its shape
// decides.
func (n *normalizer) mcpResult(v, result kind.Values) {
	has := func(name string) bool { return either(result, name) != nil }
	switch {
	case result["tools"].Kind() == '[':
		n.mcpManifest(v, result)
	case has("role") && has("model"): // a model's answer to the server
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
	b.time(kind.FieldEndedAt, n.event.Time)
	b.boolean(kind.FieldIsError, failed)
	reply := kind.Values{}
	for name, part := range result {
		if name != "_meta" && name != "resultType" {
			reply[name] = part
		}
	}
	b.digested(kind.FieldResult, encode(reply))
	if failed {
		b.choice(kind.FieldStatus, "failed")
		b.failed("tool_error", contentText(result["content"]))
	} else {
		b.choice(kind.FieldStatus, "succeeded")
	}
	b.report(true)
}

// contentText is the texts of content blocks, one per line.
func contentText(v jsontext.Value) string {
	var lines []string
	for _, block := range kind.Elements(v) {
		if text := object(block).Text("text"); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// mcpFailure reads an error of the protocol, as opposed to one of a tool. Any request can
// be answered with one, and the answer does not say which method failed.
func (n *normalizer) mcpFailure(v, failure kind.Values) {
	b := n.mcpReply(v, failure)
	if b == nil {
		return
	}
	b.ifCalled(v, failure)
	code := string(failure["code"])
	if code == urlElicitationRequired {
		b.choice(kind.FieldStatus, "awaiting_approval")
		b.report(true)
		return
	}
	b.time(kind.FieldEndedAt, n.event.Time)
	b.choice(kind.FieldStatus, "failed")
	b.boolean(kind.FieldIsError, true)
	b.failed(code, failure.Text("message"))
	b.report(true)
}

// ifCalled makes a report depend on the call that it answers: of what could answer another
// method as well, only a record of a call under the same key shows that it answers a
// call. If the event itself shows it, by the request that it also has or by its type, the
// report stands on its own.
func (b *body) ifCalled(v, within kind.Values) {
	name := strings.ToLower(b.n.event.Type)
	b.adds = !b.n.exchange.calls[b.n.mcpKey(v, within)] && !strings.Contains(name, "tools/call") && !strings.Contains(name, "tools.call")
}

// mcpTaskStarted reads that a tool works on, in a task that the client may ask about.
func (n *normalizer) mcpTaskStarted(v, result kind.Values) {
	b := n.mcpReply(v, result)
	if b == nil {
		return
	}
	b.ifCalled(v, result)
	b.choice(kind.FieldStatus, "dispatched")
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
	b.ifCalled(v, result)
	b.choice(kind.FieldStatus, "awaiting_approval")
	b.report(true)
	requests := result.Within("inputRequests")
	for _, name := range sorted(requests) {
		if n.full {
			return
		}
		if request := object(requests[name]); request.Text("method") == "elicitation/create" {
			n.mcpElicitation(n.mcpKey(v, result)+":elicitation:"+name, request.Within("params"))
		}
	}
}
