package evidence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// TestHappened holds what the audit log and programs outside see of a change.
func TestHappened(t *testing.T) {
	t.Parallel()
	in := func(k kind.Name, state string) *Record {
		of := kind.Must(k)
		return &Record{Kind: of, Values: kind.Values{of.Lifecycle: kind.TextValue(state)}}
	}
	for name, c := range map[string]struct {
		kind           kind.Name
		from, to       string
		action, public string
	}{
		"a failure is recorded":       {"failures", "", "open", "evidence_failure.created", "failure.opened"},
		"a failure is reopened":       {"failures", "fixed", "open", "evidence_failure.updated", ""},
		"a runtime is seen":           {"runtimes", "", "active", "evidence_runtime.created", ""},
		"a runtime is suspended":      {"runtimes", "active", "suspended", "evidence_runtime.updated", "runtime.suspended"},
		"a suspended runtime changes": {"runtimes", "suspended", "suspended", "evidence_runtime.updated", ""},
		"an action is allowed":        {"policy-decisions", "", "allow", "evidence_policy_decision.created", ""},
		"an action is denied":         {"policy-decisions", "", "deny", "evidence_policy_decision.created", "policy.decision.denied"},
		"an approval is requested":    {"approvals", "", "pending", "evidence_approval.created", "approval.requested"},
		"an approval is voted on":     {"approvals", "pending", "pending", "evidence_approval.updated", ""},
		"an approval is given":        {"approvals", "pending", "approved", "evidence_approval.updated", "approval.approved"},
		"an approval expires":         {"approvals", "approved", "expired", "evidence_approval.updated", "approval.expired"},
		"an effect is unknown":        {"side-effect-ledger", "dispatched", "unknown", "evidence_side_effect.updated", "side_effect.unknown"},
		"an effect begins unknown":    {"side-effect-ledger", "", "unknown", "evidence_side_effect.created", "side_effect.unknown"},
		"an effect is verified":       {"side-effect-ledger", "unknown", "verified", "evidence_side_effect.updated", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := in(c.kind, c.from)
			if c.from == "" {
				before = nil
			}
			got := happened(before, in(c.kind, c.to))
			require.Equal(t, c.action+" "+c.public, got.Action()+" "+got.Public())
		})
	}
}

// TestEventsOfKinds keeps the names that entries have, and that a state which has an event can
// be reached.
func TestEventsOfKinds(t *testing.T) {
	t.Parallel()
	for i := range kind.Kinds {
		k := &kind.Kinds[i]
		of, ok := lasting[k.Name]
		require.Equal(t, k.Class == kind.State && k.Postable(), ok, "%s: what is stored for itself has events", k.Name)
		if !ok {
			continue
		}
		noun := "evidence_" + strings.ReplaceAll(k.One, " ", "_")
		require.Equal(t, noun+".created", of.created.Action())
		require.Equal(t, k.Changes != kind.Nobody, of.updated.Action() == noun+".updated", k.Name)
		for state, e := range of.born {
			require.Contains(t, k.Born, state)
			require.Equal(t, noun+".created", e.Action())
		}
		for state, e := range of.moved {
			require.Contains(t, k.States(), state)
			require.Equal(t, noun+".updated", e.Action())
		}
	}
}
