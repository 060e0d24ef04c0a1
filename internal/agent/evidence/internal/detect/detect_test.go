package detect_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/detect"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// values are fields of a record, written in JSON.
func values(t *testing.T, text string) kind.Values {
	t.Helper()
	if text == "" {
		return nil
	}
	var out kind.Values
	require.NoError(t, json.Unmarshal([]byte(text), &out), text)
	return out
}

// found are the rules that a record matches.
func found(t *testing.T, name kind.Name, before, after string) (ids []string) {
	t.Helper()
	for _, f := range detect.Failures(kind.Must(name), values(t, before), values(t, after)) {
		ids = append(ids, f.Rule)
	}
	return ids
}

// reported is a record as it is when it was read from a report.
func reported(t *testing.T, name kind.Name, text string) string {
	t.Helper()
	d, wrong := kind.Read(kind.Must(name), jsontext.Value(text), true)
	require.Empty(t, wrong, text)
	out, err := json.Marshal(d.Values)
	require.NoError(t, err)
	return string(out)
}

// example is a record and the rules that it matches.
type example struct {
	name, record string
	rules        []string
}

func check(t *testing.T, name kind.Name, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, e.rules, found(t, name, "", reported(t, name, e.record)))
		})
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	one := func(rule string) []string { return []string{rule} }
	check(t, "tool-invocation-evidence", []example{
		{"a timeout", `{"status":"timed_out","tool_name":"search"}`, one("tool.timed_out")},
		{"a timeout of a read", `{"status":"timed_out","side_effect_class":"read"}`, one("tool.timed_out")},
		{"a timeout of a payment", `{"status":"timed_out","side_effect_class":"transact"}`, one("tool.timed_out_with_effect")},
		{"a timeout of what is unknown", `{"status":"timed_out","side_effect_class":"unknown"}`, one("tool.timed_out_with_effect")},
		{"a timeout with an error", `{"status":"timed_out","is_error":true,"error":{"message":"429 Too Many Requests"}}`, one("tool.timed_out")},
		{"success", `{"status":"succeeded"}`, nil},
		{"success that mentions an error", `{"status":"succeeded","is_error":false,"result":"unknown tool, rate limit, validation error"}`, nil},
		{"running", `{"status":"dispatched"}`, nil},
		{"denied with an error", `{"status":"denied","is_error":true,"error":{"message":"policy"}}`, nil},
		{"cancelled", `{"status":"cancelled","error":{"message":"timed out"}}`, nil},

		{"method not found by code", `{"status":"failed","error":{"type":"-32601"}}`, one("tool.unknown")},
		{"method not found by number", `{"status":"failed","error":{"code":-32601,"message":"nope"}}`, one("tool.unknown")},
		{"method not found by message", `{"status":"failed","error":{"message":"Method not found"}}`, one("tool.unknown")},
		{"unknown tool with the code of arguments", `{"status":"failed","tool_name":"get_wether","error":{"type":"-32602","message":"Tool get_wether not found"}}`, one("tool.unknown")},
		{"unknown tool in a result", `{"status":"succeeded","is_error":true,"result":{"content":[{"type":"text","text":"Unknown tool: get_wether"}]}}`, one("tool.unknown")},
		{"unknown tool in a type", `{"status":"failed","error":{"type":"ToolNotFoundError"}}`, one("tool.unknown")},
		{"something else that is not found", `{"status":"failed","tool_name":"get_order","error":{"message":"The tool reported that order 7 was not found"}}`, one("tool.failed")},
		{"a file that is not found", `{"status":"failed","tool_name":"read","error":{"message":"file not found"}}`, one("tool.failed")},
		{"the name of another tool", `{"status":"failed","tool_name":"a","error":{"message":"tool b not found"}}`, one("tool.failed")},

		{"invalid params by code", `{"status":"failed","error":{"type":"-32602"}}`, one("tool.invalid_arguments")},
		{"invalid params by number", `{"status":"failed","error":{"code":-32602}}`, one("tool.invalid_arguments")},
		{"validation", `{"status":"failed","error":{"type":"ValidationError","message":"1 error"}}`, one("tool.invalid_arguments")},
		{"schema", `{"status":"failed","error":{"message":"arguments must have required property 'city'"}}`, one("tool.invalid_arguments")},
		{"a validation of something else", `{"status":"failed","error":{"message":"the certificate is not valid"}}`, one("tool.failed")},
		{"a number that contains the code", `{"status":"failed","error":{"message":"order 1326021 is closed"}}`, one("tool.failed")},
		{"an invalid timeout", `{"status":"failed","error":{"message":"Invalid argument: timeout exceeded the maximum"}}`, one("tool.invalid_arguments")},

		{"rate limit", `{"status":"failed","error":{"type":"RateLimitError"}}`, one("tool.rate_limited")},
		{"rate limit in words", `{"status":"failed","error":{"message":"You are being rate-limited"}}`, one("tool.rate_limited")},
		{"too many requests", `{"status":"failed","error":{"message":"HTTP 429: slow down"}}`, one("tool.rate_limited")},
		{"429 as a type", `{"status":"failed","error":{"type":"429"}}`, one("tool.rate_limited_by_code")},
		{"429 as a number", `{"status":"failed","error":{"code":429}}`, one("tool.rate_limited_by_code")},
		{"429 of something else", `{"status":"failed","error":{"message":"order 429 is closed"}}`, one("tool.failed")},
		{"a number with 429 in it", `{"status":"failed","error":{"message":"status 14290"}}`, one("tool.failed")},
		{"a rate", `{"status":"failed","error":{"message":"the exchange rate is older than the limit"}}`, one("tool.failed")},

		{"a timeout that is reported", `{"status":"failed","error":{"message":"context deadline exceeded"}}`, one("tool.reported_timeout")},
		{"a timeout by name", `{"status":"failed","error":{"type":"APITimeoutError"}}`, one("tool.reported_timeout")},
		{"a timeout by type", `{"status":"failed","error":{"type":"timeout"}}`, one("tool.timeout_by_type")},
		{"a setting", `{"status":"failed","error":{"message":"the timeout is not configured"}}`, one("tool.failed")},

		{"a failure", `{"status":"failed"}`, one("tool.failed")},
		{"an error of the tool", `{"status":"succeeded","is_error":true,"result":"no seats left"}`, one("tool.failed")},
	})
}

