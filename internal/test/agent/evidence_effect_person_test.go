package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// seen is the check of an effect that is there.
func seen(method string) map[string]any {
	return map[string]any{"method": method, "result": "confirmed"}
}

func TestOnlyAPersonSaysThatAPersonChecked(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	bob, person := us.Person(t, principal.Admin)
	agent := us.Agent(t)
	e, err := agent.PostEvidence(ctx, "side-effect-ledger", entry("acknowledged", "k1", nil))
	require.NoError(t, err)

	verified := map[string]any{"state": "verified", "verification": seen("human")}
	_, err = agent.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), verified)
	require.Equal(t, "not_a_person", reason(err))
	_, err = agent.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), verified, testkit.OnBehalfOf(bob.ID))
	require.Equal(t, "not_a_person", reason(err))
	_, err = agent.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"verification": seen("human")})
	require.Equal(t, "not_a_person", reason(err), "the state does not matter")
	e, err = person.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), verified)
	require.NoError(t, err)
	require.Equal(t, "verified", e["state"])
	e, err = agent.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"attributes": map[string]any{"ticket": "T-1"}})
	require.NoError(t, err, "what a person found is there and stays")
	require.Equal(t, "human", e["verification"].(map[string]any)["method"])

	for _, another := range []any{nil, seen("readback")} {
		_, err = agent.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"verification": another})
		require.Contains(t, []string{"not_a_person", "verification_required"}, reason(err), "no program replaces it")
	}
	_, err = person.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"verification": map[string]any{"method": "human", "result": "absent"}})
	require.Equal(t, "verification_contradicts", reason(err), "it is verified, or it is not")
	_, err = person.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"verification": nil})
	require.Equal(t, "verification_required", reason(err))
	_, err = person.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"verification": seen("reconciliation")})
	require.NoError(t, err)

	other, err := agent.PostEvidence(ctx, "side-effect-ledger", entry("acknowledged", "k2", nil))
	require.NoError(t, err)
	other, err = agent.UpdateEvidence(ctx, "side-effect-ledger", other.ID(), map[string]any{"state": "verified", "verification": seen("readback")})
	require.NoError(t, err, "whoever reports an effect may read it back")
	_, err = agent.UpdateEvidence(ctx, "side-effect-ledger", other.ID(), map[string]any{"verification": seen("human")})
	require.Equal(t, "not_a_person", reason(err))
}

func TestAReportDoesNotBringAPersonsCheck(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	bob, person := us.Person(t, principal.Admin)
	agent := us.Agent(t)
	checked := entry("acknowledged", "k1", map[string]any{"verification": seen("human")})
	_, err := agent.PostEvidence(ctx, "side-effect-ledger", checked)
	require.Equal(t, "not_a_person", reason(err))
	_, err = agent.PostEvidence(ctx, "side-effect-ledger", checked, testkit.OnBehalfOf(bob.ID))
	require.Equal(t, "not_a_person", reason(err))
	_, err = person.PostEvidence(ctx, "side-effect-ledger", checked)
	require.NoError(t, err)

	envelope := map[string]any{"producer": map[string]any{"runtimeKey": "refund-agent"}, "events": []any{
		map[string]any{"id": "e1", "source": "t", "type": "agent-evidence.side-effect-ledger", "data": entry("acknowledged", "k2", map[string]any{"verification": seen("human")})},
		map[string]any{"id": "e2", "source": "t", "type": "agent-evidence.side-effect-ledger", "data": entry("acknowledged", "k3", map[string]any{"verification": seen("webhook")})},
	}}
	in, err := agent.IngestEvidence(ctx, envelope)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1}, []int64{in.Accepted, in.Rejected}, "%v", in)
	in, err = person.IngestEvidence(ctx, envelope)
	require.NoError(t, err)
	require.Zero(t, in.Rejected, "%v", in)
}
