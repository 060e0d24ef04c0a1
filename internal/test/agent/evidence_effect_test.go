package agent_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// entry is a side effect of the refund agent.
func entry(state, effectKey string, more map[string]any) map[string]any {
	out := map[string]any{
		"operation": "refund", "sideEffectClass": "transact", "state": state, "effectKey": effectKey, "runtimeKey": "refund-agent", "connectorKey": "payments",
		"target": map[string]any{"system": "payments", "type": "order", "id": "A-17"},
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestASideEffectRemembersItsStates(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	e, err := us.PostEvidence(ctx, "side-effect-ledger", entry("planned", "k1", nil))
	require.NoError(t, err)
	require.Nil(t, e["authorization"], "nothing was sent yet")
	for _, state := range []string{"authorized", "dispatched", "acknowledged"} {
		e, err = us.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"state": state})
		require.NoError(t, err)
	}
	var states []string
	for _, one := range e["state_history"].([]any) {
		states = append(states, one.(map[string]any)["state"].(string))
	}
	require.Equal(t, []string{"planned", "authorized", "dispatched", "acknowledged"}, states)
	require.Equal(t, "none", e["authorization"], "no decision allows it")
	failures, _, err := us.ListEvidence(ctx, "failures", fmt.Sprintf("failureMode=policy_violation&sideEffectLedgerId=%d", e.ID()))
	require.NoError(t, err)
	require.Len(t, failures, 1)
	require.EqualValues(t, 1, failures[0]["occurrences"], "one dispatch is one violation, whatever follows")
}

func TestTheSameSideEffectTwiceIsADuplicate(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	first, err := us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k1", nil))
	require.NoError(t, err)
	require.Nil(t, first["duplicate_of_id"])
	planned, err := us.PostEvidence(ctx, "side-effect-ledger", entry("planned", "k1", map[string]any{"invocationId": "call_2"}))
	require.NoError(t, err)
	require.Nil(t, planned["duplicate_of_id"], "a plan is not a dispatch")
	for _, state := range []string{"authorized", "dispatched"} {
		planned, err = us.UpdateEvidence(ctx, "side-effect-ledger", planned.ID(), map[string]any{"state": state})
		require.NoError(t, err)
	}
	require.EqualValues(t, first.ID(), planned["duplicate_of_id"])
	other, err := us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k2", nil))
	require.NoError(t, err)
	require.Nil(t, other["duplicate_of_id"])

	in, err := us.IngestEvidence(ctx, map[string]any{"producer": map[string]any{"runtimeKey": "refund-agent"}, "events": []any{
		map[string]any{"id": "e1", "source": "t", "type": "agent-evidence.side-effect-ledger", "data": entry("acknowledged", "k3", nil)},
		map[string]any{"id": "e2", "source": "t", "type": "agent-evidence.side-effect-ledger", "data": entry("acknowledged", "k3", map[string]any{"invocationId": "again"})},
	}})
	require.NoError(t, err)
	require.EqualValues(t, 2, in.Accepted, "%v", in)
	found, _, err := us.ListEvidence(ctx, "failures", "failureMode=duplicate_side_effect")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.EqualValues(t, 2, found[0]["occurrences"], "one of each pair")
}

