package normal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

const (
	trace = "0af7651916cd43dd8448eb211c80319c"

	flatMemory = `{"trace_id":"` + trace + `","span_id":"b7ad6b7169203331","name":"forget","start_time":"2026-11-17T12:00:00Z","end_time":"2026-11-17T12:00:01.5Z",
		"attributes":{"gen_ai.operation.name":"delete_memory","gen_ai.memory.store.id":"customers"}}`

	flatAgents = `{"resourceSpans":[{"scopeSpans":[{"spans":[
		{"traceId":"` + trace + `","spanId":"0000000000000001","name":"a","startTimeUnixNano":"1794930850458655176","endTimeUnixNano":"1794930850458655176","attributes":[
			{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":"planner"}}]},
		{"traceId":"` + trace + `","spanId":"0000000000000002","parentSpanId":"0000000000000001","name":"b","startTimeUnixNano":"1794930850458655176"},
		{"traceId":"` + trace + `","spanId":"0000000000000003","parentSpanId":"0000000000000002","name":"c","startTimeUnixNano":"1794930850458655176","attributes":[
			{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":"writer"}}]}]}]}]}`
)

// flat is a plain span with these members besides its ids and its start.
func flat(members string) normal.Event {
	return event(normal.FormatSpan, `{"trace_id":"`+trace+`","span_id":"b7ad6b7169203331","name":"step","start_time":"2026-11-17T12:00:00Z",`+members+`}`)
}

