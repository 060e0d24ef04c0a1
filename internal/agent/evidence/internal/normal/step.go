package normal

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// step makes a step of a span.
func (n *normalizer) step(r *span.Record) {
	b := n.body("primitive-step-runs")
	b.spanTimes(r, "duration_ms")
	b.within(r.TraceID.String(), r.ID.String())
	b.choice("primitive_type", r.Primitive)
	b.text("name", string(r.Name))
	b.choice("status", status(r, "running"))
	b.texts("agent", map[string]string{"id": attribute(r, "gen_ai.agent.id"), "name": string(r.Agent), "version": attribute(r, "gen_ai.agent.version")})
	b.texts("model", modelOf(r))
	b.usage(r)
	if r.CostSent {
		b.number("cost_usd", r.Cost)
	}
	b.digested("input", "input_digest", payload(r.Input))
	b.digested("output", "output_digest", payload(r.Output))
	b.spanError(r)
	b.key("conversation_id", string(r.Conversation))
	b.key("subject_user", string(r.User))
	b.attributes(stepAttributes(r))
	b.report(r.End == 0)
}

// stepAttributes is what a span says that a step has no field for.
func stepAttributes(r *span.Record) map[string]jsontext.Value {
	out := map[string]jsontext.Value{
		"operation":           optional(attribute(r, "gen_ai.operation.name")),
		"span_kind":           optional(attribute(r, "openinference.span.kind")),
		"parent_span_id":      optional(r.ParentID.String()),
		"service":             optional(string(r.Service)),
		"system_instructions": payload(r.System),
		"finish_reasons":      attributeValue(r, "gen_ai.response.finish_reasons"),
		"finish_reason":       attributeValue(r, "llm.finish_reason"),
	}
	// What a guardrail found stays in its own words: one library's "modify" is not
	// another's "deny".
	for i := range r.Attributes {
		if name := string(r.Attributes[i].Key); strings.HasPrefix(name, "gen_ai.guardrail.") || strings.HasPrefix(name, "gen_ai.security.") {
			out[name] = jsonOf(&r.Attributes[i])
		}
	}
	return out
}

// modelOf is who was asked. Conventions that have one name for the model mean the one
// that answered.
func modelOf(r *span.Record) map[string]string {
	request, response := attribute(r, "gen_ai.request.model"), attribute(r, "gen_ai.response.model")
	if request == "" && response == "" {
		response = string(r.Model)
	}
	if request == "" && response == "" && r.Primitive != "model_call" && r.Primitive != "embedding" {
		return nil // the provider is that of something else, such as a memory
	}
	return map[string]string{"provider": string(r.Provider), "request": request, "response": response}
}

// usage puts the tokens that a span counts.
func (b *body) usage(r *span.Record) {
	out := map[string]uint64{}
	for name, count := range map[string]uint32{
		"input_tokens": r.InputTokens, "output_tokens": r.OutputTokens, "cached_tokens": r.CachedTokens,
		"cache_write_tokens": r.CacheWriteTokens, "reasoning_tokens": r.ReasoningTokens,
	} {
		if count > 0 {
			out[name] = uint64(count)
		}
	}
	if len(out) == 0 {
		return
	}
	out["total_tokens"] = uint64(r.InputTokens) + uint64(r.OutputTokens)
	b.any("usage", encode(out))
}

// spanTimes puts when a span began and ended, and how long it took.
func (b *body) spanTimes(r *span.Record, duration string) {
	start := time.UnixMicro(r.Start)
	b.time("started_at", start)
	b.time("occurred_at", start)
	switch {
	case r.End == 0:
	case r.End < r.Start || r.End > latest:
		b.n.leaveOut("ended_at is left out: it is before started_at")
	default:
		b.time("ended_at", time.UnixMicro(r.End))
		b.number(duration, float64(r.End-r.Start)/1000)
	}
}

// spanError puts why a span failed.
func (b *body) spanError(r *span.Record) {
	if r.Status != span.StatusError {
		return
	}
	thrown := exception(r)
	b.texts("error", map[string]string{
		"type":    cmp.Or(attribute(r, "error.type"), thrown.Text("exception.type")),
		"message": cmp.Or(string(r.StatusMessage), thrown.Text("exception.message")),
	})
}

// exception is the attributes of the first exception that a span recorded.
func exception(r *span.Record) kind.Values {
	for _, e := range list(r.Events) {
		if event := object(e); event.Text("name") == "exception" {
			return event.Within("attributes")
		}
	}
	return nil
}

