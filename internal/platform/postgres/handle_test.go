package postgres_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func names(t testing.TB, h postgres.Handle) []string {
	t.Helper()
	rows, err := h.Query(t.Context(), "SELECT org_id::text FROM things ORDER BY org_id")
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return list
}

func TestHandle(t *testing.T) {
	t.Parallel()

	t.Run("an organization sees its own rows", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)
		ours, theirs := organization(t, db), organization(t, db)

		require.Equal(t, []string{ours.String()}, names(t, db.Org(ours)))
		require.Equal(t, []string{theirs.String()}, names(t, db.Org(theirs)))
	})

	t.Run("without a claim nothing is seen and nothing can be written", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)
		organization(t, db)
		nobody := db.Claim("app.nothing", "x")

		require.Empty(t, names(t, nobody))
		require.Empty(t, names(t, db.Claim("app.org", "")))
		tag, err := nobody.Exec(t.Context(), "UPDATE things SET name = 'Taken'")
		require.NoError(t, err)
		require.Zero(t, tag.RowsAffected())
		_, err = nobody.Exec(t.Context(), insertThing, principal.NewOrgID(), "Smuggled")
		require.ErrorContains(t, err, "row-level security")
	})

	t.Run("a row cannot be written into another organization", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)
		ours, theirs := organization(t, db), organization(t, db)

		tag, err := db.Org(ours).Exec(t.Context(), "UPDATE things SET name = 'Taken' WHERE org_id = $1", theirs)
		require.NoError(t, err)
		require.Zero(t, tag.RowsAffected())
		_, err = db.Org(ours).Exec(t.Context(), "UPDATE things SET org_id = $1", principal.NewOrgID())
		require.ErrorContains(t, err, "row-level security")
	})

	t.Run("a claim that is no organization is an error", func(t *testing.T) {
		t.Parallel()
		db, _ := fresh(t)
		organization(t, db)

		err := ways["Query"](t, db.Claim("app.org", "' OR true --"), "SELECT 1 FROM things")

		require.ErrorContains(t, err, "invalid input syntax for type uuid")
	})
}

