package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// holds reports whether a condition is true for a question, and that it can be evaluated.
func holds(t *testing.T, q engine.Question, condition string) bool {
	t.Helper()
	v := one(t, "permit (principal, action, resource) when { "+condition+" };").Evaluate(q)
	require.Empty(t, v.Errors, condition)
	return v.Decision == engine.Allow
}

// TestNumbers shows that no number is rounded.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for number, same := range map[string]string{
		"0": "0", "-0": "0", "7": "7", "9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"9223372036854775808": `"9223372036854775808"`, "1.5": `decimal("1.5")`, "1.50000": `decimal("1.5")`, "1e2": `decimal("100.0")`, "1.0": `decimal("1.0")`,
		"-0.0001": `decimal("-0.0001")`, "1.23456": `"1.23456"`, "1e-5": `"1e-5"`, "1e300": `"1e300"`, "922337203685477.5807": `decimal("922337203685477.5807")`,
		"922337203685477.5808": `"922337203685477.5808"`, "0.1e1": `decimal("1.0")`, "1e999999999": `"1e999999999"`, "-922337203685477.5808": `decimal("-922337203685477.5808")`,
	} {
		q := refund(`1`)
		q.Arguments = jsontext.Value(`{"x":` + number + `}`)
		require.True(t, holds(t, q, "context.arguments.x == "+same), number)
	}
}

// TestAmount shows what counts as an amount: a number or its text, if Cedar can hold it
// exactly. A bound on the amount stops what it cannot compare.
func TestAmount(t *testing.T) {
	t.Parallel()
	bounded := one(t, `forbid (principal, action, resource) when { context has amount && context.amount.greaterThan(decimal("1000.0")) };
permit (principal, action, resource);`)
	for amount, lifted := range map[string]bool{
		`"240.00"`: true, `240`: true, `240.00`: true, `"240"`: true, `2.4e2`: true, `"-3.5"`: true, `null`: true,
		`"2.4e2"`: false, `"240.00001"`: false, `" 240"`: false, `"240,00"`: false, `true`: false, `{"value":1}`: false, `""`: false, `"+240.0"`: false,
	} {
		require.Equal(t, lifted, bounded.Evaluate(refund(amount)).Decision == engine.Allow, amount)
	}
	require.True(t, holds(t, refund(`"240.00"`), `context.amount == decimal("240.0") && context.currency == "EUR"`))
	require.False(t, holds(t, refund(`null`), "context has amount"))
}

func TestContext(t *testing.T) {
	t.Parallel()
	q := refund(`1`)
	q.Context = jsontext.Value(`{
		"side_effect_class":"read","reversibility":"x","connector_key":"x","tool_name":"x","arguments":{"amount":2},"connector_state":"x",
		"connector_trust":"x","environment":"x","runtime_key":"x","amount":"9.0","currency":"USD","history":{"n":9},
		"user":{"id":"u1","tags":["a",null,"b"],"no":null},"flag":true}`)

	for _, condition := range []string{
		`context.side_effect_class == "transact" && context.reversibility == "compensable" && context.connector_key == "payments" && context.tool_name == "refund"`,
		`context.connector_state == "approved" && context.connector_trust == "verified" && context.environment == "production" && context.runtime_key == "refund-agent"`,
		`context.amount == decimal("1.0") && context.currency == "EUR" && context.arguments.amount == 1 && !(context.history has n)`,
		`context.user.id == "u1" && context.user.tags == ["b", "a"] && !(context.user has no) && context.flag`,
		`principal == Runtime::"refund-agent" && action == Action::"tool.call" && resource == Tool::"payments/refund"`,
	} {
		require.True(t, holds(t, q, condition), condition)
	}

	q.Arguments = jsontext.Value(`{"other":1}`)
	require.False(t, holds(t, q, "context has amount"), "the caller cannot add an amount that is not an argument")
	require.False(t, holds(t, q, "context has currency"))
}

