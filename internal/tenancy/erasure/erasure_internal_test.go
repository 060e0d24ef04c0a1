package erasure

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/tenancy"
)

// service is a service on databases of its own, without an edge.
func service(t testing.TB) *Service {
	t.Helper()
	return serviceOn(t, clickhousetest.New(t))
}

func serviceOn(t testing.TB, cfg clickhouse.Config) *Service {
	t.Helper()
	pg, err := postgres.Open(t.Context(), postgrestest.New(t))
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	organizations := tenancy.New(tenancy.Parts{
		Stores: tenancy.Stores{Postgres: pg, ClickHouse: ch}, Config: tenancy.Config{Pepper: "a pepper for tests, of 32 or more characters", PepperVersion: 1, FailuresMinute: 5},
		Plans: tenancy.PlanConfig{Default: "free", SelfHostedHour: 1, EnterpriseHour: 1}, Log: change.New(pg, time.Now), Now: time.Now,
	})
	return New(Stores{Postgres: pg, ClickHouse: ch}, Config{Settle: time.Second, PurgeInterval: time.Hour}, organizations, &workflows{})
}

// workflows is an engine with some workflows.
type workflows struct {
	running, ended []temporal.Execution
}

func (w *workflows) Start(context.Context, string, string, any, any) error { return nil }