// TestClaimEndsWithTheStatement goes through every way in which a call can end
// and looks at the connection afterwards, which is the only one of its pool.
func TestClaimEndsWithTheStatement(t *testing.T) {
	t.Parallel()
	var n int
	ends := []struct {
		name string
		call func(t *testing.T, h postgres.Handle)
		// gone is true if the driver must throw the connection away.
		gone bool
	}{
		{"after a statement", func(t *testing.T, h postgres.Handle) {
			_, err := h.Exec(t.Context(), "SELECT 1")
			require.NoError(t, err)
		}, false},
		{"after a row", func(t *testing.T, h postgres.Handle) {
			var claim string
			require.NoError(t, h.QueryRow(t.Context(), "SELECT current_setting('app.org')").Scan(&claim))
			_, err := principal.ParseOrgID(claim)
			require.NoError(t, err, "the claim is there while the statement runs")
		}, false},
		{"after no row", func(t *testing.T, h postgres.Handle) {
			require.True(t, postgres.NoRows(h.QueryRow(t.Context(), "SELECT 1 WHERE false").Scan(&n)))
		}, false},
		{"after a row that cannot be scanned", func(t *testing.T, h postgres.Handle) {
			require.Error(t, h.QueryRow(t.Context(), "SELECT 'text'").Scan(&n))
		}, false},
		{"after rows read to the end", func(t *testing.T, h postgres.Handle) {
			rows, err := h.Query(t.Context(), "SELECT generate_series(1, 1000)")
			require.NoError(t, err)
			list, err := pgx.CollectRows(rows, pgx.RowTo[int])
			require.NoError(t, err)
			require.Len(t, list, 1000)
		}, false},
		{"after rows closed early", func(t *testing.T, h postgres.Handle) {
			rows, err := h.Query(t.Context(), "SELECT generate_series(1, 1000)")
			require.NoError(t, err)
			require.True(t, rows.Next())
			rows.Close()
			require.NoError(t, rows.Err())
		}, false},
		{"after a statement that does not parse", func(t *testing.T, h postgres.Handle) {
			_, err := h.Exec(t.Context(), "SELEC 1")
			require.ErrorContains(t, err, "syntax error")
		}, false},
		{"after a query that does not parse", func(t *testing.T, h postgres.Handle) {
			require.ErrorContains(t, h.QueryRow(t.Context(), "SELEC 1").Scan(&n), "syntax error")
		}, false},
		{"after a statement that fails", func(t *testing.T, h postgres.Handle) {
			_, err := h.Exec(t.Context(), "SELECT 1 / 0")
			require.ErrorContains(t, err, "division by zero")
		}, false},
		{"after a query that fails between rows", func(t *testing.T, h postgres.Handle) {
			rows, err := h.Query(t.Context(), "SELECT 1 / (3 - n) FROM generate_series(1, 3) n")
			require.NoError(t, err)
			_, err = pgx.CollectRows(rows, pgx.RowTo[int])
			require.ErrorContains(t, err, "division by zero")
		}, false},
		{"after arguments that do not fit", func(t *testing.T, h postgres.Handle) {
			_, err := h.Exec(t.Context(), "SELECT $1::int", "no number")
			require.Error(t, err)
		}, false},
		{"after a context that ended before", func(t *testing.T, h postgres.Handle) {
			ctx := soon(t)
			<-ctx.Done()
			_, err := h.Exec(ctx, "SELECT 1")
			require.ErrorIs(t, err, ctx.Err())
		}, false},
		{"after a context that ended during a statement", func(t *testing.T, h postgres.Handle) {
			_, err := h.Exec(soon(t), "SELECT pg_sleep(30)")
			require.Error(t, err)
		}, true},
		{"after reads together", func(t *testing.T, h postgres.Handle) {
			require.NoError(t, h.Together(t.Context(), number(t, 1, "SELECT 1"), number(t, 2, "SELECT 2")))
		}, false},
		{"after reads together of which one has no row", func(t *testing.T, h postgres.Handle) {
			require.True(t, postgres.NoRows(h.Together(t.Context(), number(t, 1, "SELECT 1"), number(t, 0, "SELECT 1 WHERE false"), number(t, 3, "SELECT 3"))))
		}, false},
		{"after reads together of which one fails", func(t *testing.T, h postgres.Handle) {
			require.ErrorContains(t, h.Together(t.Context(), number(t, 1, "SELECT 1"), number(t, 0, "SELECT 1 / (n - 1) FROM generate_series(1, 3) n"), number(t, 3, "SELECT 3")), "division by zero")
		}, false},
		{"after reads together of which one does not parse", func(t *testing.T, h postgres.Handle) {
			require.ErrorContains(t, h.Together(t.Context(), number(t, 1, "SELECT 1"), number(t, 0, "SELEC 2")), "syntax error")
		}, false},
		{"after a read together that asks nothing", func(t *testing.T, h postgres.Handle) {
			require.Error(t, h.Together(t.Context(), number(t, 1, "SELECT 1"), func(postgres.Querier) error { return nil }))
		}, false},
		{"after a context that ended during reads together", func(t *testing.T, h postgres.Handle) {
			require.Error(t, h.Together(soon(t), number(t, 1, "SELECT 1"), number(t, 0, "SELECT 1 FROM pg_sleep(30)")))
		}, true},
		{"after a context that ended during a query", func(t *testing.T, h postgres.Handle) {
			require.Error(t, h.QueryRow(soon(t), "SELECT pg_sleep(30)").Scan(nil))
		}, true},
	}
	for _, end := range ends {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			db, _ := fresh(t)
			before := inspect(t, db)

			end.call(t, db.Org(principal.NewOrgID()))

			after := inspect(t, db)
			require.Empty(t, after.Claim)
			require.Equal(t, end.gone, before.PID != after.PID, "the connection is kept exactly if it can be")
		})
	}
}

func TestIdentifiersAreSentToColumnsOfBothKinds(t *testing.T) {
	t.Parallel()
	db, _ := fresh(t)
	org, id := principal.NewOrgID(), uuid.New()
	for _, arg := range []any{org, id, &id, []uuid.UUID{id}} {
		want := id.String()
		if _, own := arg.(principal.OrgID); own {
			want = org.String()
		}
		for _, sql := range []string{"SELECT $1::uuid::text", "SELECT $1::text"} {
			if _, list := arg.([]uuid.UUID); list {
				sql = "SELECT ($1::uuid[])[1]::text"
			}
			var got string
			require.NoError(t, db.Org(org).QueryRow(t.Context(), sql, arg).Scan(&got), "%T: %s", arg, sql)
			require.Equal(t, want, got, "%T: %s", arg, sql)
		}
	}
	var none *uuid.UUID
	var null bool
	require.NoError(t, db.Org(org).QueryRow(t.Context(), "SELECT $1::uuid IS NULL", none).Scan(&null))
	require.True(t, null)
}

// number reads a number, which must be the one that is wanted.
func number(t testing.TB, want int, sql string) func(postgres.Querier) error {
	return func(q postgres.Querier) error {
		var n int
		err := q.QueryRow(t.Context(), sql).Scan(&n)
		if err == nil {
			require.Equal(t, want, n)
		}
		return err
	}
}

