package engine_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// named is a refund for which the caller names a subject, an action and a resource beside
// the runtime and the tool.
func named() engine.Question {
	q := refund(`1`)
	q.Subject = engine.Entity{Type: "User", ID: "ann", Properties: jsontext.Value(`{"level":3}`)}
	q.Action = engine.Entity{ID: "pay"}
	q.Resource = engine.Entity{Type: "Order", ID: "A-17"}
	return q
}

// TestNamingMore shows that a caller cannot get rid of a restriction by naming more than the
// runtime and the tool: whatever a rule is about, it holds.
func TestNamingMore(t *testing.T) {
	t.Parallel()
	for what, scope := range map[string]string{
		"the tool":                     `principal, action, resource == Tool::"payments/refund"`,
		"any tool":                     `principal, action, resource is Tool`,
		"calls":                        `principal, action == Action::"tool.call", resource`,
		"the runtime":                  `principal == Runtime::"refund-agent", action, resource`,
		"the runtime and the tool":     `principal == Runtime::"refund-agent", action, resource == Tool::"payments/refund"`,
		"the runtime and the order":    `principal == Runtime::"refund-agent", action, resource == Order::"A-17"`,
		"the user and the tool":        `principal == User::"ann", action, resource == Tool::"payments/refund"`,
		"the user's call":              `principal == User::"ann", action == Action::"tool.call", resource == Order::"A-17"`,
		"the runtime's call of a tool": `principal is Runtime, action in [Action::"tool.call"], resource in Tool::"payments/refund"`,
		"what is named":                `principal == User::"ann", action == Action::"pay", resource == Order::"A-17"`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			forbid := `@id("no") forbid (` + scope + `);`
			ask := `@id("ask") @effect("require_approval") @expires_in("60") @obligations("log_full") forbid (` + scope + `);`

			v := one(t, permitAll, forbid).Evaluate(named())
			require.Equal(t, engine.Deny, v.Decision)
			require.Len(t, v.Reasons, 1)
			require.Equal(t, "no", v.Reasons[0].RuleID)

			v = one(t, permitAll, ask).Evaluate(named())
			require.Equal(t, engine.NeedsApproval, v.Decision)
			require.Equal(t, "ask", v.Reasons[0].RuleID)
			require.Len(t, v.Approval.Requirements, 1)
			require.Equal(t, time.Minute, v.Approval.ExpiresIn)
			require.Len(t, v.Obligations, 1)

			for text, decision := range map[string]engine.Decision{forbid: engine.Deny, ask: engine.NeedsApproval} {
				shadow := compiled(t, engine.Source{Key: "p", Text: permitAll}, engine.Source{Key: "s", Mode: engine.Shadow, Text: text})
				v = shadow.Evaluate(named())
				require.Equal(t, engine.Allow, v.Decision)
				require.Equal(t, []engine.Shadowed{{PolicyKey: "s", Decision: decision}}, v.Shadow)
			}
		})
	}
}

// TestNamingMorePermitsNothing shows that the runtime and the tool permit nothing to a
// question that is about something else too: only what was asked is permitted.
func TestNamingMorePermitsNothing(t *testing.T) {
	t.Parallel()
	tool := `(principal, action, resource == Tool::"payments/refund");`

	v := one(t, `permit `+tool).Evaluate(named())
	require.Equal(t, engine.Deny, v.Decision)
	require.Equal(t, engine.NoPermit, v.Reasons[0].Code)

	q := named()
	for _, q.ApprovalSatisfied = range []bool{false, true} {
		v = one(t, `@effect("require_approval") forbid `+tool).Evaluate(q)
		require.Equal(t, engine.NoPermit, v.Reasons[0].Code, "people are not asked in vain")
	}
	v = one(t, `permit (principal, action, resource is Order);`, `@effect("require_approval") forbid `+tool).Evaluate(q)
	require.Equal(t, engine.Allow, v.Decision, "people agreed")

	v = one(t, permitAll, `@obligations("log_full") permit `+tool).Evaluate(named())
	require.Equal(t, engine.Allow, v.Decision)
	require.Len(t, v.Reasons, 1, "it is not why")
	require.Len(t, v.Obligations, 1, "the caller does not get rid of what it obliges to")
	require.Equal(t, "log_full", v.Obligations[0].Type)
}

// TestNamingMoreReads shows that a rule which holds for the runtime or the tool can read what
// it needs: the properties that were sent, and the facts.
func TestNamingMoreReads(t *testing.T) {
	t.Parallel()
	unscoped := `forbid (principal, action, resource) when { principal.level < 3 };`
	require.Equal(t, engine.Allow, one(t, permitAll, unscoped).Evaluate(named()).Decision)

	set := one(t, permitAll, `@history("n = count(payments/refund, 1h)") forbid (principal, action, resource == Tool::"payments/refund") when { context.history.n > 0 };`)
	q := named()
	facts := set.Facts(q)
	require.Len(t, facts, 1)
	for count, decision := range map[int64]engine.Decision{0: engine.Allow, 1: engine.Deny} {
		q.History = map[engine.Fact]engine.FactValue{facts[0]: {Count: count}}
		require.Equal(t, decision, set.Evaluate(q).Decision)
	}

	broken := one(t, permitAll, `forbid (principal, action, resource is Tool) when { context.missing };`).Evaluate(named())
	require.Equal(t, engine.Deny, broken.Decision)
	require.Equal(t, engine.EngineError, broken.Reasons[0].Code)
	require.Len(t, broken.Errors, 1, "a rule that fails is reported once")
}

// TestWithoutToolOrRuntime shows that nothing is made up: a question about a page is about no
// tool, and one of a person about no runtime.
func TestWithoutToolOrRuntime(t *testing.T) {
	t.Parallel()
	q := engine.Question{Subject: engine.Entity{Type: "User", ID: "ann"}, Action: engine.Entity{ID: "read"}, Resource: engine.Entity{Type: "Page", ID: "7"}}
	set := one(t, permitAll, `forbid (principal is Runtime, action, resource);
forbid (principal, action == Action::"tool.call", resource); forbid (principal, action, resource is Tool);`)
	require.Equal(t, engine.Allow, set.Evaluate(q).Decision)
	q.RuntimeKey = "refund-agent"
	require.Equal(t, "rule1", set.Evaluate(q).Reasons[0].RuleID, "the runtime acts for the person")
}

// TestListedRuntimes shows that a list of the runtimes that may act cannot be got around by
// another name.
func TestListedRuntimes(t *testing.T) {
	t.Parallel()
	set := one(t, `forbid (principal, action, resource) unless { ["refund-agent", "support-agent"].contains(context.runtime_key) };`+permitAll)
	for key, want := range map[string]engine.Decision{"refund-agent": engine.Allow, "another": engine.Deny, "": engine.Deny} {
		q := refund(`1`)
		q.RuntimeKey = key
		require.Equal(t, want, set.Evaluate(q).Decision, key)
		q.Subject = engine.Entity{Type: "Runtime", ID: "refund-agent"}
		q.Context = jsontext.Value(`{"runtime_key":"refund-agent"}`)
		require.Equal(t, want, set.Evaluate(q).Decision, key)
	}
}
