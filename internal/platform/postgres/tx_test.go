package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func TestInTx(t *testing.T) {
	t.Parallel()
	insert := func(t *testing.T, tx postgres.Tx) {
		t.Helper()
		_, err := tx.Exec(t.Context(), insertThing, tx.Org, "Test")
		require.NoError(t, err)
	}

	t.Run("commits what succeeds, under the organization's claim", func(t *testing.T) {
		t.Parallel()
		db, cfg := fresh(t)
		org := principal.NewOrgID()

		err := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
			insert(t, tx)
			var claim string
			require.NoError(t, tx.QueryRow(t.Context(), "SELECT current_setting('app.org')").Scan(&claim))
			require.Equal(t, org.String(), claim)
			return nil
		})

		require.NoError(t, err)
		require.Equal(t, []string{org.String()}, names(t, single(t, cfg).Org(org)))
		require.Empty(t, inspect(t, db).Claim)
	})

	refused := errors.New("refused")
	t.Run("says when it has committed, and only then", func(t *testing.T) {
		t.Parallel()
		db, cfg := fresh(t)
		org := principal.NewOrgID()
		var seen []string
		for _, result := range []error{refused, nil} {
			err := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
				insert(t, tx)
				tx.AfterCommit(func() { seen = names(t, single(t, cfg).Org(org)) })
				return result
			})
			require.ErrorIs(t, err, result)
			require.Equal(t, result == nil, len(seen) == 1)
		}
	})

	ends := []struct {
		name string
		run  func(t *testing.T, db *postgres.DB, org principal.OrgID)
		gone bool
	}{
		{"rolls back on an error, and returns that error", func(t *testing.T, db *postgres.DB, org principal.OrgID) {
			err := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
				insert(t, tx)
				return refused
			})
			require.ErrorIs(t, err, refused)
		}, false},
		{"rolls back on a panic, and lets it pass", func(t *testing.T, db *postgres.DB, org principal.OrgID) {
			require.PanicsWithError(t, "refused", func() {
				_ = postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
					insert(t, tx)
					panic(refused)
				})
			})
		}, false},
		{"rolls back when the request ends between statements", func(t *testing.T, db *postgres.DB, org principal.OrgID) {
			ctx, cancel := context.WithCancel(t.Context())
			err := postgres.InTx(ctx, db, org, func(tx postgres.Tx) error {
				insert(t, tx)
				cancel()
				return ctx.Err()
			})
			require.ErrorIs(t, err, context.Canceled)
		}, false},
		{"rolls back when the request ends before the commit", func(t *testing.T, db *postgres.DB, org principal.OrgID) {
			ctx, cancel := context.WithCancel(t.Context())
			err := postgres.InTx(ctx, db, org, func(tx postgres.Tx) error {
				insert(t, tx)
				cancel()
				return nil
			})
			require.ErrorIs(t, err, context.Canceled)
		}, false},
		{"rolls back when the request ends during a statement", func(t *testing.T, db *postgres.DB, org principal.OrgID) {
			ctx := soon(t)
			err := postgres.InTx(ctx, db, org, func(tx postgres.Tx) error {
				insert(t, tx)
				_, err := tx.Exec(ctx, "SELECT pg_sleep(30)")
				return err
			})
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}, true},
		{"does not pass for a commit if a statement failed and the function hid it", func(t *testing.T, db *postgres.DB, org principal.OrgID) {
			err := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
				insert(t, tx)
				_, err := tx.Exec(t.Context(), "SELECT 1 / 0")
				require.Error(t, err)
				return nil
			})
			require.ErrorContains(t, err, "rolled back")
		}, false},
		{"rolls back if rows are left open", func(t *testing.T, db *postgres.DB, org principal.OrgID) {
			err := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
				insert(t, tx)
				rows, err := tx.Query(t.Context(), "SELECT generate_series(1, 1000)")
				require.NoError(t, err)
				require.NoError(t, rows.Err())
				return refused
			})
			require.ErrorIs(t, err, refused)
		}, true},
	}
	for _, end := range ends {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			db, cfg := fresh(t)
			before := inspect(t, db)
			org := principal.NewOrgID()

			end.run(t, db, org)

			require.Empty(t, names(t, single(t, cfg).Org(org)), "nothing of it is stored")
			after := inspect(t, db)
			require.Empty(t, after.Claim)
			require.Equal(t, end.gone, before.PID != after.PID, "the connection goes back clean, or not at all")
			organization(t, db) // and works
		})
	}

	t.Run("reports an error of the commit", func(t *testing.T) {
		t.Parallel()
		db, cfg := fresh(t)
		asOwner(t, cfg, "CREATE TABLE late (n int, CONSTRAINT late_once UNIQUE (n) DEFERRABLE INITIALLY DEFERRED)")

		err := postgres.InTx(t.Context(), db, principal.NewOrgID(), func(tx postgres.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO late (n) VALUES (1), (1)")
			require.NoError(t, err)
			return nil
		})

		require.True(t, postgres.Violates(err, "late_once"), "%v", err)
	})

	t.Run("sends what can wait in its order, with the next statement or the commit", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)
		org := principal.NewOrgID()
		var name string

		err := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
			wait(t, tx, insertThing, org, "Test")
			require.NoError(t, tx.QueryRow(t.Context(), "SELECT name FROM things").Scan(&name))
			require.Equal(t, "Test", name, "a transaction sees what it wrote")
			wait(t, tx, "UPDATE things SET name = 'Renamed'")
			wait(t, tx, "UPDATE things SET name = name || ' twice'")
			return nil
		})

		require.NoError(t, err)
		require.NoError(t, db.Org(org).QueryRow(t.Context(), "SELECT name FROM things").Scan(&name))
		require.Equal(t, "Renamed twice", name)
	})

	t.Run("returns the error of what waited", func(t *testing.T) {
		t.Parallel()
		db, cfg := fresh(t)
		asOwner(t, cfg, "CREATE TABLE once (n int, CONSTRAINT only_once UNIQUE (n)); GRANT INSERT ON once TO PUBLIC")
		for name, use := range map[string]func(postgres.Tx) error{
			"with the commit":         func(postgres.Tx) error { return nil },
			"with the next statement": func(tx postgres.Tx) error { _, err := tx.Exec(t.Context(), "SELECT 1"); return err },
			"with the next query":     func(tx postgres.Tx) error { return tx.QueryRow(t.Context(), "SELECT 1").Scan(new(int)) },
			"with the next reads": func(tx postgres.Tx) error {
				return tx.Together(t.Context(), number(t, 1, "SELECT 1"))
			},
		} {
			err := postgres.InTx(t.Context(), db, principal.NewOrgID(), func(tx postgres.Tx) error {
				wait(t, tx, insertThing, tx.Org, "Test")
				wait(t, tx, "INSERT INTO once (n) VALUES (1), (1)")
				return use(tx)
			})
			require.True(t, postgres.Violates(err, "only_once"), "%s: %v", name, err)
			require.Empty(t, inspect(t, db).Claim)
		}
	})

	t.Run("runs reads together", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)
		err := postgres.InTx(t.Context(), db, principal.NewOrgID(), func(tx postgres.Tx) error {
			insert(t, tx)
			return tx.Together(t.Context(), number(t, 1, "SELECT count(*) FROM things"), number(t, 2, "SELECT 2"))
		})
		require.NoError(t, err)
	})

	t.Run("asks the server nothing if it is asked nothing", func(t *testing.T) {
		t.Parallel()
		cfg, p := through(t, scratch(t))
		db := single(t, cfg)
		inspect(t, db) // connects
		require.Zero(t, p.count(func() {
			require.NoError(t, postgres.InTx(t.Context(), db, principal.NewOrgID(), func(postgres.Tx) error { return nil }))
		}))
	})
}

// wait has a statement sent later.
func wait(t testing.TB, tx postgres.Tx, sql string, args ...any) {
	t.Helper()
	_, err := tx.Later().Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}
