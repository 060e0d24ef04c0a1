package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// event is an event of an envelope.
func event(id, kind string, data any) map[string]any {
	return map[string]any{"id": id, "source": "https://agent.example", "type": kind, "time": "2026-01-31T12:00:00Z", "data": data}
}

func envelope(events ...map[string]any) map[string]any {
	return map[string]any{"producer": map[string]any{"runtimeKey": "agent"}, "events": events}
}

func TestEveryEventHasAResult(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	in := envelope(
		event("1", "agent-evidence.tool-invocation-evidence", map[string]any{"invocationId": "c", "toolName": "t", "status": "requested"}),
		event("2", "agent-evidence.failures", map[string]any{"failureKey": "f", "failureMode": "loop", "severity": "low"}),
		event("3", "com.example.weather", map[string]any{"rain": true}),
		event("4", "agent-evidence.failures", map[string]any{"failureMode": "charming"}),
		event("1", "agent-evidence.tool-invocation-evidence", map[string]any{"invocationId": "c", "toolName": "t", "status": "requested"}),
		map[string]any{"id": "5"},
	)
	out, err := us.IngestEvidence(ctx, in)
	require.NoError(t, err)
	var statuses []string
	for i, r := range out.Results {
		require.EqualValues(t, i, r.Index)
		statuses = append(statuses, r.Status)
	}
	require.Equal(t, []string{"accepted", "accepted", "unmapped", "rejected", "duplicate", "rejected"}, statuses)
	require.Equal(t, []int64{6, 2, 1, 1, 2}, []int64{out.Received, out.Accepted, out.Duplicates, out.Unmapped, out.Rejected})
	require.Equal(t, map[string]int64{"tool-invocation-evidence": 1, "failures": 1}, out.RecordsCreated)

	call, err := us.GetEvidence(ctx, "tool-invocation-evidence", out.Results[0].Records[0].ID)
	require.NoError(t, err)
	require.Equal(t, "ingested", call["origin"])
	require.EqualValues(t, *out.Results[0].RawEventID, call["raw_event_id"])
	raw, err := us.GetEvidence(ctx, "raw-events", *out.Results[2].RawEventID)
	require.NoError(t, err)
	require.Equal(t, "unmapped", raw["status"])
	require.Equal(t, map[string]any{"rain": true}, raw["payload"])

	// The answer was lost, and the envelope is sent again.
	again, err := us.IngestEvidence(ctx, in)
	require.NoError(t, err)
	require.Equal(t, []int64{6, 0, 4, 0, 2}, []int64{again.Received, again.Accepted, again.Duplicates, again.Unmapped, again.Rejected})
	require.Equal(t, out.Results[1].Records, again.Results[1].Records)
	f, err := us.GetEvidence(ctx, "failures", out.Results[1].Records[0].ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, f["occurrences"])
}

