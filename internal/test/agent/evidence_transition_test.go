package agent_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// reporter is a client that may send telemetry, and nothing else.
func reporter(t testing.TB, us *testkit.Client) *testkit.Client {
	t.Helper()
	key, err := us.CreateKey(t.Context(), testkit.NewKey{Name: "reporter", Scopes: []string{"traces:write", "traces:read"}, Mode: new("test")})
	require.NoError(t, err)
	return us.With(key.Key)
}

// minimal is a body that a kind accepts.
func minimal(k *kind.Kind, name string) map[string]any {
	digest := "sha256:" + strings.Repeat("ab", 32)
	return map[kind.Name]map[string]any{
		"raw-events":               {"eventId": name, "source": "s"},
		"primitive-step-runs":      {"primitiveType": "model_call", "status": "running", "startedAt": "2026-01-31T12:00:00Z"},
		"tool-invocation-evidence": {"invocationId": name, "toolName": "t", "status": "requested"},
		"eval-explanations":        {"subject": map[string]any{"type": "trace", "id": 1}, "evaluationName": "n", "explanation": "e"},
		"runtimes":                 {"runtimeKey": name},
		"connectors":               {"connectorKey": name, "type": "mcp_server"},
		"failures":                 {"failureKey": name, "failureMode": "loop", "severity": "low"},
		"benchmarks":               {"benchmarkKey": name, "metrics": map[string]any{"m": 1}},
		"policy-decisions":         {"decision": "deny", "engine": "opa", "inputDigest": digest},
		"approvals":                {"title": "t", "reason": "r", "inputDigest": digest},
		"side-effect-ledger":       {"operation": "o", "sideEffectClass": "read", "target": map[string]any{"system": "s", "type": "t", "id": "i"}},
	}[k.Name]
}

// TestEveryMove tries every move of every kind that callers can change, those that the
// table has and those that it does not have.
func TestEveryMove(t *testing.T) {
	t.Parallel()
	_, us := testkit.Shared(t).Org(t).Person(t, principal.Admin) // people decide about connectors
	for i := range kind.Kinds {
		k := &kind.Kinds[i]
		if k.Changes == kind.Nobody || !k.Postable() || k.Name == "approvals" {
			continue
		}
		t.Run(string(k.Name), func(t *testing.T) {
			t.Parallel()
			for _, from := range k.States() {
				way := path(k, from)
				require.NotNil(t, way, "%s cannot be reached", from)
				for _, to := range k.States() {
					if from == to {
						continue
					}
					r, err := us.PostEvidence(t.Context(), string(k.Name), minimal(k, from+"-"+to))
					require.NoError(t, err)
					for _, state := range way {
						r, err = us.UpdateEvidence(t.Context(), string(k.Name), r.ID(), step(k, state))
						require.NoError(t, err, "%s on the way to %s", state, from)
					}
					require.Equal(t, from, r[k.Lifecycle])
					after, err := us.UpdateEvidence(t.Context(), string(k.Name), r.ID(), step(k, to))
					if k.Moves.Has(from, to) {
						require.NoError(t, err, "%s to %s", from, to)
						require.Equal(t, to, after[k.Lifecycle])
						continue
					}
					require.Equal(t, "invalid_transition", reason(err), "%s to %s", from, to)
				}
			}
		})
	}
}

func step(k *kind.Kind, state string) map[string]any {
	body := map[string]any{k.Lifecycle: state}
	switch k.Name {
	case "connectors":
		body["override"] = map[string]any{"justification": "a test"}
	case "side-effect-ledger":
		body["verification"] = map[string]any{"method": "human", "result": cmp.Or(map[string]string{"not_applied": "absent", "compensated": "absent", "conflicting": "different"}[state], "confirmed")}
	}
	return body
}

// path is how a state is reached from the first.
func path(k *kind.Kind, to string) []string {
	first := k.Initial
	if body := minimal(k, ""); body[k.Lifecycle] != nil {
		first = body[k.Lifecycle].(string)
	}
	ways := map[string][]string{first: {}}
	for queue := []string{first}; len(queue) > 0; queue = queue[1:] {
		for _, next := range k.Moves[queue[0]] {
			if _, seen := ways[next]; !seen {
				ways[next] = append(slices.Clone(ways[queue[0]]), next)
				queue = append(queue, next)
			}
		}
	}
	return ways[to]
}

// TestReportsGrantNothing tries to allow, approve, trust and lift a suspension with a key
// that may only send telemetry: over every kind, every state, every write and every way
// to write the name of a kind.
func TestReportsGrantNothing(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	they := reporter(t, us)
	ctx := t.Context()
	authority := map[kind.Name][]string{
		"approvals": {"approved", "consumed", "rejected", "revoked"}, "connectors": {"approved", "under_review", "blocked", "retired"}, "runtimes": {"suspended", "retired"},
		"quality-cases": {"accepted", "promoted"}, "connector-readiness-reports": {"passed"}, "audit-packs": {"sealed"}, "side-effect-ledger": {"verified", "compensated"},
	}
	tried := 0
	for i := range kind.Kinds {
		k := &kind.Kinds[i]
		for _, spelling := range spellings(k) {
			for _, to := range authority[k.Name] {
				body := minimal(k, "grant "+spelling+to)
				if body == nil {
					body = map[string]any{}
				}
				for _, field := range []string{"state", "status", "decision", "trustLevel", "trust_level", "origin", "votes", "allowed", "uses"} {
					body[field] = to
				}
				body["trustLevel"], body["trust_level"] = "trusted", "trusted"
				tried++
				made, err := they.PostEvidence(ctx, spelling, body)
				if err != nil {
					continue
				}
				require.NotContains(t, authority[k.Name], made["state"], "%s %s", spelling, to)
				require.NotEqual(t, "trusted", made["trust_level"])
				require.Equal(t, "reported", made["origin"])
				_, err = they.UpdateEvidence(ctx, spelling, made.ID(), map[string]any{"state": to, "status": to, "decision": to})
				if k.Changes != kind.Reporter {
					require.Error(t, err, "%s %s", spelling, to)
				}
				got, err := us.GetEvidence(ctx, string(k.Name), made.ID())
				require.NoError(t, err)
				require.NotContains(t, authority[k.Name], got["state"])
			}
		}
	}
	require.Greater(t, tried, 50)

	// A suspension outlives whatever the runtime says about itself.
	r, err := us.PostEvidence(ctx, "runtimes", map[string]any{"runtimeKey": "stopped"})
	require.NoError(t, err)
	_, err = us.UpdateEvidence(ctx, "runtimes", r.ID(), map[string]any{"state": "suspended"})
	require.NoError(t, err)
	for i, say := range []map[string]any{{"runtimeKey": "stopped", "state": "active"}, {"runtime_key": "stopped", "status": "active", "name": "back"}} {
		_, err = they.PostEvidence(ctx, "runtime", say)
		require.NoError(t, err)
		out, err := they.IngestEvidence(ctx, envelope(event(strconv.Itoa(i), "agent-evidence.runtimes", say)))
		require.NoError(t, err)
		require.EqualValues(t, 1, out.Accepted)
	}
	got, err := us.GetEvidence(ctx, "runtimes", r.ID())
	require.NoError(t, err)
	require.Equal(t, "suspended", got["state"])
	_, err = they.UpdateEvidence(ctx, "runtimes", r.ID(), map[string]any{"state": "active"})
	require.Error(t, err)
}

// spellings are ways to write the name of a kind.
func spellings(k *kind.Kind) []string {
	name := string(k.Name)
	out := []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "-", "_"), strings.TrimSuffix(name, "s")}
	return append(out, k.Aliases...)
}