// TestWhatMustNotBeSentIsNotNoted asks the ledger before effects are sent.
func TestWhatMustNotBeSentIsNotNoted(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	const once, allowed = "side-effect-ledger?refuse=repeated", "side-effect-ledger?refuse=unauthorized&refuse=repeated"
	first, err := us.PostEvidence(ctx, once, entry("dispatched", "k1", nil))
	require.NoError(t, err)
	again, err := us.PostEvidence(ctx, once, entry("planned", "k1", nil))
	require.NoError(t, err, "a plan is not a dispatch")
	require.NotEqual(t, first.ID(), again.ID())

	_, err = us.PostEvidence(ctx, once, entry("dispatched", "k1", map[string]any{"invocationId": "again"}))
	f, _ := fault.From(err)
	require.Equal(t, "side_effect_repeated", reason(err))
	require.EqualValues(t, first.ID(), f.Details["duplicateOfId"])
	_, err = us.PostEvidence(ctx, allowed, entry("dispatched", "k1", map[string]any{"invocationId": "again"}))
	require.Equal(t, "side_effect_repeated", reason(err), "whether or not it was allowed")
	_, err = us.PostEvidence(ctx, allowed, entry("dispatched", "k2", nil))
	require.Equal(t, "side_effect_unauthorized", reason(err))
	_, err = us.PostEvidence(ctx, allowed, entry("dispatched", "k3", map[string]any{"sideEffectClass": "read", "connectorKey": "library"}))
	require.NoError(t, err, "reading needs no decision")
	_, err = us.PostEvidence(ctx, "failures?refuse=repeated", map[string]any{"failureMode": "other", "title": "t", "severity": "low"})
	require.Equal(t, "invalid_request", reason(err))

	noted, _, err := us.ListEvidence(ctx, "side-effect-ledger", "")
	require.NoError(t, err)
	require.Len(t, noted, 3)
	twice, _, err := us.ListEvidence(ctx, "failures", "failureMode=duplicate_side_effect")
	require.NoError(t, err)
	require.Empty(t, twice)
	_, err = us.UpdateEvidence(ctx, "side-effect-ledger", first.ID(), map[string]any{"state": "failed"})
	require.NoError(t, err)
	_, err = us.PostEvidence(ctx, once, entry("dispatched", "k1", map[string]any{"invocationId": "again"}))
	require.NoError(t, err, "the first did nothing")

	named := entry("dispatched", "k4", map[string]any{"idempotencyKey": "n1"})
	known, err := us.PostEvidence(ctx, once, named)
	require.NoError(t, err)
	_, err = us.PostEvidence(ctx, once, named)
	require.Equal(t, "side_effect_repeated", reason(err), "the same record is the same effect")
	again, err = us.PostEvidence(ctx, "side-effect-ledger", named)
	require.NoError(t, err)
	require.Equal(t, known.ID(), again.ID())
	_, err = us.PostEvidence(ctx, once, entry("acknowledged", "k4", nil))
	require.NoError(t, err, "what has happened is noted")
}

// TestOneOfManyMaySend asks for the same effect from several places at once.
func TestOneOfManyMaySend(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	const callers = 8
	answers := make(chan string, callers)
	for i := range callers {
		go func() {
			_, err := us.PostEvidence(t.Context(), "side-effect-ledger?refuse=repeated", entry("dispatched", "k1", map[string]any{"invocationId": strconv.Itoa(i)}))
			answers <- reason(err)
		}()
	}
	got := map[string]int{}
	for range callers {
		got[<-answers]++
	}
	require.Equal(t, map[string]int{"": 1, "side_effect_repeated": callers - 1}, got)
}

// TestAKeyThatIsNotStoredTellsNothingApart sends keys of which redaction leaves the same.
func TestAKeyThatIsNotStoredTellsNothingApart(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	secret := map[string]any{"target": map[string]any{"system": "iam", "type": "key", "id": "AKIAIOSFODNN7EXAMPLE"}}
	for _, e := range []map[string]any{
		entry("dispatched", "pay AKIAIOSFODNN7EXAMPLE", nil),
		entry("dispatched", "offboard/ann", secret),
		entry("dispatched", "offboard/ann", map[string]any{"operation": "revoke AKIAIOSFODNN7EXAMPLE"}),
	} {
		_, err := us.PostEvidence(t.Context(), "side-effect-ledger", e)
		require.Equal(t, "invalid_request", reason(err))
		in, err := us.IngestEvidence(t.Context(), envelope(event("e1", "agent-evidence.side-effect-ledger", e)))
		require.NoError(t, err)
		require.EqualValues(t, 1, in.Rejected, "%+v", in)
	}
	_, err := us.PostEvidence(t.Context(), "side-effect-ledger", entry("dispatched", "k1", map[string]any{"attributes": map[string]any{"note": "AKIAIOSFODNN7EXAMPLE"}}))
	require.NoError(t, err, "what tells nothing apart is redacted")
}