func TestLedger(t *testing.T) {
	t.Parallel()
	ledger := func(state, class, more string) string {
		return `{"operation":"refund","state":"` + state + `","side_effect_class":"` + class + `"` + more + `}`
	}
	const decided, none, duplicate = `,"policy_decision_id":5,"authorization":"allowed"`, `,"authorization":"none"`, `,"duplicate_of_id":9`
	for name, e := range map[string]struct {
		before, after string
		rules         []string
	}{
		"conflicting":                      {ledger("acknowledged", "transact", decided), ledger("conflicting", "transact", decided), []string{"effect.conflicting"}},
		"conflicting already":              {ledger("conflicting", "transact", decided), ledger("conflicting", "transact", decided), nil},
		"verified":                         {ledger("acknowledged", "transact", decided), ledger("verified", "transact", decided), nil},
		"not undone":                       {ledger("compensating", "transact", decided), ledger("compensation_failed", "transact", decided), []string{"effect.not_undone"}},
		"not undone again":                 {ledger("compensating", "update", decided), ledger("compensation_failed", "update", decided), []string{"effect.not_undone"}},
		"duplicate":                        {"", ledger("dispatched", "transact", decided+duplicate), []string{"effect.duplicate"}},
		"duplicate already":                {ledger("dispatched", "transact", decided+duplicate), ledger("acknowledged", "transact", decided+duplicate), nil},
		"duplicate without a decision":     {"", ledger("dispatched", "transact", none+duplicate), []string{"effect.duplicate", "effect.unauthorized"}},
		"dispatched without a decision":    {ledger("authorized", "update", ""), ledger("dispatched", "update", none), []string{"effect.unauthorized"}},
		"dispatched although denied":       {"", ledger("dispatched", "update", `,"authorization":"denied"`), []string{"effect.unauthorized"}},
		"acknowledged after it was seen":   {ledger("dispatched", "update", none), ledger("acknowledged", "update", none), nil},
		"conflicting without a decision":   {ledger("failed", "update", none), ledger("conflicting", "update", none), []string{"effect.conflicting"}},
		"dispatched with a decision":       {ledger("authorized", "update", ""), ledger("dispatched", "update", decided), nil},
		"a read without a decision":        {"", ledger("dispatched", "read", ""), nil},
		"planned without a decision":       {"", ledger("planned", "transact", ""), nil},
		"overdue":                          {ledger("acknowledged", "transact", decided), ledger("acknowledged", "transact", decided+`,"overdue":true`), []string{"effect.overdue"}},
		"verified after it was overdue":    {ledger("acknowledged", "transact", decided+`,"overdue":true`), ledger("verified", "transact", decided+`,"overdue":true`), nil},
		"a duplicate that is null is none": {"", ledger("dispatched", "delete", decided+`,"duplicate_of_id":null`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, e.rules, found(t, "side-effect-ledger", e.before, e.after))
		})
	}
}

