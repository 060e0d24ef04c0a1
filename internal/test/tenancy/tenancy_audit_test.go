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

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// prepared brings an organization into the state in which a write leaves its
// entry, where more is needed than objects.
var prepared = map[string]func(t *testing.T, m *specimen.Maker){
	"updateApproval": func(t *testing.T, m *specimen.Maker) {
		made, err := m.Client.PostEvidence(t.Context(), "approvals", map[string]any{"title": "A refund", "reason": "The goods came back.", "inputDigest": "sha256:" + strings.Repeat("0", 64)})
		require.NoError(t, err)
		m.Put("approval", strconv.FormatInt(made.ID(), 10))
	},
	"testProviderKey": func(t *testing.T, m *specimen.Maker) {
		// The provider refuses the key, which changes the key's status.
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
		t.Cleanup(provider.Close)
		m.Put("provider", provider.URL)
	},
	"decideEvaluationRun": func(t *testing.T, m *specimen.Maker) {
		m.ID(t, "run")
		_, err := m.Rows.Exec(t.Context(), "UPDATE evaluation_runs SET status = 'completed', phase = 'done', completed_at = now(), outcome = '{}' WHERE org_id = $1", m.Client.Org)
		require.NoError(t, err)
	},
	"addEvaluationRunResults":          executing,
	"createGroundTruth":                decided,
	"addAdjudicationItemToCalibration": closed,
	"promoteAdjudicationItemToGolden":  closed,
	"addEvaluationRunScores": func(t *testing.T, m *specimen.Maker) {
		executing(t, m)
		require.NoError(t, m.Client.PutResults(t.Context(), m.ID(t, "evaluation"), m.ID(t, "run"), []map[string]any{{"testCaseId": m.ID(t, "item"), "output": "x"}}, false))
	},
}

// decided makes an adjudication item with a decision.
func decided(t *testing.T, m *specimen.Maker) {
	id, err := strconv.ParseInt(m.ID(t, "adjudication item"), 10, 64)
	require.NoError(t, err)
	_, err = m.Caller(t, specimen.Find("decideAdjudicationItem")).DecideAdjudicationItem(t.Context(), id, map[string]any{"decision": "pass", "rationale": "As it should be."})
	require.NoError(t, err)
}

// closed makes an adjudication item with ground truth, and the default sets, which
// would otherwise be made in a change of their own.
func closed(t *testing.T, m *specimen.Maker) {
	for _, purpose := range []string{"calibration", "golden"} {
		d, err := m.Client.CreateDataset(t.Context(), testkit.NewDataset{Name: purpose, Purpose: new(purpose)})
		require.NoError(t, err)
		_, err = m.Rows.Exec(t.Context(), "INSERT INTO adjudication_sets (org_id, purpose, dataset_id, created_at) VALUES ($1, $2, $3, now())", m.Client.Org, purpose, d.ID)
		require.NoError(t, err)
	}
	decided(t, m)
	id, err := strconv.ParseInt(m.ID(t, "adjudication item"), 10, 64)
	require.NoError(t, err)
	_, err = m.Caller(t, specimen.Find("createGroundTruth")).CreateGroundTruth(t.Context(), id, map[string]any{})
	require.NoError(t, err)
}

// executing makes a run that takes results.
func executing(t *testing.T, m *specimen.Maker) {
	m.ID(t, "item")
	m.ID(t, "dataset version")
	m.ID(t, "run")
	// Nobody works here, so nobody else begins the run.
	_, err := m.Rows.Exec(t.Context(), `UPDATE evaluation_runs SET phase = 'executing',
		resolved = json_build_object('dataset', $2::bigint, 'version', 1, 'items', 1, 'units', 1) WHERE org_id = $1`, m.Client.Org, m.ID(t, "dataset"))
	require.NoError(t, err)
}

// refusal is a call of an operation that is refused: for what the organization
// has, if the operation gets that far, else for its body.
func refusal(t *testing.T, m *specimen.Maker, o specimen.Operation) specimen.Call {
	t.Helper()
	c := m.Call(t, o)
	_, path, _ := strings.Cut(o.Route, " ")
	params := specimen.Params(path)
	switch {
	case o.Conflict != "" || o.ConflictQuery != "":
		c.Body, c.Query = m.Fill(t, o.Conflict), m.Fill(t, o.ConflictQuery)
	case len(params) > 0:
		last := params[len(params)-1]
		noun, ok := specimen.NounOf(last)
		require.True(t, ok)
		c.Path = strings.Replace(c.Path, "/"+m.ID(t, noun.Name), "/"+specimen.Absent(noun.Name), 1)
	default:
		c.Body = m.Fill(t, o.Refused)
	}
	return c
}

