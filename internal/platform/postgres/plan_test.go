package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// The connection, which is the only one of its pool, counts the plans of each statement.
func TestHowStatementsArePlanned(t *testing.T) {
	t.Parallel()
	const (
		times = 8 // PostgreSQL itself would change its mind after the fifth
		find  = "SELECT count(*) FROM things WHERE org_id = $1"
		plans = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1"
	)
	tests := map[string]struct {
		read            func(*testing.T, *postgres.DB, principal.OrgID) error
		generic, custom int
	}{
		"a lookup once": {func(t *testing.T, db *postgres.DB, org principal.OrgID) error {
			_, err := db.Org(org).Lookup().Exec(t.Context(), find, org)
			return err
		}, times, 0},
		"a search each time": {func(t *testing.T, db *postgres.DB, org principal.OrgID) error {
			_, err := db.Org(org).Search().Exec(t.Context(), find, org)
			return err
		}, 0, times},
		"lookups of a transaction once": {func(t *testing.T, db *postgres.DB, org principal.OrgID) error {
			return postgres.InTx(t.Context(), db, org, func(tx postgres.Tx) error {
				tx.Lookups()
				_, err := tx.Exec(t.Context(), find, org)
				return err
			})
		}, times, 0},
		"a search after a lookup each time": {func(t *testing.T, db *postgres.DB, org principal.OrgID) error {
			if _, err := db.Org(org).Lookup().Exec(t.Context(), "SELECT 1"); err != nil {
				return err
			}
			_, err := db.Org(org).Search().Exec(t.Context(), find, org)
			return err
		}, 0, times},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := fresh(t)
			org := organization(t, db)
			for range times {
				require.NoError(t, test.read(t, db, org))
			}
			var generic, custom int
			require.NoError(t, db.Org(org).QueryRow(t.Context(), plans, find).Scan(&generic, &custom))
			require.Equal(t, []int{test.generic, test.custom}, []int{generic, custom}, "generic and custom plans")
		})
	}
}
