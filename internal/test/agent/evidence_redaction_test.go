package agent_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestRedactionsNameTheFieldAndTheRule(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	_, err := us.UpdateOrganization(ctx, map[string]any{"redactionRules": []any{map[string]any{"name": "clients", "pattern": "client-[0-9]+"}}})
	require.NoError(t, err)
	call, err := us.PostEvidence(ctx, invocations, map[string]any{
		"runtimeKey": "agent", "invocationId": "1", "toolName": "t", "status": "dispatched",
		"arguments": map[string]any{"for": "client-1", "key": "AKIAIOSFODNN7EXAMPLE", "note": "[redacted:other]"},
	})
	require.NoError(t, err)
	in := []any{map[string]any{"path": "/arguments", "rule": "aws_access_key"}, map[string]any{"path": "/arguments", "rule": "clients"}}
	require.Equal(t, in, call["redactions"], "what the sender had redacted is not a rule of ours")
	call, err = us.UpdateEvidence(ctx, invocations, call.ID(), map[string]any{"status": "succeeded", "result": "[redacted:clients] paid client-2"})
	require.NoError(t, err)
	require.Equal(t, append(in, map[string]any{"path": "/result", "rule": "clients"}), call["redactions"])
}

func TestAStrictEnvelopeLeavesDigests(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	send := func(source, redaction string) testkit.Ingested {
		t.Helper()
		id := testkit.NewTraceID()
		in := envelope(
			message("request", "s", map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": "refund", "arguments": map[string]any{"order": "topsecret"}}}),
			message("result", "s", map[string]any{"jsonrpc": "2.0", "id": 7, "result": map[string]any{"content": []any{map[string]any{"type": "text", "text": "topsecret"}}}}),
			event("span", "otel.span", map[string]any{
				"trace_id": id, "span_id": testkit.NewSpanID(), "name": "chat", "start_time": "2026-11-02T10:00:00Z", "end_time": "2026-11-02T10:00:01Z",
				"attributes": map[string]any{"gen_ai.operation.name": "chat", "gen_ai.input.messages": "topsecret", "gen_ai.output.messages": "topsecret", "custom": "topsecret"},
			}),
			event("decision", "opa.decision", map[string]any{"decision_id": "d-" + source, "result": true, "input": map[string]any{"who": "topsecret"}}),
			event("odd", "com.example.weather", map[string]any{"rain": "topsecret"}),
		)
		for _, e := range in["events"].([]map[string]any) {
			e["source"] = source
		}
		in["options"] = map[string]any{"redaction": redaction}
		out, err := us.IngestEvidence(ctx, in)
		require.NoError(t, err)
		require.Equal(t, []int64{4, 1}, []int64{out.Accepted, out.Unmapped}, "%+v", out)
		return out
	}
	read := func(out testkit.Ingested) (all []testkit.Evidence) {
		t.Helper()
		for _, r := range out.Results {
			e, err := us.GetEvidence(ctx, "raw-events", *r.RawEventID)
			require.NoError(t, err)
			all = append(all, e)
			for _, ref := range r.Records {
				e, err := us.GetEvidence(ctx, ref.Resource, ref.ID)
				require.NoError(t, err)
				all = append(all, e)
			}
		}
		return all
	}
	open, strict := read(send("open", "default")), read(send("strict", "strict"))
	require.Len(t, strict, len(open))
	digests := 0
	for i, e := range strict {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.NotContains(t, string(text), "topsecret")
		for _, name := range []string{"arguments", "result", "input", "output", "payload"} {
			require.Nil(t, e[name])
			if open[i][name] == nil {
				continue
			}
			digests++
			require.NotEmpty(t, e[name+"_digest"])
			if name != "payload" { // ids of the two differ
				require.Equal(t, open[i][name+"_digest"], e[name+"_digest"], "%s of %v", name, e["resource"])
			}
			require.Contains(t, e["redactions"], map[string]any{"path": "/" + name, "rule": "strict"})
		}
	}
	require.GreaterOrEqual(t, digests, 10)
}

func TestAnEventOfWhichAPartIsLeftOut(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	call := func(id int, params map[string]any) map[string]any {
		return map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
	}
	named := map[string]any{"name": "refund"}
	out, err := us.IngestEvidence(ctx, envelope(
		message("all", "s", []any{call(1, named), call(2, named)}),
		message("some", "s", []any{call(3, named), call(4, nil), call(5, named)}),
		message("none", "s", []any{call(6, nil)}),
	))
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, []int64{out.Accepted, out.Rejected}, "%+v", out)
	require.Len(t, out.Results[1].Records, 2)
	const left = "1 of the list are left out: params/name is required, a string"
	require.Equal(t, []string{left}, out.Results[1].Warnings)
	found, _, err := us.ListEvidence(ctx, "raw-events", "status=partially_normalized")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "some", found[0]["event_id"])
	raw, err := us.GetEvidence(ctx, "raw-events", found[0].ID())
	require.NoError(t, err)
	require.Equal(t, []any{map[string]any{"code": "left_out", "message": left}}, raw["errors"])
	calls, _, err := us.ListEvidence(ctx, invocations, "")
	require.NoError(t, err)
	require.Len(t, calls, 4)
}
