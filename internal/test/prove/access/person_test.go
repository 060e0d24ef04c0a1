package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// act is something that only people do, although others may call its operation.
type act struct {
	name, method, path, body string
	// op is the operation of the route table whose contents decide; empty if what there is does.
	op string
}

// acts are what people do with the objects of the home organization.
func (w *world) acts(t testing.TB) []act {
	t.Helper()
	ctx, owner := t.Context(), w.home.InPerson(t)
	connector, err := owner.PostEvidence(ctx, "connectors", map[string]any{"connectorKey": "stopped", "type": "mcp_server"})
	require.NoError(t, err)
	for _, state := range []string{"under_review", "blocked"} {
		_, err = owner.UpdateEvidence(ctx, "connectors", connector.ID(), map[string]any{"state": state})
		require.NoError(t, err)
	}
	runtime, err := owner.PostEvidence(ctx, "runtimes", map[string]any{"runtimeKey": "stopped"})
	require.NoError(t, err)
	_, err = owner.UpdateEvidence(ctx, "runtimes", runtime.ID(), map[string]any{"state": "suspended"})
	require.NoError(t, err)
	active, err := owner.CreatePolicy(ctx, map[string]any{"policyKey": "enforced", "state": "active", "source": "permit (principal, action, resource);"})
	require.NoError(t, err)
	draft, err := owner.CreatePolicy(ctx, map[string]any{"policyKey": "drafted", "source": "permit (principal, action, resource);"})
	require.NoError(t, err)

	approvals, connectors := "/api/agent-evidence/approvals/"+middle(w.own["approval"]), "/api/agent-evidence/connectors/"+strconv.FormatInt(connector.ID(), 10)
	items := "/api/annotations/tasks/" + middle(w.own["annotation task"]) + "/items"
	item := w.ours.ID(t, "annotation item")
	return []act{
		{"approve", "PATCH", approvals, `{"decision":"approved"}`, "updateApproval"},
		{"reject", "PATCH", approvals, `{"decision":"rejected","comment":"no"}`, "updateApproval"},
		{"approve a connector", "PATCH", connectors, `{"state":"approved","override":{"justification":"known"}}`, "updateConnector"},
		{"believe a connector", "PATCH", connectors, `{"trustLevel":"trusted"}`, "updateConnector"},
		{"answer an item", "POST", items, `{"itemId":` + item + `,"annotation":{"rating":4}}`, "addAnnotationItems"},
		{"skip an item", "PUT", items, `{"itemId":` + item + `,"status":"skipped","reason":"unclear"}`, "updateAnnotationItem"},
		{"let a blocked connector go on", "PATCH", connectors, `{"state":"under_review"}`, ""},
		{"let a suspended runtime go on", "PATCH", "/api/agent-evidence/runtimes/" + strconv.FormatInt(runtime.ID(), 10), `{"state":"active"}`, ""},
		{"make an enforced policy", "POST", "/api/policies", `{"policyKey":"all","state":"active","source":"permit (principal, action, resource);"}`, ""},
		{"activate a policy", "PATCH", "/api/policies/" + draft.ID, `{"state":"active"}`, ""},
		{"change an enforced policy", "PATCH", "/api/policies/" + active.ID, `{"source":"permit (principal, action, resource) when { true };"}`, ""},
		{"put an enforced policy into shadow", "PATCH", "/api/policies/" + active.ID, `{"mode":"shadow"}`, ""},
		{"retire an enforced policy", "PATCH", "/api/policies/" + active.ID, `{"state":"retired"}`, ""},
		{"relax the separation of duties", "PATCH", "/api/organizations/current", `{"separationOfDuties":"off"}`, ""},
	}
}

// TestActsOfPeople tries everything that only people do with keys that came to be in every way.
func TestActsOfPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	acts, rules := w.acts(t), readRules(t)
	for _, op := range w.kit.App.Edge.Ops() {
		covered := rules[op.Method+" "+op.Path].self || slices.ContainsFunc(acts, func(a act) bool { return a.op == op.ID })
		require.True(t, !op.Person || covered, "%s needs a person: say so in operations.tsv, or add what of it does to the acts", op.ID)
	}
	for name, r := range rules {
		if r.self {
			o := specimen.OfRoute(name)
			c := w.ours.Call(t, o)
			acts = append(acts, act{name, c.Method, c.Path + c.Query, c.Body, ""})
		}
	}
	everything := facts{scopes: allScopes}
	callers := append(w.madeKeys(t),
		caller{name: "service key", headers: []header{bearer(w.home.Key.Reveal())}, facts: everything},
		caller{name: "service key on behalf of an owner", headers: []header{bearer(w.home.Key.Reveal()), {"X-On-Behalf-Of", w.home.Owner.String()}}, facts: everything},
		caller{name: "person on behalf of another", headers: []header{bearer(w.home.InPerson(t).Key.Reveal()), {"X-On-Behalf-Of", middle(w.own["member"])}}, facts: everything},
	)
	for _, a := range acts {
		for _, c := range callers {
			if c.facts.person || c.facts.role != "" && c.facts.role != "admin" && c.facts.role != "owner" {
				continue
			}
			got := send(t.Context(), t, w.kit.App.Edge, call{method: a.method, target: a.path, body: a.body, headers: c.headers})
			require.Equal(t, "403 not_a_person", fmt.Sprint(got.status, " ", got.reason()), "%s by %s", a.name, c.name)
		}
	}
	// Some are done in the end, in their order, so that all were refused for that reason alone.
	_, person := w.entered(t, "acting", "owner")
	for _, a := range acts {
		if a.op == "" && strings.HasPrefix(a.path, "/api/") {
			got := send(t.Context(), t, w.kit.App.Edge, call{method: a.method, target: a.path, body: a.body, headers: []header{bearer(person.Key.Reveal())}})
			require.NotEqual(t, "not_a_person", got.reason(), "%s by a person: %d", a.name, got.status)
			require.NotEqual(t, http.StatusUnauthorized, got.status, "%s by a person", a.name)
		}
	}
}
