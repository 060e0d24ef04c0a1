package evidence

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// place names an event: the sender of an organization, its batch, and the event's number
// in the batch. Everything about the event follows from it.
type place struct{ org, sender, batch, number int }

// id is the event's own, unique among the events of an organization. Another organization
// has events with the same ids.
func (p place) id() string { return fmt.Sprintf("%d-%d-%d", p.sender, p.batch, p.number) }

// batchEvents is how many events a batch has that no other batch has first.
const batchEvents = 48

// shape is what an event is about.
type shape int

// The shapes, and how many of twelve events have each.
const (
	request   shape = iota // of a call over MCP; two
	reply                  // to a request of the next sender; two
	native                 // call of a tool
	chat                   // span
	toolSpan               // span of a call of a tool
	failure                // one of a few, reported again and again
	decision               // of a policy engine, under a name of its own
	unmapped               // not understood
	confirmed              // a decision that another event reports too
	nameless               // explanation, which nothing names but its event
)

var shapes = [12]shape{request, request, reply, reply, native, nameless, chat, toolSpan, failure, decision, unmapped, confirmed}

func (p place) shape() shape { return shapes[p.number%len(shapes)] }

const (
	runtimes    = 4 // that the senders of an organization share
	servers     = 3 // of MCP
	failureKeys = 7
	refusals    = 3 // tools that fail
)

// runtime is who sends a batch. The batches of all senders with the same number have the
// same one, and so have two batches in a row.
func (p place) runtime() string { return fmt.Sprintf("agent-%d", p.batch/2%runtimes) }

// time is when the event happened.
func (p place) time() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(p.batch) * time.Second)
}

// calls are the senders of an organization, each of which has the replies to the requests
// of the next one.
type calls struct{ senders int }

// asked is the request that a reply is to.
func (c calls) asked(p place) place {
	p.sender = (p.sender + 1) % c.senders
	p.number -= 2
	return p
}

// first is the decision that a confirmed event reports again: one of the same batch, or
// of the batch before.
func (p place) first() place {
	p.number -= 2
	p.batch -= p.batch % 2
	return p
}

// refused tells whether a native call failed.
func (p place) refused() bool { return p.shape() == native && p.batch%4 == 1 && p.number < len(shapes) }

// The names that records have by nature.
func (p place) invocation() string {
	switch p.shape() {
	case request:
		sum := sha256.Sum256(encoded([]any{p.server(), p.session(), p.number}))
		return fmt.Sprintf("mcp:%d:%x", p.number, sum[:16])
	case toolSpan:
		return "call-" + p.id()
	default:
		return "native-" + p.id()
	}
}

func (p place) span() string        { return fmt.Sprintf("%04x%08x%04x", p.sender+1, p.batch, p.number) }
func (p place) trace() string       { return fmt.Sprintf("%016x%016x", p.sender+1, p.batch+1) }
func (p place) failureKey() string  { return fmt.Sprintf("refused-%d", (p.batch+p.number)%failureKeys) }
func (p place) decisionKey() string { return "decision-" + p.id() }
func (p place) session() string     { return fmt.Sprintf("session-%d-%d", p.sender, p.batch) }
func (p place) server() string      { return fmt.Sprintf("mcp://server-%d", p.number/len(shapes)%servers) }

func (p place) tool() string {
	if p.refused() {
		return fmt.Sprintf("refuses-%d", p.batch%refusals)
	}
	return "look_up"
}

// text is what only this event says.
func (p place) text() string { return "words of " + p.id() }

// event is an event on the wire.
type event struct {
	ID      string         `json:"id"`
	Source  string         `json:"source"`
	Type    string         `json:"type"`
	Time    time.Time      `json:"time"`
	Subject string         `json:"subject,omitempty"`
	Data    jsontext.Value `json:"data"`
}

// event makes the event of a place.
func (c calls) event(p place) event {
	e := event{ID: p.id(), Source: "urn:prove:agent", Time: p.time()}
	var data any
	switch p.shape() {
	case request, reply:
		data = c.message(p, &e)
	case native:
		e.Type, data = "agent-evidence.tool-invocation-evidence", nativeCall(p)
	case chat, toolSpan:
		e.Type, data = "otel.span", spanOf(p)
	case failure:
		e.Type = "agent-evidence.failures"
		data = map[string]any{"failureKey": p.failureKey(), "failureMode": "wrong_tool", "severity": "low", "title": "The agent took the wrong tool", "note": p.text()}
	case decision:
		e.Type, data = "agent-evidence.policy-decisions", decisionOf(p)
	case confirmed:
		e.Type, data = "agent-evidence.policy-decisions", decisionOf(p.first())
	case nameless:
		e.Type = "agent-evidence.eval-explanations"
		data = map[string]any{"subject": map[string]any{"type": "trace", "id": p.batch}, "evaluationName": "prove", "explanation": p.text()}
	case unmapped:
		e.Type, data = "com.example.heartbeat", map[string]any{"beat": p.batch, "note": p.text()}
	}
	e.Data = encoded(data)
	return e
}

// message is one of MCP: a request, or the reply to one.
func (c calls) message(p place, e *event) any {
	asked := p
	if p.shape() == reply {
		asked = c.asked(p)
	}
	e.Type, e.Source = "mcp.message", asked.server()
	e.Subject = asked.session()
	m := map[string]any{"jsonrpc": "2.0", "id": asked.number}
	if p.shape() == request {
		m["method"], m["params"] = "tools/call", map[string]any{"name": p.tool(), "arguments": map[string]any{"asked": p.text()}}
	} else {
		m["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": p.text()}}, "isError": false}
	}
	return m
}

// nativeCall is a call of a tool as it is posted.
func nativeCall(p place) any {
	m := map[string]any{
		"invocationId": p.invocation(), "toolName": p.tool(), "toolType": "function", "status": "succeeded",
		"arguments": map[string]any{"asked": p.text()}, "result": map[string]any{"found": p.batch},
	}
	if p.refused() {
		delete(m, "result")
		m["status"], m["error"] = "failed", map[string]any{"type": "refused", "message": "the entry was refused"}
	}
	return m
}

// spanOf is a span as libraries print it.
func spanOf(p place) any {
	attributes := map[string]any{"gen_ai.operation.name": "chat", "gen_ai.request.model": "prove-1", "gen_ai.usage.input_tokens": 1 + p.batch, "note": p.text()}
	if p.shape() == toolSpan {
		attributes = map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": p.tool(), "gen_ai.tool.call.id": p.invocation(), "note": p.text()}
	}
	return map[string]any{
		"trace_id": p.trace(), "span_id": p.span(), "name": "step", "start_time": p.time(), "end_time": p.time().Add(5 * time.Millisecond), "attributes": attributes,
	}
}

// decisionOf is a decision, which two events report with the same words.
func decisionOf(p place) any {
	return map[string]any{
		"idempotencyKey": p.decisionKey(), "decision": "deny", "engine": "prove", "inputDigest": fmt.Sprintf("sha256:%064x", p.batch), "occurredAt": p.time(),
		"note": p.text(),
	}
}

// invalid is an event that is refused: its record lacks what it must have.
func (p place) invalid() event {
	return event{
		ID: "invalid-" + p.id(), Source: "urn:prove:agent", Type: "agent-evidence.tool-invocation-evidence", Time: p.time(),
		Data: encoded(map[string]any{"invocationId": "invalid-" + p.id(), "status": "succeeded"}),
	}
}

// encoded writes what is known to be good.
func encoded(v any) jsontext.Value {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return text
}
