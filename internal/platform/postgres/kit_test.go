package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
)

// single opens a pool of one connection, so that each call reuses the
// connection of the call before.
func single(t testing.TB, cfg postgres.Config) *postgres.DB {
	t.Helper()
	cfg.MaxConns = 1
	db, err := postgres.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

// things is a table of the tests' own, secured as every table of the product.
const things = "CREATE TABLE things (org_id uuid NOT NULL, name text NOT NULL); SELECT tenant_table('things')"

// scratch is a database of the test's own with that table.
func scratch(t testing.TB) postgres.Config {
	t.Helper()
	cfg := postgrestest.New(t)
	asOwner(t, cfg, things)
	return cfg
}

// fresh opens a pool of one connection on a database of the test's own.
func fresh(t testing.TB) (*postgres.DB, postgres.Config) {
	t.Helper()
	cfg := scratch(t)
	return single(t, cfg), cfg
}

// owner connects as the owner of the tables.
func owner(t testing.TB, cfg postgres.Config) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), cfg.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// asOwner runs statements as the owner of the tables.
func asOwner(t testing.TB, cfg postgres.Config, statements ...string) {
	t.Helper()
	c := owner(t, cfg)
	for _, s := range statements {
		_, err := c.Exec(t.Context(), s)
		require.NoError(t, err, s)
	}
}

const insertThing = "INSERT INTO things (org_id, name) VALUES ($1, $2)"

// organization makes an organization that has one thing.
func organization(t testing.TB, db *postgres.DB) principal.OrgID {
	t.Helper()
	org := principal.NewOrgID()
	_, err := db.Org(org).Exec(t.Context(), insertThing, org, "Test")
	require.NoError(t, err)
	return org
}

// connection is what a handle without any claim of the product finds on the
// pool's connection: its process, and the claim that is left on it.
type connection struct {
	PID   int
	Claim string
}

func inspect(t testing.TB, db *postgres.DB) connection {
	t.Helper()
	var c connection
	// A connection that is cut off counts until the driver has closed it.
	require.Eventually(t, func() bool {
		err := db.Claim("app.nothing", "x").QueryRow(t.Context(),
			"SELECT pg_backend_pid(), coalesce(current_setting('app.org', true), '')").Scan(&c.PID, &c.Claim)
		if !errors.Is(err, postgres.ErrBusy) {
			require.NoError(t, err)
		}
		return err == nil
	}, 3*time.Minute, time.Millisecond)
	return c
}

// soon is a context that ends while a slow statement runs.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	t.Cleanup(cancel)
	return ctx
}
