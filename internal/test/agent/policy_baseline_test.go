package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

// failures are the tests of a policy that fail.
func failures(r api.PolicyTestReport) []string {
	out := []string{}
	for _, one := range r.Results {
		if one.Message != nil {
			out = append(out, one.Name+": "+*one.Message)
		}
	}
	return out
}

// TestBaseline shows what a new organization permits.
func TestBaseline(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	baseline := list(t, c, "policyKey=baseline")[0]
	var tests []object
	add := func(class, state, trust, expect, rule string) {
		tests = append(tests, object{
			"name": class + " with a connector that is " + state + " and " + trust, "expect": expect, "ruleId": rule,
			"input": object{"runtimeKey": "a", "sideEffectClass": class, "connectorState": state, "connectorTrust": trust, "toolInvocation": object{"connectorKey": "c", "toolName": "t"}},
		})
	}
	for _, class := range []string{"none", "read"} {
		add(class, "registered", "untrusted", "allow", "permit-reading")
	}
	for _, class := range []string{"create", "update"} {
		add(class, "approved", "untrusted", "allow", "permit-writing-with-approved-connectors")
		add(class, "registered", "trusted", "deny", "")
	}
	for _, class := range []string{"delete", "communicate", "transact", "execute", "administer"} {
		add(class, "approved", "trusted", "require_approval", "approve-consequential-actions")
	}
	add("unknown", "approved", "trusted", "require_approval", "approve-unknown-actions")
	add("unknown", "approved", "reviewed", "require_approval", "approve-unknown-actions")
	add("unknown", "approved", "untrusted", "deny", "forbid-unknown-actions-of-untrusted-connectors")
	add("unknown", "", "", "deny", "forbid-unknown-actions-of-untrusted-connectors")
	add("", "approved", "trusted", "deny", "")

	out, err := c.TestPolicy(t.Context(), baseline.ID, object{"tests": tests})

	require.NoError(t, err)
	require.Empty(t, failures(out))
	require.Len(t, out.Results, len(tests))
}

// TestTemplates shows that the policies of every template are policies, and that they
// decide about the steps of its simulation as the template says.
func TestTemplates(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	type step struct {
		StepKey         string          `json:"step_key"`
		ConnectorKey    string          `json:"connector_key"`
		ToolName        string          `json:"tool_name"`
		Arguments       json.RawMessage `json:"arguments"`
		SideEffectClass string          `json:"side_effect_class"`
		Reversibility   string          `json:"reversibility"`
	}
	var all struct {
		Templates []struct {
			TemplateKey string `json:"template_key"`
			Rules       []struct {
				Policy string `json:"policy"`
			} `json:"recommended_rules"`
			Simulation struct {
				Plan       []step `json:"plan"`
				Assertions []struct {
					Type     string `json:"type"`
					StepKey  string `json:"step_key"`
					Decision string `json:"decision"`
				} `json:"assertions"`
			} `json:"simulation"`
		} `json:"templates"`
	}
	_, err := c.Call(t.Context(), "GET", "/api/agent-evidence/templates", nil, &all)
	require.NoError(t, err)
	require.Len(t, all.Templates, 12)
	checked := 0
	for _, one := range all.Templates {
		var source strings.Builder
		for _, r := range one.Rules {
			source.WriteString(r.Policy)
		}
		steps := map[string]step{}
		for _, s := range one.Simulation.Plan {
			steps[s.StepKey] = s
		}
		var tests []object
		for _, a := range one.Simulation.Assertions {
			if a.Type != "decision_is" {
				continue
			}
			s := steps[a.StepKey]
			tests = append(tests, object{"name": a.StepKey, "expect": a.Decision, "input": object{
				"runtimeKey": "agent", "sideEffectClass": s.SideEffectClass, "reversibility": s.Reversibility, "connectorState": "approved", "connectorTrust": "trusted",
				"toolInvocation": object{"connectorKey": s.ConnectorKey, "toolName": s.ToolName, "arguments": s.Arguments},
			}})
		}
		checked += len(tests)
		create(t, c, object{"policyKey": strings.ReplaceAll(one.TemplateKey, "_", "-"), "source": source.String(), "state": "active", "tests": tests})
	}
	require.Greater(t, checked, 10)
}
