package tenancy_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/testkit"
)

// write is one call of a mutating operation.
type write struct {
	path string
	body any
	// action and resource are what its audit entry says.
	action, resource string
	// refusal is a call of the same operation that is refused.
	refusalPath string
	refusalBody any
	// person makes the call on behalf of the owner.
	person bool
	// first does what no client can, with the owner of the tables.
	first func(t *testing.T, conn *pgx.Conn)
}

// keeping is a kit that can keep provider keys and call private destinations
// that are allowed.
func keeping(t testing.TB, allow ...string) *testkit.Kit {
	t.Helper()
	cfg := testkit.Config(t)
	master, err := secret.NewMasterKey()
	require.NoError(t, err)
	cfg.Secret.MasterKey = master
	cfg.Egress.Allow = allow
	return testkit.NewWith(t, cfg)
}

// writes makes, for every mutating operation, what it needs and the call. An
// operation that is not here fails TestEveryWriteIsAudited.
var writes = map[string]func(t *testing.T, us *testkit.Client) write{
	"createApiKey": func(*testing.T, *testkit.Client) write {
		return write{
			path: "/api/developer/api-keys", body: testkit.NewKey{Name: "audited", Scopes: reading}, action: "api_key.created", resource: "api_key",
			refusalPath: "/api/developer/api-keys", refusalBody: testkit.NewKey{Name: "everything", Scopes: reading},
		}
	},
	"createMyApiKey": func(*testing.T, *testkit.Client) write {
		return write{
			path: "/api/me/api-keys", body: testkit.NewKey{Name: "mine", Scopes: reading}, action: "api_key.created", resource: "api_key", person: true,
			refusalPath: "/api/me/api-keys", refusalBody: testkit.NewKey{Name: "nobody's", Scopes: reading},
		}
	},
	"updateApiKey": func(t *testing.T, us *testkit.Client) write {
		return write{
			path: "/api/developer/api-keys/" + someKey(t, us), body: map[string]any{"name": "renamed"}, action: "api_key.updated", resource: "api_key",
			refusalPath: "/api/developer/api-keys/" + someKey(t, us), refusalBody: map[string]any{"name": "everything"},
		}
	},
	"deleteMyApiKey": func(t *testing.T, us *testkit.Client) write {
		k, err := us.CreateMyKey(t.Context(), testkit.NewKey{Name: "mine to end", Scopes: reading}, testkit.OnBehalfOf(us.Owner.String()))
		require.NoError(t, err)
		return write{
			path: "/api/me/api-keys/" + strconv.FormatInt(k.ID, 10), action: "api_key.revoked", resource: "api_key", person: true,
			refusalPath: "/api/me/api-keys/" + someKey(t, us),
		}
	},
	"deleteApiKey": func(t *testing.T, us *testkit.Client) write {
		return write{path: "/api/developer/api-keys/" + someKey(t, us), action: "api_key.revoked", resource: "api_key", refusalPath: "/api/developer/api-keys/4711000"}
	},
	"rotateApiKey": func(t *testing.T, us *testkit.Client) write {
		return write{
			path: "/api/developer/api-keys/" + someKey(t, us) + "/rotate", body: map[string]any{"graceSeconds": 60}, action: "api_key.rotated", resource: "api_key",
			refusalPath: "/api/developer/api-keys/4711000/rotate", refusalBody: map[string]any{},
		}
	},
	"updateOrganization": func(*testing.T, *testkit.Client) write {
		return write{
			path: "/api/organizations/current", body: map[string]any{"name": "Renamed"}, action: "organization.updated", resource: "organization",
			refusalPath: "/api/organizations/current", refusalBody: map[string]any{"name": "Other", "expectedVersion": 4711},
		}
	},
	"deleteOrganization": func(_ *testing.T, us *testkit.Client) write {
		return write{
			path: "/api/organizations/current?confirm=" + us.Org.String(), action: "organization.deleted", resource: "organization",
			refusalPath: "/api/organizations/current?confirm=yes",
		}
	},
	"inviteMember": func(*testing.T, *testkit.Client) write {
		return write{
			path: "/api/organizations/current/members", body: map[string]any{"email": "new@example.com", "role": "viewer"}, action: "member.added", resource: "member",
			refusalPath: "/api/organizations/current/members", refusalBody: map[string]any{"email": "OWNER@example.com", "role": "viewer"},
		}
	},
	"updateMember": func(t *testing.T, us *testkit.Client) write {
		m, _ := us.Person(t, principal.Member)
		return write{
			path: "/api/organizations/current/members/" + m.ID, body: map[string]any{"role": "viewer"}, action: "member.updated", resource: "member",
			refusalPath: "/api/organizations/current/members/" + us.Owner.String(), refusalBody: map[string]any{"role": "viewer"},
		}
	},
	"removeMember": func(t *testing.T, us *testkit.Client) write {
		m, _ := us.Person(t, principal.Member)
		return write{
			path: "/api/organizations/current/members/" + m.ID, action: "member.removed", resource: "member",
			refusalPath: "/api/organizations/current/members/" + us.Owner.String(),
		}
	},
	"createProviderKey": func(*testing.T, *testkit.Client) write {
		body := map[string]any{"provider": "openai", "name": "audited", "secret": "sk-abcdefghijklmnopqrst"}
		return write{
			path: "/api/developer/provider-keys", body: body, action: "provider_key.created", resource: "provider_key",
			refusalPath: "/api/developer/provider-keys", refusalBody: map[string]any{"provider": "openai", "name": "x", "secret": "s", "baseUrl": "http://10.0.0.1/"},
		}
	},
	"updateProviderKey": func(t *testing.T, us *testkit.Client) write {
		path := "/api/developer/provider-keys/" + providerKey(t, us, "https://api.openai.com/v1")
		return write{
			path: path, body: map[string]any{"name": "renamed"}, action: "provider_key.updated", resource: "provider_key",
			refusalPath: path, refusalBody: map[string]any{"name": "x", "expectedVersion": 4711},
		}
	},
	"deleteProviderKey": func(t *testing.T, us *testkit.Client) write {
		return write{
			path: "/api/developer/provider-keys/" + providerKey(t, us, "https://api.openai.com/v1"), action: "provider_key.deleted", resource: "provider_key",
			refusalPath: "/api/developer/provider-keys/4711000",
		}
	},
	"testProviderKey": func(t *testing.T, us *testkit.Client) write {
		// The provider refuses the key, which changes the key's status.
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
		t.Cleanup(provider.Close)
		return write{
			path: "/api/developer/provider-keys/" + providerKey(t, us, provider.URL) + "/test", action: "provider_key.updated", resource: "provider_key",
			refusalPath: "/api/developer/provider-keys/4711000/test",
		}
	},
	"createDataset": func(*testing.T, *testkit.Client) write {
		return write{
			path: "/api/datasets", body: map[string]any{"name": "audited"}, action: "dataset.created", resource: "dataset",
			refusalPath: "/api/datasets", refusalBody: map[string]any{"name": ""},
		}
	},
	"updateDataset": func(t *testing.T, us *testkit.Client) write {
		path := "/api/datasets/" + us.Dataset(t, testkit.Dataset{}).ID
		return write{
			path: path, body: map[string]any{"name": "renamed"}, action: "dataset.updated", resource: "dataset",
			refusalPath: path, refusalBody: map[string]any{"name": "x", "expectedVersion": 4711},
		}
	},
	"deleteDataset": func(t *testing.T, us *testkit.Client) write {
		return write{path: "/api/datasets/" + us.Dataset(t, testkit.Dataset{}).ID, action: "dataset.deleted", resource: "dataset", refusalPath: "/api/datasets/4711000"}
	},
	"addDatasetItems": func(t *testing.T, us *testkit.Client) write {
		items := map[string]any{"items": []any{map[string]any{"input": "Why?"}}}
		return write{
			path: "/api/datasets/" + us.Dataset(t, testkit.Dataset{}).ID + "/items", body: items,
			refusalPath: "/api/datasets/4711000/items", refusalBody: items,
		}
	},
	"updateDatasetItem": func(t *testing.T, us *testkit.Client) write {
		path := someItem(t, us)
		return write{path: path, body: map[string]any{"input": "How?"}, refusalPath: path + "000", refusalBody: map[string]any{"input": "How?"}}
	},
	"deleteDatasetItem": func(t *testing.T, us *testkit.Client) write {
		path := someItem(t, us)
		return write{path: path, refusalPath: path + "000"}
	},
	"addTraceFeedback": func(t *testing.T, us *testkit.Client) write {
		body := map[string]any{"type": "comment", "comment": "Well done."}
		return write{
			path: "/api/traces/" + someTrace(t, us) + "/feedback", body: body, action: "trace.feedback_created", resource: "trace",
			refusalPath: "/api/traces/4711000/feedback", refusalBody: body,
		}
	},
	"deleteTrace": func(t *testing.T, us *testkit.Client) write {
		return write{path: "/api/traces/" + someTrace(t, us), action: "trace.deleted", resource: "trace", refusalPath: "/api/traces/4711000"}
	},
	"addTracesToDataset": func(t *testing.T, us *testkit.Client) write {
		body := map[string]any{"datasetId": us.Dataset(t, testkit.Dataset{}).ID, "traceIds": []string{someTrace(t, us)}}
		return write{
			path: "/api/traces/to-dataset", body: body,
			refusalPath: "/api/traces/to-dataset", refusalBody: map[string]any{"datasetId": body["datasetId"], "traceIds": []string{"4711000"}},
		}
	},
	"createEvaluation": func(*testing.T, *testkit.Client) write {
		body := map[string]any{"name": "audited", "datasetId": "later", "metrics": []string{"exact_match"}}
		return write{
			path: "/api/evaluations", body: body, action: "evaluation.created", resource: "evaluation",
			refusalPath: "/api/evaluations?strict=true", refusalBody: body,
		}
	},
	"updateEvaluation": func(t *testing.T, us *testkit.Client) write {
		path := "/api/evaluations/" + us.Evaluation(t, "later", nil).ID
		return write{
			path: path, body: map[string]any{"name": "renamed"}, action: "evaluation.updated", resource: "evaluation",
			refusalPath: path, refusalBody: map[string]any{"name": "x", "expectedVersion": 4711},
		}
	},
	"deleteEvaluation": func(t *testing.T, us *testkit.Client) write {
		return write{
			path: "/api/evaluations/" + us.Evaluation(t, "later", nil).ID, action: "evaluation.deleted", resource: "evaluation",
			refusalPath: "/api/evaluations/4711000",
		}
	},
	"startEvaluationRun": func(t *testing.T, us *testkit.Client) write {
		return write{
			path: "/api/evaluations/" + us.Evaluation(t, "later", nil).ID + "/runs", body: map[string]any{"seed": 1}, action: "run.started", resource: "run",
			refusalPath: "/api/evaluations/4711000/runs", refusalBody: map[string]any{},
		}
	},
	"cancelEvaluationRun": func(t *testing.T, us *testkit.Client) write {
		path := someRun(t, us, us.Evaluation(t, "later", nil).ID)
		return write{path: path + "/cancel", action: "run.cancelled", resource: "run", refusalPath: path + "000/cancel"}
	},
	"addEvaluationRunResults": func(t *testing.T, us *testkit.Client) write {
		d := us.Dataset(t, testkit.Dataset{})
		added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "Why?", ExpectedOutput: "Because."}})
		require.NoError(t, err)
		_, err = us.Freeze(t.Context(), d.ID, "")
		require.NoError(t, err)
		path := someRun(t, us, us.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}}).ID)
		results := []map[string]any{{"testCaseId": added.Items[0].ID, "output": "Because."}}
		return write{
			path: path + "/results", body: map[string]any{"results": results, "final": true}, action: "run.final", resource: "run",
			refusalPath: path + "/results", refusalBody: map[string]any{"results": []map[string]any{{"testCaseId": "4711000", "output": "x"}}},
			first: func(t *testing.T, conn *pgx.Conn) {
				// Nobody works here, so nobody else begins the run.
				_, err := conn.Exec(t.Context(), `UPDATE evaluation_runs SET phase = 'executing',
					resolved = json_build_object('dataset', $2::bigint, 'version', 1, 'items', 1, 'units', 1) WHERE org_id = $1`, us.Org, d.ID)
				require.NoError(t, err)
			},
		}
	},
	"freezeDatasetVersion": func(t *testing.T, us *testkit.Client) write {
		return write{
			path: "/api/datasets/" + us.Dataset(t, testkit.Dataset{}).ID + "/versions", body: map[string]any{"note": "first"},
			refusalPath: "/api/datasets/4711000/versions", refusalBody: map[string]any{},
		}
	},
}