func TestAnEffectThatHappenedAfterAllIsADuplicate(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	move := func(e testkit.Evidence, state string, more map[string]any) testkit.Evidence {
		body := map[string]any{"state": state}
		if more != nil {
			body["verification"] = more
		}
		e, err := us.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), body)
		require.NoError(t, err)
		return e
	}
	first, err := us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k", nil))
	require.NoError(t, err)
	move(first, "failed", nil)
	second, err := us.PostEvidence(ctx, "side-effect-ledger?refuse=repeated", entry("dispatched", "k", map[string]any{"invocationId": "again"}))
	require.NoError(t, err)
	move(second, "acknowledged", nil)
	first = move(first, "conflicting", map[string]any{"method": "readback", "result": "different"})
	require.EqualValues(t, second.ID(), first["duplicate_of_id"])
	found, _, err := us.ListEvidence(ctx, "failures", "failureMode=duplicate_side_effect")
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// TestAnEffectThatDidNotHappenIsNotRepeated sends effects under one name: one that is known
// not to have happened leaves the name to the next, until it turns out that it did happen.
func TestAnEffectThatDidNotHappenIsNotRepeated(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	send := func(state, name string) testkit.Evidence {
		e, err := us.PostEvidence(ctx, "side-effect-ledger", entry(state, name, nil))
		require.NoError(t, err)
		return e
	}
	move := func(e testkit.Evidence, state string) {
		_, err := us.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"state": state})
		require.NoError(t, err)
	}
	first := send("dispatched", "k")
	waiting := send("dispatched", "k")
	require.EqualValues(t, first.ID(), waiting["duplicate_of_id"], "the first may still happen")
	move(waiting, "failed")
	move(first, "failed")
	second := send("dispatched", "k")
	require.Nil(t, second["duplicate_of_id"])
	require.EqualValues(t, second.ID(), send("dispatched", "k")["duplicate_of_id"])
	move(second, "failed")
	_, err := us.UpdateEvidence(ctx, "side-effect-ledger", first.ID(), map[string]any{
		"state": "conflicting", "verification": map[string]any{"method": "readback", "result": "different", "observedAt": "2026-01-31T12:00:00Z"},
	})
	require.NoError(t, err)
	require.EqualValues(t, first.ID(), send("dispatched", "k")["duplicate_of_id"], "it happened after all")

	in, err := us.IngestEvidence(ctx, envelope(
		event("e1", "agent-evidence.side-effect-ledger", entry("failed", "both", nil)),
		event("e2", "agent-evidence.side-effect-ledger", entry("dispatched", "both", map[string]any{"invocationId": "again"})),
	))
	require.NoError(t, err)
	require.EqualValues(t, 2, in.Accepted, "%+v", in)
	require.EqualValues(t, in.Results[1].Records[0].ID, send("dispatched", "both")["duplicate_of_id"])
}

func TestASideEffectIsUndoneBySomethingAndLookedForAgain(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	ctx := t.Context()
	found := func(result string) map[string]any { return map[string]any{"method": "readback", "result": result} }
	e := p.sends(t, p.asks(t, "refund", nil), "k1", nil)
	move := func(state string, verification map[string]any) (testkit.Evidence, error) {
		body := map[string]any{"state": state}
		if verification != nil {
			body["verification"] = verification
		}
		return p.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), body)
	}
	_, err := move("acknowledged", nil)
	require.NoError(t, err)
	_, err = move("verified", found("confirmed"))
	require.NoError(t, err)
	_, err = move("compensating", nil)
	require.NoError(t, err)

	_, err = move("compensated", nil)
	require.Equal(t, "verification_required", reason(err), "the check of the effect is not one of its absence")
	_, err = move("compensated", found("confirmed"))
	require.Equal(t, "verification_contradicts", reason(err))
	_, err = move("compensated", found("absent"))
	require.Equal(t, "not_compensated", reason(err), "nothing undid it")
	undo := map[string]any{"operation": "wipe", "sideEffectClass": "delete", "compensatesId": e.ID()}
	_, err = p.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "undo 1", undo))
	require.NoError(t, err)
	_, err = move("compensated", found("absent"))
	require.Equal(t, "not_compensated", reason(err), "what undid it was not allowed")
	tried := p.sends(t, p.asks(t, "wipe", nil), "undo 2", undo)
	require.Equal(t, "allowed", tried["authorization"])
	_, err = p.UpdateEvidence(ctx, "side-effect-ledger", tried.ID(), map[string]any{"state": "failed"})
	require.NoError(t, err)
	_, err = move("compensated", found("absent"))
	require.Equal(t, "not_compensated", reason(err), "what was to undo it did nothing")
	require.Equal(t, "allowed", p.sends(t, p.asks(t, "wipe", nil), "undo 3", undo)["authorization"])
	after, err := move("compensated", found("absent"))
	require.NoError(t, err)
	require.Equal(t, "compensated", after["state"])
	require.Equal(t, "absent", after["verification"].(map[string]any)["result"])
}

func TestADecisionThatIsOnlyReportedAuthorizesNothing(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	d, err := us.PostEvidence(ctx, "policy-decisions", map[string]any{
		"decision": "allow", "engine": "opa", "inputDigest": "sha256:" + fmt.Sprintf("%064d", 1), "runtimeKey": "refund-agent", "connectorKey": "payments", "invocationId": "call_1",
	})
	require.NoError(t, err)
	e, err := us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k1", map[string]any{"policyDecisionId": d.ID()}))
	require.NoError(t, err)
	require.Equal(t, "claimed", e["authorization"])
	e, err = us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k2", map[string]any{"invocationId": "call_1"}))
	require.NoError(t, err)
	require.Equal(t, "none", e["authorization"])
	e, err = us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k3", map[string]any{"sideEffectClass": "read"}))
	require.NoError(t, err)
	require.Nil(t, e["authorization"], "reading needs no decision")
}
