package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// rule is a policy whose only statement has a condition.
func rule(condition string) string {
	return "permit (principal, action, resource)\nwhen { " + condition + " };"
}

func names() *engine.Names {
	return &engine.Names{
		Tools:    map[string][]string{"payments": {"refund", "look_up"}, "crm": nil, "a/b": {"c"}},
		Runtimes: map[string]bool{"refund-agent": true},
	}
}

func TestReview(t *testing.T) {
	t.Parallel()

	t.Run("what can never match is refused, with its place and the nearest name", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]string{
			rule(`context.side_efect_class == "read"`):                                        `2:16: nothing provides context.side_efect_class; did you mean "side_effect_class"? If callers do send it, let a test of the policy send it too`,
			rule(`context has sideEffectClass`):                                               `2:20: nothing provides context.sideEffectClass; did you mean "side_effect_class"? If callers do send it, let a test of the policy send it too`,
			rule(`context["amonut"] == 1`):                                                    `2:16: nothing provides context.amonut; did you mean "amount"? If callers do send it, let a test of the policy send it too`,
			rule(`context.tool_name.length == 1`):                                             `2:26: context.tool_name is a text, and has no attribute "length"`,
			rule(`context.side_effect_class == "transct"`):                                    `2:37: context.side_effect_class is never "transct"; did you mean "transact"? It is one of "none", "read", "create", "update", "delete", "communicate", "transact", "execute", "administer", "unknown"`,
			rule(`["high", "trusted"].contains(context.connector_trust)`):                     `2:9: context.connector_trust is never "high". It is one of "untrusted", "reviewed", "trusted"`,
			`@history("n = count(payments/refund, 1h)")` + rule(`context.history.m > 1`):      `2:24: no @history of this policy defines the fact "m"`,
			`permit (principal, action == Action::"tool.cal", resource);`:                     `1:38: there is no action "tool.cal"; did you mean "tool.call"? If callers do send it, let a test of the policy send it too`,
			`permit (principal, action == Bank::Action::"pay", resource);`:                    `1:44: actions have no namespace: write Action::"pay"`,
			`permit (principal is Runtimes, action, resource);`:                               `1:22: there is no type Runtimes; did you mean "Runtime"? If callers do send it, let a test of the policy send it too`,
			`permit (principal, action, resource == Tool::"payments/refnd");`:                 `1:46: the connector "payments" has no tool "refnd"; did you mean "refund"?`,
			`@history("n = count(payments/pay_out, 1h)")` + rule(`context.history.n > 1`):     `1:1: the connector "payments" has no tool "pay_out"`,
			`@id("a") @obligations("verify_side_effect(within=60)") ` + rule(`true`):          `1:10: @obligations: verify_side_effect has no parameter "within"; its only one is within_seconds`,
			`@obligations("log_full, verify_side_effect(within_seconds=1m)") ` + rule(`true`): `1:1: @obligations: within_seconds of verify_side_effect is a whole number of seconds, at least 1, and not 1m`,
			`@obligations("verify_side_effect(within_seconds=0)") ` + rule(`true`):            `1:1: @obligations: within_seconds of verify_side_effect is a whole number of seconds, at least 1, and not 0`,
			rule(`context.tool_name == "lookup" && context.connector_key == "payments"`):      `2:29: the connector "payments" has no tool "lookup"; did you mean "look_up"?`,
		} {
			all := engine.Review(text, nil, names())
			require.Len(t, all, 1, text)
			require.True(t, all[0].Refused, text)
			require.Equal(t, want, all[0].String(), text)
			require.Contains(t, engine.RemarkCodes, all[0].Code)
		}
	})

	t.Run("obligations that the platform understands, or leaves to the caller, are not remarked on", func(t *testing.T) {
		t.Parallel()
		for _, list := range []string{"verify_side_effect", "verify_side_effect(within_seconds=1)", "limit(per=1m), notify(within=60)"} {
			require.Empty(t, engine.Review(`@obligations("`+list+`") `+rule(`true`), nil, names()), list)
		}
	})

	t.Run("a fact is not guarded, because it may be unknown", func(t *testing.T) {
		t.Parallel()
		const facts = `@history("paid = sum(payments/refund, amount, 1h)")` + "\n"
		for condition, place := range map[string]string{
			`context.history has paid && context.history.paid.greaterThan(decimal("5.0"))`: "3:28",
			`context["history"] has "paid"`: "3:31",
			`context has history.paid`:      "3:28",
			`context.arguments has paid && context.history.paid == decimal("1.0") && context.history has paid`: "3:100",
		} {
			text := facts + strings.Replace(rule(condition), "permit", "forbid", 1)
			all := engine.Review(text, nil, names())
			require.Len(t, all, 1, text)
			require.True(t, all[0].Refused, text)
			require.Equal(t, engine.GuardedFact, all[0].Code)
			require.Equal(t, place+`: the fact "paid" is absent when it is unknown, and has would hide that: write context.history.paid without has, so that a forbid that reads it denies`, all[0].String(), text)
			require.Empty(t, engine.Review(facts+rule(condition), nil, names()), "what is absent does not permit")
		}
		for _, condition := range []string{
			`when { !(context.history has paid) || context.history.paid.greaterThan(decimal("5.0")) }`,
			`when { if context.history has paid then context.history.paid.greaterThan(decimal("5.0")) else true }`,
			`unless { context.history has paid && context.history.paid.lessThan(decimal("5.0")) }`,
		} {
			require.Empty(t, engine.Review(facts+"forbid (principal, action, resource) "+condition+";", nil, names()), condition)
		}
		for _, condition := range []string{
			`when { if context.history has paid then context.history.paid.greaterThan(decimal("5.0")) else false }`,
			`when { !(!(context.history has paid)) }`,
			`unless { !(context.history has paid) }`,
			`when { (context.history has paid) == true }`,
		} {
			require.Len(t, engine.Review(facts+"forbid (principal, action, resource) "+condition+";", nil, names()), 1, condition)
		}
		for _, condition := range []string{
			`context.arguments has paid && context.history.paid == decimal("1.0")`, `context has amount`, `context has history`, `principal has paid`, `resource has history && resource.history has paid`,
		} {
			require.Empty(t, engine.Review(facts+rule(condition), nil, names()), condition)
		}
	})

	t.Run("types that never fit are refused", func(t *testing.T) {
		t.Parallel()
		const facts = `@history("n = count(payments/refund, 1h); paid = sum(payments/refund, amount, 1h); before = formerly(payments/refund, 1h)")` + "\n"
		for condition, want := range map[string]string{
			`context has amount && context.amount > 100`:                     `3:38: context.amount is a decimal, and > takes Longs: compare decimals with .greaterThan(decimal("100.0"))`,
			`100 <= context.amount`:                                          `3:23: context.amount is a decimal, and <= takes Longs: compare decimals with .lessThanOrEqual(decimal("100.0"))`,
			`context.amount.lessThan(decimal("5.0")) || context.amount >= 7`: `3:59: context.amount is a decimal, and >= takes Longs: compare decimals with .greaterThanOrEqual(decimal("100.0"))`,
			`context["amount"] < 100`:                                        `3:16: context.amount is a decimal, and < takes Longs: compare decimals with .lessThan(decimal("100.0"))`,
			`context.history.paid > 100`:                                     `3:24: context.history.paid is a decimal, and > takes Longs: compare decimals with .greaterThan(decimal("100.0"))`,
			`context.history.before > 0`:                                     `3:24: context.history.before is a Bool, and > takes Longs: compare decimals with .greaterThan(decimal("100.0"))`,
			`context.history.n > "3"`:                                        `3:28: "3" is a String, and > takes Longs: compare decimals with .greaterThan(decimal("100.0"))`,
			`context.arguments.x > decimal("3.0")`:                           `3:30: decimal(…) is a decimal, and > takes Longs: compare decimals with .greaterThan(decimal("100.0"))`,
			`context.amount.greaterThan(100)`:                                `3:35: 100 is a Long, and greaterThan takes decimals: write a decimal as decimal("100.0"), and compare Longs with >`,
			`context.history.n.lessThanOrEqual(decimal("3.0"))`:              `3:24: context.history.n is a Long, and lessThanOrEqual takes decimals: write a decimal as decimal("100.0"), and compare Longs with <=`,
			`context.amount == 100`:                                          `3:16: context.amount is a decimal and 100 a Long, so that they are never equal`,
			`100 != context.amount`:                                          `3:23: context.amount is a decimal and 100 a Long, so that they are never equal`,
			`[decimal("1.0"), 2].contains(context.amount)`:                   `3:45: context.amount is a decimal and 2 a Long, so that they are never equal`,
			`context.history.n == "3"`:                                       `3:24: context.history.n is a Long and "3" a String, so that they are never equal`,
			`context.history.before == 1`:                                    `3:24: context.history.before is a Bool and 1 a Long, so that they are never equal`,
			`context.history.paid == context.history.n`:                      `3:24: context.history.paid is a decimal and context.history.n a Long, so that they are never equal`,
			`context.currency == true`:                                       `3:16: context.currency is a String and true a Bool, so that they are never equal`,
		} {
			all := engine.Review(facts+rule(condition), nil, names())
			require.Len(t, all, 1, condition)
			require.Equal(t, want, all[0].String(), condition)
			require.True(t, all[0].Refused, condition)
			require.Equal(t, engine.WrongType, all[0].Code)
		}
		for _, condition := range []string{
			`context.history.n > 3 && context.history.n + 1 <= context.arguments.most * 2 && context.history.before && context.history.before == true`,
			`context.history.paid.greaterThan(context.amount) && context.amount.lessThan(decimal("2.5")) && context.amount == decimal("1.0")`,
			`context.amount == "4000 EUR" || context.amount == context.history.paid || context.currency != context.environment`,
			`context.arguments.amount > 100 || context.arguments.amount.greaterThan(context.arguments.least) || context.arguments.on < datetime("2026-01-01")`,
			`context.arguments == {"a": 1} || [1, "a"].contains(context.arguments.x) || principal.level > 3`,
		} {
			require.Empty(t, engine.Review(facts+rule(condition), nil, names()), condition)
		}
	})

	t.Run("what may come is remarked on", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]string{
			rule(`context has user && context.user == "ann"`):                      `2:20: the platform does not provide context.user: it is only there if the caller sends it, and no test of the policy does`,
			`permit (principal, action == Action::"read", resource);`:              `1:38: the action "read" is only there if the caller sends it, and no test of the policy does`,
			`permit (principal, action, resource is Page);`:                        `1:40: a subject or a resource is only of the type Page if the caller sends it, and no test of the policy does`,
			`permit (principal, action, resource == tool::"x");`:                   `1:40: a subject or a resource is only of the type tool if the caller sends it, and no test of the policy does; did you mean "Tool"?`,
			rule(`context.connector_key == "context"`):                             `2:33: no connector has the key "context"`,
			rule(`context.connector_key == "paymets"`):                             `2:33: no connector has the key "paymets"; did you mean "payments"?`,
			`@mine @reason("another") ` + rule(`context.runtime_key == "another"`): `2:31: no runtime has the key "another"`,
			`permit (principal == Runtime::"refund_agent", action, resource);`:     `1:31: no runtime has the key "refund_agent"; did you mean "refund-agent"?`,
			`permit (principal, action, resource == Tool::"mail/send");`:           `1:46: no connector has the key "mail"`,
			`permit (principal, action, resource == Tool::"refund");`:              `1:46: the id of a tool is connector/tool, and "refund" has no connector`,
			rule(`context.tool_name == "refnud"`):                                  `2:29: no connector has a tool "refnud"; did you mean "refund"?`,
		} {
			all := engine.Review(text, nil, names())
			require.Len(t, all, 1, text)
			require.False(t, all[0].Refused, text)
			require.Equal(t, want, all[0].String(), text)
		}
	})

	t.Run("what is known, free or sent by a test is fine", func(t *testing.T) {
		t.Parallel()
		tests := []engine.Case{{Question: engine.Question{
			Subject: engine.Entity{Type: "User", ID: "ann"}, Resource: engine.Entity{Type: "Page", ID: "p"}, Action: engine.Entity{ID: "tool.cal"},
			Context: jsontext.Value(`{"user":"ann","amounts":[1]}`),
		}}}
		for _, text := range []string{
			rule(`context.arguments.whatever == "x" && principal.team == "red" && resource has owner`),
			rule(`context has user && context.user == "ann" && context has amounts`),
			`permit (principal is User, action == Action::"tool.cal", resource is Page);`,
			rule(`context.connector_state == "" || context.connector_trust != "reviewed" || context.environment == "prd"`),
			rule(`context.connector_key == "crm" && context.tool_name == "anything"`),
			rule(`["crm", "payments"].contains(context.connector_key) && context.tool_name == "anything"`),
			rule(`context.tool_name == "anything"`),
			`permit (principal, action, resource == Tool::"a/b/c");`,
			`permit (principal, action, resource in [Tool::"payments/refund"]);`,
			"permit (principal",
		} {
			require.Empty(t, engine.Review(text, tests, names()), text)
		}
		require.Empty(t, engine.Review(rule(`context.connector_key == "x" && context.tool_name == "y" && context.runtime_key == "z"`), nil, nil), "names were not looked up")
		require.Empty(t, engine.Review(rule(`context.tool_name == "refnud"`), nil, &engine.Names{Tools: names().Tools, Partial: true}))
	})

	t.Run("a name is remarked on once, and remarks end", func(t *testing.T) {
		t.Parallel()
		require.Len(t, engine.Review(rule(`context.user == 1 || context.user == 2`)+rule(`context.user == 3`), nil, nil), 1)
		var many []string
		for i := range 80 {
			many = append(many, fmt.Sprintf("context has own_%d", i))
		}
		require.Len(t, engine.Review(rule(strings.Join(many, "||")), nil, nil), 50)
	})

	t.Run("a policy says what is to be looked up", func(t *testing.T) {
		t.Parallel()
		m := engine.MentionsOf(`@history("n = count(mail/send, 1h)") permit (principal == Runtime::"r", action, resource == Tool::"a/b/c")
when { context.history.n > 1 && context.connector_key == "crm" && context.runtime_key == "s" };` + rule(`context.tool_name == "x"`))
		require.Equal(t, engine.Mentions{Connectors: []string{"a/b", "a", "crm", "mail"}, Runtimes: []string{"r", "s"}, Tool: true}, m)
	})
}

func TestCedarSchema(t *testing.T) {
	t.Parallel()
	for _, tools := range [][]string{nil, {"payments/refund", "payments/refund", "crm/\"look\\up\"\n", "é"}} {
		text, err := engine.CedarSchema(tools, tools)
		require.NoError(t, err)
		var s schema.Schema
		require.NoError(t, s.UnmarshalCedar([]byte(text)), text)
		known, err := s.Resolve()
		require.NoError(t, err, text)
		v := validate.New(known)
		check := func(text string) error {
			list, err := cedar.NewPolicyListFromBytes("", []byte(text))
			require.NoError(t, err)
			return v.Policy("p", (*ast.Policy)(list[0].AST()))
		}
		require.NoError(t, check(`permit (principal, action == Action::"tool.call", resource == Tool::"payments/refund")
when { ["none"].contains(context.side_effect_class) && context has amount && context.amount.greaterThan(decimal("1.0")) };`))
		require.Error(t, check(rule(`context.side_efect_class == "read"`)))
		require.Equal(t, tools == nil, strings.Contains(text, "entity Tool;"), text)
	}
}
