package agent_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

type (
	term       = api.PolicyTerm
	vocabulary = api.PolicyVocabulary
	warning    = api.PolicyWarning
)

func vocabularyOf(t *testing.T, c *testkit.Client) vocabulary {
	t.Helper()
	out, err := c.GetPolicySchema(t.Context())
	require.NoError(t, err)
	return out
}

func TestSchema(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("an editor is given the words of policies, and what the organization has", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.ask(t, call("refund", "1", object{"toolInvocation": object{"connectorKey": "mail", "toolName": "send"}}))

		v := vocabularyOf(t, k.Key(t, s.Client, principal.TracesRead))

		require.Equal(t, []string{"tool.call"}, v.Actions)
		require.Len(t, v.EntityTypes, 3)
		require.Len(t, v.Facts, 3)
		require.Len(t, v.Annotations, 8)
		require.Len(t, v.Obligations, 9)
		require.True(t, slices.ContainsFunc(v.Context, func(a term) bool { return a.Name == "amount" && a.Type == "decimal" && a.Optional }))
		require.Equal(t, []string{"refund-agent"}, v.Runtimes)
		require.False(t, v.Truncated)
		require.Len(t, v.Connectors, 2)
		require.Equal(t, "mail", v.Connectors[0].ConnectorKey)
		require.False(t, v.Connectors[0].Complete)
		payments := v.Connectors[1]
		require.Equal(t, "approved", payments.State)
		require.Equal(t, "reviewed", api.Value(payments.TrustLevel))
		require.True(t, payments.Complete)
		require.Equal(t, "payments/look_up", payments.Tools[0].ID)
		require.Equal(t, "read", payments.Tools[0].SideEffectClass)
		require.Equal(t, "compensable", payments.Tools[1].Reversibility)
		require.Contains(t, v.Cedar, `entity Runtime enum ["refund-agent"];`)
		require.Contains(t, v.Cedar, "entity Tool;", "a connector has not said which tools it has")
		require.Empty(t, vocabularyOf(t, k.Org(t)).Connectors, "another organization has its own")
	})

	t.Run("the classes are those that tools can have", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		for _, a := range vocabularyOf(t, s.Client).Context {
			if a.Name != "side_effect_class" {
				continue
			}
			classes := map[string]string{}
			for i, class := range a.Values {
				classes[fmt.Sprint("tool", i)] = class
			}
			s.ann.Connector(t, "all", classes)
			require.Len(t, vocabularyOf(t, s.Client).Connectors[0].Tools, len(a.Values))
		}
	})

	t.Run("what cannot work is refused when it is saved and when it is tested", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := create(t, s.Client, object{"policyKey": "p", "source": permitAll})
		const typo = "permit (principal, action, resource)\nwhen { context.side_efect_class == \"read\" };"
		const guarded = `@history("paid = sum(payments/refund, amount, 1h)")
forbid (principal, action, resource) when { context.history has paid && context.history.paid.greaterThan(decimal("5.0")) };`
		for _, one := range []struct{ method, path, source, code, want string }{
			{"POST", policies, guarded, "format", `line 2, column 65: the fact "paid" is absent when it is unknown`},
			{"PATCH", policyPath(p), guarded, "format", `line 2, column 65`},
			{"POST", policyPath(p) + "/backtest", guarded, "format", `line 2, column 65`},
			{"POST", policies, `@obligations("verify_side_effect(within=60)") permit (principal, action, resource);`, "unknown_reference", `line 1, column 1: @obligations: verify_side_effect has no parameter "within"`},
			{"PATCH", policyPath(p), `@obligations("verify_side_effect(within_seconds=1m)") permit (principal, action, resource);`, "type", `line 1, column 1: @obligations: within_seconds`},
			{"PATCH", policyPath(p), `permit (principal, action, resource) when { context.amount > 100 };`, "type", `line 1, column 53: context.amount is a decimal, and > takes Longs`},
			{"POST", policies, typo, "unknown_reference", `line 2, column 16: nothing provides context.side_efect_class; did you mean "side_effect_class"?`},
			{"PATCH", policyPath(p), typo, "unknown_reference", `line 2, column 16`},
			{"POST", policyPath(p) + "/test", typo, "unknown_reference", `line 2, column 16`},
			{"POST", policyPath(p) + "/backtest", typo, "unknown_reference", `line 2, column 16`},
			{"PATCH", policyPath(p), `permit (principal, action, resource == Tool::"payments/refnd");`, "unknown_reference", `line 1, column 46: the connector "payments" has no tool "refnd"; did you mean "refund"?`},
		} {
			body := object{"source": one.source}
			if one.path == policies {
				body["policyKey"] = "q"
			}
			_, err := s.Call(t.Context(), one.method, one.path, body, nil)
			f := refusal(t, err)
			require.Equal(t, "invalid_policy", f.Reason)
			require.Len(t, f.Fields, 1)
			require.Equal(t, "/source", f.Fields[0].Path)
			require.Equal(t, one.code, f.Fields[0].Code)
			require.Contains(t, f.Fields[0].Message, one.want)
		}
	})

	t.Run("what may be registered later is saved with a warning", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		made := create(t, s.Client, object{"policyKey": "p", "source": `permit (principal, action, resource) when { context.connector_key == "paymets" && context has user };`})
		require.Equal(t, []warning{
			{Line: 1, Column: 70, Code: "unknown_connector", Message: `no connector has the key "paymets"; did you mean "payments"?`},
			{Line: 1, Column: 95, Code: "unknown_attribute", Message: "the platform does not provide context.user: it is only there if the caller sends it, and no test of the policy does"},
		}, made.Warnings)

		var report api.PolicyTestReport
		tests := []object{{"name": "t", "input": object{"context": object{"user": "ann"}, "toolInvocation": object{"connectorKey": "paymets", "toolName": "x"}}, "expect": "allow"}}
		_, err := s.Call(t.Context(), "POST", policyPath(made)+"/test", object{"tests": tests}, &report)
		require.NoError(t, err)
		require.Len(t, report.Warnings, 1, "a test sends the attribute")
		s.ann.Connector(t, "paymets", map[string]string{"x": "read"})
		_, err = s.Call(t.Context(), "POST", policyPath(made)+"/test", object{"tests": tests}, &report)
		require.NoError(t, err)
		require.Empty(t, report.Warnings, "it was registered")
	})

	t.Run("a policy stays changeable when its connector has changed", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := create(t, s.Client, object{"policyKey": "p", "source": `permit (principal, action, resource == Tool::"mail/send");`})
		s.ann.Connector(t, "mail", map[string]string{"post": "communicate"})

		_, err := patch(t, s.Client, p, object{"mode": "shadow"})
		require.NoError(t, err)
		_, err = patch(t, s.Client, p, object{"source": `permit (principal, action, resource == Tool::"mail/send"); // again`})
		require.Equal(t, "invalid_policy", refusal(t, err).Reason)
	})

	t.Run("of many names the newest are shown, and those that a policy mentions are looked up", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		c := k.Runtime(t, s.Org)
		for kind, key := range map[string]string{"connectors": "connector_key", "runtimes": "runtime_key"} {
			_, err := c.Exec(t.Context(), `INSERT INTO evidence_records (org_id, kind, name, origin, actor, state, body, occurred_at, created_at, updated_at)
				SELECT $1, $2, 'n' || n, 'reported', 'service_key/1', 'active', json_build_object($3::text, 'n' || n, 'type', 'custom', 'state', 'active'), now(), now(), now()
				FROM generate_series(1, 1001) AS n`, s.Org, kind, key)
			require.NoError(t, err)
		}

		v := vocabularyOf(t, s.Client)
		require.True(t, v.Truncated)
		require.Len(t, v.Connectors, 1000)
		require.Len(t, v.Runtimes, 1000)
		require.Contains(t, v.Cedar, "entity Runtime;", "an incomplete list would refuse what exists")

		made := create(t, s.Client, object{"policyKey": "p", "source": `permit (principal == Runtime::"n1", action, resource) when { context.connector_key == "payments" && context.tool_name == "refund" };`})
		require.Empty(t, made.Warnings)
		_, err := patch(t, s.Client, made, object{"source": `permit (principal, action, resource == Tool::"payments/refnd");`})
		require.Equal(t, "invalid_policy", refusal(t, err).Reason)
	})

	t.Run("the baseline has nothing to remark on", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		var out struct {
			Warnings []warning `json:"warnings"`
		}
		_, err := c.Call(t.Context(), "POST", policyPath(list(t, c, "")[0])+"/test", nil, &out)
		require.NoError(t, err)
		require.Empty(t, out.Warnings)
	})
}
