package normal

import "github.com/assayhq/assay/internal/agent/evidence/kind"

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
