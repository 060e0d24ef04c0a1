package tenancy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// document is the OpenAPI document, all that a caller needs to compute digests.
type document map[string]any

func openDocument(t testing.TB, k *testkit.Kit) (d document) {
	t.Helper()
	require.NoError(t, json.Unmarshal(k.App.Edge.OpenAPI(), &d))
	return d
}

// follow is the schema behind references and behind "or null".
func (d document) follow(schema map[string]any) map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		target := any(map[string]any(d))
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			target = target.(map[string]any)[part]
		}
		return d.follow(target.(map[string]any))
	}
	if choices, ok := schema["oneOf"].([]any); ok && schema["discriminator"] == nil {
		return d.follow(choices[0].(map[string]any))
	}
	return schema
}

// shown is the schema of what an operation returns.
func (d document) shown(path string) map[string]any {
	at := any(map[string]any(d))
	for _, part := range []string{"paths", path, "get", "responses", "200", "content", "application/json", "schema"} {
		at = at.(map[string]any)[part]
	}
	return d.follow(at.(map[string]any))
}

// strip removes what the document marks as volatile.
func (d document) strip(schema map[string]any, v any) {
	schema = d.follow(schema)
	switch v := v.(type) {
	case map[string]any:
		if by, ok := schema["discriminator"].(map[string]any); ok {
			named := by["mapping"].(map[string]any)[v[by["propertyName"].(string)].(string)]
			schema = d.follow(map[string]any{"$ref": named})
		}
		properties, _ := schema["properties"].(map[string]any)
		rest, _ := schema["additionalProperties"].(map[string]any)
		for name := range v {
			property, ok := properties[name].(map[string]any)
			if !ok {
				property = rest
			}
			if property["x-volatile"] == true {
				delete(v, name)
			} else {
				d.strip(property, v[name])
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, e := range v {
			d.strip(items, e)
		}
	}
}

// digest is the digest of a response.
func (d document) digest(t testing.TB, schema map[string]any, body any) string {
	t.Helper()
	d.strip(schema, body)
	text, err := json.Marshal(body)
	require.NoError(t, err)
	canonical := jsontext.Value(text)
	require.NoError(t, canonical.Canonicalize())
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// shownAt is where a type of resource is read: at the path of the noun of the
// same name.
func shownAt(resource string) (string, bool) {
	switch resource {
	case "organization":
		return "/api/organizations/current", true
	case "feedback":
		return "/api/traces/{id}", true
	case "judge_config":
		return "/api/llm-judge/configs/{id}", true
	case "decision":
		return "/api/evaluations/{id}/runs/{runId}/decisions", true
	case "annotation_item":
		return "/api/annotations/tasks/{id}/items", true
	case "evidence_failure", "evidence_connector", "evidence_runtime", "evidence_policy_decision", "evidence_approval":
		return "/api/agent-evidence/{resource}/{id}", true
	}
	for _, n := range specimen.Nouns() {
		if strings.ReplaceAll(n.Name, " ", "_") == resource && len(n.Paths) > 0 {
			return n.Paths[0], true
		}
	}
	return "", false
}

// read computes the digest of a resource from what GET returns now.
func (d document) read(t testing.TB, m *specimen.Maker, resource, id string) string {
	t.Helper()
	template, ok := shownAt(resource)
	require.True(t, ok, "no operation shows a %s", resource)
	path := strings.NewReplacer("{userId}", id, "{runId}", id, "{id}", id)
	switch resource {
	case "run":
		path = strings.NewReplacer("{runId}", id, "{id}", m.ID(t, "evaluation"))
	case "evidence_failure", "evidence_connector", "evidence_runtime", "evidence_policy_decision", "evidence_approval":
		kind := strings.ReplaceAll(strings.TrimPrefix(resource, "evidence_"), "_", "-") + "s"
		path = strings.NewReplacer("{resource}", kind, "{id}", id)
	case "judge_backfill":
		path = strings.NewReplacer("{backfillId}", id, "{id}", m.ID(t, "judge rule"))
	case "feedback":
		path = strings.NewReplacer("{id}", m.ID(t, "trace"))
	case "annotation_item":
		var task string
		task, id, _ = strings.Cut(id, "/")
		path = strings.NewReplacer("{id}", task)
	case "decision":
		path = strings.NewReplacer("{runId}", m.ID(t, "run"), "{id}", m.ID(t, "evaluation"))
	}
	var body map[string]any
	_, err := m.Client.Call(t.Context(), http.MethodGet, path.Replace(template), nil, &body)
	require.NoError(t, err)
	schema := d.shown(template)
	list, listed := map[string]string{"feedback": "feedback", "decision": "decisions", "annotation_item": "items"}[resource]
	if !listed {
		return d.digest(t, schema, body)
	}
	schema = schema["properties"].(map[string]any)[list].(map[string]any)["items"].(map[string]any)
	for _, f := range body[list].([]any) {
		if fmt.Sprint(f.(map[string]any)["id"]) == id {
			return d.digest(t, schema, f)
		}
	}
	require.Fail(t, "no list shows the "+resource)
	return ""
}

// digestRow is the part of an entry that chains.
type digestRow struct {
	Action, Resource, ID, Request string
	Before, After                 []byte
	Format                        int
}

func digestRows(t testing.TB, c *pgx.Conn, org principal.OrgID) []digestRow {
	t.Helper()
	rows, err := c.Query(t.Context(), `
		SELECT action, resource_type, resource_id, request_id, before_digest, after_digest, digest_format
		FROM audit_logs WHERE org_id = $1 ORDER BY id`, org)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[digestRow])
	require.NoError(t, err)
	return out
}

// breaks are the entries whose state before is not the state after the entry
// before it. A trace arrives without entries, and items of annotation tasks with one
// entry of their task.
func breaks(entries []digestRow) (out []string) {
	last := map[string]string{}
	for _, e := range entries {
		key := e.Resource + " " + e.ID
		before, known := last[key]
		arrived := e.Resource == "trace" || e.Resource == "annotation_item" && !known
		if !arrived && (before != hex.EncodeToString(e.Before) || known && before == "") {
			out = append(out, e.Action+" "+e.ID)
		}
		last[key] = hex.EncodeToString(e.After)
	}
	return out
}

// TestDigestsAreOfWhatGetShows calls every write, computes the digest of the
// resource from a response and the document alone, and follows the entries of
// each resource from one to the next.
func TestDigestsAreOfWhatGetShows(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it sees the rows of all organizations")
	k.Clock.Step(time.Millisecond) // the precision of what GET shows
	asOwner(t, k)
	doc := openDocument(t, k)
	for _, op := range k.App.Edge.Ops() {
		o := specimen.Find(op.ID)
		if op.Method == http.MethodGet || o.Telemetry {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			us := k.Org(t)
			conn := connect(t, k.App.Config.Postgres.OwnerURL)
			m := specimen.NewMaker(us, conn, "digested")
			if prepare := prepared[op.ID]; prepare != nil {
				prepare(t, m)
			}
			call := m.Call(t, o)
			var deleted string
			if op.ID == "deleteTrace" {
				deleted = doc.read(t, m, "trace", m.ID(t, "trace"))
			}
			id := uuid.NewString()
			opts := []testkit.Option{testkit.Header("X-Request-Id", id)}
			if o.Person {
				opts = append(opts, testkit.OnBehalfOf(us.Owner.String()))
			}
			_, err := m.Caller(t, o).Call(t.Context(), op.Method, call.Path+call.Query, content(call.Body), nil, opts...)
			require.NoError(t, err)

			entries := digestRows(t, conn, us.Org)
			require.Empty(t, breaks(entries))
			done := 0
			for _, e := range entries {
				require.Equal(t, 2, e.Format)
				if e.Request != id {
					continue
				}
				done++
				if e.After != nil {
					require.Equal(t, doc.read(t, m, e.Resource, e.ID), hex.EncodeToString(e.After), "%s %s", e.Action, e.ID)
				}
				if e.Resource == "trace" {
					require.Equal(t, deleted, hex.EncodeToString(e.Before))
				}
			}
			require.Positive(t, done)
		})
	}
}

func TestWhatChangesByItselfBreaksNoChain(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it sees the rows of all organizations")
	k.Clock.Step(time.Millisecond)
	asOwner(t, k)
	doc := openDocument(t, k)
	ctx := t.Context()
	us := k.Org(t)
	conn := connect(t, k.App.Config.Postgres.OwnerURL)
	m := specimen.NewMaker(us, conn, "volatile")

	// A member comes in, with a key that is used, and is then renamed.
	person, theirs := us.Person(t, principal.Admin)
	_, err := theirs.Call(ctx, http.MethodGet, "/api/me", nil, nil)
	require.NoError(t, err)
	_, err = theirs.Call(ctx, http.MethodPost, "/api/datasets", map[string]any{"name": "theirs"}, nil)
	require.NoError(t, err)
	var made struct {
		ID string `json:"id"`
	}
	_, err = theirs.Call(ctx, http.MethodPost, "/api/evaluations", map[string]any{"name": "theirs", "datasetId": "later", "metrics": []string{"exact_match"}}, &made)
	require.NoError(t, err)
	members := "/api/organizations/current/members/" + person.ID
	_, err = us.Call(ctx, http.MethodPatch, members, map[string]any{"name": "Ada"}, nil)
	require.NoError(t, err)
	// An evaluation is run before it changes again, and a run ends.
	_, err = us.Call(ctx, http.MethodPost, "/api/evaluations/"+made.ID+"/runs", map[string]any{}, nil)
	require.NoError(t, err)
	_, err = us.Call(ctx, http.MethodPatch, "/api/evaluations/"+made.ID, map[string]any{"archived": true}, nil)
	require.NoError(t, err)
	m.Put("evaluation", made.ID)
	// Items, versions and the dataset itself take turns.
	item := "/api/datasets/" + m.ID(t, "dataset") + "/items/" + m.ID(t, "item")
	_, err = us.Call(ctx, http.MethodPost, "/api/datasets/"+m.ID(t, "dataset")+"/versions", map[string]any{}, nil)
	require.NoError(t, err)
	_, err = us.Call(ctx, http.MethodPatch, item, map[string]any{"input": "Other"}, nil)
	require.NoError(t, err)
	_, err = us.Call(ctx, http.MethodPatch, "/api/datasets/"+m.ID(t, "dataset"), map[string]any{"metadata": map[string]any{"n": 1.50}}, nil)
	require.NoError(t, err)
	_, err = us.Call(ctx, http.MethodDelete, item, nil, nil)
	require.NoError(t, err)

	entries := digestRows(t, conn, us.Org)
	require.Empty(t, breaks(entries))
	last := map[string]digestRow{}
	for _, e := range entries {
		last[e.Resource+" "+e.ID] = e
	}
	for _, e := range last {
		require.Equal(t, doc.read(t, m, e.Resource, e.ID), hex.EncodeToString(e.After), "%s %s", e.Action, e.ID)
	}

	// The member goes, and then the organization with every key.
	_, err = us.Call(ctx, http.MethodDelete, members, nil, nil)
	require.NoError(t, err)
	_, err = us.Call(ctx, http.MethodDelete, "/api/organizations/current?confirm="+us.Org.String(), nil, nil)
	require.NoError(t, err)
	require.Empty(t, breaks(digestRows(t, conn, us.Org)))
}

func TestADigestOfAnythingElseIsFound(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it sees the rows of all organizations")
	conn := asOwner(t, k)
	us := k.Org(t)
	m := specimen.NewMaker(us, conn, "seeded")
	id := m.ID(t, "dataset")
	_, err := us.Call(t.Context(), http.MethodPatch, "/api/datasets/"+id, map[string]any{"name": "renamed"}, nil)
	require.NoError(t, err)
	entries := digestRows(t, conn, us.Org)
	require.Empty(t, breaks(entries))

	// A digest of the Go value, in canonical JSON as well: it is neither what GET
	// shows nor the state before the next entry.
	number, err := strconv.ParseInt(id, 10, 64)
	require.NoError(t, err)
	d, err := k.App.Dataset.Find(t.Context(), us.Org, number)
	require.NoError(t, err)
	text, err := json.Marshal(d)
	require.NoError(t, err)
	value := jsontext.Value(text)
	require.NoError(t, value.Canonicalize())
	seeded := sha256.Sum256(value)
	require.NotEqual(t, openDocument(t, k).read(t, m, "dataset", id), hex.EncodeToString(seeded[:]))
	created := slices.IndexFunc(entries, func(e digestRow) bool { return e.Action == "dataset.created" })
	entries[created].After = seeded[:]
	require.Equal(t, []string{"dataset.updated " + id}, breaks(entries))

	// A field that changes by itself and is not marked.
	var before, after map[string]any
	key := "/api/developer/api-keys/" + m.ID(t, "api key")
	_, err = us.Call(t.Context(), http.MethodGet, key, nil, &before)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "UPDATE api_keys SET last_used_at = now() WHERE org_id = $1", us.Org)
	require.NoError(t, err)
	_, err = us.Call(t.Context(), http.MethodGet, key, nil, &after)
	require.NoError(t, err)
	unmarked, schema := document{}, openDocument(t, k).shown("/api/developer/api-keys/{id}")
	require.NotEqual(t, unmarked.digest(t, map[string]any{}, before), unmarked.digest(t, map[string]any{}, after))
	doc := openDocument(t, k)
	require.Equal(t, doc.digest(t, schema, before), doc.digest(t, schema, after))
}
