package agent_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

const invocations = "tool-invocation-evidence"

// refund is a call of a tool that gives money back.
func evidenceRefund(invocation string) map[string]any {
	return map[string]any{
		"runtimeKey": "refund-agent", "connectorKey": "payments", "invocationId": invocation, "toolName": "refund", "status": "dispatched",
		"arguments": map[string]any{"order": "A-17", "amount": "240.00"}, "sideEffectClass": "transact",
	}
}

func TestARefundIsFollowed(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	trace := testkit.NewTraceID()

	call := evidenceRefund("call_9")
	call["otelTraceId"] = trace
	made, err := us.PostEvidence(ctx, "tool_invocations", call) // an alias
	require.NoError(t, err)
	require.Equal(t, invocations, made["resource"])
	require.Equal(t, "reported", made["origin"])
	require.Equal(t, trace, made["otel_trace_id"])
	require.NotNil(t, made["trace_id"])
	require.NotNil(t, made["runtime_id"], "a runtime that is not known is added")
	require.Equal(t, map[string]any{"order": "A-17", "amount": "240.00"}, made["arguments"])

	decision, err := us.PostEvidence(ctx, "policy-decisions", map[string]any{
		"decision": "allow", "engine": "opa", "inputDigest": "sha256:" + strings.Repeat("ab", 32), "invocationId": "call_9", "otelTraceId": trace, "runtimeKey": "refund-agent",
		"toolInvocationEvidenceId": made.ID(),
	})
	require.NoError(t, err)
	require.Equal(t, true, decision["allowed"])

	effect, err := us.PostEvidence(ctx, "side-effects", map[string]any{
		"operation": "refund", "sideEffectClass": "transact", "target": map[string]any{"system": "payments", "type": "order", "id": "A-17"}, "effectKey": "A-17/refund",
		"state": "dispatched", "policyDecisionId": decision.ID(), "toolInvocationEvidenceId": made.ID(), "otelTraceId": trace,
	})
	require.NoError(t, err)
	require.Equal(t, "dispatched", effect["state"])

	// The tool replies: that is an acknowledgement, not proof.
	done, err := us.UpdateEvidence(ctx, invocations, made.ID(), map[string]any{"status": "succeeded", "result": map[string]any{"ok": true}})
	require.NoError(t, err)
	require.Equal(t, "succeeded", done["status"])
	require.EqualValues(t, 2, done["version"])
	effect, err = us.UpdateEvidence(ctx, "side-effect-ledger", effect.ID(), map[string]any{"state": "acknowledged"})
	require.NoError(t, err)

	line, err := timeline(t, us, trace)
	require.NoError(t, err)
	require.Equal(t, []string{"requested:done", "authorized:missing", "dispatched:done", "acknowledged:done", "verified:missing"}, marks(line, "call_9"),
		"a decision that a client reports authorizes nothing")

	_, err = us.UpdateEvidence(ctx, "side-effect-ledger", effect.ID(), map[string]any{"state": "verified"})
	require.Equal(t, "verification_required", reason(err))
	_, err = us.UpdateEvidence(ctx, "side-effect-ledger", effect.ID(), map[string]any{"state": "verified", "verification": map[string]any{"method": "readback", "result": "absent"}})
	require.Equal(t, "verification_contradicts", reason(err))
	_, err = us.UpdateEvidence(ctx, "side-effect-ledger", effect.ID(), map[string]any{"state": "verified", "verification": map[string]any{"method": "readback", "result": "confirmed"}})
	require.NoError(t, err)
	line, err = timeline(t, us, trace)
	require.NoError(t, err)
	require.Equal(t, "verified:done", marks(line, "call_9")[4])

	// What is final stays, and other moves are refused with those that are possible.
	_, err = us.UpdateEvidence(ctx, invocations, made.ID(), map[string]any{"status": "requested"})
	require.Equal(t, "invalid_transition", reason(err))
	got, err := us.GetEvidence(ctx, invocations, made.ID())
	require.NoError(t, err)
	require.Equal(t, done, got)
}

