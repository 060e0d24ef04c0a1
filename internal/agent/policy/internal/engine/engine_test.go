package engine_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// one compiles texts as policies p1, p2 and so on, all enforced.
func one(t *testing.T, texts ...string) *engine.Set {
	t.Helper()
	var sources []engine.Source
	for i, text := range texts {
		sources = append(sources, engine.Source{Key: "p" + string(rune('1'+i)), Version: 3, Mode: engine.Enforce, Text: text})
	}
	return compiled(t, sources...)
}

func compiled(t *testing.T, sources ...engine.Source) *engine.Set {
	t.Helper()
	set, err := engine.Compile(sources)
	require.NoError(t, err)
	return set
}

func refund(amount string) engine.Question {
	return engine.Question{
		RuntimeKey: "refund-agent", ConnectorKey: "payments", ToolName: "refund", Environment: "production",
		Arguments:       jsontext.Value(`{"order":"A-17","amount":` + amount + `,"currency":"EUR"}`),
		SideEffectClass: "transact", Reversibility: "compensable", ConnectorState: "approved", ConnectorTrust: "verified",
	}
}

const (
	permitAll = `permit (principal, action, resource);`
	approve   = `@id("large") @effect("require_approval") @reason("refunds above 100 need approval")
@approver_groups("admin, 0190AAAA-0000-7000-8000-000000000017") @min_approvals("2") @expires_in("3600") @obligations("verify_side_effect(within_seconds=3600), log_full")
forbid (principal, action == Action::"tool.call", resource)
when { context.connector_key == "payments" && context has amount && context.amount.greaterThan(decimal("100.0")) };`
)

func TestOrderOfDecision(t *testing.T) {
	t.Parallel()
	denyAll := `@id("stop") @reason("stopped") forbid (principal, action, resource);`
	broken := `@id("broken") forbid (principal, action, resource) when { context.missing == 1 };`
	brokenApproval := `@effect("require_approval") forbid (principal, action, resource) when { context.missing == 1 };`
	brokenPermit := `permit (principal, action, resource) when { context.missing == 1 };`
	for name, c := range map[string]struct {
		texts     []string
		satisfied bool
		decision  engine.Decision
		code      string
	}{
		"nothing permits":                          {texts: nil, decision: engine.Deny, code: engine.NoPermit},
		"a permit allows":                          {texts: []string{permitAll}, decision: engine.Allow, code: engine.RuleMatched},
		"an approval is required":                  {texts: []string{permitAll, approve}, decision: engine.NeedsApproval, code: engine.RuleMatched},
		"an approval is enough without a permit":   {texts: []string{approve}, satisfied: true, decision: engine.Allow, code: engine.RuleMatched},
		"a forbid wins over everything":            {texts: []string{permitAll, approve, broken, denyAll}, satisfied: true, decision: engine.Deny, code: engine.RuleMatched},
		"a forbid that fails denies":               {texts: []string{permitAll, approve, broken}, satisfied: true, decision: engine.Deny, code: engine.EngineError},
		"a required approval that fails denies":    {texts: []string{permitAll, brokenApproval}, satisfied: true, decision: engine.Deny, code: engine.EngineError},
		"a permit that fails permits nothing":      {texts: []string{brokenPermit}, decision: engine.Deny, code: engine.NoPermit},
		"a permit that fails takes nothing away":   {texts: []string{brokenPermit, permitAll}, decision: engine.Allow, code: engine.RuleMatched},
		"a satisfied approval lifts only approval": {texts: []string{denyAll, approve}, satisfied: true, decision: engine.Deny, code: engine.RuleMatched},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := refund(`"240.00"`)
			q.ApprovalSatisfied = c.satisfied

			v := one(t, c.texts...).Evaluate(q)

			require.Equal(t, c.decision, v.Decision)
			require.Equal(t, c.code, v.Reasons[0].Code)
		})
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	set := one(t, permitAll, approve)

	v := set.Evaluate(refund(`"240.00"`))

	require.Equal(t, engine.Verdict{
		Decision: engine.NeedsApproval,
		Reasons:  []engine.Reason{{Code: "rule_matched", Message: "refunds above 100 need approval", PolicyKey: "p2", PolicyVersion: 3, RuleID: "large"}},
		Obligations: []engine.Obligation{
			{ID: "o1", Type: "verify_side_effect", Ext: jsontext.Value(`{"within_seconds":3600}`)},
			{ID: "o2", Type: "log_full", Ext: jsontext.Value(`{}`)},
		},
		Approval: engine.Approval{
			Requirements: []engine.Requirement{{PolicyKey: "p2", RuleID: "large", Groups: []string{"admin", "0190aaaa-0000-7000-8000-000000000017"}, Min: 2, ExpiresIn: time.Hour}},
			ExpiresIn:    time.Hour,
		},
	}, v)
	require.Equal(t, engine.Allow, set.Evaluate(refund(`"99.99"`)).Decision)
	require.Equal(t, engine.NeedsApproval, set.Evaluate(refund(`240`)).Decision, "an amount may be a number")
}

