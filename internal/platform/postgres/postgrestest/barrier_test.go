package postgrestest_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// TestRowSecurityAlone shows the second barrier without the first: statements
// that forgot the organization, on every table of the product.
func TestRowSecurityAlone(t *testing.T) {
	t.Parallel()

	setup := func(t *testing.T) (*postgres.DB, map[string]string, principal.OrgID, principal.OrgID) {
		t.Helper()
		ours, theirs := principal.NewOrgID(), principal.NewOrgID()
		cfg := filled(t, ours, theirs)
		db, err := postgres.Open(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(db.Close)
		return db, tables(t, owner(t, cfg)), ours, theirs
	}
	count := func(t *testing.T, h postgres.Handle, table string) (n int) {
		t.Helper()
		require.NoError(t, h.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		return n
	}

	t.Run("a read without a predicate returns own rows", func(t *testing.T) {
		t.Parallel()
		db, all, ours, _ := setup(t)
		for table, column := range all {
			require.NotZero(t, count(t, db.Org(ours), table), "%s has no fixture", table)
			var foreign int
			err := db.Org(ours).QueryRow(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s WHERE %s <> $1", table, column), ours).Scan(&foreign)
			require.NoError(t, err)
			require.Zero(t, foreign, table)
		}
	})

	t.Run("no claim sees nothing", func(t *testing.T) {
		t.Parallel()
		db, all, _, _ := setup(t)
		for table := range all {
			require.Zero(t, count(t, db.Claim("app.nothing", "x"), table), table)
		}
	})

	t.Run("a row cannot be moved to another organization", func(t *testing.T) {
		t.Parallel()
		db, all, ours, theirs := setup(t)
		for table, column := range all {
			_, err := db.Org(ours).Exec(t.Context(), fmt.Sprintf("UPDATE %s SET %s = $1", table, column), theirs)
			var refused *pgconn.PgError
			require.ErrorAs(t, err, &refused, table)
			require.Equal(t, "42501", refused.Code, "%s: %v", table, err)
		}
	})

	t.Run("a deletion without a predicate leaves foreign rows", func(t *testing.T) {
		t.Parallel()
		db, all, ours, theirs := setup(t)
		before := map[string]int{}
		for table := range all {
			before[table] = count(t, db.Org(theirs), table)
		}
		// What a frozen version contains goes with its dataset. A table that others
		// refer to is emptied after them; some may not be emptied at all.
		_, err := db.Org(ours).Exec(t.Context(), "UPDATE datasets SET deleted_at = now()")
		require.NoError(t, err)
		for range all {
			for table := range all {
				_, err := db.Org(ours).Exec(t.Context(), "DELETE FROM "+table)
				if err == nil {
					continue
				}
				var refused *pgconn.PgError
				require.ErrorAs(t, err, &refused)
				require.Contains(t, []string{"23503", "42501"}, refused.Code, "%s: %v", table, err)
			}
		}
		require.Zero(t, count(t, db.Org(ours), "datasets"), "the deletions did delete")
		for table := range all {
			require.Equal(t, before[table], count(t, db.Org(theirs), table), table)
		}
	})

	t.Run("truncation is not given to the runtime role", func(t *testing.T) {
		t.Parallel()
		db, all, ours, _ := setup(t)
		for table := range all {
			_, err := db.Org(ours).Exec(t.Context(), "TRUNCATE "+table+" CASCADE")
			require.ErrorContains(t, err, "permission denied", table)
		}
	})
}