func TestACallNamesWhatItCaused(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	for _, name := range []string{"sideEffectLedgerIds", "side_effect_ledger_ids"} {
		trace := testkit.NewTraceID()
		effect, err := us.PostEvidence(t.Context(), "side-effects", map[string]any{
			"operation": "refund", "sideEffectClass": "transact", "target": map[string]any{"system": "payments", "type": "order", "id": name}, "effectKey": name,
			"otelTraceId": trace,
		})
		require.NoError(t, err)
		call := evidenceRefund(name)
		call["otelTraceId"], call[name] = trace, []int64{effect.ID()}
		_, err = us.PostEvidence(t.Context(), invocations, call)
		require.NoError(t, err)
		line, err := timeline(t, us, trace)
		require.NoError(t, err)
		require.Len(t, line.Entries, 2)
		require.Equal(t, invocations, line.Entries[0].Resource, "the call comes before what it caused: %s", name)
		require.Len(t, line.Entries[0].Action.Ledger, 1)
		require.Equal(t, effect.ID(), line.Entries[0].Action.Ledger[0].ID)
	}
}

// marks are those of the action of an invocation.
func marks(l api.EvidenceTimeline, invocation string) (out []string) {
	for _, e := range l.Entries {
		if e.Action != nil && api.Value(e.Action.InvocationID) == invocation && e.Resource == invocations {
			for _, m := range e.Action.Marks {
				out = append(out, m.Stage+":"+m.State)
			}
		}
	}
	return out
}

func timeline(t testing.TB, us *testkit.Client, trace string) (api.EvidenceTimeline, error) {
	t.Helper()
	return us.GetEvidenceTimeline(t.Context(), "traceId="+trace)
}

func TestUnknownKinds(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	for _, name := range []string{"charms", "ingest", "policy"} {
		_, _, err := us.ListEvidence(t.Context(), name, "")
		require.Equal(t, "unknown_resource", reason(err), name)
		_, err = us.GetEvidence(t.Context(), name, 1)
		require.Equal(t, "unknown_resource", reason(err), name)
	}
	_, err := us.GetEvidence(t.Context(), "tool-invocations", 1)
	require.Equal(t, "unknown_resource", reason(err), "aliases are for lists and reports")
	_, err = us.PostEvidence(t.Context(), "audit-packs", map[string]any{})
	require.Equal(t, "kind_not_writable", reason(err))
}

func TestTheSameReportIsOneRecord(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	for kind, body := range map[string]map[string]any{
		invocations:           {"invocationId": "c", "toolName": "t", "status": "requested", "idempotencyKey": "k"},
		"benchmarks":          {"benchmarkKey": "b", "metrics": map[string]any{"accuracy": 0.5}, "idempotencyKey": "k"},
		"eval-explanations":   {"subject": map[string]any{"type": "trace", "id": 1}, "evaluationName": "n", "explanation": "e", "idempotencyKey": "k"},
		"primitive-step-runs": {"primitiveType": "model_call", "status": "running", "startedAt": "2026-01-31T12:00:00Z", "idempotencyKey": "k"},
		"failures":            {"failureKey": "f", "failureMode": "loop", "severity": "low", "idempotencyKey": "k"},
	} {
		first, err := us.PostEvidence(ctx, kind, body)
		require.NoError(t, err, kind)
		again, err := us.PostEvidence(ctx, kind, body)
		require.NoError(t, err, kind)
		require.Equal(t, first, again, kind)
		body["attributes"] = map[string]any{"other": true}
		_, err = us.PostEvidence(ctx, kind, body)
		require.Equal(t, "idempotency_key_reused", reason(err), kind)
		list, _, err := us.ListEvidence(ctx, kind, "idempotencyKey=k")
		require.NoError(t, err)
		require.Equal(t, []testkit.Evidence{first}, list)
	}
}

func TestReportsOfOneCallAddUp(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	first, err := us.PostEvidence(ctx, invocations, evidenceRefund("call_1"))
	require.NoError(t, err)
	second, err := us.PostEvidence(ctx, invocations, map[string]any{
		"runtimeKey": "refund-agent", "invocationId": "call_1", "toolName": "refund", "status": "failed", "error": map[string]any{"message": "429 Too Many Requests"},
	})
	require.NoError(t, err)
	require.Equal(t, first.ID(), second.ID())
	require.Equal(t, "failed", second["status"])
	require.Equal(t, first["arguments"], second["arguments"])
	third, err := us.PostEvidence(ctx, invocations, evidenceRefund("call_1"))
	require.NoError(t, err)
	require.Equal(t, "failed", third["status"], "a state that is final stays")

	found, _, err := us.ListEvidence(ctx, "failures", "failureMode=rate_limited")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.EqualValues(t, 1, found[0]["occurrences"])
	require.Equal(t, "platform", found[0]["origin"])
	require.EqualValues(t, first.ID(), found[0]["tool_invocation_evidence_id"])
}

