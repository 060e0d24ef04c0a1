package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// TestKeysHaveConnectionsOfTheirOwn lets transactions hold every other
// connection: a key is still looked up, whoever else asks is refused soon, and
// the server counts no more connections than it was promised.
func TestKeysHaveConnectionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	const conns = 5 // four and one for keys
	cfg := scratch(t)
	cfg.MaxConns, cfg.ConnWait = conns, 5*time.Second
	db, err := postgres.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	org, other := principal.NewOrgID(), principal.NewOrgID()
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	for _, holder := range []principal.OrgID{org, org, other, principal.NewOrgID()} {
		go func() {
			ended <- postgres.InTx(t.Context(), db, holder, func(postgres.Tx) error {
				began <- struct{}{}
				<-release
				return nil
			})
		}()
		<-began
	}

	_, err = db.Key("7Gq2mZ0aKc4T").Exec(t.Context(), "SELECT 1")
	require.NoError(t, err)
	for name, call := range map[string]func() error{
		"statement": func() error { _, err := db.Org(org).Exec(t.Context(), "SELECT 1"); return err },
		"row":       func() error { var n int; return db.Org(org).QueryRow(t.Context(), "SELECT 1").Scan(&n) },
		"transaction": func() error {
			return postgres.InTx(t.Context(), db, org, func(postgres.Tx) error { return nil })
		},
	} {
		asked := time.Now()
		err := call()
		require.ErrorIs(t, err, postgres.ErrBusy, name)
		f, _ := fault.From(err)
		require.Equal(t, fault.Unavailable, f.Kind)
		require.Less(t, time.Since(asked), 15*time.Second)
	}
	var open int
	require.NoError(t, owner(t, cfg).QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'assay'").Scan(&open))
	require.Equal(t, conns, open)

	close(release)
	for range conns - 1 {
		require.NoError(t, <-ended)
	}
	_, err = db.Org(org).Exec(t.Context(), "SELECT 1")
	require.NoError(t, err, "the connections are back")
}

// TestOrganizationsLeaveConnections lets two organizations hold every connection
// that they can get, for as long as a caller would wait, with many more waiting:
// another one is served at once.
func TestOrganizationsLeaveConnections(t *testing.T) {
	t.Parallel()
	cfg := scratch(t)
	cfg.MaxConns, cfg.ConnWait = 5, 10*time.Second
	db, err := postgres.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	greedy, quiet := []principal.OrgID{principal.NewOrgID(), principal.NewOrgID()}, principal.NewOrgID()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var held, refused atomic.Int64
	for i := range 40 {
		all.Go(func() {
			err := postgres.InTx(ctx, db, greedy[i%2], func(postgres.Tx) error {
				held.Add(1)
				<-ctx.Done()
				return nil
			})
			if errors.Is(err, postgres.ErrBusy) {
				refused.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return held.Load() >= 2 }, 3*time.Minute, time.Millisecond)
	for range 50 {
		_, err := db.Org(quiet).Exec(t.Context(), "SELECT 1")
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return refused.Load()+held.Load() == 40 }, 3*time.Minute, time.Millisecond)
	require.LessOrEqual(t, held.Load(), int64(3), "one is left for others")
	cancel()
	all.Wait()
}

// TestAMigrationLetsOthersThrough holds a table that a migration wants: whoever
// comes after the migration waits for it a moment and not as long as it does,
// and the migration is applied when the table is free.
func TestAMigrationLetsOthersThrough(t *testing.T) {
	t.Parallel()
	cfg := scratch(t)
	holder, reader := owner(t, cfg), owner(t, cfg)
	tx, err := holder.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE things IN ACCESS SHARE MODE")
	require.NoError(t, err)
	migrated := make(chan error, 1)
	go func() {
		_, err := postgres.Migrate(t.Context(), cfg, fstest.MapFS{
			"29990101000000_more.sql": {Data: []byte("-- +goose Up\nALTER TABLE things ADD COLUMN more text;\n")},
		})
		migrated <- err
	}()
	waiting := func() (n int) {
		require.NoError(t, reader.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE relation = 'things'::regclass AND NOT granted").Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return waiting() == 1 }, 3*time.Minute, 5*time.Millisecond)
	_, err = reader.Exec(t.Context(), "SELECT FROM things")
	require.NoError(t, err, "the reader comes through while the table is still held")
	select {
	case err := <-migrated:
		t.Fatalf("the migration ended while its table was held: %v", err)
	default:
	}
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-migrated)
	_, err = reader.Exec(t.Context(), "SELECT more FROM things")
	require.NoError(t, err)
}
