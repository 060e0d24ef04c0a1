package tenancy_test

import (
	"crypto/sha256"
	"maps"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/testkit"
)

// fill gives an organization rows in every table that has organizations.
func fill(t testing.TB, k *testkit.Kit, us *testkit.Client) {
	t.Helper()
	ctx := t.Context()
	d := us.Dataset(t, testkit.Dataset{})
	_, err := us.AddItems(ctx, d.ID, []testkit.Item{{Input: "Why?"}, {Input: "How?"}, {Input: "When?"}})
	require.NoError(t, err)
	_, err = us.Freeze(ctx, d.ID, "first")
	require.NoError(t, err)
	us.Person(t, principal.Member)
	providerKey(t, us, "https://api.openai.com/v1")
	_, err = us.CreateDataset(ctx, testkit.Dataset{Name: "repeated"}, testkit.Idempotent("repeat"))
	require.NoError(t, err)
	_, err = asRuntime(t, k, us.Org).Exec(ctx, "INSERT INTO dataset_holds (org_id, dataset_id, holder, created_at) VALUES ($1, $2, 'somebody', now())", us.Org, d.ID)
	require.NoError(t, err)
	// No dispatcher serves this topic, so the message stays.
	_, err = asRuntime(t, k, us.Org).Exec(ctx, "INSERT INTO outbox (org_id, topic, subject, payload, due_at, created_at) VALUES ($1, 'unserved', '1', '', now(), now())", us.Org)
	require.NoError(t, err)
	trace := "/api/traces/" + someTrace(t, us)
	_, err = us.Call(ctx, "POST", trace+"/feedback", map[string]any{"type": "comment", "comment": "Well done."}, nil)
	require.NoError(t, err)
	_, err = asRuntime(t, k, us.Org).Exec(ctx, "INSERT INTO trace_deletions (org_id, trace_id, requested_at) VALUES ($1, decode('00112233445566778899aabbccddeeff', 'hex'), now())", us.Org)
	require.NoError(t, err)
	e := us.Evaluation(t, d.ID, nil)
	for _, statement := range []string{
		// Nobody promised this run, so no worker touches it.
		`INSERT INTO evaluation_runs (org_id, evaluation_id, status, phase, request, created_by, started_at, updated_at, completed_at)
		 VALUES ($1, $2, 'completed', 'done', '{}', 'key/1', now(), now(), now())`,
		"INSERT INTO evaluation_run_items (org_id, run_id, page, items) SELECT org_id, id, 0, '{1}' FROM evaluation_runs WHERE org_id = $1 AND evaluation_id = $2",
		`INSERT INTO evaluation_run_chunks (org_id, run_id, chunk, size, done, passed, failed, errored, skipped, calls, input_tokens, output_tokens, cost_nano_usd, overall_sum, overall_sum2, scored, updated_at)
		 SELECT org_id, id, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, now() FROM evaluation_runs WHERE org_id = $1 AND evaluation_id = $2`,
		`INSERT INTO evaluation_run_notes (org_id, run_id, subject, at, level, message)
		 SELECT org_id, id, 'begun', now(), 'info', 'The run has begun.' FROM evaluation_runs WHERE org_id = $1 AND evaluation_id = $2`,
		`INSERT INTO evaluation_artifacts (org_id, evaluation_id, run_id, kind, name, content_type, size_bytes, sha256, object, created_at)
		 SELECT org_id, evaluation_id, id, 'report', 'report.html', 'text/html', 1, decode(repeat('00', 32), 'hex'), 'x', now() FROM evaluation_runs WHERE org_id = $1 AND evaluation_id = $2`,
	} {
		_, err := asRuntime(t, k, us.Org).Exec(ctx, statement, us.Org, e.ID)
		require.NoError(t, err)
	}
	require.NoError(t, events(t, k).Writer().Exec(ctx, "INSERT INTO run_results (org_id, run_id, item_id, run_started) VALUES (?, 1, 1, now())", uuid.UUID(us.Org)))
	k.App.Tenancy.FlushMeter(ctx)
}

// used counts an organization's metered requests.
func used(t testing.TB, ch *clickhouse.DB, org principal.OrgID) int64 {
	t.Helper()
	var n uint64
	require.NoError(t, ch.Reader().QueryRow(t.Context(), "SELECT count() FROM api_usage WHERE org_id = ?", uuid.UUID(org)).Scan(&n))
	return int64(n)
}

