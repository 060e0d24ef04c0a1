package tenancy_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// fill gives an organization rows in every table that has organizations, except
// the certificate of its deletion.
func fill(t testing.TB, k *testkit.Kit, us *testkit.Client) {
	t.Helper()
	ctx := t.Context()
	m := specimen.NewMaker(us, k.Runtime(t, us.Org), "filled")
	m.Put("run", m.Make(t, "quiet run"))
	m.Put("judge backfill", m.Make(t, "quiet backfill"))
	m.Put("judge probe", m.Make(t, "quiet probe"))
	m.Put("judge watch", m.Make(t, "quiet watch"))
	m.Everything(t, "deletion_certificates")
	// What runs would be cancelled, which leaves a row in the log.
	for _, table := range []string{"judge_rule_backfills", "judge_probes"} {
		_, err := m.Rows.Exec(ctx, "UPDATE "+table+" SET status = 'completed' WHERE org_id = $1", us.Org)
		require.NoError(t, err)
	}
	require.NoError(t, events(t, k).Writer().Exec(ctx, "INSERT INTO run_results (org_id, run_id, item_id, run_started) VALUES (?, 1, 1, now())", uuid.UUID(us.Org)))
	k.App.Tenancy.FlushMeter(ctx)
}

// streamed counts an organization's rows in ClickHouse, besides its usage.
func streamed(t testing.TB, ch *clickhouse.DB, org principal.OrgID) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, table := range []string{"spans", "span_payloads", "traces", "trace_starts", "run_results", "scores", "evidence"} {
		var n uint64
		require.NoError(t, ch.Writer().QueryRow(t.Context(), "SELECT count() FROM "+table+" WHERE org_id = ?", uuid.UUID(org)).Scan(&n))
		out[table] = int64(n)
	}
	return out
}

// used counts an organization's metered requests.
func used(t testing.TB, ch *clickhouse.DB, org principal.OrgID) int64 {
	t.Helper()
	var n uint64
	require.NoError(t, ch.Writer().QueryRow(t.Context(), "SELECT count() FROM api_usage WHERE org_id = ?", uuid.UUID(org)).Scan(&n))
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
	k := testkit.Own(t, "it sees the rows of all organizations")
	us, them := k.Org(t), k.Org(t)
	fill(t, k, us)
	fill(t, k, them)
	robot := k.Key(t, us, principal.EvalRead)
	_, err := robot.GetMe(ctx)
	require.NoError(t, err)
	k.App.Tenancy.FlushMeter(ctx)
	conn, ch := asOwner(t, k), events(t, k)
	before, theirs := rowsOf(t, conn, us.Org), rowsOf(t, conn, them.Org)
	for table, n := range before {
		if table != "deletion_certificates" {
			require.Positive(t, n, "%s has no row that could be forgotten: add one to its area in testkit/specimen", table)
		}
	}
	theirUse, stream := used(t, ch, them.Org), streamed(t, ch, us.Org)
	for table, n := range stream {
		require.Positive(t, n, table)
	}

	require.NoError(t, us.DeleteOrganization(ctx, "confirm="+us.Org.String()))

	// Every key is dead, and with it the second try.
	for _, c := range []*testkit.Client{us, robot} {
		_, err := c.GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
	}
	require.ErrorIs(t, us.DeleteOrganization(ctx, "confirm="+us.Org.String()), tenancy.ErrKeyRevoked)
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
	}, 10*time.Minute, 100*time.Millisecond)
	after := rowsOf(t, conn, us.Org)
	require.EqualValues(t, 1, after["deletion_certificates"])
	delete(after, "deletion_certificates")
	for table, n := range after {
		require.Zero(t, n, table)
	}
	require.Zero(t, used(t, ch, us.Org))
	for table, n := range streamed(t, ch, us.Org) {
		require.Zero(t, n, table)
	}
	left := rowsOf(t, conn, them.Org)
	delete(theirs, "outbox") // the dispatcher goes on, and others may write more
	for table, n := range theirs {
		require.GreaterOrEqual(t, left[table], n, "another organization's rows in %s", table)
	}
	require.Equal(t, theirUse, used(t, ch, them.Org))
	_, err = them.GetMe(ctx)
	require.NoError(t, err)

	// The certificate counts everything that was there, and what followers of its
	// events have opened meanwhile.
	delete(written, "deletion_certificates")
	delete(written, "outbox") // the dispatcher takes out messages
	for table, n := range written {
		require.GreaterOrEqual(t, cert.Contents["postgres"][table], n, table)
	}
	stream["api_usage"] = use
	require.GreaterOrEqual(t, cert.Contents["clickhouse"]["scores"], stream["scores"])
	stream["scores"] = cert.Contents["clickhouse"]["scores"] // a message may have become one meanwhile
	require.Equal(t, stream, cert.Contents["clickhouse"])
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
	k := testkit.Own(t, "it sees the rows of all organizations")
	us, them := k.Org(t), k.Org(t)
	conn := asOwner(t, k)

	for _, confirm := range []string{"", "yes", them.Org.String()} {
		refused(t, us.DeleteOrganization(ctx, "confirm="+confirm), fault.Validation, "invalid_request")
	}
	_, admin := us.Person(t, principal.Admin)
	require.ErrorIs(t, admin.DeleteOrganization(ctx, "confirm="+us.Org.String()), tenancy.ErrOwnerDeletes)
	refused(t, k.Key(t, us, principal.EvalWrite).DeleteOrganization(ctx, "confirm="+us.Org.String()), fault.Unauthorized, "insufficient_scope")
	_, err := k.App.Tenancy.Certificate(ctx, us.Org)
	require.ErrorIs(t, err, tenancy.ErrCertificateNotFound)
	require.Zero(t, scalar[int](t, conn, "SELECT count(*) FROM outbox WHERE topic = $1", tenancy.TopicOrganizationDeleted))

	// An owner may, in person.
	owner, inPerson := us.Person(t, principal.Owner)
	require.NoError(t, inPerson.DeleteOrganization(ctx, "confirm="+us.Org.String()))
	cert, err := k.App.Tenancy.Certificate(ctx, us.Org)
	require.NoError(t, err)
	require.Equal(t, "user "+owner.ID, cert.RequestedBy)
	require.Nil(t, cert.CompletedAt)
	require.ErrorIs(t, k.App.Tenancy.Suspend(ctx, us.Org), tenancy.ErrTransition)
	require.ErrorIs(t, k.App.Tenancy.Resume(ctx, us.Org), tenancy.ErrTransition)
	require.Equal(t, "deleting", scalar[string](t, conn, "SELECT status FROM organizations WHERE id = $1", us.Org))
}
