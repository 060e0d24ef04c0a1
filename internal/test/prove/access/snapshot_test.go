package main

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// tenantTables are the tables that hold rows of organizations, with the column
// that names the organization.
func (w *world) tenantTables(t testing.TB) map[string]string {
	t.Helper()
	rows, err := w.owner.Query(t.Context(), `
		SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'org_id'
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	out := map[string]string{"organizations": "id"}
	for _, table := range tables {
		out[table] = "org_id"
	}
	return out
}

// snapshot is a digest of every row that the victim has, by table. A table
// without a row of the victim would prove nothing, so there is none.
func (w *world) snapshot(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for table, column := range w.tenantTables(t) {
		var rows int
		var digest string
		err := w.owner.QueryRow(t.Context(), fmt.Sprintf(
			"SELECT count(*), coalesce(md5(string_agg(r::text, E'\\n' ORDER BY r::text)), '') FROM %s r WHERE %s = $1", table, column),
			w.victim.Org.String()).Scan(&rows, &digest)
		require.NoError(t, err)
		require.NotZero(t, rows, "the victim has no row in %s: give it one in world.fill", table)
		out[table] = fmt.Sprintf("%d rows %s", rows, digest)
	}
	return out
}