func events(t testing.TB, k *testkit.Kit) *clickhouse.DB {
	t.Helper()
	ch, err := clickhouse.Open(k.App.Config.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	return ch
}

// TestDeleteOrganization deletes an organization that has something
// everywhere, and looks for anything that is left.
func TestDeleteOrganization(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := keeping(t, "127.0.0.0/8")
	us, them := k.Org(t), k.Org(t)
	fill(t, k, us)
	fill(t, k, them)
	robot := k.Key(t, us, principal.EvalRead)
	_, err := robot.Me(ctx)
	require.NoError(t, err)
	k.App.Tenancy.FlushMeter(ctx)
	conn, ch := asOwner(t, k), events(t, k)
	before, theirs := rowsOf(t, conn, us.Org), rowsOf(t, conn, them.Org)
	for table, n := range before {
		if table != "deletion_certificates" {
			require.Positive(t, n, "%s has no row that could be forgotten: extend fill", table)
		}
	}
	theirUse := used(t, ch, them.Org)

	require.NoError(t, us.DeleteOrganization(ctx, us.Org.String()))

	// Every key is dead, and with it the second try.
	for _, c := range []*testkit.Client{us, robot} {
		_, err := c.Me(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
	}
	require.ErrorIs(t, us.DeleteOrganization(ctx, us.Org.String()), tenancy.ErrKeyRevoked)
	written := rowsOf(t, conn, us.Org)
	k.App.Tenancy.FlushMeter(ctx)
	use := used(t, ch, us.Org)
	require.Positive(t, use)

	k.Work(t)

	// The worker takes the deletion from the outbox, waits for what is under
	// way and erases; nothing tells the test when it is done.
	var cert tenancy.Certificate
	require.Eventually(t, func() bool {
		cert, err = k.App.Tenancy.Certificate(ctx, us.Org)
		return err == nil && cert.CompletedAt != nil
	}, time.Minute, 100*time.Millisecond)
	after := rowsOf(t, conn, us.Org)
	require.EqualValues(t, 1, after["deletion_certificates"])
	delete(after, "deletion_certificates")
	for table, n := range after {
		require.Zero(t, n, table)
	}
	require.Zero(t, used(t, ch, us.Org))
	for _, table := range []string{"spans", "span_payloads", "traces", "trace_starts", "run_results"} {
		var n uint64
		require.NoError(t, ch.Reader().QueryRow(ctx, "SELECT count() FROM "+table+" WHERE org_id = ?", uuid.UUID(us.Org)).Scan(&n))
		require.Zero(t, n, table)
	}
	require.Equal(t, theirs, rowsOf(t, conn, them.Org), "another organization's rows")
	require.Equal(t, theirUse, used(t, ch, them.Org))
	_, err = them.Me(ctx)
	require.NoError(t, err)

	// The certificate counts exactly what was there.
	delete(written, "deletion_certificates")
	maps.DeleteFunc(cert.Contents["postgres"], func(table string, n int64) bool {
		// The dispatcher takes the message of the deletion out by itself.
		return table == "outbox" && (n == written["outbox"] || n == written["outbox"]-1)
	})
	delete(written, "outbox")
	require.Equal(t, written, cert.Contents["postgres"])
	require.Equal(t, map[string]int64{"api_usage": use, "spans": 1, "span_payloads": 1, "traces": 1, "trace_starts": 1, "run_results": 1}, cert.Contents["clickhouse"])
	require.Regexp(t, "^key [0-9A-Za-z]{12}$", cert.RequestedBy)

	// Its digest is that of its canonical JSON, as the operator sees it.
	cert, err = k.App.Tenancy.Certificate(ctx, us.Org)
	require.NoError(t, err)
	text, err := json.Marshal(map[string]any{
		"organization": cert.Org.String(), "requested_at": cert.RequestedAt.UTC(), "requested_by": cert.RequestedBy,
		"completed_at": cert.CompletedAt.UTC(), "erased": cert.Contents,
	})
	require.NoError(t, err)
	canonical := jsontext.Value(text)
	require.NoError(t, canonical.Canonicalize())
	sum := sha256.Sum256(canonical)
	require.Equal(t, sum[:], cert.Digest)
}

func TestDeletionIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.New(t)
	us, them := k.Org(t), k.Org(t)
	conn := asOwner(t, k)

	for _, confirm := range []string{"", "yes", them.Org.String()} {
		refused(t, us.DeleteOrganization(ctx, confirm), fault.Validation, "invalid_request")
	}
	_, admin := us.Person(t, principal.Admin)
	require.ErrorIs(t, admin.DeleteOrganization(ctx, us.Org.String()), tenancy.ErrOwnerDeletes)
	refused(t, k.Key(t, us, principal.EvalWrite).DeleteOrganization(ctx, us.Org.String()), fault.Unauthorized, "insufficient_scope")
	_, err := k.App.Tenancy.Certificate(ctx, us.Org)
	require.ErrorIs(t, err, tenancy.ErrCertificateNotFound)
	require.Zero(t, scalar[int](t, conn, "SELECT count(*) FROM outbox WHERE topic = $1", tenancy.TopicOrganizationDeleted))

	// An owner may, in person.
	owner, inPerson := us.Person(t, principal.Owner)
	require.NoError(t, inPerson.DeleteOrganization(ctx, us.Org.String()))
	cert, err := k.App.Tenancy.Certificate(ctx, us.Org)
	require.NoError(t, err)
	require.Equal(t, "user "+owner.ID, cert.RequestedBy)
	require.Nil(t, cert.CompletedAt)
	require.ErrorIs(t, k.App.Tenancy.Suspend(ctx, us.Org), tenancy.ErrTransition)
	require.ErrorIs(t, k.App.Tenancy.Resume(ctx, us.Org), tenancy.ErrTransition)
	require.Equal(t, "deleting", scalar[string](t, conn, "SELECT status FROM organizations WHERE id = $1", us.Org))
}