func TestGuardrails(t *testing.T) {
	t.Parallel()
	denied := func(more string) string { return `{"primitive_type":"guardrail","status":"denied"` + more + `}` }
	one := func(rule string) []string { return []string{rule} }
	check(t, "primitive-step-runs", []example{
		{"injection by name", denied(`,"name":"prompt_injection_shield"`), one("guardrail.injection")},
		{"injection by type", denied(`,"error":{"type":"PromptInjection"}`), one("guardrail.injection")},
		{"injection by verdict", denied(`,"output":{"jailbreak":{"detected":true},"hate":{"filtered":false}}`), one("guardrail.injection")},
		{"injection by an attribute", denied(`,"guardrail.category":"PROMPT_ATTACK"`), one("guardrail.injection")},
		{"injection by category", denied(`,"output":{"category":"injection"}`), one("guardrail.injection_by_category")},
		{"injection of another kind", denied(`,"error":{"message":"SQL injection"}`), nil},
		{"injection that was looked for and not found", denied(`,"output":{"prompt_injection":false,"toxicity":true}`), one("guardrail.unsafe")},
		{"injection in the input", denied(`,"input":"what is prompt injection?"`), nil},
		{"injection that was let through", `{"primitive_type":"guardrail","status":"succeeded","name":"prompt_injection_shield"}`, nil},
		{"a guardrail that failed", `{"primitive_type":"guardrail","status":"failed","name":"prompt_injection_shield"}`, nil},
		{"another step", `{"primitive_type":"model_call","status":"denied","name":"prompt injection"}`, nil},
		{"personal data", denied(`,"error":{"type":"PII"}`), one("guardrail.data")},
		{"a word that begins alike", denied(`,"error":{"type":"piiano"}`), nil},
		{"unsafe", denied(`,"output":{"categories":["violence"]}`), one("guardrail.unsafe")},
		{"unsafe by verdict", denied(`,"output":{"self-harm":true}`), one("guardrail.unsafe")},
		{"another reason", denied(`,"error":{"message":"off topic"}`), nil},
	})
}

func TestSteps(t *testing.T) {
	t.Parallel()
	failed := func(primitive, kind, message string) string {
		return `{"primitive_type":"` + primitive + `","status":"failed","error":{"type":"` + kind + `","message":"` + message + `"}}`
	}
	one := func(rule string) []string { return []string{rule} }
	check(t, "primitive-step-runs", []example{
		{"rate limit", failed("model_call", "rate_limit_exceeded", ""), one("model.rate_limited")},
		{"rate limit of embeddings", failed("embedding", "", "Error code: 429"), one("model.rate_limited")},
		{"429", failed("model_call", "429", ""), one("model.rate_limited_by_code")},
		{"context length", failed("model_call", "context_length_exceeded", "This model's maximum context length is 8192 tokens"), one("model.context_length")},
		{"prompt too long", failed("model_call", "invalid_request_error", "prompt is too long: 210000 tokens"), one("model.context_length")},
		{"a context that was cancelled", failed("model_call", "", "context canceled"), one("model.failed")},
		{"content filter", failed("model_call", "content_filter", ""), one("model.content_filter")},
		{"form", failed("model_call", "OutputParserException", ""), one("model.format")},
		{"JSON", failed("model_call", "JSONDecodeError", "Expecting value"), one("model.format")},
		{"timeout", failed("model_call", "APITimeoutError", ""), one("model.timed_out")},
		{"anything else", failed("model_call", "InternalServerError", "overloaded"), one("model.failed")},
		{"an agent at its limit", failed("agent_invocation", "MaxTurnsExceeded", ""), one("agent.limit")},
		{"a graph at its limit", failed("workflow", "GraphRecursionError", "Recursion limit of 25 reached"), one("agent.limit")},
		{"an agent that failed otherwise", failed("agent_invocation", "", "a step failed"), nil},
		{"a tool has its own evidence", failed("tool_call", "rate_limit", ""), nil},
		{"a retrieval", failed("retrieval", "", "connection refused"), one("step.failed")},
		{"a model that succeeded", `{"primitive_type":"model_call","status":"succeeded","output":"rate limit"}`, nil},
		{"a model that runs", `{"primitive_type":"model_call","status":"running"}`, nil},
	})
}

