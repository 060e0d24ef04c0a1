package normal

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// taskStates are the states of a task by name, without TASK_STATE_ and with one kind of
// separator, and how far the step is.
var taskStates = map[string]string{
	"submitted": "running", "working": "running", "input_required": "waiting", "auth_required": "waiting", "completed": "succeeded",
	"failed": "failed", "canceled": "cancelled", "cancelled": "cancelled", "rejected": "denied", "unknown": "unknown", "unspecified": "unknown",
}

// stateName is the name of a state as every revision of the protocol could write it.
func stateName(name string) string {
	return strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(name, "-", "_")), "task_state_")
}

// readA2A reads an event of A2A: a task, an update of one, a message or an agent card, by
// itself or as the params or the result of JSON-RPC.
func (n *normalizer) readA2A(v kind.Values) {
	if v["jsonrpc"] != nil {
		if within := v.Within("result"); within != nil {
			v = within
		} else if within := v.Within("params"); within != nil {
			v = within
		}
	}
	switch {
	case isCard(v):
		n.agentCard(v)
	case v.Text("kind") == "task":
		n.task(v)
	case v.Text("kind") == "status-update":
		n.taskStatus(v)
	case v.Text("kind") == "artifact-update":
		n.taskArtifact(v)
	default:
		n.a2aMember(v)
	}
}

// a2aMember reads the form of A2A since 1.0, where a member names what an event is.
func (n *normalizer) a2aMember(v kind.Values) {
	update := func(names ...string) kind.Values { return object(either(v, names...)) }
	switch {
	case update("statusUpdate", "status_update") != nil:
		n.taskStatus(update("statusUpdate", "status_update"))
	case update("artifactUpdate", "artifact_update") != nil:
		n.taskArtifact(update("artifactUpdate", "artifact_update"))
	case v.Within("task").Within("status") != nil:
		n.task(v.Within("task"))
	case isA2AMessage(v.Within("message")):
		n.a2aMessage(v.Within("message"))
	case isA2AMessage(v):
		n.a2aMessage(v)
	case either(v, "taskId", "task_id") != nil && v.Within("status") != nil:
		n.taskStatus(v)
	case either(v, "taskId", "task_id") != nil && v.Within("artifact") != nil:
		n.taskArtifact(v)
	case v.Text("id") != "" && v.Within("status") != nil:
		n.task(v)
	}
}

// taskStep begins a report about the step that a task is. Every report of a task has
// its key; what one does not know another one tells.
func (n *normalizer) taskStep(id string, v kind.Values) *body {
	if plain(id) == "" {
		n.refuse("/data", "required", "must name a task")
		return nil
	}
	b := n.body(kind.PrimitiveStepRuns)
	b.key(kind.FieldIdempotencyKey, "a2a:"+id)
	b.key(kind.FieldConnectorKey, n.event.Source)
	b.text(kind.FieldOtelTraceID, n.trace)
	b.choice(kind.FieldPrimitiveType, "agent_invocation")
	b.key(kind.FieldConversationID, words(either(v, "contextId", "context_id")))
	delete(b.values, kind.FieldOccurredAt) // a report that knows when the task began says it
	return b
}

// state puts how far a task is. It returns false if the state is not known.
func (b *body) state(status kind.Values) bool {
	state := taskStates[stateName(status.Text("state"))]
	if state == "" {
		b.n.warn("the state of the task is not known")
		return false
	}
	at := status.Time("timestamp")
	if !storable(at) {
		at = b.n.event.Time
	}
	b.choice(kind.FieldStatus, state)
	switch state {
	case "running", "waiting":
		b.time(kind.FieldOccurredAt, at)
		b.time(kind.FieldStartedAt, at)
	case "failed", "denied":
		b.time(kind.FieldEndedAt, at)
		b.failed(stateName(status.Text("state")), contentText(status.Within("message")["parts"]))
	case "succeeded", "cancelled":
		b.time(kind.FieldEndedAt, at)
	}
	return true
}

// task reads a task as it is at the moment.
func (n *normalizer) task(v kind.Values) {
	b := n.taskStep(v.Text("id"), v)
	if b == nil || !b.state(v.Within("status")) {
		return
	}
	for _, said := range kind.Elements(v["history"]) {
		if message := object(said); isUser(message) {
			b.digested(kind.FieldInput, message["parts"])
			break
		}
	}
	if artifacts := either(v, "artifacts"); len(kind.Elements(artifacts)) > 0 {
		b.digested(kind.FieldOutput, artifacts)
	}
	b.taskAttributes(v.Text("id"), v.Within("status"))
	b.report(true)
}

// taskStatus reads that the state of a task changed.
func (n *normalizer) taskStatus(v kind.Values) {
	id := words(either(v, "taskId", "task_id"))
	b := n.taskStep(id, v)
	if b == nil || !b.state(v.Within("status")) {
		return
	}
	b.taskAttributes(id, v.Within("status"))
	b.report(true)
}

// taskAttributes puts what a step has no field for.
func (b *body) taskAttributes(id string, status kind.Values) {
	b.attributes(map[string]jsontext.Value{"task_id": optional(id), "task_state": status["state"], "status_message": status["message"]})
}

// taskArtifact reads what a task made. Pieces that are appended to an earlier one cannot
// be joined here; a task that is read later has the whole.
func (n *normalizer) taskArtifact(v kind.Values) {
	id := words(either(v, "taskId", "task_id"))
	b := n.taskStep(id, v)
	if b == nil {
		return
	}
	if v["append"].Kind() == 't' {
		n.warn("a piece of an artifact is not joined to the pieces before it")
	} else if artifact := either(v, "artifact"); artifact != nil {
		b.digested(kind.FieldOutput, encode([]jsontext.Value{artifact}))
	}
	b.attributes(map[string]jsontext.Value{"task_id": optional(id)})
	b.report(true)
}

// a2aMessage reads a message. One that belongs to a task says what went in or came out
// of it; an agent that answers with a message makes no task.
func (n *normalizer) a2aMessage(v kind.Values) {
	id := words(either(v, "taskId", "task_id"))
	user := isUser(v)
	if id == "" && user {
		return
	}
	if id == "" && !n.timed() {
		return
	}
	b := n.taskStep(cmp.Or(id, "message:"+words(either(v, "messageId", "message_id"))), v)
	if b == nil {
		return
	}
	if user {
		b.digested(kind.FieldInput, v["parts"])
	} else {
		b.digested(kind.FieldOutput, v["parts"])
	}
	if id == "" {
		b.answered(n.event.Time)
	}
	b.report(id != "")
}

// answered puts that an agent answered at once.
func (b *body) answered(at time.Time) {
	b.choice(kind.FieldStatus, "succeeded")
	b.time(kind.FieldOccurredAt, at)
	b.time(kind.FieldStartedAt, at)
	b.time(kind.FieldEndedAt, at)
}

// isUser reports whether a message is the user's.
func isUser(v kind.Values) bool {
	return strings.TrimPrefix(strings.ToLower(v.Text("role")), "role_") == "user"
}