func TestApprovalsAddUp(t *testing.T) {
	t.Parallel()
	set := one(t, approve, `@effect("require_approval") forbid (principal, action, resource);`)

	v := set.Evaluate(refund(`"240.00"`))

	require.Equal(t, engine.Approval{Requirements: []engine.Requirement{
		{PolicyKey: "p1", RuleID: "large", Groups: []string{"admin", "0190aaaa-0000-7000-8000-000000000017"}, Min: 2, ExpiresIn: time.Hour},
		{PolicyKey: "p2", RuleID: "rule1", Groups: []string{"owner", "admin"}, Min: 1, ExpiresIn: 24 * time.Hour},
	}, ExpiresIn: time.Hour}, v.Approval)
}

// TestShadow shows that a policy in shadow changes nothing, and that what it would
// change is reported for each such policy apart.
func TestShadow(t *testing.T) {
	t.Parallel()
	shadow := func(key, text string) engine.Source {
		return engine.Source{Key: key, Version: 1, Mode: engine.Shadow, Text: text}
	}
	set := compiled(t,
		engine.Source{Key: "b", Version: 1, Mode: engine.Enforce, Text: permitAll},
		shadow("a", `forbid (principal, action, resource);`),
		shadow("c", `@effect("require_approval") forbid (principal, action, resource);`),
		shadow("d", `forbid (principal, action, resource) when { context.tool_name == "other" };`),
		shadow("e", `forbid (principal, action, resource) when { context.missing };`),
	)

	v := set.Evaluate(refund(`1`))

	require.Equal(t, engine.Allow, v.Decision)
	require.Equal(t, []engine.Shadowed{{"a", engine.Deny}, {"c", engine.NeedsApproval}, {"e", engine.Deny}}, v.Shadow)
	require.Len(t, v.Errors, 1)
	require.Contains(t, v.Errors[0], "e/rule1: ")
	require.Len(t, v.Reasons, 1)
}

func TestAppliesTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to      engine.AppliesTo
		applies bool
	}{
		"everything":             {applies: true},
		"the runtime":            {to: engine.AppliesTo{RuntimeKeys: []string{"x", "refund-agent"}}, applies: true},
		"another runtime":        {to: engine.AppliesTo{RuntimeKeys: []string{"x"}}},
		"the connector":          {to: engine.AppliesTo{ConnectorKeys: []string{"payments"}}, applies: true},
		"another connector":      {to: engine.AppliesTo{ConnectorKeys: []string{"crm"}}},
		"the environment":        {to: engine.AppliesTo{Environments: []string{"production"}}, applies: true},
		"another environment":    {to: engine.AppliesTo{Environments: []string{"staging"}}},
		"one of several differs": {to: engine.AppliesTo{RuntimeKeys: []string{"refund-agent"}, Environments: []string{"staging"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{permitAll, `permit (principal, action, resource == Tool::"payments/refund");`} {
				set := compiled(t, engine.Source{Key: "p", Version: 1, Mode: engine.Enforce, AppliesTo: c.to, Text: text})

				require.Equal(t, c.applies, set.Evaluate(refund(`1`)).Decision == engine.Allow)
			}
		})
	}
}

func TestOnlySomePolicies(t *testing.T) {
	t.Parallel()
	set := one(t, permitAll, `forbid (principal, action, resource);`)
	q := refund(`1`)
	q.Only = []string{"p1"}

	require.Equal(t, engine.Allow, set.Evaluate(q).Decision)
}

