package erasure

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy"
)

// service is a service on databases of its own, without an edge.
func service(t testing.TB) *Service {
	t.Helper()
	pg, err := postgres.Open(t.Context(), postgrestest.New(t))
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	organizations := tenancy.New(tenancy.Parts{
		Stores: tenancy.Stores{Postgres: pg, ClickHouse: ch}, Config: tenancy.Config{Pepper: "a pepper for tests, of 32 or more characters", PepperVersion: 1},
		Plans: tenancy.PlanConfig{Default: "free", SelfHostedHour: 1, EnterpriseHour: 1}, Log: change.New(pg, time.Now), Now: time.Now,
	})
	return New(Stores{Postgres: pg, ClickHouse: ch}, organizations)
}

// deleted is an organization that waits for its erasure, with some usage.
func deleted(t testing.TB, s *Service) principal.OrgID {
	t.Helper()
	ctx := t.Context()
	made, err := s.organizations.Bootstrap(ctx, "Test", tenancy.FirstMember{Email: "owner@example.com"}, tenancy.NewKey{Name: "first", Mode: tenancy.ModeTest, Scopes: principal.Scopes})
	require.NoError(t, err)
	for range 3 {
		s.organizations.Meter(tenancy.Request{Org: made.Org, KeyID: "AAAAAAAAAAAA", Operation: "getMe", Status: 200, At: time.Now()})
	}
	s.organizations.FlushMeter(ctx)
	require.NoError(t, postgres.InTx(ctx, s.store.db, made.Org, func(tx postgres.Tx) error { return s.organizations.DeleteOrganizationTx(ctx, tx) }))
	return made.Org
}

var nothing = func(string) {}

// stopAfter lets n steps of an erasure pass and then ends it.
func stopAfter(ctx context.Context, n int) (context.Context, func(string)) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, func(string) {
		if n == 0 {
			cancel()
		}
		n--
	}
}

// TestErasureCanBeRepeated interrupts the erasure at every step and lets
// another run finish it: the certificate is the same as of a single run.
func TestErasureCanBeRepeated(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	straight := deleted(t, s)
	require.NoError(t, s.eraseEvents(ctx, straight, nothing))
	require.NoError(t, s.eraseRows(ctx, straight, nothing))
	want, err := s.organizations.Certificate(ctx, straight)
	require.NoError(t, err)
	require.EqualValues(t, 3, want.Contents["clickhouse"]["api_usage"])

	// A finished erasure that runs again changes nothing.
	require.NoError(t, s.eraseEvents(ctx, straight, nothing))
	require.NoError(t, s.eraseRows(ctx, straight, nothing))
	again, err := s.organizations.Certificate(ctx, straight)
	require.NoError(t, err)
	require.Equal(t, want, again)

	org := deleted(t, s)
	interruptions := 0
	for step := 0; ; step++ {
		limited, beat := stopAfter(ctx, step)
		err := s.eraseEvents(limited, org, beat)
		if err == nil {
			err = s.eraseRows(limited, org, beat)
		}
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		interruptions++
	}
	require.Greater(t, interruptions, 5)
	got, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.Equal(t, want.Contents, got.Contents)
	require.NotNil(t, got.CompletedAt)
}

// TestErasureCountsWhatItErasedBeforeACrash loses the process between the
// erasure of events and the certificate.
func TestErasureCountsWhatItErasedBeforeACrash(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	org := deleted(t, s)
	db := s.store.db
	s.store.db = nil // the process dies at its next word to PostgreSQL
	require.Panics(t, func() { _ = s.eraseEvents(ctx, org, nothing) })
	s.store.db = db
	// Whatever it had done by then, the next run's certificate tells all of it.
	require.NoError(t, s.eraseEvents(ctx, org, nothing))
	cert, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.EqualValues(t, 3, cert.Contents["clickhouse"]["api_usage"])
	var left uint64
	require.NoError(t, s.store.ch.Writer().QueryRow(ctx, "SELECT count() FROM api_usage WHERE org_id = ?", uuid.UUID(org)).Scan(&left))
	require.Zero(t, left)
}

// TestEveryEraserIsAsked also after the certificate is complete, and counts what
// they erased.
func TestEveryEraserIsAsked(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	asked := 0
	left := int64(4)
	s.erasers = []Eraser{
		func(context.Context, principal.OrgID) (int64, error) { asked++; return 0, nil },
		func(context.Context, principal.OrgID) (n int64, err error) { n, left = left, 0; return n, nil },
	}
	org := deleted(t, s)
	require.NoError(t, s.eraseRows(ctx, org, nothing))
	require.NoError(t, s.eraseRows(ctx, org, nothing))
	require.Equal(t, 2, asked)
	cert, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.EqualValues(t, 4, cert.Contents["files"]["objects"])
}

// TestTheLastLookErasesWhatCameLate writes an audit entry for an organization
// that is gone, as work does that was under way when it was erased.
func TestTheLastLookErasesWhatCameLate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	org := deleted(t, s)
	require.NoError(t, s.eraseRows(ctx, org, nothing))
	want, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	log := change.New(s.store.db, time.Now)
	require.NoError(t, postgres.InTx(ctx, s.store.db, org, func(tx postgres.Tx) error {
		return log.AuditTx(ctx, tx, change.Entry{Action: "run.ended", Resource: "run", ID: "1"})
	}))
	left := func() (n int) {
		row := s.store.db.Org(org).QueryRow(ctx, "SELECT (SELECT count(*) FROM audit_logs) + (SELECT count(*) FROM events)")
		require.NoError(t, row.Scan(&n))
		return n
	}
	require.Equal(t, 2, left())

	require.NoError(t, s.eraseEvents(ctx, org, nothing))

	require.Zero(t, left())
	got, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.Equal(t, want, got, "a complete certificate does not change")
}
