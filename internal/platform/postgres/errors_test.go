package postgres_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// querier is what a handle and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// ways are the ways in which generated code reads an answer.
var ways = map[string]func(t *testing.T, q querier, sql string, args ...any) error{
	"Query": func(t *testing.T, q querier, sql string, args ...any) error {
		rows, err := q.Query(t.Context(), sql, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	},
	"QueryRow": func(t *testing.T, q querier, sql string, args ...any) error {
		var n any
		return q.QueryRow(t.Context(), sql, args...).Scan(&n)
	},
}

func TestAnOutageIsUnavailable(t *testing.T) {
	t.Parallel()
	const outage = "SELECT 1"

	t.Run("when the server cannot be reached at all", func(t *testing.T) {
		t.Parallel()
		db := single(t, postgres.Config{URL: "postgres://assay_app:hunter2@127.0.0.1:1/assay", ConnWait: time.Second})

		_, err := db.Claim("app.nothing", "x").Exec(t.Context(), "SELECT 1")
		require.ErrorIs(t, err, postgres.ErrUnavailable)
		require.NotContains(t, err.Error(), "hunter2")
		require.ErrorIs(t, db.CheckSchema(t.Context(), fstest.MapFS{"1_first.sql": {}}), postgres.ErrUnavailable)
		err = postgres.InTx(t.Context(), db, principal.NewOrgID(), func(postgres.Tx) error { return nil })
		require.ErrorIs(t, err, postgres.ErrUnavailable)
	})

	for name, call := range ways {
		t.Run("when the network is cut before "+name, func(t *testing.T) {
			t.Parallel()
			cfg, p := through(t, scratch(t))
			db := single(t, cfg)
			org := organization(t, db)

			p.cut()

			require.ErrorIs(t, call(t, db.Org(org), outage), postgres.ErrUnavailable)
			require.ErrorIs(t, call(t, db.Org(org), outage), postgres.ErrUnavailable, "and again on a new connection")
		})

		t.Run("when the network is cut before "+name+" in a transaction", func(t *testing.T) {
			t.Parallel()
			cfg, p := through(t, scratch(t))
			db := single(t, cfg)

			err := postgres.InTx(t.Context(), db, organization(t, db), func(tx postgres.Tx) error {
				p.cut()
				return call(t, tx, outage)
			})

			require.ErrorIs(t, err, postgres.ErrUnavailable)
		})
	}

	t.Run("when the network is cut before a statement", func(t *testing.T) {
		t.Parallel()
		cfg, p := through(t, scratch(t))
		db := single(t, cfg)
		org := organization(t, db)

		p.cut()

		_, err := db.Org(org).Exec(t.Context(), outage)
		require.ErrorIs(t, err, postgres.ErrUnavailable)
	})

	t.Run("when the network is cut before the commit", func(t *testing.T) {
		t.Parallel()
		cfg, p := through(t, scratch(t))
		db := single(t, cfg)

		err := postgres.InTx(t.Context(), db, organization(t, db), func(tx postgres.Tx) error {
			_, err := tx.Exec(t.Context(), outage)
			p.cut()
			return err
		})

		require.ErrorIs(t, err, postgres.ErrUnavailable)
	})

	t.Run("when the server ends the connection", func(t *testing.T) {
		t.Parallel()
		db, cfg := fresh(t)
		pid := inspect(t, db).PID
		_, err := single(t, cfg).Claim("app.nothing", "x").Exec(t.Context(), "SELECT pg_terminate_backend($1, 5000)", pid)
		require.NoError(t, err)

		_, err = db.Org(principal.NewOrgID()).Exec(t.Context(), outage)

		require.ErrorIs(t, err, postgres.ErrUnavailable)
		inspect(t, db) // the next statement works again
	})

	t.Run("but the caller's own limit of time is not", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)
		inspect(t, db)

		_, err := db.Org(principal.NewOrgID()).Exec(soon(t), "SELECT pg_sleep(30)")

		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, postgres.ErrUnavailable)
	})

	t.Run("and no other error is", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)

		_, err := db.Org(principal.NewOrgID()).Exec(t.Context(), "SELECT 1 / 0")

		require.Error(t, err)
		require.NotErrorIs(t, err, postgres.ErrUnavailable)
	})
}

func TestTextThatCannotBeStoredIsTheCallersFault(t *testing.T) {
	t.Parallel()
	for name, call := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := fresh(t)
			org := principal.NewOrgID()

			inHandle := call(t, db.Org(org), "SELECT $1::text", "a\x00b")
			inTx := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
				return call(t, tx, "SELECT $1::text", "a\x00b")
			})

			for _, err := range []error{inHandle, inTx} {
				f, ok := fault.From(err)
				require.True(t, ok, "%v", err)
				require.Equal(t, fault.Validation, f.Kind)
				require.Equal(t, "invalid_text", f.Reason)
			}
		})
	}
}

func TestAPrivilegedRoleIsRefused(t *testing.T) {
	t.Parallel()

	t.Run("the owner of the tables", func(t *testing.T) {
		t.Parallel()
		db, cfg := fresh(t)
		organization(t, db)
		unsafe := single(t, postgres.Config{URL: cfg.OwnerURL, ConnWait: cfg.ConnWait})

		_, err := unsafe.Org(principal.NewOrgID()).Exec(t.Context(), "SELECT 1")
		require.ErrorIs(t, err, postgres.ErrUnsafeRole)
		require.NotErrorIs(t, err, postgres.ErrUnavailable, "waiting does not mend it")
		require.ErrorContains(t, err, "owner=true")
		_, err = unsafe.Claim("app.nothing", "x").Exec(t.Context(), "SELECT 1")
		require.ErrorIs(t, err, postgres.ErrUnsafeRole)
		err = postgres.InTx(t.Context(), unsafe, principal.NewOrgID(), func(postgres.Tx) error { return nil })
		require.ErrorIs(t, err, postgres.ErrUnsafeRole)

		// The control: under that role one forgotten FORCE is a leak.
		asOwner(t, cfg, "ALTER TABLE things NO FORCE ROW LEVEL SECURITY")
		var seen int
		require.NoError(t, owner(t, cfg).QueryRow(t.Context(), "SELECT count(*) FROM things").Scan(&seen))
		require.Equal(t, 1, seen)
		require.Empty(t, names(t, db.Claim("app.nothing", "x")), "the runtime role does not see it even then")
	})

	t.Run("the runtime role itself, once it owns a table", func(t *testing.T) {
		t.Parallel()
		db, cfg := fresh(t)
		organization(t, db)
		asOwner(t, cfg, "GRANT CREATE ON SCHEMA public TO assay_app")
		_, err := db.Claim("app.nothing", "x").Exec(t.Context(), "CREATE TABLE mine (n int)")
		require.NoError(t, err)

		_, err = single(t, cfg).Org(principal.NewOrgID()).Exec(t.Context(), "SELECT 1")

		require.ErrorIs(t, err, postgres.ErrUnsafeRole)
	})
}
