package agent_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// approved is a connector that a person has looked at.
func approved(t testing.TB, person *testkit.Client, key string) testkit.Evidence {
	t.Helper()
	c, err := person.PostEvidence(t.Context(), "connectors", map[string]any{
		"connectorKey": key, "type": "mcp_server", "endpoint": "https://pay.example/mcp", "tools": []any{map[string]any{"name": "look_up"}, map[string]any{"name": "refund"}},
	})
	require.NoError(t, err)
	tools := []any{map[string]any{"name": "look_up", "side_effect_class": "read"}, map[string]any{"name": "refund", "side_effect_class": "transact", "reversibility": "compensable"}}
	c, err = person.UpdateEvidence(t.Context(), "connectors", c.ID(), map[string]any{"state": "under_review", "trustLevel": "reviewed", "tools": tools})
	require.NoError(t, err)
	_, err = person.UpdateEvidence(t.Context(), "connectors", c.ID(), map[string]any{"state": "approved"})
	require.Equal(t, "connector_not_ready", reason(err))
	c, err = person.UpdateEvidence(t.Context(), "connectors", c.ID(), map[string]any{"state": "approved", "override": map[string]any{"justification": "known for years"}})
	require.NoError(t, err)
	require.Equal(t, "known for years", c["override"].(map[string]any)["justification"])
	return c
}

// classesOf are the classes of a connector's tools.
func classesOf(c testkit.Evidence) map[string]any {
	out := map[string]any{}
	for _, t := range c["tools"].([]any) {
		tool := t.(map[string]any)
		out[tool["name"].(string)] = tool["side_effect_class"]
	}
	return out
}

func TestOnlyPeopleApproveConnectors(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	c, err := us.PostEvidence(t.Context(), "connectors", map[string]any{"connectorKey": "payments", "type": "mcp_server"})
	require.NoError(t, err)
	c, err = us.UpdateEvidence(t.Context(), "connectors", c.ID(), map[string]any{"state": "under_review"})
	require.NoError(t, err)
	for _, decision := range []map[string]any{
		{"state": "approved", "override": map[string]any{"justification": "x"}},
		{"trustLevel": "trusted"},
		{"trust_level": "reviewed"},
		{"tools": []any{map[string]any{"name": "refund", "side_effect_class": "read"}}},
		{"TrustLevel": "trusted"},
		{"Trust_level": "trusted"},
		{"Tools": []any{}},
		{"State": "approved"},
		{"manifestPages": true},
		{"attributes": map[string]any{"manifest_pages": true}},
		{"endpoint": "https://elsewhere.example"},
		{"auth": map[string]any{"type": "none"}},
	} {
		_, err = us.UpdateEvidence(t.Context(), "connectors", c.ID(), decision)
		require.Equal(t, "not_a_person", reason(err), "%v", decision)
	}
	_, err = us.UpdateEvidence(t.Context(), "connectors", c.ID(), map[string]any{"state": "blocked"})
	require.NoError(t, err, "a service may stop a connector")
}

func TestAnApprovedConnectorThatChangesIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	_, person := us.Person(t, principal.Admin)
	they := reporter(t, us)
	ctx := t.Context()
	for name, say := range map[string]map[string]any{
		"tools":    {"tools": []any{map[string]any{"name": "refund", "side_effect_class": "read"}, map[string]any{"name": "wipe", "side_effect_class": "none"}}},
		"endpoint": {"endpoint": "https://elsewhere.example/mcp"},
		"auth":     {"auth": map[string]any{"type": "none"}},
		"type":     {"type": "custom"},
		"manifest": {"manifestDigest": "sha256:0000000000000000000000000000000000000000000000000000000000000000"},
	} {
		c := approved(t, person, name)
		require.Equal(t, map[string]any{"look_up": "read", "refund": "transact"}, classesOf(c))

		same, err := they.PostEvidence(ctx, "connectors", map[string]any{"connectorKey": name, "type": "mcp_server", "tools": []any{map[string]any{"name": "look_up"}, map[string]any{"name": "refund"}}})
		require.NoError(t, err)
		require.Equal(t, "approved", same["state"], "what it said before is not news")
		require.Equal(t, map[string]any{"look_up": "read", "refund": "transact"}, classesOf(same))

		say["connectorKey"] = name
		if say["type"] == nil {
			say["type"] = "mcp_server"
		}
		after, err := they.PostEvidence(ctx, "connectors", say)
		require.NoError(t, err, name)
		require.Equal(t, "under_review", after["state"], name)
		require.Equal(t, "untrusted", after["trust_level"], name)
		if name == "tools" {
			require.Equal(t, map[string]any{"refund": "transact", "wipe": "unknown"}, classesOf(after))
		}
		found, _, err := us.ListEvidence(ctx, "failures", "failureKey=manifest_drift:"+name)
		require.NoError(t, err)
		require.Len(t, found, 1, name)
	}
}

func TestACallHasTheClassOfItsTool(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	_, person := us.Person(t, principal.Admin)
	approved(t, person, "payments")
	for name, want := range map[string]string{"look_up": "read", "refund": "transact", "other": "unknown"} {
		call, err := us.PostEvidence(t.Context(), invocations, map[string]any{"connectorKey": "payments", "invocationId": name, "toolName": name, "status": "requested"})
		require.NoError(t, err)
		require.Equal(t, want, call["side_effect_class"], name)
	}
}

func TestAServerThatListsItsToolsInPages(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	for i, page := range []map[string]any{
		{"tools": []any{map[string]any{"name": "look_up", "inputSchema": map[string]any{}}}, "nextCursor": "2"},
		{"tools": []any{map[string]any{"name": "refund", "inputSchema": map[string]any{}}}},
	} {
		out, err := us.IngestEvidence(t.Context(), envelope(message(strconv.Itoa(i), "s", map[string]any{"jsonrpc": "2.0", "id": i, "result": page})))
		require.NoError(t, err)
		require.EqualValues(t, 1, out.Accepted, "%+v", out)
	}
	list, _, err := us.ListEvidence(t.Context(), "connectors", "")
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Len(t, classesOf(list[0]), 2, "a page adds to the one before")
	drift, _, err := us.ListEvidence(t.Context(), "failures", "failureMode=manifest_drift")
	require.NoError(t, err)
	require.Empty(t, drift)
}
