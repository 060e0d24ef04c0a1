package agent_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/testkit"
)

// explanation is a report that names its record by nothing.
func explanation(id string) map[string]any {
	return event(id, "agent-evidence.eval-explanations", map[string]any{"subject": map[string]any{"type": "trace", "id": 1}, "evaluationName": "n", "explanation": "because"})
}

func TestAnEventThatIsSentByTwoAtOnceIsOneRecord(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	var g errgroup.Group
	for range 8 {
		g.Go(func() error {
			_, err := us.IngestEvidence(t.Context(), envelope(explanation("1"), explanation("2")))
			return err
		})
	}
	require.NoError(t, g.Wait())
	list, _, err := us.ListEvidence(t.Context(), "eval-explanations", "")
	require.NoError(t, err)
	require.Len(t, list, 2)
}

func TestWhatIsPostedDoesNotStandForWhatIsReceived(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	posted := map[string]any{"eventId": "1", "source": "https://agent.example", "payload": map[string]any{"harmless": true}}
	for _, way := range []func() error{
		func() error { _, err := us.PostEvidence(ctx, "raw-events", posted); return err },
		func() error {
			_, err := us.IngestEvidence(ctx, envelope(event("0", "agent-evidence.raw-events", posted)))
			return err
		},
	} {
		require.NoError(t, way())
	}
	out, err := us.IngestEvidence(ctx, envelope(explanation("1")))
	require.NoError(t, err)
	require.EqualValues(t, 1, out.Accepted, "an event that was only posted was not received")
	posted["payload"] = map[string]any{"harmless": false}
	_, err = us.PostEvidence(ctx, "raw-events", posted)
	require.Equal(t, "idempotency_key_reused", reason(err))
	raw, err := us.GetEvidence(ctx, "raw-events", *out.Results[0].RawEventID)
	require.NoError(t, err)
	require.Equal(t, "because", raw["payload"].(map[string]any)["explanation"])
}

func TestWhatIsRedactedNamesItsRecord(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	_, err := us.UpdateOrganization(ctx, map[string]any{"redactionRules": []any{map[string]any{"name": "clients", "pattern": "client-[0-9]+"}}})
	require.NoError(t, err)
	var ids []int64
	for _, client := range []string{"client-1", "client-2"} {
		call, err := us.PostEvidence(ctx, invocations, map[string]any{"runtimeKey": "agent", "invocationId": "for " + client, "toolName": "t", "status": "dispatched"})
		require.NoError(t, err)
		require.NotContains(t, call["invocation_id"], client)
		ids = append(ids, call.ID())
	}
	require.NotEqual(t, ids[0], ids[1], "two calls stay two")
	after, err := us.UpdateEvidence(ctx, invocations, ids[0], map[string]any{"status": "succeeded", "result": "paid client-1"})
	require.NoError(t, err)
	require.NotContains(t, after["result"], "client-1")
}

func TestAFailureWithoutAKeyHasAFingerprint(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	var last testkit.Evidence
	for i := range 3 {
		f, err := us.PostEvidence(ctx, "failures", map[string]any{"failureMode": "loop", "severity": "low", "runtimeKey": "agent", "description": fmt.Sprintf("repeated step %d", i)})
		require.NoError(t, err)
		last = f
	}
	require.EqualValues(t, 3, last["occurrences"])
	require.True(t, strings.HasPrefix(last["failure_key"].(string), "fp_"))
	for _, key := range []any{last["failure_key"], "manifest_drift:payments"} {
		_, err := us.PostEvidence(ctx, "failures", map[string]any{"failureKey": key, "failureMode": "loop", "severity": "low"})
		require.Equal(t, "invalid_request", reason(err))
	}
}

func TestAnAtomicEnvelopeLeavesNothing(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	named := func(id, name string, score float64) map[string]any {
		return event(id, "agent-evidence.benchmarks", map[string]any{"benchmarkKey": "b", "metrics": map[string]any{"accuracy": score}, "idempotencyKey": name})
	}
	_, err := us.IngestEvidence(ctx, envelope(named("1", "first", 0.5)))
	require.NoError(t, err)
	runtimes, _, err := us.ListEvidence(ctx, "runtimes", "")
	require.NoError(t, err)
	for name, events := range map[string][]map[string]any{
		"a name that is taken":    {explanation("2"), named("3", "first", 0.7)},
		"one name for two things": {named("4", "second", 0.1), named("5", "second", 0.2)},
		"a record that is not there": {explanation("6"), event("7", "agent-evidence.failures", map[string]any{
			"failureKey": "f", "failureMode": "loop", "severity": "low", "toolInvocationEvidenceId": 1,
		})},
	} {
		in := envelope(events...)
		in["producer"] = map[string]any{"runtimeKey": "another"}
		in["options"] = map[string]any{"mode": "atomic"}
		_, err := us.IngestEvidence(ctx, in)
		require.Equal(t, "invalid_events", reason(err), name)
	}
	for kind, want := range map[string]int{"raw-events": 1, "benchmarks": 1, "eval-explanations": 0, "runtimes": len(runtimes), "failures": 0} {
		list, _, err := us.ListEvidence(ctx, kind, "")
		require.NoError(t, err)
		require.Len(t, list, want, kind)
	}
	// The name was not used up.
	out, err := us.IngestEvidence(ctx, envelope(named("8", "second", 0.3)))
	require.NoError(t, err)
	require.EqualValues(t, 1, out.Accepted)
}

func TestAnEventReportsABoundedNumberOfRecords(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	decisions := make([]any, 1001)
	for i := range decisions {
		decisions[i] = map[string]any{"decision_id": strconv.Itoa(i), "result": true, "timestamp": "2026-01-31T12:00:00Z"}
	}
	many := event("1", "opa.decision", decisions)
	many["format"] = "opa.decision"
	out, err := us.IngestEvidence(t.Context(), envelope(many))
	require.NoError(t, err)
	require.EqualValues(t, 1, out.Rejected, "%+v", out.Results)
}

func TestWhatNamesARecordCannotBeChanged(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	effect, err := us.PostEvidence(ctx, "side-effects", map[string]any{
		"operation": "refund", "sideEffectClass": "transact", "target": map[string]any{"system": "payments", "type": "order", "id": "A-17"}, "effectKey": "A-17/refund",
	})
	require.NoError(t, err)
	for _, change := range []map[string]any{{"sideEffectClass": "read"}, {"effect_key": "other"}, {"target": map[string]any{"system": "s", "type": "t", "id": "i"}}, {"policyDecisionId": 1}} {
		_, err = us.UpdateEvidence(ctx, "side-effect-ledger", effect.ID(), change)
		require.Equal(t, "invalid_request", reason(err), "%v", change)
	}
	after, err := us.UpdateEvidence(ctx, "side-effect-ledger", effect.ID(), map[string]any{"ticket": "T-1"})
	require.NoError(t, err)
	after, err = us.UpdateEvidence(ctx, "side-effect-ledger", after.ID(), map[string]any{"attributes": map[string]any{"shift": "night"}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"ticket": "T-1", "shift": "night"}, after["attributes"])
}
