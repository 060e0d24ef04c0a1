package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

func TestSplitTool(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"payments/refund":                      {"payments", "refund"},
		"https://payments.example/mcp/refund":  {"https://payments.example/mcp", "refund"},
		"https://payments.example/mcp/refund/": {"https://payments.example/mcp", "refund/"},
		"/refund":                              {"", "refund"},
		"a//":                                  {"a", "/"},
	} {
		connector, tool, ok := engine.SplitTool(id)
		require.True(t, ok, id)
		require.Equal(t, want, [2]string{connector, tool}, id)
		require.Equal(t, id, connector+"/"+tool)
	}
	for _, id := range []string{"", "refund", "payments/", "/"} {
		_, _, ok := engine.SplitTool(id)
		require.False(t, ok, id)
	}
}

// TestFactsOfConnectorsWithSlashes shows that a fact is about the connector that its tool has.
func TestFactsOfConnectorsWithSlashes(t *testing.T) {
	t.Parallel()
	text := `@history("n = count(https://payments.example/mcp/refund, 1h)")
forbid (principal, action, resource) when { context.history.n > 0 };` + permitAll
	fact := engine.Fact{Measure: engine.Count, Connector: "https://payments.example/mcp", Tool: "refund", Window: time.Hour}
	require.Equal(t, []engine.Fact{fact}, one(t, text).Facts(refund(`1`)))
	require.Equal(t, "count(https://payments.example/mcp/refund, 3600s)", fact.String())

	known := &engine.Names{Tools: map[string][]string{"https://payments.example/mcp": {"refund"}}}
	require.Empty(t, engine.Review(text, nil, known))
	known.Tools = map[string][]string{"https://payments.example/mpc": {"refund"}}
	all := engine.Review(text, nil, known)
	require.Len(t, all, 1)
	require.Contains(t, all[0].Message, `no connector has the key "https://payments.example/mcp"; did you mean "https://payments.example/mpc"?`)
}

// TestWhetherAnAnswerLooksBack asks before it is known what the platform says about the action.
func TestWhetherAnAnswerLooksBack(t *testing.T) {
	t.Parallel()
	early := engine.Question{RuntimeKey: "refund-agent", ConnectorKey: "payments", ToolName: "refund", Environment: "staging"}
	for _, attribute := range []string{"side_effect_class", "reversibility", "connector_state", "connector_trust", "environment"} {
		set := one(t, `@history("n = count(payments/refund, 1h)")
forbid (principal, action, resource) when { context.`+attribute+` == "x" && context.history.n > 0 };`)
		require.True(t, set.LooksBack(early), attribute)
		require.Empty(t, set.Facts(early), "%s is another now", attribute)
	}
	somewhere := compiled(t, engine.Source{Key: "p", Mode: engine.Enforce, AppliesTo: engine.AppliesTo{Environments: []string{"production"}}, Text: `@history("n = count(payments/refund, 1h)")
forbid (principal, action, resource) when { context.history.n > 0 };`})
	require.True(t, somewhere.LooksBack(early), "the runtime may be in production")
	for _, attribute := range []string{"connector_key", "tool_name", "runtime_key"} {
		set := one(t, `@history("n = count(payments/refund, 1h)")
forbid (principal, action, resource) when { context.`+attribute+` == "x" && context.history.n > 0 };`)
		require.False(t, set.LooksBack(early), "%s is what the caller says", attribute)
	}
}

// TestCountsThatAreNotKnown shows that a bound holds, however large it is.
func TestCountsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	fact := engine.Fact{Measure: engine.Count, Connector: "payments", Tool: "refund", Window: time.Hour}
	text := `@history("n = count(payments/refund, 1h)") forbid (principal, action, resource) when { context.history.n >= 200000 };` + permitAll
	q := refund(`1`)
	for count, code := range map[int64]string{0: engine.RuleMatched, engine.MaxCount: engine.RuleMatched, engine.MaxCount + 1: engine.EngineError} {
		q.History = map[engine.Fact]engine.FactValue{fact: {Count: count}}
		v := one(t, text).Evaluate(q)
		require.Equal(t, code, v.Reasons[0].Code, count)
		require.Equal(t, code == engine.EngineError, v.Decision == engine.Deny, count)
	}
	failed, err := engine.RunTests(text, []engine.Case{{Question: refund(`1`), History: map[string]engine.FactValue{"n": {Count: 200_000}}, Expect: engine.Deny}})
	require.NoError(t, err)
	require.Equal(t, "200000 is too large for a count: it is known up to 100000", failed[0].Message)
}