// telemetry is what tells about work and changes nothing: spans and traces by
// the million leave no entry each.
var telemetry = []string{"sendTraces", "sendLogs", "sendMetrics", "createTrace", "updateTrace", "addTraceSpans"}

func someKey(t testing.TB, us *testkit.Client) string {
	t.Helper()
	k, err := us.CreateKey(t.Context(), testkit.NewKey{Name: uuid.NewString(), Scopes: reading})
	require.NoError(t, err)
	return strconv.FormatInt(k.ID, 10)
}

// someRun starts a run and returns its path.
func someRun(t testing.TB, us *testkit.Client, evaluation string) string {
	t.Helper()
	r, err := us.StartRun(t.Context(), evaluation, nil)
	require.NoError(t, err)
	return "/api/evaluations/" + evaluation + "/runs/" + r.RunID
}

func someTrace(t testing.TB, us *testkit.Client) string {
	t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	_, err := us.Call(t.Context(), http.MethodPost, "/api/traces", map[string]any{"name": uuid.NewString(), "input": "Why?"}, &made)
	require.NoError(t, err)
	return made.ID
}

func providerKey(t testing.TB, us *testkit.Client, base string) string {
	t.Helper()
	k, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": uuid.NewString(), "baseUrl": base, "secret": "sk-abcdefghijklmnopqrst"})
	require.NoError(t, err)
	return strconv.FormatInt(k.ID, 10)
}