// TestDigest shows that the digest changes with everything that can change a decision,
// and with nothing else.
func TestDigest(t *testing.T) {
	t.Parallel()
	base := func() []engine.Source {
		return []engine.Source{
			{Key: "a", Version: 1, Mode: engine.Enforce, AppliesTo: engine.AppliesTo{RuntimeKeys: []string{"r", "s"}}, Text: permitAll},
			{Key: "b", Version: 1, Mode: engine.Enforce, Text: permitAll},
		}
	}
	digest := func(change func(s []engine.Source)) string {
		s := base()
		change(s)
		return compiled(t, s...).Digest()
	}
	plain := digest(func([]engine.Source) {})
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, plain)
	require.Equal(t, plain, digest(func(s []engine.Source) { s[0], s[1] = s[1], s[0] }))
	require.Equal(t, plain, digest(func(s []engine.Source) { s[0].AppliesTo.RuntimeKeys = []string{"s", "r", "s"} }))
	seen := map[string]bool{plain: true}
	for _, change := range []func(s []engine.Source){
		func(s []engine.Source) { s[0].Version++ },
		func(s []engine.Source) { s[0].Key = "c" },
		func(s []engine.Source) { s[0].Mode = engine.Shadow },
		func(s []engine.Source) { s[0].Text += " " },
		func(s []engine.Source) { s[0].AppliesTo.RuntimeKeys = []string{"r"} },
		func(s []engine.Source) { s[0].AppliesTo = engine.AppliesTo{ConnectorKeys: []string{"r", "s"}} },
		func(s []engine.Source) { s[0].AppliesTo = engine.AppliesTo{Environments: []string{"r", "s"}} },
	} {
		d := digest(change)
		require.False(t, seen[d])
		seen[d] = true
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	text := `@history("refunds = count(payments/refund, 24h); paid = sum(payments/refund, amount, 7d); asked = formerly(crm/lookup, 30m)")
forbid (principal, action, resource)
when { context.tool_name == "refund" && (context.history.refunds > 2 || context.history.paid.greaterThan(decimal("500.0"))) };
forbid (principal, action, resource) when { context.tool_name == "close" && !context.history.asked };
permit (principal, action, resource);`
	other := `@history("refunds = count(payments/refund, 1h)")
forbid (principal, action, resource) when { context.history.refunds > 100 };`
	set := one(t, text, other)
	day, week, hour := 24*time.Hour, 7*24*time.Hour, time.Hour
	refunds := engine.Fact{Measure: engine.Count, Connector: "payments", Tool: "refund", Window: day}
	paid := engine.Fact{Measure: engine.Sum, Connector: "payments", Tool: "refund", Argument: "amount", Window: week}
	hourly := engine.Fact{Measure: engine.Count, Connector: "payments", Tool: "refund", Window: hour}
	q := refund(`1`)
	require.ElementsMatch(t, []engine.Fact{refunds, paid, hourly}, set.Facts(q), "only what the question depends on")

	decide := func(count int64, sum string) engine.Decision {
		q.History = map[engine.Fact]engine.FactValue{refunds: {Count: count}, paid: {Sum: sum}, hourly: {Count: 1}}
		return set.Evaluate(q).Decision
	}
	require.Equal(t, engine.Allow, decide(2, "499.99"))
	require.Equal(t, engine.Deny, decide(3, "0"))
	require.Equal(t, engine.Deny, decide(0, "500.01"))

	q.History = nil
	v := set.Evaluate(q)
	require.Equal(t, engine.Deny, v.Decision, "a fact that is missing denies")
	require.Equal(t, engine.EngineError, v.Reasons[0].Code)
}

func TestLimitsOfASet(t *testing.T) {
	t.Parallel()
	many := make([]engine.Source, engine.MaxSet+1)
	require.ErrorIs(t, engine.Fits(many), engine.ErrTooLarge)
	require.NoError(t, engine.Fits(many[:engine.MaxSet]))
	long := make([]engine.Source, 41)
	for i := range long {
		long[i].Text = string(make([]byte, engine.MaxText))
	}
	require.ErrorIs(t, engine.Fits(long), engine.ErrTooLarge)
	require.NoError(t, engine.Fits(long[:40]))
	_, err := engine.Compile([]engine.Source{{Key: "a", Text: permitAll}, {Key: "a", Text: permitAll}})
	require.ErrorContains(t, err, "twice")
}