func TestEntities(t *testing.T) {
	t.Parallel()
	q := refund(`1`)
	q.Subject = engine.Entity{Type: "App::user-group", ID: "7", Properties: jsontext.Value(`{"team":"red","level":3}`)}
	q.Action = engine.Entity{Type: "Ignored", ID: "read"}
	q.Resource = engine.Entity{Type: "1 if", ID: `a"b`, Properties: jsontext.Value(`{"owner":"x"}`)}

	require.True(t, holds(t, q, `principal == App::user_group::"7" && principal.team == "red" && principal.level > 2`))
	require.True(t, holds(t, q, `action == Action::"read" && resource == _1_if::"a\"b" && resource.owner == "x"`))

	for given, becomes := range map[string]string{"if": "_if", "a::in::b": "a::_in::b", "::": "_::_", "é": "__", "User": "User"} {
		q.Subject = engine.Entity{Type: given, ID: "7"}
		if given == "é" {
			becomes = "_"
		}
		require.True(t, holds(t, q, "principal is "+becomes), given)
	}
}

// TestQuestionsThatCannotBeAsked shows the bounds of a question, and that such a question
// is denied even where everything is permitted.
func TestQuestionsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	wide := `{"x":[` + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + `]}`
	for name, c := range map[string]struct{ arguments, problem string }{
		"a list":       {`[1]`, "arguments: this is not a JSON object"},
		"two objects":  {`{} {}`, "arguments: this is not a JSON object"},
		"half":         {`{"a":`, "the question is not JSON"},
		"a name twice": {`{"a":1,"a":2}`, "the question is not JSON"},
		"too deep":     {`{"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "nested more than 32 deep"},
		"too much":     {wide, "more than 4096 values"},
		"too long":     {`{"x":"` + strings.Repeat("x", 300_000) + `"}`, "more than 262144 bytes"},
		"not UTF-8":    {"{\"x\":\"\xff\"}", "the question is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := refund(`1`)
			q.Arguments = jsontext.Value(c.arguments)

			require.ErrorContains(t, q.Check(), c.problem)
			v := one(t, permitAll).Evaluate(q)
			require.Equal(t, engine.Deny, v.Decision)
			require.Equal(t, engine.EngineError, v.Reasons[0].Code)
			require.Contains(t, v.Errors[0], c.problem)
		})
	}
}

// TestExpensivePolicies shows that what policies can cost is bounded: patterns times
// texts, and comparisons of what the caller sends with itself.
func TestExpensivePolicies(t *testing.T) {
	t.Parallel()
	q := refund(`1`)
	q.Arguments = jsontext.Value(`{"x":"` + strings.Repeat("a", 200_000) + `","amount":1}`)
	costly := map[string]string{
		"patterns":    `permit (principal, action, resource) when { context.arguments.x like "*` + strings.Repeat("a", 9000) + `b" };`,
		"comparisons": "permit (principal, action, resource) when { " + strings.Repeat("context == context && ", 400) + "true };",
	}
	for name, text := range costly {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			texts := map[string]string{}
			var sources []engine.Source
			for i := range 8 {
				key := fmt.Sprintf("p%d", i)
				texts[key] = text
				sources = append(sources, engine.Source{Key: key, Mode: engine.Enforce, Text: text})
			}

			v := compiled(t, append(sources, engine.Source{Key: "all", Mode: engine.Enforce, Text: permitAll})...).Evaluate(q)

			require.Equal(t, engine.Deny, v.Decision)
			require.Contains(t, v.Reasons[0].Message, "too expensive")
		})
	}
	require.Equal(t, engine.NoPermit, one(t, `permit (principal, action, resource) when { context.arguments.x like "*b*c" };`).Evaluate(q).Reasons[0].Code)
}

// TestManySteps shows that what is cheap counts, too: a question that names more is asked in
// more forms.
func TestManySteps(t *testing.T) {
	t.Parallel()
	sources := []engine.Source{{Key: "all", Mode: engine.Enforce, Text: permitAll}}
	for i := range 39 {
		sources = append(sources, engine.Source{
			Key: fmt.Sprintf("p%02d", i), Mode: engine.Enforce,
			Text: "forbid (principal, action, resource) when { principal has a || action has a || resource has a || context.arguments.amount" + strings.Repeat("+1", 4900) + " == 2 };",
		})
	}
	set := compiled(t, sources...)
	q := refund(`1`)

	require.Equal(t, engine.Allow, set.Evaluate(q).Decision)
	q.Subject, q.Action, q.Resource = engine.Entity{Type: "User", ID: "ann"}, engine.Entity{ID: "pay"}, engine.Entity{Type: "Order", ID: "A-17"}
	v := set.Evaluate(q)
	require.Equal(t, engine.Deny, v.Decision)
	require.Contains(t, v.Reasons[0].Message, "too expensive")
}

// TestExpensiveShadow shows that a policy in shadow that costs too much is not asked: it
// denies nothing, and others are asked all the same.
func TestExpensiveShadow(t *testing.T) {
	t.Parallel()
	q := refund(`1`)
	q.Arguments = jsontext.Value(`{"x":"` + strings.Repeat("a", 200_000) + `"}`)
	sources := []engine.Source{
		{Key: "all", Mode: engine.Enforce, Text: permitAll},
		{Key: "z", Mode: engine.Shadow, Text: `forbid (principal, action, resource);`},
	}
	for i := range 30 {
		sources = append(sources, engine.Source{
			Key: fmt.Sprintf("p%02d", i), Mode: engine.Shadow,
			Text: "forbid (principal, action, resource) when { " + strings.Repeat("context == context && ", 90) + "true };",
		})
	}

	v := compiled(t, sources...).Evaluate(q)

	require.Equal(t, engine.Allow, v.Decision)
	require.Equal(t, []engine.Shadowed{{PolicyKey: "p00", Decision: engine.Deny}, {PolicyKey: "z", Decision: engine.Deny}}, v.Shadow)
	require.Len(t, v.Errors, 21)
	require.Contains(t, v.Errors[0], "p01: the policy is in shadow and was not asked: this question is too expensive")
	require.Equal(t, "and 9 more", v.Errors[20])
}

func TestPolicyTests(t *testing.T) {
	t.Parallel()
	text := permitAll + approve + `@id("often") @history("refunds = count(payments/refund, 1h); paid = sum(payments/refund, amount, 1h)")
forbid (principal, action, resource) when { context.history.refunds > 5 || context.history.paid.greaterThan(decimal("1000.0")) };`
	cases := []engine.Case{
		{Name: "small", Question: refund(`1`), Expect: engine.Allow, RuleID: "rule1"},
		{Name: "large", Question: refund(`200`), Expect: engine.NeedsApproval, RuleID: "large"},
		{Name: "often", Question: refund(`1`), History: map[string]engine.FactValue{"refunds": {Count: 6}}, Expect: engine.Deny, RuleID: "often"},
		{Name: "wrong decision", Question: refund(`200`), Expect: engine.Allow},
		{Name: "wrong rule", Question: refund(`200`), Expect: engine.NeedsApproval, RuleID: "often"},
		{Name: "no such fact", Question: refund(`1`), History: map[string]engine.FactValue{"calls": {Count: 6}}, Expect: engine.Deny},
		{Name: "no question", Question: engine.Question{Arguments: jsontext.Value(`[]`)}, Expect: engine.Deny},
	}

	failures, err := engine.RunTests(text, cases)

	require.NoError(t, err)
	require.Equal(t, []engine.Failure{
		{3, "wrong decision", "expected allow, decided require_approval: rule large: refunds above 100 need approval"},
		{4, "wrong rule", "decided require_approval, but not by rule often: rule large: refunds above 100 need approval"},
		{5, "no such fact", `the policy has no fact "calls"`},
		{6, "no question", "arguments: this is not a JSON object"},
	}, failures)
}
