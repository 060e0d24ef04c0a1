package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

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
type policyView struct {
	ID        json.Number `json:"id"`
	PolicyKey string      `json:"policy_key"`
	Name      string      `json:"name"`
	Engine    string      `json:"engine"`
	State     string      `json:"state"`
	Mode      string      `json:"mode"`
	Source    string      `json:"source"`
	AppliesTo struct {
		RuntimeKeys   []string `json:"runtime_keys"`
		ConnectorKeys []string `json:"connector_keys"`
		Environments  []string `json:"environments"`
	} `json:"applies_to"`
	Tests []struct {
		Name   string          `json:"name"`
		Input  json.RawMessage `json:"input"`
		Expect string          `json:"expect"`
		RuleID *string         `json:"rule_id"`
	} `json:"tests"`
	PolicyVersion int `json:"policy_version"`
	CreatedBy     struct {
		Type string `json:"type"`
	} `json:"created_by"`
	Version  int       `json:"version"`
	Warnings []warning `json:"warnings"`
}

func (p policyView) path() string { return policies + "/" + p.ID.String() }

type object = map[string]any

// refund is a question about paying back an amount.
func policyRefund(amount string) object {
	return object{
		"runtimeKey": "refund-agent", "sideEffectClass": "transact",
		"toolInvocation": object{"connectorKey": "payments", "toolName": "refund", "arguments": object{"amount": amount, "currency": "EUR"}},
	}
}

func create(t *testing.T, c *testkit.Client, in object) policyView {
	t.Helper()
	var p policyView
	_, err := c.Call(t.Context(), "POST", policies, in, &p)
	require.NoError(t, err)
	return p
}

func patch(t *testing.T, c *testkit.Client, p policyView, in object) (policyView, error) {
	t.Helper()
	var out policyView
	_, err := c.Call(t.Context(), "PATCH", p.path(), in, &out)
	return out, err
}

func list(t *testing.T, c *testkit.Client, query string) []policyView {
	t.Helper()
	var out struct {
		Policies []policyView `json:"policies"`
	}
	_, err := c.Call(t.Context(), "GET", policies+query, nil, &out)
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
