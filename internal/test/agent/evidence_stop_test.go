package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestOnlyPeopleLetGoOnWhatIsStopped stops a connector and a runtime, and lets a machine with every
// scope try to let them go on.
func TestOnlyPeopleLetGoOnWhatIsStopped(t *testing.T) {
	t.Parallel()
	ctx, machine := t.Context(), testkit.Shared(t).Org(t)
	_, ann := machine.Person(t, principal.Admin)
	connector := ann.Connector(t, "payments", map[string]string{"refund": "transact"})
	blocked, err := machine.UpdateEvidence(ctx, "connectors", connector.ID(), object{"state": "blocked"})
	require.NoError(t, err, "anybody stops one")
	require.Equal(t, "reviewed", blocked["trust_level"])
	_, err = machine.UpdateEvidence(ctx, "connectors", connector.ID(), object{"state": "under_review"})
	require.ErrorIs(t, err, principal.ErrNotAPerson)
	back, err := ann.UpdateEvidence(ctx, "connectors", connector.ID(), object{"state": "under_review"})
	require.NoError(t, err)
	require.Equal(t, "untrusted", back["trust_level"], "nobody believes it as before")
	_, err = ann.UpdateEvidence(ctx, "connectors", connector.ID(), object{"state": "blocked"})
	require.NoError(t, err)
	back, err = ann.UpdateEvidence(ctx, "connectors", connector.ID(), object{"state": "under_review", "trustLevel": "reviewed"})
	require.NoError(t, err)
	require.Equal(t, "reviewed", back["trust_level"], "unless a person says so")

	runtime, err := machine.PostEvidence(ctx, "runtimes", object{"runtimeKey": "refund-agent"})
	require.NoError(t, err)
	_, err = machine.UpdateEvidence(ctx, "runtimes", runtime.ID(), object{"state": "suspended"})
	require.NoError(t, err)
	_, err = machine.UpdateEvidence(ctx, "runtimes", runtime.ID(), object{"state": "active"})
	require.ErrorIs(t, err, principal.ErrNotAPerson)
	_, err = ann.UpdateEvidence(ctx, "runtimes", runtime.ID(), object{"state": "active"})
	require.NoError(t, err)
}

// TestOnlyPeopleChangeWhatIsEnforced lets a machine with every scope try to allow what is denied.
func TestOnlyPeopleChangeWhatIsEnforced(t *testing.T) {
	t.Parallel()
	ctx, machine := t.Context(), testkit.Shared(t).Org(t)
	baseline := list(t, machine, "")[0]
	for _, change := range []object{{"source": permitAll}, {"mode": "shadow"}, {"mode": "disabled"}, {"state": "retired"}, {"state": "draft"}} {
		_, err := machine.UpdatePolicy(ctx, baseline.ID, change)
		require.ErrorIs(t, err, principal.ErrNotAPerson, "%v", change)
	}
	_, err := machine.UpdatePolicy(ctx, baseline.ID, object{"name": "Ours"})
	require.NoError(t, err, "a name decides nothing")
	_, err = machine.CreatePolicy(ctx, object{"policyKey": "all", "source": permitAll, "state": "active"})
	require.ErrorIs(t, err, principal.ErrNotAPerson)
	draft, err := machine.CreatePolicy(ctx, object{"policyKey": "all", "source": permitAll})
	require.NoError(t, err, "a machine proposes")
	_, err = machine.UpdatePolicy(ctx, draft.ID, object{"state": "active", "mode": "shadow"})
	require.NoError(t, err, "and tries")
	_, err = machine.UpdatePolicy(ctx, draft.ID, object{"mode": "enforce"})
	require.ErrorIs(t, err, principal.ErrNotAPerson)
	_, err = machine.InPerson(t).UpdatePolicy(ctx, draft.ID, object{"mode": "enforce"})
	require.NoError(t, err, "a person decides")
}
