package pattern_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/pattern"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/metric"
)

// keys are the templates that are promised.
var keys = []string{
	"rag_answer", "support_refund", "code_change", "data_analyst", "outreach_email", "browser_research",
	"delegation_team", "document_intake", "infra_change", "invoice_payment", "scheduled_batch", "human_review",
}

// each runs a test for every template.
func each(t *testing.T, test func(t *testing.T, one pattern.Template)) {
	t.Helper()
	for _, one := range pattern.All() {
		t.Run(one.Key, func(t *testing.T) {
			t.Parallel()
			test(t, one)
		})
	}
}

// enum are the values of a field of a kind.
func enum(t *testing.T, name kind.Name, field string) []string {
	t.Helper()
	f := kind.Must(name).Field(field)
	require.NotNil(t, f)
	require.NotEmpty(t, f.Enum)
	return f.Enum
}

func TestAll(t *testing.T) {
	t.Parallel()

	t.Run("there are the twelve, in their order", func(t *testing.T) {
		t.Parallel()
		var got []string
		for _, one := range pattern.All() {
			got = append(got, one.Key)
		}
		require.Equal(t, keys, got)
	})

	t.Run("a caller that changes what it gets changes nothing for others", func(t *testing.T) {
		t.Parallel()
		all := pattern.All()
		all[0].Key = "changed"
		all[1].Steps[0].ToolRole = "changed"
		all[1].ApprovalPoints[0].Groups[0] = "changed"
		again := pattern.All()
		require.Equal(t, "rag_answer", again[0].Key)
		require.NotEqual(t, "changed", again[1].Steps[0].ToolRole)
		require.NotEqual(t, "changed", again[1].ApprovalPoints[0].Groups[0])
	})
}

func TestCategories(t *testing.T) {
	t.Parallel()
	var got []string
	for _, one := range pattern.All() {
		got = append(got, one.Category)
	}
	slices.Sort(got)
	require.Equal(t, []string{"customer", "engineering", "finance", "knowledge", "operations", "oversight"}, slices.Compact(got))
}

// TestVocabulary shows that templates speak of what exists.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	metrics := metric.NewRegistry()
	severities := enum(t, "failures", "severity")
	types := enum(t, "connectors", "type")
	each(t, func(t *testing.T, one pattern.Template) {
		for _, text := range []string{one.Name, one.Version, one.Category, one.Description} {
			require.NotEmpty(t, text)
		}
		for _, s := range one.Steps {
			require.Contains(t, kind.Primitives, s.Primitive)
			require.Contains(t, kind.SideEffects, s.SideEffectClass)
		}
		require.Subset(t, types, one.ConnectorTypes)
		require.Subset(t, kind.FailureModes, one.FailureModes)
		for _, m := range one.Metrics {
			require.True(t, metrics.Has(m), m)
		}
		for _, e := range one.ExpectedEvidence {
			require.NotPanics(t, func() { kind.Must(e.Resource) })
			require.NotEmpty(t, e.Why)
		}
		for _, r := range one.Risks {
			require.Contains(t, severities, r.Severity)
			require.Contains(t, kind.FailureModes, r.FailureMode)
			require.NotEmpty(t, r.Title)
			require.NotEmpty(t, r.Mitigation)
		}
	})
}

// TestNoRepetition shows that a list names a thing once.
func TestNoRepetition(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		lists := map[string][]string{"connector types": one.ConnectorTypes, "failure modes": one.FailureModes, "metrics": one.Metrics}
		for _, s := range one.Steps {
			lists["steps"] = append(lists["steps"], s.ToolRole)
		}
		for _, r := range one.RecommendedRules {
			lists["rules"] = append(lists["rules"], r.ID)
		}
		for _, e := range one.ExpectedEvidence {
			lists["evidence"] = append(lists["evidence"], string(e.Resource))
		}
		for _, s := range one.Simulation.Plan {
			lists["plan"] = append(lists["plan"], s.StepKey)
		}
		for _, g := range one.ReleaseGates {
			lists["gates"] = append(lists["gates"], g.Key)
		}
		for name, list := range lists {
			require.NotEmpty(t, list, name)
			slices.Sort(list)
			require.Len(t, slices.Compact(slices.Clone(list)), len(list), "%s: %v", name, list)
		}
	})
}

// TestMitigation shows that a mitigation which names a rule names one that exists.
func TestMitigation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		prefix, _, _ := strings.Cut(one.RecommendedRules[0].ID, "-")
		ids := rules(one)
		for _, r := range one.Risks {
			for word := range strings.FieldsFuncSeq(r.Mitigation, func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') }) {
				if strings.HasPrefix(word, prefix+"-") {
					require.Contains(t, ids, word)
				}
			}
		}
	})
}