func TestReadsTogetherSeeTheirOrganization(t *testing.T) {
	t.Parallel()
	db, _ := fresh(t)
	ours := organization(t, db)
	organization(t, db)
	var all []string
	var first string
	read := func(q postgres.Querier) error {
		rows, err := q.Query(t.Context(), "SELECT org_id::text FROM things")
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}
	require.NoError(t, db.Org(ours).Together(t.Context(), read, func(q postgres.Querier) error {
		return q.QueryRow(t.Context(), "SELECT name FROM things WHERE org_id = $1", ours).Scan(&first)
	}))
	require.Equal(t, []string{ours.String()}, all)
	require.Equal(t, "Test", first)
	require.ErrorContains(t, db.Org(ours).Together(t.Context(), func(q postgres.Querier) error {
		_, err := q.Exec(t.Context(), "DELETE FROM things")
		return err
	}), "only queries run together")
}

func TestAWriteIsCommittedWhenTheCallReturns(t *testing.T) {
	t.Parallel()
	writes := map[string]func(t *testing.T, h postgres.Handle, sql string, args ...any){
		"Exec": func(t *testing.T, h postgres.Handle, sql string, args ...any) {
			_, err := h.Exec(t.Context(), sql, args...)
			require.NoError(t, err)
		},
		"QueryRow": func(t *testing.T, h postgres.Handle, sql string, args ...any) {
			var name string
			require.NoError(t, h.QueryRow(t.Context(), sql+" RETURNING name", args...).Scan(&name))
		},
		"Query": func(t *testing.T, h postgres.Handle, sql string, args ...any) {
			rows, err := h.Query(t.Context(), sql+" RETURNING name", args...)
			require.NoError(t, err)
			_, err = pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
		},
		"Query closed early": func(t *testing.T, h postgres.Handle, sql string, args ...any) {
			rows, err := h.Query(t.Context(), sql+" RETURNING name", args...)
			require.NoError(t, err)
			rows.Close()
			require.NoError(t, rows.Err())
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, cfg := fresh(t)
			other := single(t, cfg)
			org := principal.NewOrgID()

			write(t, db.Org(org), insertThing, org, "Test")

			require.Equal(t, []string{org.String()}, names(t, other.Org(org)))
		})
	}
}

// TestAnErrorOfTheCommitIsSeen uses a constraint that PostgreSQL checks only at
// commit, after the statement itself has succeeded.
func TestAnErrorOfTheCommitIsSeen(t *testing.T) {
	t.Parallel()
	const violate = "INSERT INTO late (n) VALUES (1), (1) RETURNING n"
	calls := map[string]func(t *testing.T, h postgres.Handle) error{
		"by Exec": func(t *testing.T, h postgres.Handle) error {
			_, err := h.Exec(t.Context(), violate)
			return err
		},
		"by Scan": func(t *testing.T, h postgres.Handle) error {
			return h.QueryRow(t.Context(), violate).Scan(new(int))
		},
		"by Err": func(t *testing.T, h postgres.Handle) error {
			rows, err := h.Query(t.Context(), violate)
			require.NoError(t, err)
			for rows.Next() {
				require.NoError(t, rows.Scan(new(int)))
			}
			return rows.Err()
		},
		"by Err after an early Close": func(t *testing.T, h postgres.Handle) error {
			rows, err := h.Query(t.Context(), violate)
			require.NoError(t, err)
			rows.Close()
			return rows.Err()
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, cfg := fresh(t)
			asOwner(t, cfg, "CREATE TABLE late (n int, CONSTRAINT late_once UNIQUE (n) DEFERRABLE INITIALLY DEFERRED)")
			org := principal.NewOrgID()

			err := call(t, db.Org(org))

			require.Error(t, err)
			require.True(t, postgres.Violates(err, "late_once"), "%v", err)
			require.Empty(t, inspect(t, db).Claim)
			var n int
			require.NoError(t, db.Org(org).QueryRow(t.Context(), "SELECT count(*) FROM late").Scan(&n))
			require.Zero(t, n)
		})
	}
}

// TestRoundTrips counts what the network carries once statements are prepared
// and the connection is in use.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	cfg, p := through(t, scratch(t))
	db := single(t, cfg)
	org := organization(t, db)
	var n int
	run := map[string]func(){
		"exec": func() {
			_, err := db.Org(org).Exec(t.Context(), "UPDATE things SET name = $1", "New")
			require.NoError(t, err)
		},
		"row": func() {
			require.NoError(t, db.Org(org).QueryRow(t.Context(), "SELECT count(*) FROM things").Scan(&n))
		},
		"query": func() { names(t, db.Org(org)) },
		"together": func() {
			require.NoError(t, db.Org(org).Together(t.Context(), number(t, 1, "SELECT count(*) FROM things"), number(t, 2, "SELECT 2"), number(t, 3, "SELECT 3")))
		},
		"transaction": func() {
			err := postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
				_, err := tx.Exec(t.Context(), "UPDATE things SET name = $1", "New")
				return err
			})
			require.NoError(t, err)
		},
	}
	for name, want := range map[string]int{"exec": 1, "row": 1, "query": 1, "together": 1, "transaction": 2} {
		run[name]() // prepares
		for range 5 {
			require.Equal(t, want, p.count(run[name]), name)
		}
	}
}