func TestDryRunAndAtomic(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	good := event("1", "agent-evidence.failures", map[string]any{"failureKey": "f", "failureMode": "loop", "severity": "low"})
	in := envelope(good, event("2", "agent-evidence.failures", map[string]any{"failureMode": "charming"}))
	in["options"] = map[string]any{"mode": "atomic"}
	_, err := us.IngestEvidence(ctx, in)
	require.Equal(t, "invalid_events", reason(err))
	dry := envelope(good)
	dry["options"] = map[string]any{"dryRun": true}
	out, err := us.IngestEvidence(ctx, dry)
	require.NoError(t, err)
	require.True(t, out.DryRun)
	require.EqualValues(t, 1, out.Accepted)
	for _, kind := range []string{"failures", "raw-events", "runtimes"} {
		list, _, err := us.ListEvidence(ctx, kind, "")
		require.NoError(t, err)
		require.Empty(t, list, kind)
	}

	_, err = us.IngestEvidence(ctx, envelope(good))
	require.NoError(t, err)
	dry["events"] = []map[string]any{
		good, event("3", "agent-evidence.failures", map[string]any{"failureMode": "loop", "severity": "low", "toolInvocationEvidenceId": 999_999}),
		event("4", "agent-evidence.failures", map[string]any{"failureMode": "loop", "severity": "low"}),
	}
	out, err = us.IngestEvidence(ctx, dry)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1, 1}, []int64{out.Duplicates, out.Rejected, out.Accepted}, "%+v", out)
	list, _, err := us.ListEvidence(ctx, "failures", "")
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// TestANameCountsOnceInARequest reports a failure under one name in two events, and then uses
// the name for something else.
func TestANameCountsOnceInARequest(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	loop := func(id, severity string) map[string]any {
		return event(id, "agent-evidence.failures", map[string]any{"failureKey": "f", "failureMode": "loop", "severity": severity, "idempotencyKey": "k"})
	}
	out, err := us.IngestEvidence(ctx, envelope(loop("1", "low"), loop("2", "low")))
	require.NoError(t, err)
	require.EqualValues(t, 2, out.Accepted, "%+v", out)
	f, err := us.GetEvidence(ctx, "failures", out.Results[0].Records[0].ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, f["occurrences"])

	in := envelope(event("3", "agent-evidence.failures", map[string]any{"failureKey": "other", "failureMode": "loop", "severity": "low"}), loop("4", "high"))
	for _, dry := range []bool{true, false} {
		in["options"] = map[string]any{"mode": "atomic", "dryRun": dry}
		_, err = us.IngestEvidence(ctx, in)
		require.Equal(t, "invalid_events", reason(err))
	}
	all, _, err := us.ListEvidence(ctx, "failures", "")
	require.NoError(t, err)
	require.Len(t, all, 1, "all or nothing")
	for _, dry := range []bool{true, false} {
		in["options"] = map[string]any{"dryRun": dry}
		out, err = us.IngestEvidence(ctx, in)
		require.NoError(t, err)
		require.Equal(t, []int64{1, 1}, []int64{out.Accepted, out.Rejected}, "%+v", out)
	}
}

// TestABadTraceparentIsIgnored sends the header that proxies send for calls without a trace.
func TestABadTraceparentIsIgnored(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	e := event("1", "agent-evidence.failures", map[string]any{"failureKey": "f", "failureMode": "loop", "severity": "low"})
	e["traceparent"] = "00-00000000000000000000000000000000-0000000000000000-00"
	out, err := us.IngestEvidence(t.Context(), envelope(e))
	require.NoError(t, err)
	require.EqualValues(t, 1, out.Accepted, "%+v", out)
}

// message is a JSON-RPC message of a session.
func message(id, session string, data any) map[string]any {
	e := event(id, "mcp.message", data)
	e["subject"], e["format"] = session, "mcp.message"
	return e
}

func TestACallAndItsResultAreOneRecord(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	for name, first := range map[string]int{"in order": 0, "the result arrives first": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := []map[string]any{
				message(name+"/request", name, map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": "refund", "arguments": map[string]any{"order": "A-17"}}}),
				message(name+"/result", name, map[string]any{"jsonrpc": "2.0", "id": 7, "result": map[string]any{"content": []any{map[string]any{"type": "text", "text": "done"}}}}),
			}
			var id int64
			for i := range messages {
				out, err := us.IngestEvidence(t.Context(), envelope(messages[(i+first)%2]))
				require.NoError(t, err)
				require.EqualValues(t, 1, out.Accepted, "%+v", out)
				id = out.Results[0].Records[0].ID
			}
			call, err := us.GetEvidence(t.Context(), "tool-invocation-evidence", id)
			require.NoError(t, err)
			require.Equal(t, "succeeded", call["status"])
			require.Equal(t, "refund", call["tool_name"])
			require.Equal(t, map[string]any{"order": "A-17"}, call["arguments"])
			require.NotNil(t, call["result"])
		})
	}
}

func TestAnErrorAnswersACallThatIsKnown(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	refusal := func(id string, to int) map[string]any {
		return message(id, "s", map[string]any{"jsonrpc": "2.0", "id": to, "error": map[string]any{"code": -32603, "message": "not now"}})
	}
	call := message("call", "s", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "refund"}})
	out, err := us.IngestEvidence(t.Context(), envelope(refusal("of the call", 1), call, refusal("of something else", 2)))
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, []int64{out.Accepted, out.Unmapped}, "%+v", out)
	again, err := us.IngestEvidence(t.Context(), envelope(refusal("of something else again", 2)))
	require.NoError(t, err)
	require.EqualValues(t, 1, again.Unmapped)
	calls, _, err := us.ListEvidence(t.Context(), invocations, "")
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Equal(t, "failed", calls[0]["status"])
}
