package herald_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/herald"
)

func open(t *testing.T, cfg postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

func organization(t *testing.T, db *postgres.DB) principal.OrgID {
	t.Helper()
	org := principal.OrgID(uuid.New())
	require.NoError(t, postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO organizations (id, name, created_at, updated_at) VALUES ($1, 'Test', now(), now())", org)
		return err
	}))
	return org
}

func said(t *testing.T, db *postgres.DB, org principal.OrgID) (n int) {
	t.Helper()
	require.NoError(t, db.Org(org).QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE org_id = $1 AND topic = $2", org, herald.Topic).Scan(&n))
	return n
}

func TestAPeriodIsSaidOnce(t *testing.T) {
	t.Parallel()
	db := open(t, postgrestest.New(t))
	us, them := organization(t, db), organization(t, db)
	h := herald.New(db, change.New(db, time.Now), 25*time.Second)
	at := time.Unix(0, 0).Add(1000 * herald.Period)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { h.Say(t.Context(), us, at) })
	}
	all.Wait()
	h.Say(t.Context(), us, at.Add(herald.Period-1))
	require.Equal(t, 1, said(t, db, us))
	require.Zero(t, said(t, db, them))
	h.Say(t.Context(), us, at.Add(herald.Period))
	h.Say(t.Context(), us, at) // a clock that is behind
	require.Equal(t, 2, said(t, db, us))
	h.Say(t.Context(), them, at)
	require.Equal(t, 1, said(t, db, them))
}

func TestTelemetryDoesNotWaitForAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	org := principal.OrgID(uuid.New())
	// Whoever connects here waits for an answer.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var asked atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	away := open(t, postgres.Config{URL: secret.Text("postgres://assay_app@" + l.Addr().String() + "/assay?sslmode=disable"), MaxConns: 5, ConnWait: 2 * time.Second})
	h := herald.New(away, change.New(away, time.Now), time.Second)
	at := time.Unix(0, 0).Add(1000 * herald.Period)

	began := time.Now()
	h.Say(t.Context(), org, at)
	require.Less(t, time.Since(began), 10*time.Second)
	tried := asked.Load()
	require.Positive(t, tried)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	h.Say(gone, org, at.Add(time.Second))
	require.Equal(t, tried, asked.Load(), "the next attempt is made after a pause")
	h.Say(t.Context(), org, at.Add(time.Minute))
	require.Greater(t, asked.Load(), tried)
}