// TestRules shows that rules speak of modes, severities, fields and states that exist.
func TestRules(t *testing.T) {
	t.Parallel()
	severities := kind.Must("failures").Field("severity").Enum
	seen := map[string]bool{}
	for _, r := range detect.Rules {
		require.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		require.Contains(t, kind.FailureModes, r.Mode)
		require.Contains(t, severities, r.Severity)
		require.NotEmpty(t, r.Title)
		require.NotEmpty(t, r.About)
		require.NotEmpty(t, r.When)
		k := kind.Must(r.Kind)
		for _, c := range r.When {
			condition(t, k, c)
		}
	}
}

// condition shows that a condition asks for fields that exist, and for states that they
// can have.
func condition(t *testing.T, k *kind.Kind, c detect.Condition) {
	t.Helper()
	require.NotEmpty(t, c.Fields)
	require.Equal(t, c.Op == detect.Exists, len(c.Values) == 0)
	require.Contains(t, []detect.Op{detect.Equals, detect.OneOf, detect.ContainsAny, detect.Exists}, c.Op)
	if c.Op == detect.Equals {
		require.Len(t, c.Values, 1)
	}
	for _, name := range c.Fields {
		top, _, _ := strings.Cut(name, ".")
		f := k.Field(top)
		require.NotNil(t, f, name)
		if f.Type == kind.Enum && len(c.Fields) == 1 {
			require.Subset(t, f.Enum, c.Values)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tools := kind.Must("tool-invocation-evidence")

	t.Run("a failure says what the record says", func(t *testing.T) {
		t.Parallel()
		got := detect.Failures(tools, nil, values(t, `{"status":"failed","tool_name":"search","error":{"type":"Boom","message":" it broke "}}`))
		require.Equal(t, []detect.Failure{{Rule: "tool.failed", Mode: "tool_error_unhandled", Severity: "low", Title: "A tool failed", Tool: "search", Message: "it broke"}}, got)
	})

	t.Run("the message may be a type, or what the tool replied", func(t *testing.T) {
		t.Parallel()
		got := detect.Failures(tools, nil, values(t, `{"status":"failed","error":{"type":"Boom"}}`))
		require.Equal(t, "Boom", got[0].Message)
		got = detect.Failures(tools, nil, values(t, `{"status":"succeeded","is_error":true,"result":{"text":"no seats left"}}`))
		require.Equal(t, "no seats left", got[0].Message)
		got = detect.Failures(tools, nil, values(t, `{"status":"failed"}`))
		require.Empty(t, got[0].Message)
	})

	t.Run("a long message is cut between characters", func(t *testing.T) {
		t.Parallel()
		got := detect.Failures(tools, nil, values(t, `{"status":"failed","error":{"message":"`+strings.Repeat("é", 3000)+`x"}}`))
		require.Equal(t, strings.Repeat("é", 1000), got[0].Message)
	})

	t.Run("a record that showed it already shows nothing new", func(t *testing.T) {
		t.Parallel()
		failed := `{"status":"failed","error":{"type":"RateLimitError"}}`
		require.Empty(t, found(t, tools.Name, failed, failed))
		require.Empty(t, found(t, tools.Name, failed, `{"status":"failed","error":{"type":"429"}}`), "another rule, the same mode")
		require.Empty(t, found(t, tools.Name, `{"status":"timed_out"}`, `{"status":"failed","error":{"message":"timed out"}}`))
	})

	t.Run("a record that shows another failure than before shows it", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"tool.failed"}, found(t, tools.Name, `{"status":"timed_out"}`, `{"status":"failed"}`))
		require.Equal(t, []string{"tool.rate_limited"}, found(t, tools.Name, `{"status":"failed"}`, `{"status":"failed","error":{"type":"RateLimitError"}}`))
	})

	t.Run("a record that recovers shows nothing", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, found(t, tools.Name, `{"status":"timed_out"}`, `{"status":"succeeded"}`))
	})

	t.Run("kinds without rules show nothing", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, found(t, "benchmarks", "", `{"status":"failed","error":{"message":"timed out"}}`))
		require.Empty(t, found(t, tools.Name, "", ""))
	})

	t.Run("what has an unexpected shape is survived", func(t *testing.T) {
		t.Parallel()
		deep := strings.Repeat(`[`, 500) + `"rate limit"` + strings.Repeat(`]`, 500)
		for _, text := range []string{
			`{"status":7}`, `{"status":"failed","error":"text"}`, `{"status":"failed","error":{"type":{"a":1},"message":[true,null]}}`, `{"status":"failed","result":` + deep + `}`,
		} {
			require.NotPanics(t, func() { found(t, tools.Name, text, text) })
			require.NotPanics(t, func() { found(t, tools.Name, "", text) })
		}
		require.Equal(t, []string{"tool.failed"}, found(t, tools.Name, "", `{"status":"failed","result":`+deep+`}`))
	})
}
