package normal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Names that MCP reserves in the metadata of a message.
const (
	mcpProtocol = "io.modelcontextprotocol/protocolVersion"
	mcpServer   = "io.modelcontextprotocol/serverInfo"
	mcpTask     = "io.modelcontextprotocol/related-task"
)

// exchange is what the messages of one event say about each other. An answer does not name
// the method that it answers; if its request is in the same event, it is known.
type exchange struct {
	// calls are the keys of requests to call a tool, and pages those of requests for
	// another page of tools.
	calls, pages map[string]bool
}

// readMCP reads one message of JSON-RPC. A message that no evidence follows from, such as
// a ping, gives none. Gateways log a request and its answer as one message, which is read
// as both.
func (n *normalizer) readMCP(v kind.Values) {
	if v.Text("jsonrpc") != "2.0" {
		n.refuse("/data/jsonrpc", "enum", `must be "2.0"`)
		return
	}
	result, failure := v.Within("result"), v.Within("error")
	method := v.Text("method")
	if method != "" {
		n.mcpRequest(method, v, v.Within("params"))
	}
	switch answers := method == "" || method == "tools/call" || method == "tools/list"; {
	case len(n.fields) > 0 || !answers:
	case result != nil:
		n.mcpResult(v, result)
	case failure != nil:
		n.mcpFailure(v, failure)
	case method == "":
		n.refuse("/data", "one_of_required", "must have a method, a result or an error")
	}
}

// mcpRequest reads what a side asks the other.
func (n *normalizer) mcpRequest(method string, v, params kind.Values) {
	switch method {
	case "tools/call":
		n.mcpCall(v, params)
	case "tools/list":
		if params.Text("cursor") != "" {
			note(&n.exchange.pages, n.mcpKey(v, params))
		}
	case "elicitation/create":
		n.mcpElicitation(n.mcpKey(v, params)+":elicitation", params)
	}
}

// note puts a key into a set.
func note(set *map[string]bool, key string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[key] = true
}

// mcpKey names an exchange: the id of a request is good within a session with a server.
// Revisions without sessions have the trace of the call instead. The key is the id, for
// people, and a digest of all three: two servers each have a request 1, and a session can
// have one that is the number 1 and one that is the text 1.
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
	sum := sha256.Sum256(encode([]jsontext.Value{kind.TextValue(n.event.Source), kind.TextValue(session), v["id"]}))
	return "mcp:" + cmp.Or(v.Text("id"), string(v["id"])) + ":" + hex.EncodeToString(sum[:16])
}

// mcpTrace is the trace that a message belongs to: the event says so, or its metadata.
func (n *normalizer) mcpTrace(meta kind.Values) (trace, id string) {
	if n.trace != "" {
		return n.trace, n.span
	}
	return Traceparent(meta.Text("traceparent"))
}

// mcpEvidence begins evidence about the call that a message belongs to. The request
// and its result each know a part, and share the id.
func (n *normalizer) mcpEvidence(v, within kind.Values) *body {
	if v["id"] == nil || v["id"].Kind() == 'n' {
		n.refuse("/data/id", "required", "is required")
		return nil
	}
	b := n.body(kind.ToolInvocationEvidence)
	b.key(kind.FieldInvocationID, n.mcpKey(v, within))
	b.key(kind.FieldConnectorKey, n.event.Source)
	b.choice(kind.FieldToolType, "mcp")
	b.within(n.mcpTrace(within.Within("_meta")))
	return b
}

// mcpReply is mcpEvidence about an answer. When the call occurred, its request says.
func (n *normalizer) mcpReply(v, within kind.Values) *body {
	b := n.mcpEvidence(v, within)
	if b != nil {
		delete(b.values, kind.FieldOccurredAt)
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
	note(&n.exchange.calls, n.mcpKey(v, params))
	b.text(kind.FieldToolName, words(params["name"]))
	b.choice(kind.FieldStatus, "dispatched")
	b.time(kind.FieldStartedAt, n.event.Time)
	version := params.Within("_meta").Text(mcpProtocol)
	b.texts(kind.FieldProtocol, map[string]string{kind.FieldName: "mcp", kind.FieldMethod: "tools/call", kind.FieldVersion: version})
	b.digested(kind.FieldArguments, params["arguments"])
	if responses := either(params, "inputResponses"); responses != nil {
		b.attributes(map[string]jsontext.Value{"input_responses": responses})
	}
	b.report(true)
}
