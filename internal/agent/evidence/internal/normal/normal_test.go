package normal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
)

func TestA2A(t *testing.T) {
	t.Parallel()

	t.Run("states of every revision", func(t *testing.T) {
		t.Parallel()
		for state, want := range map[string]string{
			"submitted": "running", "working": "running", "input-required": "waiting", "auth-required": "waiting", "completed": "succeeded",
			"failed": "failed", "canceled": "cancelled", "rejected": "denied", "unknown": "unknown",
			"TASK_STATE_SUBMITTED": "running", "TASK_STATE_WORKING": "running", "TASK_STATE_INPUT_REQUIRED": "waiting", "TASK_STATE_AUTH_REQUIRED": "waiting",
			"TASK_STATE_COMPLETED": "succeeded", "TASK_STATE_FAILED": "failed", "TASK_STATE_CANCELED": "cancelled", "TASK_STATE_REJECTED": "denied",
		} {
			v := only(t, normalized(t, event("", `{"statusUpdate":{"taskId":"t","status":{"state":"`+state+`"}}}`)), "primitive-step-runs")
			require.Equal(t, want, v.Text("status"), state)
			require.Equal(t, "a2a:t", v.Text("idempotency_key"))
		}
	})

	t.Run("a state that is not known is unmapped", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event(normal.FormatA2A, `{"statusUpdate":{"taskId":"t","status":{"state":"dreaming"}}}`))
		require.Empty(t, got.Reports)
		require.NotEmpty(t, got.Warnings)
	})

	t.Run("an agent that answers with a message makes no task", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event("", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`))
		require.False(t, got.Reports[0].Partial)
		require.Equal(t, "succeeded", only(t, got, "primitive-step-runs").Text("status"))
	})

	t.Run("pieces of an artifact are not mistaken for the whole", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event("", `{"artifactUpdate":{"taskId":"t","append":true,"artifact":{"parts":[]}}}`))
		require.NotContains(t, only(t, got, "primitive-step-runs"), "output")
		require.NotEmpty(t, got.Warnings)
	})

	t.Run("an update of no task is refused", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"/data"}, refused(t, event("", `{"statusUpdate":{"status":{"state":"working"}}}`)))
	})
}

func TestOPA(t *testing.T) {
	t.Parallel()

	t.Run("decisions", func(t *testing.T) {
		t.Parallel()
		for result, want := range map[string]string{
			`true`: "allow", `false`: "deny", `{"allow":true}`: "allow", `{"allow":false,"x":1}`: "deny", `{"decision":"deny"}`: "deny",
			`{"decision":true}`: "allow", `{"decision":"require_approval"}`: "require_approval", `{"allow":false,"decision":"deny"}`: "deny",
		} {
			v := only(t, normalized(t, event("", `{"decision_id":"d","result":`+result+`}`)), "policy-decisions")
			require.Equal(t, want, v.Text("decision"), result)
			require.Equal(t, "opa:d", v.Text("idempotency_key"))
		}
	})

	t.Run("what is not a decision is unmapped, with a warning", func(t *testing.T) {
		t.Parallel()
		for _, result := range []string{`null`, `"allow"`, `{}`, `[true]`, `1`, `{"allow":true,"decision":"deny"}`, `{"allow":"perhaps"}`} {
			got := normalized(t, event("", `{"decision_id":"d","result":`+result+`}`))
			require.Empty(t, got.Reports, result)
			require.NotEmpty(t, got.Warnings, result)
		}
	})

	t.Run("of a list, what is refused is left out", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, event(normal.FormatOPA, `[{"decision_id":"a","result":true},{"result":true},{},{"decision_id":"b","result":false}]`))
		require.Len(t, got.Reports, 2)
		require.Equal(t, []string{"2 of the list are left out: decision_id is required"}, got.Left)
		require.Equal(t, got.Left, got.Warnings)
		require.Equal(t, []string{"/data/decision_id"}, refused(t, event(normal.FormatOPA, `[{"result":true},{}]`)), "nothing is left")
	})

	t.Run("an entry without an id is refused", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"/data/decision_id"}, refused(t, event(normal.FormatOPA, `{"result":true}`)))
	})
}

func TestNative(t *testing.T) {
	t.Parallel()
	native := func(name, data string) normal.Event {
		e := event("", data)
		e.Type = "agent-evidence." + name
		return e
	}

	t.Run("a record as it is posted", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, native("tool-invocations", `{"invocationId":"i","toolName":"t","status":"succeeded","color":"red","origin":"platform"}`))
		require.Equal(t, kind.Name("tool-invocation-evidence"), got.Reports[0].Kind.Name)
		v := only(t, got, "tool-invocation-evidence")
		require.Equal(t, "i", v.Text("invocation_id"))
		require.Equal(t, "agent-1", v.Text("runtime_key"))
		require.Equal(t, "red", v.Within("attributes").Text("color"))
		require.Equal(t, []string{"origin is ignored: only the platform sets it"}, got.Warnings)
	})

	t.Run("every kind that can be posted, and no other", func(t *testing.T) {
		t.Parallel()
		for i := range kind.Kinds {
			k := &kind.Kinds[i]
			_, fields := normal.Normalize(native(string(k.Name), `{}`), "agent-1")
			refusedType := len(fields) > 0 && fields[0].Path == "/type"
			require.Equal(t, !k.Postable(), refusedType, k.Name)
		}
	})

	t.Run("what is wrong has its place", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"/type"}, refused(t, native("dreams", `{}`)))
		require.Equal(t, []string{"/data/failure_mode", "/data/severity"}, refused(t, native("failures", `{"severity":"huge"}`)))
		require.Equal(t, []string{"/data"}, refused(t, native("failures", `[]`)))
	})
}

func TestFormats(t *testing.T) {
	t.Parallel()
	infer := func(name, data string) normal.Format {
		e := event("", data)
		e.Type = name
		got, _ := normal.Normalize(e, "")
		return got.Format
	}

	t.Run("a type mentions its format as a word", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]normal.Format{
			"io.opentelemetry.span": normal.FormatSpan, "otel.log": normal.FormatLog, "com.example.otlp-logs.v1": normal.FormatLog, "openinference.span": normal.FormatOpenInference,
			"io.modelcontextprotocol.message": normal.FormatMCP, "com.example.MCP": normal.FormatMCP, "a2a/task": normal.FormatA2A, "org.opa.decision": normal.FormatOPA,
			"agent-evidence.failures": normal.FormatNative, "com.europa.event": "", "log": "",
		} {
			require.Equal(t, want, infer(name, `{}`), name)
		}
	})

	t.Run("the shape tells where the type does not", func(t *testing.T) {
		t.Parallel()
		for data, want := range map[string]normal.Format{
			`{"decision_id":"d"}`: normal.FormatOPA, `[{"decision_id":"d"}]`: normal.FormatOPA, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`: normal.FormatMCP,
			`{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`: normal.FormatA2A, `{"resourceLogs":[]}`: normal.FormatLog, `{"resource_spans":[]}`: normal.FormatSpan,
			`{"spanId":"1","name":"n","attributes":{"openinference.span.kind":"LLM"}}`: normal.FormatOpenInference,
			`{"hello":"world"}`: "", `7`: "", `[]`: "", `null`: "",
		} {
			require.Equal(t, want, infer("", data), data)
		}
	})

	t.Run("an event of no known format is unmapped", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, normal.Result{}, normalized(t, event("", `{"hello":"world"}`)))
	})

	t.Run("a format that does not exist is refused, and so is what is not JSON", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"/format"}, refused(t, event("xml", `{}`)))
		for _, data := range []string{``, `{`, `{"a":1,"a":2}`, "\"\xff\""} {
			require.Equal(t, []string{"/data"}, refused(t, event("", data)))
		}
	})

	t.Run("a step needs a time", func(t *testing.T) {
		t.Parallel()
		e := event("", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)
		e.Time = time.Time{}
		require.Equal(t, []string{"/time"}, refused(t, e))
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	quoted := func(s string) string { return string(kind.TextValue(s)) }

	t.Run("texts are cut, and keys stay different", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("é", 300)
		keys := map[string]bool{}
		for _, end := range []string{"a", "b"} {
			got := normalized(t, event(normal.FormatMCP, `{"jsonrpc":"2.0","id":`+quoted(long+end)+`,"method":"tools/call","params":{"name":`+quoted(long)+`}}`))
			v := only(t, got, "tool-invocation-evidence")
			require.Equal(t, strings.Repeat("é", 256), v.Text("tool_name"))
			require.Contains(t, got.Warnings, "tool_name is cut to 256 characters")
			keys[v.Text("invocation_id")] = true
		}
		require.Len(t, keys, 2)
	})

	t.Run("what makes a record too large is left out, and its digest stays", func(t *testing.T) {
		t.Parallel()
		big := quoted(strings.Repeat("x", kind.MaxBody))
		got := normalized(t, event(normal.FormatMCP, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":`+big+`}}}`))
		v := only(t, got, "tool-invocation-evidence")
		require.NotContains(t, v, "arguments")
		require.Contains(t, v, "arguments_digest")
		require.Contains(t, got.Warnings, "arguments is left out: the record is too large")
	})

	t.Run("an event speaks of a limited number of records", func(t *testing.T) {
		t.Parallel()
		many := func(one string, n int) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
		decision := `{"decision_id":"d","result":true}`
		require.Len(t, normalized(t, event(normal.FormatOPA, `[`+many(decision, normal.MaxReports)+`]`)).Reports, normal.MaxReports)

		question := `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`
		span := `{"traceId":"` + trace + `","spanId":"0000000000000001","name":"a","startTimeUnixNano":"1794930850458655176","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]}`
		log := `{"traceId":"` + trace + `","eventName":"gen_ai.evaluation.result","timeUnixNano":"1794930850458655176","attributes":[{"key":"gen_ai.evaluation.name","value":{"stringValue":"n"}}]}`
		for format, data := range map[normal.Format]string{
			normal.FormatOPA:  `[` + many(decision, normal.MaxReports+1) + `]`,
			normal.FormatMCP:  `[` + many(question, normal.MaxReports+1) + `]`,
			normal.FormatSpan: `{"resourceSpans":[{"scopeSpans":[{"spans":[` + many(span, normal.MaxReports/2+1) + `]}]}]}`,
			normal.FormatLog:  `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + many(log, normal.MaxReports+1) + `]}]}]}`,
		} {
			got, fields := normal.Normalize(event(format, data), "agent-1")
			require.Empty(t, got.Reports, format)
			require.Equal(t, []fault.Field{{In: "body", Path: "/data", Code: "length", Message: "must speak of at most 1000 records: send fewer per event", Limit: normal.MaxReports}}, fields, format)
		}
	})

	t.Run("a time that cannot be is left out", func(t *testing.T) {
		t.Parallel()
		e := event(normal.FormatMCP, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
		for _, year := range []int{1969, 1999, 10_000} {
			e.Time = time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
			v := only(t, normalized(t, e), "tool-invocation-evidence")
			require.NotContains(t, v, "started_at")
			require.NotContains(t, v, "occurred_at")
		}
	})

	t.Run("what is nested too deep is left out, and its digest stays", func(t *testing.T) {
		t.Parallel()
		for levels, fits := range map[int]bool{kind.MaxDepth - 1: true, kind.MaxDepth: false, 9990: false} {
			deep := strings.Repeat("[", levels) + strings.Repeat("]", levels)
			require.True(t, jsontext.Value(deep).IsValid())
			got := normalized(t, event(normal.FormatMCP, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":`+deep+`}}`))
			v := only(t, got, "tool-invocation-evidence")
			require.Equal(t, fits, v["arguments"] != nil)
			require.Equal(t, !fits, slices.Contains(got.Warnings, "arguments is left out: it is nested too deep"))
			require.Contains(t, v, "arguments_digest")
			text, err := json.Marshal(deep)
			require.NoError(t, err)
			normalized(t, flat(`"attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.call.arguments":`+string(text)+`,"x":`+deep+`}`))
		}
	})
}