func (w *workflows) Each(_ context.Context, prefix string, running bool, do func(temporal.Execution) error) error {
	all := w.ended
	if running {
		all = w.running
	}
	for _, e := range slices.Clone(all) {
		if !strings.HasPrefix(e.ID, prefix) {
			continue
		}
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *workflows) Terminate(_ context.Context, e temporal.Execution, _ string) error {
	w.running = slices.DeleteFunc(w.running, func(o temporal.Execution) bool { return o == e })
	w.ended = append(w.ended, e)
	return nil
}

func (w *workflows) Forget(_ context.Context, e temporal.Execution) error {
	w.ended = slices.DeleteFunc(w.ended, func(o temporal.Execution) bool { return o == e })
	return nil
}

// erase looks until nothing is found, as the workflow does.
func (s *Service) erase(ctx context.Context, org principal.OrgID, beat func(string)) error {
	for {
		found, err := s.look(ctx, org, beat)
		if err != nil {
			return err
		}
		if found == 0 {
			return s.complete(ctx, org)
		}
	}
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
	require.NoError(t, s.erase(ctx, straight, nothing))
	want, err := s.organizations.Certificate(ctx, straight)
	require.NoError(t, err)
	require.EqualValues(t, 3, want.Contents["clickhouse"]["api_usage"])

	// A finished erasure that runs again changes nothing.
	require.NoError(t, s.erase(ctx, straight, nothing))
	again, err := s.organizations.Certificate(ctx, straight)
	require.NoError(t, err)
	require.Equal(t, want, again)

	org := deleted(t, s)
	interruptions := 0
	for step := 0; ; step++ {
		limited, beat := stopAfter(ctx, step)
		err := s.erase(limited, org, beat)
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
	require.Panics(t, func() {
		_, _ = s.store.eraseEvents(ctx, org, s.organizations.CountErasedTx, nothing)
	})
	s.store.db = db
	// Whatever it had done by then, the next run's certificate tells all of it.
	_, err := s.look(ctx, org, nothing)
	require.NoError(t, err)
	cert, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.EqualValues(t, 3, cert.Contents["clickhouse"]["api_usage"])
	require.Zero(t, stored(t, s, org))
}

// stored counts an organization's figures of use that are on the disks, hidden
// or not.
func stored(t testing.TB, s *Service, org principal.OrgID) (n uint64) {
	t.Helper()
	require.NoError(t, s.store.ch.Writer().QueryRow(t.Context(), "SELECT count() FROM api_usage WHERE org_id = ? SETTINGS apply_deleted_mask = 0", uuid.UUID(org)).Scan(&n))
	return n
}

// TestRowsThatAreHiddenAlreadyAreErased is about an organization that deleted
// something shortly before it was deleted.
func TestRowsThatAreHiddenAlreadyAreErased(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	org, other := deleted(t, s), deleted(t, s)
	require.NoError(t, s.store.ch.Eraser().Hide(ctx, clickhouse.Doomed{Table: "api_usage", Where: "org_id = ?", Args: []any{uuid.UUID(org)}}))
	require.EqualValues(t, 3, stored(t, s, org))
	_, err := s.look(ctx, org, nothing)
	require.NoError(t, err)
	require.Zero(t, stored(t, s, org))
	require.EqualValues(t, 3, stored(t, s, other))
}

// TestEveryShardIsErased has organizations on both shards of a cluster.
func TestEveryShardIsErased(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := serviceOn(t, clickhousetest.NewCluster(t))
	for range 6 { // their ids lead to either shard
		org := deleted(t, s)
		require.EqualValues(t, 3, stored(t, s, org))
		require.NoError(t, s.erase(ctx, org, nothing))
		require.Zero(t, stored(t, s, org))
		cert, err := s.organizations.Certificate(ctx, org)
		require.NoError(t, err)
		require.EqualValues(t, 3, cert.Contents["clickhouse"]["api_usage"])
		require.NotNil(t, cert.CompletedAt)
	}
}

// TestWorkIsStopped ends what is under way before anything is erased, and
// deletes its history.
func TestWorkIsStopped(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	org, other := deleted(t, s), principal.NewOrgID()
	engine := &workflows{
		running: []temporal.Execution{{ID: "run:" + org.String() + ":1"}, {ID: "run:" + other.String() + ":1"}},
		ended:   []temporal.Execution{{ID: "purge:" + org.String() + ":4"}},
	}
	s.engine = engine
	runs := int64(1)
	s.Use(Part{Workflows: []string{"run", "purge"}, Stop: func(context.Context, principal.OrgID) (n int64, err error) {
		require.Len(t, engine.running, 2-int(1-runs), "rows say that runs are over before their workflows end")
		n, runs = runs, 0
		return n, nil
	}})
	require.NoError(t, s.erase(ctx, org, nothing))
	require.Equal(t, []temporal.Execution{{ID: "run:" + other.String() + ":1"}}, engine.running)
	require.Empty(t, engine.ended)
	cert, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.EqualValues(t, 2, cert.Contents["temporal"]["histories"])
}

// TestTheCertificateWaitsForALookThatFindsNothing lets something turn up in
// several looks.
func TestTheCertificateWaitsForALookThatFindsNothing(t *testing.T) {
	t.Parallel()
	s := service(t)
	org := deleted(t, s)
	late := []int64{2, 1, 0, 1, 0}
	s.Use(Part{Erase: func(context.Context, principal.OrgID) (n int64, err error) {
		n, late = late[0], late[1:]
		return n, nil
	}})
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	a := &Activities{s}
	env.RegisterActivity(a)
	look := func(last bool) (looked Looked) {
		t.Helper()
		value, err := env.ExecuteActivity(a.Erase, Look{Deletion: tenancy.Deletion{Org: org}, Last: last})
		require.NoError(t, err)
		require.NoError(t, value.Get(&looked))
		cert, err := s.organizations.Certificate(t.Context(), org)
		require.NoError(t, err)
		require.Equal(t, looked.Completed, cert.CompletedAt != nil)
		return looked
	}
	require.Positive(t, look(false).Found)
	require.False(t, look(true).Completed, "something was found")
	require.False(t, look(false).Completed, "nothing was found, too early")
	require.False(t, look(true).Completed, "something was found")
	require.Equal(t, Looked{Completed: true, Settle: time.Second}, look(true))
}

// TestEveryPartIsAsked also after the certificate is complete, and counts what
// they erased.
func TestEveryPartIsAsked(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	asked := 0
	left := int64(4)
	s.Use(
		Part{Erase: func(context.Context, principal.OrgID) (int64, error) { asked++; return 0, nil }},
		Part{Erase: func(context.Context, principal.OrgID) (n int64, err error) { n, left = left, 0; return n, nil }},
	)
	org := deleted(t, s)
	require.NoError(t, s.erase(ctx, org, nothing))
	require.NoError(t, s.erase(ctx, org, nothing))
	require.Equal(t, 3, asked)
	cert, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.EqualValues(t, 4, cert.Contents["files"]["objects"])
}

var runEnded = event.Of("run", "Run").Event("run.ended", "A run ended.")

// TestTheLastLookErasesWhatCameLate writes an audit entry for an organization
// that is gone, as work does that was under way when it was erased.
func TestTheLastLookErasesWhatCameLate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	org := deleted(t, s)
	require.NoError(t, s.erase(ctx, org, nothing))
	want, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	log := change.New(s.store.db, time.Now)
	require.NoError(t, postgres.InTx(ctx, s.store.db, org, func(tx postgres.Tx) error {
		return log.AuditTx(ctx, tx, change.Entry{Event: runEnded, ID: "1"})
	}))
	left := func() (n int) {
		row := s.store.db.Org(org).QueryRow(ctx, "SELECT (SELECT count(*) FROM audit_logs) + (SELECT count(*) FROM events)")
		require.NoError(t, row.Scan(&n))
		return n
	}
	require.Equal(t, 2, left())

	found, err := s.look(ctx, org, nothing)

	require.NoError(t, err)
	require.EqualValues(t, 2, found)
	require.Zero(t, left())
	got, err := s.organizations.Certificate(ctx, org)
	require.NoError(t, err)
	require.Equal(t, want, got, "a complete certificate does not change")
}