func TestSpanPrimitives(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]string{
		"chat": "model_call", "text_completion": "model_call", "generate_content": "model_call", "embeddings": "embedding", "retrieval": "retrieval",
		"execute_tool": "tool_call", "invoke_agent": "agent_invocation", "create_agent": "agent_invocation", "invoke_workflow": "workflow", "plan": "plan",
		"search_memory": "memory_read", "create_memory": "memory_write", "update_memory": "memory_write", "upsert_memory": "memory_write", "delete_memory": "memory_write",
	} {
		got := normalized(t, flat(`"attributes":{"gen_ai.operation.name":"`+operation+`"}`))
		require.Equal(t, want, only(t, got, "primitive-step-runs").Text("primitive_type"), operation)
	}
	for spanKind, want := range map[string]string{
		"LLM": "model_call", "TOOL": "tool_call", "RETRIEVER": "retrieval", "RERANKER": "rerank", "EMBEDDING": "embedding", "AGENT": "agent_invocation",
		"GUARDRAIL": "guardrail", "EVALUATOR": "evaluation", "CHAIN": "workflow",
	} {
		e := flat(`"attributes":{"openinference.span.kind":"` + spanKind + `"}`)
		e.Format = normal.FormatOpenInference
		require.Equal(t, want, only(t, normalized(t, e), "primitive-step-runs").Text("primitive_type"), spanKind)
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()

	t.Run("an open span is running, and other reports complete it", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, flat(`"attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"refund"}`))
		require.Equal(t, "running", only(t, got, "primitive-step-runs").Text("status"))
		tool := only(t, got, "tool-invocation-evidence")
		require.Equal(t, "dispatched", tool.Text("status"))
		require.Equal(t, "b7ad6b7169203331", tool.Text("invocation_id"), "a call without an id has that of its span")
		for _, r := range got.Reports {
			require.True(t, r.Partial)
		}
	})

	t.Run("a span that failed says why", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, flat(`"end_time":"2026-11-17T12:00:01.5Z","status":{"code":"ERROR","message":"refused"},"attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"refund","error.type":"Timeout"}`))
		for _, name := range []kind.Name{"primitive-step-runs", "tool-invocation-evidence"} {
			v := only(t, got, name)
			require.Equal(t, "failed", v.Text("status"))
			require.JSONEq(t, `{"type":"Timeout","message":"refused"}`, string(v["error"]))
		}
		require.Equal(t, "1500", string(only(t, got, "primitive-step-runs")["duration_ms"]))
	})

	t.Run("a change of a memory is acknowledged, not verified", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event("", flatMemory))
		require.Equal(t, normal.FormatSpan, got.Format)
		entry := only(t, got, "side-effect-ledger")
		require.Equal(t, "acknowledged", entry.Text("state"))
		require.Equal(t, "delete", entry.Text("side_effect_class"))
		require.JSONEq(t, `{"system":"customers","type":"memory_store","id":"customers"}`, string(entry["target"]))
	})

	t.Run("an agent within another one is a handoff, whatever is between them", func(t *testing.T) {
		t.Parallel()
		steps := every(t, normalized(t, event("", flatAgents)), "primitive-step-runs")
		require.Len(t, steps, 3)
		require.Equal(t, "handoff", steps[2].Text("primitive_type"))
		require.Equal(t, "planner to writer", steps[2].Text("name"))
		require.Empty(t, steps[2].Text("span_id"), "the span is that of the agent")
	})

	t.Run("the same agent within itself is not a handoff", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event("", strings.ReplaceAll(flatAgents, "writer", "planner")))
		require.Len(t, got.Reports, 2)
	})

	t.Run("agents that contain each other have an end", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event("", strings.Replace(flatAgents, `"name":"a"`, `"name":"a","parentSpanId":"0000000000000003"`, 1)))
		require.Len(t, every(t, got, "primitive-step-runs"), 4, "each is above the other")
	})

	t.Run("a guardrail's verdict is not translated", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, flat(`"attributes":{"gen_ai.guardrail.name":"pii","gen_ai.guardrail.verdict.type":"deny"}`))
		v := only(t, got, "primitive-step-runs")
		require.Equal(t, "guardrail", v.Text("primitive_type"))
		require.Equal(t, "running", v.Text("status"))
		require.Equal(t, "deny", v.Within("attributes").Text("gen_ai.guardrail.verdict.type"))
	})

	t.Run("older names are read with a warning", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, flat(`"attributes":{"gen_ai.operation.name":"chat","gen_ai.system":"openai","gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"hi","gen_ai.completion.0.content":"ho","gen_ai.usage.prompt_tokens":3}`))
		v := only(t, got, "primitive-step-runs")
		require.Equal(t, "openai", v.Within("model").Text("provider"))
		require.Equal(t, int64(3), v.Within("usage").Integer("input_tokens"))
		require.Contains(t, string(v["input"]), "hi")
		require.Contains(t, string(v["output"]), "ho")
		require.NotEmpty(t, got.Warnings)
	})

	t.Run("what no convention explains is unmapped", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, normalized(t, flat(`"attributes":{"http.method":"GET"}`)).Reports)
	})

	t.Run("a span without ids is refused", func(t *testing.T) {
		t.Parallel()
		for _, data := range []string{
			`{"name":"a","start_time":"2026-11-17T12:00:00Z"}`, `{"traceId":1}`, `{"resourceSpans":7}`, `[]`,
			`{"traceId":"00000000000000000000000000000000","spanId":"b7ad6b7169203331","startTimeUnixNano":"1794930850458655176"}`,
			`{"traceId":"` + trace + `","spanId":"b7ad6b7169203331","startTimeUnixNano":"1000000"}`,
		} {
			require.Equal(t, []string{"/data"}, refused(t, event(normal.FormatSpan, data)), data)
		}
	})
}

func TestEvaluation(t *testing.T) {
	t.Parallel()

	t.Run("a score without a reason says so", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event(normal.FormatLog, `{"trace_id":"`+trace+`","event_name":"gen_ai.evaluation.result","attributes":{"gen_ai.evaluation.name":"tone","gen_ai.evaluation.score.value":1}}`))
		v := only(t, got, "eval-explanations")
		require.JSONEq(t, `{"type":"trace","id":"`+trace+`"}`, string(v["subject"]))
		require.NotEmpty(t, got.Warnings)
	})

	t.Run("a score of nothing is left out", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event(normal.FormatLog, `{"event_name":"gen_ai.evaluation.result","attributes":{"gen_ai.evaluation.name":"tone"}}`))
		require.Empty(t, got.Reports)
		require.NotEmpty(t, got.Warnings)
	})

	t.Run("other records are unmapped", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, normalized(t, event(normal.FormatLog, `{"event_name":"user.login","attributes":{}}`)).Reports)
	})
}