// TestApprovalPoints shows that each point belongs to a step, a rule that asks for the
// approval, and people who can decide.
func TestApprovalPoints(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		require.NotNil(t, one.ApprovalPoints)
		asked := map[string]bool{}
		for _, p := range one.ApprovalPoints {
			require.True(t, slices.ContainsFunc(one.Steps, func(s pattern.Step) bool { return s.ToolRole == p.Step }), p.Step)
			r, ok := rules(one)[p.Rule]
			require.True(t, ok, p.Rule)
			require.Equal(t, pattern.RequireApproval, r.Effect)
			require.Contains(t, r.Policy, `@approver_groups("`+strings.Join(p.Groups, ",")+`")`)
			require.Contains(t, r.Policy, `@min_approvals("`+string(rune('0'+p.MinApprovals))+`")`)
			require.NotEmpty(t, p.When)
			for _, g := range p.Groups {
				require.True(t, principal.Role(g).Grants(principal.AdminOrg), "%s cannot decide", g)
			}
			asked[p.Rule] = true
		}
		for _, r := range one.RecommendedRules {
			require.Equal(t, r.Effect == pattern.RequireApproval, asked[r.ID], "%s asks for an approval, and the points say so", r.ID)
		}
		human := slices.ContainsFunc(one.Steps, func(s pattern.Step) bool { return s.Primitive == "human_approval" })
		require.Equal(t, human, len(one.ApprovalPoints) > 0, "a person is a step")
	})
}

// TestGuarded shows that what each pattern promises to guard is guarded.
func TestGuarded(t *testing.T) {
	t.Parallel()
	guarded := map[string][]string{
		"rag_answer":       {"rag-grounding"},
		"support_refund":   {"refund-above-limit"},
		"code_change":      {"code-only-in-sandbox", "code-merge"},
		"data_analyst":     {"analyst-read-only", "analyst-row-limit"},
		"outreach_email":   {"outreach-send"},
		"browser_research": {"research-no-effects", "research-after-injection"},
		"delegation_team":  {"team-scope-ceiling", "team-scope-narrowing"},
		"document_intake":  {"intake-personal-data", "intake-special-categories"},
		"infra_change":     {"infra-apply", "infra-way-back"},
		"invoice_payment":  {"invoice-two-approvals", "invoice-verified-first"},
		"scheduled_batch":  {"batch-idempotency", "batch-budget"},
		"human_review":     {"review-every-write"},
	}
	require.Len(t, guarded, len(keys))
	each(t, func(t *testing.T, one pattern.Template) {
		for _, id := range guarded[one.Key] {
			r, ok := rules(one)[id]
			require.True(t, ok, id)
			require.NotEqual(t, pattern.Permit, r.Effect)
		}
	})

	t.Run("a payment has two approvals and is verified", func(t *testing.T) {
		t.Parallel()
		one := pattern.All()[slices.Index(keys, "invoice_payment")]
		require.Equal(t, 2, one.ApprovalPoints[0].MinApprovals)
		require.Contains(t, rules(one)["invoice-two-approvals"].Policy, "verify_side_effect")
	})
}

// TestGates shows that gates are of types that releases have.
func TestGates(t *testing.T) {
	t.Parallel()
	types := []string{
		"evaluation", "comparison", "golden_set", "judge_alignment", "simulation", "replay", "connector_readiness", "policy", "side_effects",
		"failures", "online_metric", "approval", "audit_pack",
	}
	each(t, func(t *testing.T, one pattern.Template) {
		for _, g := range one.ReleaseGates {
			require.Contains(t, types, g.Type)
			require.Equal(t, jsontext.Kind('{'), g.Params.Kind())
			require.True(t, g.Params.IsValid())
			if g.Type == "simulation" {
				require.Contains(t, string(g.Params), `"templateKey":"`+one.Key+`"`)
			}
		}
	})
}

// TestWire shows the names that callers see.
func TestWire(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		text, err := json.Marshal(one)
		require.NoError(t, err)
		var got map[string]jsontext.Value
		require.NoError(t, json.Unmarshal(text, &got))
		var names []string
		for name := range got {
			names = append(names, name)
		}
		require.ElementsMatch(t, []string{
			"template_key", "name", "version", "category", "description", "steps", "connector_types", "recommended_rules", "approval_points",
			"failure_modes", "metrics", "simulation", "release_gates", "risks", "expected_evidence",
		}, names)
		require.NotContains(t, string(text), ":null")

		var back pattern.Template
		require.NoError(t, json.Unmarshal(text, &back))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	})
}

func rules(one pattern.Template) map[string]pattern.Rule {
	out := map[string]pattern.Rule{}
	for _, r := range one.RecommendedRules {
		out[r.ID] = r
	}
	return out
}