func someItem(t testing.TB, us *testkit.Client) string {
	t.Helper()
	d := us.Dataset(t, testkit.Dataset{})
	added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "Why?"}})
	require.NoError(t, err)
	return "/api/datasets/" + d.ID + "/items/" + added.Items[0].ID
}

// auditRow is an entry as it is stored, with the transaction that stored it.
type auditRow struct {
	Tx, ActorType             string
	Key                       int64
	Action, Type, ID, Request string
	IP                        string
	Before, After             []byte
}

func auditRows(t testing.TB, c *pgx.Conn, org principal.OrgID, request string) []auditRow {
	t.Helper()
	rows, err := c.Query(t.Context(), `
		SELECT xmin::text, actor_type, api_key_id, action, resource_type, resource_id, request_id, ip, before_digest, after_digest
		FROM audit_logs WHERE org_id = $1 AND request_id = $2 ORDER BY id`, org, request)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[auditRow])
	require.NoError(t, err)
	return out
}

// TestEveryWriteIsAudited calls every mutating operation of the route table.
func TestEveryWriteIsAudited(t *testing.T) {
	t.Parallel()
	k := keeping(t, "127.0.0.0/8")
	asOwner(t, k) // row security out of the way before anything runs
	action := regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)
	seen := map[string]bool{}
	for _, op := range k.App.Edge.Ops() {
		if op.Method == http.MethodGet || slices.Contains(telemetry, op.ID) {
			continue
		}
		prepare, ok := writes[op.ID]
		require.True(t, ok, "%s %s (%s) has no call in this test", op.Method, op.Path, op.ID)
		seen[op.ID] = true
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			us := k.Org(t)
			me, err := us.Me(ctx)
			require.NoError(t, err)
			call := prepare(t, us)
			var body any
			if call.body != nil {
				// The same bytes each time: a repetition is recognised by them.
				text, err := json.Marshal(call.body, json.Deterministic(true))
				require.NoError(t, err)
				body = jsontext.Value(text)
			}
			conn := connect(t, k.App.Config.Postgres.OwnerURL)
			if call.first != nil {
				call.first(t, conn)
			}
			total := func() int64 {
				return scalar[int64](t, conn, `SELECT (SELECT count(*) FROM audit_logs WHERE org_id = $1) + (SELECT count(*) FROM events WHERE org_id = $1)
					+ (SELECT count(*) FROM outbox WHERE org_id = $1)`, us.Org)
			}

			// A refused call leaves nothing.
			before := total()
			_, err = us.Call(ctx, op.Method, call.refusalPath, call.refusalBody, nil)
			_, isFault := fault.From(err)
			require.True(t, isFault, "%v", err)
			require.Equal(t, before, total())

			// A successful one leaves an entry and an event for each thing done.
			id := uuid.NewString()
			opts := []testkit.Option{testkit.Header("X-Request-Id", id)}
			if op.Mutates() {
				opts = append(opts, testkit.Idempotent("once"))
			}
			actor := "api_key"
			if call.person {
				opts, actor = append(opts, testkit.OnBehalfOf(us.Owner.String())), "user"
			}
			res, err := us.Call(ctx, op.Method, call.path, body, nil, opts...)
			require.NoError(t, err)
			require.Equal(t, op.Status, res.Status)
			entries := auditRows(t, conn, us.Org, id)
			require.NotEmpty(t, entries)
			var actions []string
			for _, e := range entries {
				actions = append(actions, e.Action+" "+e.Type)
				require.Regexp(t, action, e.Action)
				require.Equal(t, actor, e.ActorType)
				require.Equal(t, me.APIKeyID, e.Key)
				require.NotEmpty(t, e.ID)
				require.Equal(t, "127.0.0.1", e.IP)
				require.Contains(t, []int{32, 64}, len(e.Before)+len(e.After), "at least one digest of %s", e.Action)
				require.Equal(t, entries[0].Tx, e.Tx)
			}
			if call.action != "" {
				require.Contains(t, actions, call.action+" "+call.resource)
			}
			rows, err := conn.Query(ctx, `SELECT type || ' ' || resource FROM events
				WHERE org_id = $1 AND payload->>'request_id' = $2 AND xmin::text = $3 ORDER BY id`, us.Org, id, entries[0].Tx)
			require.NoError(t, err)
			events, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, "in the transaction of the change")
			require.Equal(t, actions, events)

			// A repetition leaves nothing more.
			if op.Mutates() {
				after := total()
				_, err = us.Call(ctx, op.Method, call.path, body, nil, opts...)
				require.NoError(t, err)
				require.Equal(t, after, total())
			}
		})
	}
	for id := range writes {
		require.True(t, seen[id], "%s is no operation any more", id)
	}
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	k := testkit.New(t)

	t.Run("it says who spoke for whom", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		me, err := us.Me(ctx)
		require.NoError(t, err)
		_, err = us.CreateDataset(ctx, testkit.Dataset{Name: "asserted"}, testkit.OnBehalfOf(us.Owner.String()))
		require.NoError(t, err)
		_, admin := us.Person(t, principal.Admin)
		d, err := admin.CreateDataset(ctx, testkit.Dataset{Name: "in person"})
		require.NoError(t, err)

		log, err := us.AuditLog(ctx, "action=dataset.created")
		require.NoError(t, err)
		require.Len(t, log, 2)
		require.Equal(t, "user", log[0].Actor.Type)
		require.True(t, log[0].Actor.Asserted, "another person made the key for its owner")
		require.Equal(t, d.ID, log[0].ResourceID)
		require.Equal(t, "user", log[1].Actor.Type)
		require.True(t, log[1].Actor.Asserted)
		require.Equal(t, us.Owner.String(), *log[1].Actor.ID)
		require.Equal(t, me.APIKeyID, *log[1].APIKeyID)
		require.Regexp(t, "^sha256:[0-9a-f]{64}$", *log[1].AfterDigest)
		require.Nil(t, log[1].BeforeDigest)
	})

	t.Run("only a member can be spoken for, and only by an administrator", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		for _, who := range []string{uuid.NewString(), "nobody", k.Org(t).Owner.String()} {
			_, err := us.Call(ctx, http.MethodGet, "/api/me", nil, nil, testkit.OnBehalfOf(who))
			refused(t, err, fault.Forbidden, "not_a_member")
		}
		_, err := k.Key(t, us, principal.EvalRead).Call(ctx, http.MethodGet, "/api/datasets", nil, nil, testkit.OnBehalfOf(us.Owner.String()))
		refused(t, err, fault.Forbidden, "on_behalf_of_forbidden")
	})

	t.Run("the runtime role cannot rewrite it", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		us.Dataset(t, testkit.Dataset{})
		conn := asRuntime(t, k, us.Org)
		before := scalar[int](t, conn, "SELECT count(*) FROM audit_logs")
		require.Positive(t, before)

		_, err := conn.Exec(ctx, "UPDATE audit_logs SET action = 'nothing.happened'")
		var denied *pgconn.PgError
		require.ErrorAs(t, err, &denied)
		require.Equal(t, "42501", denied.Code)
		tag, err := conn.Exec(ctx, "DELETE FROM audit_logs")
		require.NoError(t, err)
		require.Zero(t, tag.RowsAffected())
		// A claim that names another organization does not help.
		_, err = conn.Exec(ctx, "SELECT set_config('app.erase', $1, false)", k.Org(t).Org.String())
		require.NoError(t, err)
		tag, err = conn.Exec(ctx, "DELETE FROM audit_logs")
		require.NoError(t, err)
		require.Zero(t, tag.RowsAffected())
		require.Equal(t, before, scalar[int](t, conn, "SELECT count(*) FROM audit_logs"))
	})

	t.Run("it is filtered and paged", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		k.Org(t).Dataset(t, testkit.Dataset{}) // another organization's entries are not ours
		var ids []string
		for range 5 {
			ids = append(ids, us.Dataset(t, testkit.Dataset{}).ID)
		}
		_, err := us.UpdateDataset(ctx, ids[2], map[string]any{"name": "changed"}, testkit.OnBehalfOf(us.Owner.String()))
		require.NoError(t, err)

		all, err := us.AuditPage(ctx, "includeTotal=true")
		require.NoError(t, err)
		require.Len(t, all.AuditLogs, *all.Total)
		require.Equal(t, 9, *all.Total, "three of the beginning and six writes")
		require.False(t, all.HasMore)
		require.True(t, slices.IsSortedFunc(all.AuditLogs, func(a, b testkit.AuditEntry) int { return int(b.ID - a.ID) }), "newest first")

		for query, want := range map[string]int{
			"action=dataset.created":                                5,
			"action=dataset.exploded":                               0,
			"resourceType=dataset":                                  6,
			"resourceType=dataset&resourceId=" + ids[2]:             2,
			"userId=" + us.Owner.String():                           1,
			"createdAfter=" + url.QueryEscape(soon(k, time.Hour)):   0,
			"createdBefore=" + url.QueryEscape(soon(k, time.Hour)):  9,
			"createdBefore=" + url.QueryEscape(soon(k, -time.Hour)): 0,
		} {
			page, err := us.AuditPage(ctx, "includeTotal=true&"+query)
			require.NoError(t, err, query)
			require.Len(t, page.AuditLogs, want, query)
			require.Equal(t, want, *page.Total, query)
		}

		var walked []testkit.AuditEntry
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			page, err := us.AuditPage(ctx, "limit=4&cursor="+cursor)
			require.NoError(t, err)
			require.Nil(t, page.Total)
			require.Equal(t, page.HasMore, page.NextCursor != "")
			walked, cursor = append(walked, page.AuditLogs...), page.NextCursor
			us.Dataset(t, testkit.Dataset{}) // what is written meanwhile moves nothing
		}
		require.Equal(t, all.AuditLogs, walked)

		for query, path := range map[string]string{"userId=me": "userId", "cursor=nonsense": "cursor", "limit=0": "limit", "createdAfter=yesterday": "createdAfter"} {
			_, err := us.AuditPage(ctx, query)
			details := refused(t, err, fault.Validation, "invalid_request")
			require.Contains(t, strings.ToLower(details["fields"].([]any)[0].(map[string]any)["path"].(string)), strings.ToLower(path))
		}
	})
}