// status is how far a step or a call is; open is that of a span without an end.
func status(r *span.Record, open string) string {
	switch {
	case r.Status == span.StatusError:
		return "failed"
	case r.End == 0:
		return open
	default:
		return "succeeded"
	}
}

// toolOfSpan makes evidence of the call of a tool.
func (n *normalizer) toolOfSpan(r *span.Record) {
	b := n.body("tool-invocation-evidence")
	tool := cmp.Or(plain(string(r.Tool)), plain(string(r.Name)))
	if tool == "" {
		n.leaveOut("the call of a tool without a name is left out")
		return
	}
	b.spanTimes(r, "latency_ms")
	b.within(r.TraceID.String(), r.ID.String())
	call := cmp.Or(plain(attribute(r, "gen_ai.tool.call.id")), plain(attribute(r, "tool_call.id")), plain(attribute(r, "tool.id")), r.ID.String())
	b.key("invocation_id", call)
	b.text("tool_name", tool)
	b.choice("tool_type", attribute(r, "gen_ai.tool.type"))
	if method := attribute(r, "mcp.method.name"); method != "" {
		b.choice("tool_type", "mcp")
		b.texts("protocol", map[string]string{"name": "mcp", "version": attribute(r, "mcp.protocol.version"), "method": method})
	}
	b.choice("status", status(r, "dispatched"))
	if r.End != 0 {
		b.boolean("is_error", r.Status == span.StatusError)
	}
	b.digested("arguments", "arguments_digest", payload(r.Input))
	b.digested("result", "result_digest", payload(r.Output))
	b.spanError(r)
	b.key("conversation_id", string(r.Conversation))
	b.key("subject_user", string(r.User))
	b.report(r.End == 0)
}

// memoryClasses are what operations do to a memory.
var memoryClasses = map[string]string{
	"create_memory": "create", "create_memory_store": "create", "update_memory": "update", "upsert_memory": "update",
	"delete_memory": "delete", "delete_memory_store": "delete",
}

// memoryOfSpan makes an entry of the ledger of a change of an agent's memory. The span
// shows that the store replied, not that the memory changed.
func (n *normalizer) memoryOfSpan(r *span.Record) {
	operation := attribute(r, "gen_ai.operation.name")
	class, known := memoryClasses[operation]
	if !known {
		return
	}
	b := n.body("side-effect-ledger")
	key := "otel:" + r.TraceID.String() + ":" + r.ID.String()
	store := cmp.Or(plain(attribute(r, "gen_ai.memory.store.id")), plain(attribute(r, "gen_ai.memory.store.name")))
	record := cmp.Or(plain(attribute(r, "gen_ai.memory.record.id")), plain(attribute(r, "gen_ai.memory.id")))
	what := "memory"
	if record == "" {
		what, record = "memory_store", cmp.Or(store, "unknown")
	}
	b.within(r.TraceID.String(), r.ID.String())
	b.time("occurred_at", time.UnixMicro(r.Start))
	b.key("idempotency_key", key)
	b.key("effect_key", key)
	b.text("operation", operation)
	b.choice("side_effect_class", class)
	b.texts("target", map[string]string{"system": cmp.Or(store, plain(string(r.Provider)), "memory"), "type": what, "id": record})
	switch status(r, "") {
	case "failed":
		b.choice("state", "failed")
	case "succeeded":
		b.choice("state", "acknowledged")
	default:
		b.choice("state", "dispatched")
	}
	b.report(r.End == 0)
}

// handoff makes a step of an agent that was invoked on behalf of another one. It happened
// when the second one began, and has no span of its own.
func (n *normalizer) handoff(from, to *agentSpan) {
	b := n.body("primitive-step-runs")
	at := time.UnixMicro(to.start)
	trace := to.key.trace.String()
	b.key("idempotency_key", "otel:"+trace+":"+to.key.id.String()+":handoff")
	b.text("otel_trace_id", trace)
	b.choice("primitive_type", "handoff")
	b.text("name", from.name+" to "+to.name)
	b.choice("status", "succeeded")
	b.time("started_at", at)
	b.time("ended_at", at)
	b.time("occurred_at", at)
	b.number("duration_ms", 0)
	b.texts("agent", map[string]string{"name": from.name})
	b.attributes(map[string]jsontext.Value{
		"from_agent": optional(from.name), "to_agent": optional(to.name),
		"from_span_id": optional(from.key.id.String()), "to_span_id": optional(to.key.id.String()),
	})
	b.report(false)
}
