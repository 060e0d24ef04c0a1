package agent_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestU0000HidesNothing sends the one character that PostgreSQL cannot read out of JSON: a
// record with it would make every list and sum that reads the record fail.
func TestU0000HidesNothing(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	_, err := us.PostEvidence(ctx, "failures", map[string]any{"failureMode": "other", "severity": "low", "note": "a\x00"})
	require.Equal(t, "invalid_request", reason(err))
	_, err = us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k", map[string]any{"attributes": map[string]any{"\x00": 1}}))
	require.Equal(t, "invalid_request", reason(err))
	_, err = us.Evaluate(ctx, map[string]any{"runtimeKey": "agent", "toolInvocation": map[string]any{"connectorKey": "c", "toolName": "t", "arguments": map[string]any{"x": "\x00"}}})
	require.Equal(t, "invalid_request", reason(err))

	// What other programs say is kept as far as it can be.
	call, err := us.PostEvidence(ctx, invocations, map[string]any{"runtimeKey": "agent", "invocationId": "c", "toolName": "t", "status": "failed", "result": map[string]any{"text": "no\x00seats"}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"text": "no\x00seats"}, call["result"])
	out, err := us.IngestEvidence(ctx, envelope(message("tools", "s", map[string]any{"jsonrpc": "2.0", "id": 7, "result": map[string]any{"tools": []any{map[string]any{"name": "t", "description": "\x00", "inputSchema": map[string]any{}}}}})))
	require.NoError(t, err)
	require.EqualValues(t, 1, out.Accepted, "%+v", out)

	found, _, err := us.ListEvidence(ctx, "failures", "")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "no seats", found[0]["description"])
	_, err = us.Call(ctx, http.MethodGet, "/api/agent-evidence", nil, nil)
	require.NoError(t, err)
}

// TestNamesThatBecomeTheSameStayTwo has names removed that are different and become one mark.
func TestNamesThatBecomeTheSameStayTwo(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	const one, other = "4111111111111111", "5500005555555559"
	call, err := us.PostEvidence(t.Context(), invocations, map[string]any{"runtimeKey": "agent", "invocationId": "c", "toolName": "t", "status": "succeeded", "result": map[string]any{one: 1, other: 2}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"[redacted:card_number]": 1.0, "[redacted:card_number]#2": 2.0}, call["result"])
	_, _, err = us.ListEvidence(t.Context(), invocations, "")
	require.NoError(t, err)
	_, err = us.PostEvidence(t.Context(), "failures", map[string]any{"failureMode": "other", "severity": "low", "cards": map[string]any{one: 1, other: 2}})
	require.NoError(t, err)
	_, err = us.Evaluate(t.Context(), map[string]any{"runtimeKey": "agent", "toolInvocation": map[string]any{"connectorKey": "c", "toolName": "t", "arguments": map[string]any{one: 1, other: 2}}})
	require.NoError(t, err)
}

// TestACallIsChangedOncePerKey repeats changes of a record of the stream under one
// Idempotency-Key.
func TestACallIsChangedOncePerKey(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	var first, again testkit.Evidence
	body := map[string]any{"runtimeKey": "agent", "invocationId": "c", "toolName": "t", "status": "requested"}
	const path = "/api/agent-evidence/" + invocations
	_, err := us.Call(ctx, http.MethodPost, path, body, &first, testkit.Idempotent("post"))
	require.NoError(t, err)
	res, err := us.Call(ctx, http.MethodPost, path, body, &again, testkit.Idempotent("post"))
	require.NoError(t, err)
	require.Equal(t, "true", res.Header.Get("Idempotent-Replayed"))
	require.Equal(t, first, again)
	body["status"] = "dispatched"
	_, err = us.Call(ctx, http.MethodPost, path, body, nil, testkit.Idempotent("post"))
	require.Equal(t, "idempotency_key_reused", reason(err))

	change := map[string]any{"status": "succeeded"}
	match := testkit.Header("If-Match", `"v1"`)
	_, err = us.Call(ctx, http.MethodPatch, path+"/"+id(first), change, &first, match, testkit.Idempotent("patch"))
	require.NoError(t, err)
	_, err = us.Call(ctx, http.MethodPatch, path+"/"+id(first), change, &again, match, testkit.Idempotent("patch"))
	require.NoError(t, err, "the answer to the first may have been lost")
	require.Equal(t, first, again)
	_, err = us.Call(ctx, http.MethodPatch, path+"/"+id(first), change, nil, match)
	require.Equal(t, "version_conflict", reason(err))
}

func id(e testkit.Evidence) string { return strconv.FormatInt(e.ID(), 10) }