// content is the body of a call, nil if it has none.
func content(body string) any {
	if body == "" {
		return nil
	}
	return jsontext.Value(body)
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
		SELECT xmin::text, actor_type, COALESCE(api_key_id, 0), action, resource_type, resource_id, request_id, ip, before_digest, after_digest
		FROM audit_logs WHERE org_id = $1 AND request_id = $2 ORDER BY id`, org, request)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[auditRow])
	require.NoError(t, err)
	return out
}

// TestEveryWriteIsAudited calls every mutating operation of the route table.
func TestEveryWriteIsAudited(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it sees the rows of all organizations")
	asOwner(t, k) // row security out of the way before anything runs
	action := regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)
	for _, op := range k.App.Edge.Ops() {
		o := specimen.Find(op.ID)
		if op.Method == http.MethodGet || o.Telemetry {
			continue // spans and traces by the million leave no entry each
		}
		require.NotEmpty(t, o.Audit, "%s %s (%s) says nothing about its entry in testkit/specimen", op.Method, op.Path, op.ID)
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			us := k.Org(t)
			conn := connect(t, k.App.Config.Postgres.OwnerURL)
			m := specimen.NewMaker(us, conn, "audited")
			caller := m.Caller(t, o)
			me, err := caller.GetMe(ctx)
			require.NoError(t, err)
			if prepare := prepared[op.ID]; prepare != nil {
				prepare(t, m)
			}
			call, refused := m.Call(t, o), refusal(t, m, o)
			body := content(call.Body)
			total := func() int64 {
				return scalar[int64](t, conn, `SELECT (SELECT count(*) FROM audit_logs WHERE org_id = $1) + (SELECT count(*) FROM events WHERE org_id = $1)
					+ (SELECT count(*) FROM outbox WHERE org_id = $1)`, us.Org)
			}

			// A refused call leaves nothing.
			before := total()
			_, err = caller.Call(ctx, op.Method, refused.Path+refused.Query, content(refused.Body), nil)
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
			if o.Person {
				opts, actor = append(opts, testkit.OnBehalfOf(us.Owner.String())), "user"
			}
			if o.InPerson {
				actor = "user"
			}
			res, err := caller.Call(ctx, op.Method, call.Path+call.Query, body, nil, opts...)
			require.NoError(t, err)
			require.Equal(t, op.Status, res.Status)
			entries := auditRows(t, conn, us.Org, id)
			require.NotEmpty(t, entries)
			baseline := func(e auditRow) bool { return e.Action == "policy.created" && e.ActorType == "system" }
			if last := entries[len(entries)-1]; baseline(entries[0]) && entries[0].Tx != last.Tx {
				entries = entries[1:] // the first use of policies makes it, before the change
			}
			var actions []string
			for _, e := range entries {
				actions = append(actions, e.Action+" "+e.Type)
				require.Regexp(t, action, e.Action)
				if baseline(e) {
					continue
				}
				require.Equal(t, actor, e.ActorType)
				require.Equal(t, me.APIKeyID, e.Key)
				require.NotEmpty(t, e.ID)
				require.Equal(t, "127.0.0.1", e.IP)
				require.Contains(t, []int{32, 64}, len(e.Before)+len(e.After), "at least one digest of %s", e.Action)
				require.Equal(t, entries[0].Tx, e.Tx)
			}
			require.Contains(t, actions, o.Audit)
			rows, err := conn.Query(ctx, `SELECT type || ' ' || resource FROM events
				WHERE org_id = $1 AND payload->>'request_id' = $2 AND xmin::text = $3 ORDER BY id`, us.Org, id, entries[0].Tx)
			require.NoError(t, err)
			events, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, "in the transaction of the change")
			require.Equal(t, actions, events)

			// A repetition leaves nothing more.
			if op.Mutates() {
				after := total()
				_, err = caller.Call(ctx, op.Method, call.Path+call.Query, body, nil, opts...)
				require.NoError(t, err)
				require.Equal(t, after, total())
			}
		})
	}
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("it says who spoke for whom", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		me, err := us.GetMe(ctx)
		require.NoError(t, err)
		_, err = us.CreateDataset(ctx, testkit.NewDataset{Name: "asserted"}, testkit.OnBehalfOf(us.Owner.String()))
		require.NoError(t, err)
		_, admin := us.Minted(t, principal.Admin)
		d, err := admin.CreateDataset(ctx, testkit.NewDataset{Name: "with a key for it"})
		require.NoError(t, err)

		log, err := us.ListAuditLogs(ctx, "action=dataset.created")
		require.NoError(t, err)
		require.Len(t, log.AuditLogs, 2)
		require.Equal(t, "user", log.AuditLogs[0].Actor.Type)
		require.True(t, log.AuditLogs[0].Actor.Asserted, "another person made the key for its owner")
		require.Equal(t, d.ID, log.AuditLogs[0].ResourceID)
		require.Equal(t, "user", log.AuditLogs[1].Actor.Type)
		require.True(t, log.AuditLogs[1].Actor.Asserted)
		require.Equal(t, us.Owner.String(), *log.AuditLogs[1].Actor.ID)
		require.Equal(t, me.APIKeyID, *log.AuditLogs[1].APIKeyID)
		require.Regexp(t, "^sha256:[0-9a-f]{64}$", *log.AuditLogs[1].AfterDigest)
		require.Nil(t, log.AuditLogs[1].BeforeDigest)
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
		us.Dataset(t, testkit.NewDataset{})
		conn := k.Runtime(t, us.Org)
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
		k.Org(t).Dataset(t, testkit.NewDataset{}) // another organization's entries are not ours
		var ids []string
		for range 5 {
			ids = append(ids, us.Dataset(t, testkit.NewDataset{}).ID)
		}
		_, err := us.UpdateDataset(ctx, ids[2], map[string]any{"name": "changed"}, testkit.OnBehalfOf(us.Owner.String()))
		require.NoError(t, err)

		all, err := us.ListAuditLogs(ctx, "includeTotal=true")
		require.NoError(t, err)
		require.Len(t, all.AuditLogs, int(*all.Total))
		require.EqualValues(t, 9, *all.Total, "three of the beginning and six writes")
		require.False(t, all.HasMore)
		require.True(t, slices.IsSortedFunc(all.AuditLogs, func(a, b testkit.AuditEntry) int { return int(b.ID - a.ID) }), "newest first")

		for query, want := range map[string]int{
			"action=dataset.created":                    5,
			"action=dataset.exploded":                   0,
			"resourceType=dataset":                      6,
			"resourceType=dataset&resourceId=" + ids[2]: 2,
			"userId=" + us.Owner.String():               1,
			"createdAfter=" + url.QueryEscape(soon(k, time.Hour).Format(time.RFC3339Nano)):   0,
			"createdBefore=" + url.QueryEscape(soon(k, time.Hour).Format(time.RFC3339Nano)):  9,
			"createdBefore=" + url.QueryEscape(soon(k, -time.Hour).Format(time.RFC3339Nano)): 0,
		} {
			page, err := us.ListAuditLogs(ctx, "includeTotal=true&"+query)
			require.NoError(t, err, query)
			require.Len(t, page.AuditLogs, want, query)
			require.EqualValues(t, want, *page.Total, query)
		}

		var walked []testkit.AuditEntry
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			page, err := us.ListAuditLogs(ctx, "limit=4&cursor="+cursor)
			require.NoError(t, err)
			require.Nil(t, page.Total)
			require.Equal(t, page.HasMore, api.Value(page.NextCursor) != "")
			walked, cursor = append(walked, page.AuditLogs...), api.Value(page.NextCursor)
			us.Dataset(t, testkit.NewDataset{}) // what is written meanwhile moves nothing
		}
		require.Equal(t, all.AuditLogs, walked)

		for query, path := range map[string]string{"userId=me": "userId", "cursor=nonsense": "cursor", "limit=0": "limit", "createdAfter=yesterday": "createdAfter"} {
			_, err := us.ListAuditLogs(ctx, query)
			details := refused(t, err, fault.Validation, "invalid_request")
			require.Contains(t, strings.ToLower(details["fields"].([]any)[0].(map[string]any)["path"].(string)), strings.ToLower(path))
		}
	})
}
