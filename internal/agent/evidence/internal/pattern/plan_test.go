package pattern_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/pattern"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

const maxPlan = 200

var (
	faults = []string{
		"error", "timeout", "latency", "unknown_outcome", "duplicate_delivery", "partial_apply", "stale_read", "rate_limit", "permission_denied",
		"malformed_result", "injected_instruction",
	}
	// harmless faults leave a step that succeeds.
	harmless = []string{"latency", "duplicate_delivery", "stale_read", "injected_instruction"}
)

// TestPlan shows that a plan can be simulated.
func TestPlan(t *testing.T) {
	t.Parallel()
	reversibilities := enum(t, "side-effect-ledger", "reversibility")
	each(t, func(t *testing.T, one pattern.Template) {
		require.NotEmpty(t, one.Simulation.Plan)
		require.LessOrEqual(t, len(one.Simulation.Plan), maxPlan)
		for _, s := range one.Simulation.Plan {
			require.NotEmpty(t, s.ConnectorKey)
			require.NotEmpty(t, s.ToolName)
			require.Contains(t, kind.SideEffects, s.SideEffectClass)
			require.Contains(t, reversibilities, s.Reversibility)
			object(t, s.Arguments)
			if s.Compensation != nil {
				require.NotEmpty(t, s.Compensation.ToolName)
				object(t, s.Compensation.Arguments)
			}
		}
		for key := range steps(one) {
			require.NotContains(t, before(t, one, key, nil), key, "the plan has a cycle")
		}
	})
}

// TestWayBack shows that what changes something can be undone, or says that it cannot;
// and that a pattern which promises compensation has it everywhere.
func TestWayBack(t *testing.T) {
	t.Parallel()
	var mandatory []string
	for _, one := range pattern.All() {
		if asserts(one, "all_compensated_on_failure") {
			mandatory = append(mandatory, one.Key)
		}
	}
	require.Contains(t, mandatory, "infra_change")
	each(t, func(t *testing.T, one pattern.Template) {
		for _, s := range one.Simulation.Plan {
			if slices.Contains([]string{"none", "read"}, s.SideEffectClass) {
				require.Nil(t, s.Compensation, s.StepKey)
				continue
			}
			require.Equal(t, s.Reversibility == "irreversible", s.Compensation == nil, s.StepKey)
			require.False(t, s.Compensation == nil && slices.Contains(mandatory, one.Key), s.StepKey)
		}
	})
}

// TestFaults shows that faults happen to steps that exist.
func TestFaults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		require.NotEmpty(t, one.Simulation.Faults)
		for _, f := range one.Simulation.Faults {
			require.Contains(t, faults, f.Type)
			require.NotEqual(t, f.StepKey == "", f.ToolName == "", "a fault is about a step or a tool")
			require.NotEmpty(t, hit(one, f), "%s%s", f.StepKey, f.ToolName)
			require.GreaterOrEqual(t, f.Probability, 0.0)
			require.LessOrEqual(t, f.Probability, 1.0)
			require.GreaterOrEqual(t, f.OnAttempt, 0)
			if f.Payload != nil {
				object(t, f.Payload)
			}
		}
	})
}

// TestAssertions shows that each assertion has what its type needs, and is about steps
// that exist.
func TestAssertions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		require.NotEmpty(t, one.Simulation.Assertions)
		for _, a := range one.Simulation.Assertions {
			bare := pattern.Assertion{Type: a.Type}
			switch a.Type {
			case "no_irreversible_without_approval", "no_duplicate_effects", "all_compensated_on_failure":
			case "max_effects":
				require.NotNil(t, a.N)
				require.Contains(t, kind.SideEffects, a.Class)
				bare.Class, bare.N = a.Class, a.N
			case "max_amount":
				require.Regexp(t, `^\d+\.\d\d$`, a.Value)
				require.Regexp(t, `^[A-Z]{3}$`, a.Currency)
				bare.Value, bare.Currency = a.Value, a.Currency
			case "decision_is":
				require.Contains(t, steps(one), a.StepKey)
				require.Contains(t, enum(t, "policy-decisions", "decision"), a.Decision)
				bare.StepKey, bare.Decision = a.StepKey, a.Decision
			case "never_calls":
				require.NotEmpty(t, a.ToolName)
				for _, s := range one.Simulation.Plan {
					require.NotEqual(t, a.ToolName, s.ToolName)
				}
				bare.ToolName = a.ToolName
			default:
				require.Fail(t, "unknown assertion", a.Type)
			}
			require.Equal(t, bare, a, "an assertion has nothing that its type does not use")
		}
	})
}

// TestReached shows that a step whose decision is asserted is reached: what it waits for
// is not denied, does not wait for a person, and does not fail. And it shows that each
// pattern asserts the decision about what it guards.
func TestReached(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, one pattern.Template) {
		stopped := map[string]bool{}
		var stops, passes int
		for _, a := range one.Simulation.Assertions {
			if a.Type == "decision_is" && a.Decision != "allow" {
				stopped[a.StepKey] = true
				stops++
			} else if a.Type == "decision_is" {
				passes++
			}
		}
		require.Positive(t, stops, "something is guarded")
		require.Positive(t, passes, "something is allowed")
		for _, f := range one.Simulation.Faults {
			for _, key := range hit(one, f) {
				stopped[key] = stopped[key] || !slices.Contains(harmless, f.Type)
			}
		}
		for _, a := range one.Simulation.Assertions {
			if a.Type == "decision_is" {
				for _, key := range before(t, one, a.StepKey, nil) {
					require.False(t, stopped[key], "%s comes before %s", key, a.StepKey)
				}
			}
		}
	})
}

func object(t *testing.T, v jsontext.Value) {
	t.Helper()
	require.True(t, v.IsValid(), string(v))
	require.Equal(t, jsontext.Kind('{'), v.Kind(), string(v))
}

func steps(one pattern.Template) map[string]pattern.PlanStep {
	out := map[string]pattern.PlanStep{}
	for _, s := range one.Simulation.Plan {
		out[s.StepKey] = s
	}
	return out
}

// before are the steps that a step waits for, directly or not.
func before(t *testing.T, one pattern.Template, key string, seen []string) []string {
	t.Helper()
	for _, on := range steps(one)[key].DependsOn {
		require.Contains(t, steps(one), on)
		if !slices.Contains(seen, on) {
			seen = before(t, one, on, append(seen, on))
		}
	}
	return seen
}

// hit are the steps that a fault happens to.
func hit(one pattern.Template, f pattern.Fault) (out []string) {
	for _, s := range one.Simulation.Plan {
		if s.StepKey == f.StepKey || s.ToolName == f.ToolName {
			out = append(out, s.StepKey)
		}
	}
	return out
}

func asserts(one pattern.Template, assertion string) bool {
	return slices.ContainsFunc(one.Simulation.Assertions, func(a pattern.Assertion) bool { return a.Type == assertion })
}
