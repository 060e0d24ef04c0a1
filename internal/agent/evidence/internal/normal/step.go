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
	b := n.body(kind.PrimitiveStepRuns)
	b.spanTimes(r, kind.FieldDurationMs)
	b.within(r.TraceID.String(), r.ID.String())
	b.choice(kind.FieldPrimitiveType, r.Primitive)
	b.text(kind.FieldName, string(r.Name))
	b.choice(kind.FieldStatus, status(r, "running"))
	b.texts(kind.FieldAgent, map[string]string{
		kind.FieldID: attribute(r, "gen_ai.agent.id"), kind.FieldName: string(r.Agent), kind.FieldVersion: attribute(r, "gen_ai.agent.version"),
	})
	b.texts(kind.FieldModel, modelOf(r))
	b.usage(r)
	if r.CostSent {
		b.number(kind.FieldCostUSD, r.Cost)
	}
	b.digested(kind.FieldInput, payload(r.Input))
	b.digested(kind.FieldOutput, payload(r.Output))
	b.spanError(r)
	b.key(kind.FieldConversationID, string(r.Conversation))
	b.key(kind.FieldSubjectUser, string(r.User))
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
	return map[string]string{kind.FieldProvider: string(r.Provider), kind.FieldRequest: request, kind.FieldResponse: response}
}

// usage puts the tokens that a span counts.
func (b *body) usage(r *span.Record) {
	out := map[string]uint64{}
	for name, count := range map[string]uint32{
		kind.FieldInputTokens: r.InputTokens, kind.FieldOutputTokens: r.OutputTokens, "cached_tokens": r.CachedTokens,
		"cache_write_tokens": r.CacheWriteTokens, "reasoning_tokens": r.ReasoningTokens,
	} {
		if count > 0 {
			out[name] = uint64(count)
		}
	}
	if len(out) == 0 {
		return
	}
	out[kind.FieldTotalTokens] = uint64(r.InputTokens) + uint64(r.OutputTokens)
	b.any(kind.FieldUsage, encode(out))
}

// spanTimes puts when a span began and ended, and how long it took.
func (b *body) spanTimes(r *span.Record, duration string) {
	start := time.UnixMicro(r.Start)
	b.time(kind.FieldStartedAt, start)
	b.time(kind.FieldOccurredAt, start)
	switch {
	case r.End == 0:
	case r.End < r.Start || r.End > latest:
		b.n.leaveOut("ended_at is left out: it is before started_at")
	default:
		b.time(kind.FieldEndedAt, time.UnixMicro(r.End))
		b.number(duration, float64(r.End-r.Start)/1000)
	}
}

// spanError puts why a span failed.
func (b *body) spanError(r *span.Record) {
	if r.Status != span.StatusError {
		return
	}
	thrown := exception(r)
	b.failed(cmp.Or(attribute(r, "error.type"), thrown.Text("exception.type")), cmp.Or(string(r.StatusMessage), thrown.Text("exception.message")))
}

// exception is the attributes of the first exception that a span recorded.
func exception(r *span.Record) kind.Values {
	for _, e := range kind.Elements(r.Events) {
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
	b := n.body(kind.ToolInvocationEvidence)
	tool := cmp.Or(plain(string(r.Tool)), plain(string(r.Name)))
	if tool == "" {
		n.leaveOut("the call of a tool without a name is left out")
		return
	}
	b.spanTimes(r, kind.FieldLatencyMs)
	b.within(r.TraceID.String(), r.ID.String())
	call := cmp.Or(plain(attribute(r, "gen_ai.tool.call.id")), plain(attribute(r, "tool_call.id")), plain(attribute(r, "tool.id")), r.ID.String())
	b.key(kind.FieldInvocationID, call)
	b.text(kind.FieldToolName, tool)
	b.choice(kind.FieldToolType, attribute(r, "gen_ai.tool.type"))
	if method := attribute(r, "mcp.method.name"); method != "" {
		b.choice(kind.FieldToolType, "mcp")
		b.texts(kind.FieldProtocol, map[string]string{kind.FieldName: "mcp", kind.FieldVersion: attribute(r, "mcp.protocol.version"), kind.FieldMethod: method})
	}
	b.choice(kind.FieldStatus, status(r, "dispatched"))
	if r.End != 0 {
		b.boolean(kind.FieldIsError, r.Status == span.StatusError)
	}
	b.digested(kind.FieldArguments, payload(r.Input))
	b.digested(kind.FieldResult, payload(r.Output))
	b.spanError(r)
	b.key(kind.FieldConversationID, string(r.Conversation))
	b.key(kind.FieldSubjectUser, string(r.User))
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
	b := n.body(kind.SideEffectLedger)
	key := "otel:" + r.TraceID.String() + ":" + r.ID.String()
	store := cmp.Or(plain(attribute(r, "gen_ai.memory.store.id")), plain(attribute(r, "gen_ai.memory.store.name")))
	record := cmp.Or(plain(attribute(r, "gen_ai.memory.record.id")), plain(attribute(r, "gen_ai.memory.id")))
	what := "memory"
	if record == "" {
		what, record = "memory_store", cmp.Or(store, "unknown")
	}
	b.within(r.TraceID.String(), r.ID.String())
	b.time(kind.FieldOccurredAt, time.UnixMicro(r.Start))
	b.key(kind.FieldIdempotencyKey, key)
	b.key(kind.FieldEffectKey, key)
	b.text(kind.FieldOperation, operation)
	b.choice(kind.FieldSideEffectClass, class)
	system := cmp.Or(store, plain(string(r.Provider)), "memory")
	b.texts(kind.FieldTarget, map[string]string{kind.FieldSystem: system, kind.FieldType: what, kind.FieldID: record})
	b.choice(kind.FieldState, map[string]string{"failed": "failed", "succeeded": "acknowledged", "": "dispatched"}[status(r, "")])
	b.report(r.End == 0)
}

// handoff makes a step of an agent that was invoked on behalf of another one. It happened
// when the second one began, and has no span of its own.
func (n *normalizer) handoff(from, to *agentSpan) {
	b := n.body(kind.PrimitiveStepRuns)
	at := time.UnixMicro(to.start)
	trace := to.key.trace.String()
	b.key(kind.FieldIdempotencyKey, "otel:"+trace+":"+to.key.id.String()+":handoff")
	b.text(kind.FieldOtelTraceID, trace)
	b.choice(kind.FieldPrimitiveType, "handoff")
	b.text(kind.FieldName, from.name+" to "+to.name)
	b.choice(kind.FieldStatus, "succeeded")
	b.time(kind.FieldStartedAt, at)
	b.time(kind.FieldEndedAt, at)
	b.time(kind.FieldOccurredAt, at)
	b.number(kind.FieldDurationMs, 0)
	b.texts(kind.FieldAgent, map[string]string{kind.FieldName: from.name})
	b.attributes(map[string]jsontext.Value{
		"from_agent": optional(from.name), "to_agent": optional(to.name),
		"from_span_id": optional(from.key.id.String()), "to_span_id": optional(to.key.id.String()),
	})
	b.report(false)
}
