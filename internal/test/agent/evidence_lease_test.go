package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestARecordThatIsBeingStoredIsWaitedFor(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	ctx := t.Context()
	call, err := us.PostEvidence(ctx, invocations, evidenceRefund("call_1"))
	require.NoError(t, err)
	db := k.Owner(t, us.Org)
	take := func(until string) {
		t.Helper()
		_, err := db.Exec(ctx, "INSERT INTO evidence_leases (org_id, id, until) VALUES ($1, 1, now() + $2::interval) ON CONFLICT (org_id, id) DO UPDATE SET until = excluded.until", us.Org, until)
		require.NoError(t, err)
		_, err = db.Exec(ctx, "UPDATE evidence_keys SET holder = 1 WHERE org_id = $1 AND id = $2", us.Org, call.ID())
		require.NoError(t, err)
	}
	take("-1 second")
	_, err = us.UpdateEvidence(ctx, invocations, call.ID(), map[string]any{"status": "unknown"})
	require.NoError(t, err, "a lease that has ended holds nothing")

	take("1 hour")
	soon, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	_, err = us.UpdateEvidence(soon, invocations, call.ID(), map[string]any{"status": "succeeded"})
	require.Error(t, err)
	got, err := us.GetEvidence(ctx, invocations, call.ID())
	require.NoError(t, err)
	require.Equal(t, "unknown", got["status"])

	done := make(chan error, 1)
	go func() {
		_, err := us.UpdateEvidence(ctx, invocations, call.ID(), map[string]any{"status": "succeeded"})
		done <- err
	}()
	_, err = db.Exec(ctx, "DELETE FROM evidence_leases WHERE org_id = $1", us.Org)
	require.NoError(t, err)
	require.NoError(t, <-done)
	var left int
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM evidence_leases WHERE org_id = $1", us.Org).Scan(&left))
	require.Zero(t, left, "leases are given back")
}

func TestKeysAreForgottenWithTheirRecords(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	ctx := t.Context()
	_, err := us.IngestEvidence(ctx, envelope(explanation("1"), event("2", "agent-evidence.failures", map[string]any{"failureKey": "f", "failureMode": "loop", "severity": "low"})))
	require.NoError(t, err)
	db := k.Owner(t, us.Org)
	count := func() (n int) {
		require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM evidence_keys WHERE org_id = $1", us.Org).Scan(&n))
		return n
	}
	before := count()
	n, err := k.App.Evidence.SweepKeys(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "they are needed for as long as the records are there")
	_, err = db.Exec(ctx, "UPDATE evidence_keys SET expires = current_date - 1 WHERE expires IS NOT NULL AND org_id = $1", us.Org)
	require.NoError(t, err)
	n, err = k.App.Evidence.SweepKeys(ctx)
	require.NoError(t, err)
	require.Positive(t, n)
	require.Equal(t, before-int(n), count())
	require.Positive(t, count(), "what lasts is known for good")
}
