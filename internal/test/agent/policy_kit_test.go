package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

const (
	policies = "/api/policies"

	permitAll = `permit (principal, action, resource);`
	large     = `@id("large") @effect("require_approval") @reason("refunds above 100 need an approval")
forbid (principal, action, resource)
when { context.connector_key == "payments" && context has amount && context.amount.greaterThan(decimal("100.0")) };
@id("rest") permit (principal, action, resource);`
)

// policyView is a policy as the interface shows it.
type policyView = api.Policy

func policyPath(p policyView) string { return policies + "/" + p.ID }

type object = map[string]any

// refund is a question about paying back an amount.
func policyRefund(amount string) object {
	return object{
		"runtimeKey": "refund-agent", "sideEffectClass": "transact",
		"toolInvocation": object{"connectorKey": "payments", "toolName": "refund", "arguments": object{"amount": amount, "currency": "EUR"}},
	}
}

// create makes a policy in person: only people make and change what is enforced.
func create(t *testing.T, c *testkit.Client, in object) policyView {
	t.Helper()
	p, err := c.InPerson(t).CreatePolicy(t.Context(), in)
	require.NoError(t, err)
	return p
}

func patch(t *testing.T, c *testkit.Client, p policyView, in object) (policyView, error) {
	t.Helper()
	return c.InPerson(t).UpdatePolicy(t.Context(), p.ID, in)
}

func list(t *testing.T, c *testkit.Client, query string) []policyView {
	t.Helper()
	out, err := c.ListPolicies(t.Context(), query)
	require.NoError(t, err)
	return out.Policies
}

// refusal is why a request was refused.
func refusal(t *testing.T, err error) *fault.Error {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	raw, err := json.Marshal(f.Details["fields"])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &f.Fields))
	require.True(t, f.Kind != fault.Validation || len(f.Fields) > 0, "%v", f)
	return f
}