func TestAFailureThatWasFixedComesBack(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	body := map[string]any{"failureKey": "slow", "failureMode": "latency_exceeded", "severity": "low"}
	f, err := us.PostEvidence(ctx, "failures", body)
	require.NoError(t, err)
	for _, state := range []string{"triaged", "fixed"} {
		f, err = us.UpdateEvidence(ctx, "failures", f.ID(), map[string]any{"state": state})
		require.NoError(t, err)
	}
	again, err := us.PostEvidence(ctx, "failures", body)
	require.NoError(t, err)
	require.Equal(t, f.ID(), again.ID())
	require.Equal(t, "open", again["state"])
	require.Equal(t, true, again["regressed"])
	require.EqualValues(t, 2, again["occurrences"])
}

func TestFilters(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	var ids []int64
	for i, status := range []string{"requested", "succeeded", "failed"} {
		body := evidenceRefund("call_" + string(rune('a'+i)))
		body["status"] = status
		made, err := us.PostEvidence(ctx, invocations, body)
		require.NoError(t, err)
		ids = append(ids, made.ID())
	}
	of := func(query string) (out []int64) {
		list, _, err := us.ListEvidence(ctx, invocations, query)
		require.NoError(t, err, query)
		for _, r := range list {
			out = append(out, r.ID())
		}
		return out
	}
	require.Equal(t, []int64{ids[2], ids[1], ids[0]}, of(""))
	require.Equal(t, []int64{ids[2], ids[1]}, of("status=succeeded,failed"))
	require.Equal(t, []int64{ids[2], ids[1]}, of("state=succeeded&state=failed"))
	require.Equal(t, []int64{ids[0]}, of("invocationId=call_a"))
	require.Len(t, of("runtimeKey=refund-agent&connectorKey=payments&sideEffectClass=transact"), 3)
	require.Empty(t, of("runtimeKey=refund-agent,other"), "a key is exact")
	page, next, err := us.ListEvidence(ctx, invocations, "limit=2")
	require.NoError(t, err)
	require.Len(t, page, 2)
	rest, _, err := us.ListEvidence(ctx, invocations, "limit=2&cursor="+*next)
	require.NoError(t, err)
	require.Len(t, rest, 1)
	require.Equal(t, ids[0], rest[0].ID())

	res, err := us.Send(ctx, http.MethodGet, "/api/agent-evidence/runtimes?failureMode=loop&state=active", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status)
	require.Equal(t, "failureMode", res.Header.Get("X-Inapplicable-Filters"))
	var total struct {
		Total   int64 `json:"total"`
		Records []any `json:"records"`
	}
	_, err = us.Call(ctx, http.MethodGet, "/api/agent-evidence/"+invocations+"?includeTotal=true&status=succeeded,failed&limit=1", nil, &total)
	require.NoError(t, err)
	require.EqualValues(t, 2, total.Total)
	require.Len(t, total.Records, 1)
}

func TestOverview(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	_, err := us.PostEvidence(ctx, invocations, evidenceRefund("call_1"))
	require.NoError(t, err)
	_, err = us.PostEvidence(ctx, "approvals", map[string]any{"title": "Refund", "reason": "Above 100", "inputDigest": "sha256:" + strings.Repeat("ab", 32)})
	require.NoError(t, err)
	out, err := us.GetEvidenceOverview(ctx)
	require.NoError(t, err)
	require.Len(t, out.Kinds, 16)
	count := map[string]int64{}
	for _, k := range out.Kinds {
		count[k.Resource] = k.Count
	}
	require.EqualValues(t, 1, count[invocations])
	require.EqualValues(t, 1, count["runtimes"])
	require.EqualValues(t, 1, count["connectors"])
	require.EqualValues(t, 1, out.Attention.PendingApprovals)
}
