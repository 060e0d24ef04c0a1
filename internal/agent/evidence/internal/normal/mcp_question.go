package normal

import "github.com/assayhq/assay/internal/agent/evidence/kind"

// mcpElicitation reads a question to the user.
func (n *normalizer) mcpElicitation(key string, params kind.Values) {
	if !n.timed() {
		return
	}
	b := n.mcpQuestion(key)
	b.text(kind.FieldName, "elicitation/create")
	b.choice(kind.FieldStatus, "waiting")
	b.time(kind.FieldStartedAt, n.event.Time)
	asked := kind.Values{}
	for name, v := range params {
		if name != "_meta" {
			asked[name] = v
		}
	}
	b.digested(kind.FieldInput, encode(asked))
	b.report(true)
}

// mcpQuestion begins a step that waits for the user.
func (n *normalizer) mcpQuestion(key string) *body {
	b := n.body(kind.PrimitiveStepRuns)
	b.key(kind.FieldIdempotencyKey, key)
	b.key(kind.FieldConnectorKey, n.event.Source)
	b.text(kind.FieldOtelTraceID, n.trace)
	b.choice(kind.FieldPrimitiveType, "user_input")
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
	delete(b.values, kind.FieldOccurredAt) // the question says when
	switch result.Text("action") {
	case "accept":
		b.choice(kind.FieldStatus, "succeeded")
	case "decline":
		b.choice(kind.FieldStatus, "denied")
	case "cancel":
		b.choice(kind.FieldStatus, "cancelled")
	}
	b.time(kind.FieldEndedAt, n.event.Time)
	b.digested(kind.FieldOutput, either(result, "content"))
	b.report(true)
}
