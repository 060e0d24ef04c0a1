package postgrestest_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
)

// The fixtures are of one organization, whose key is this one.
const (
	fixtureOrg = "01900000-0000-7000-8000-000000000001"
	fixtureKey = "AAAAAAAAAAAA"
)

// versions are the numbers of the migrations, in order.
func versions(t testing.TB) []int64 {
	t.Helper()
	out, err := postgres.Versions(db.Postgres())
	require.NoError(t, err)
	return out
}

// fixture is the rows that belong after one migration.
func fixture(t testing.TB, version int64) string {
	t.Helper()
	names, err := fs.Glob(db.Postgres(), fmt.Sprintf("%04d_*.sql", version))
	require.NoError(t, err)
	require.Len(t, names, 1, "two migrations have the number %d", version)
	rows := fixtureIn(t, names[0])
	if text, err := fs.ReadFile(db.PostgresFixtures(), names[0]); err == nil {
		rows += string(text)
	}
	require.NotEmpty(t, rows, "%s has no fixture: add `-- fixture: INSERT …;` below a table, so that the next migration meets data", names[0])
	return rows
}

// fixtureIn is the rows that a migration itself gives for the tables that it
// makes, in lines that begin with a mark.
func fixtureIn(t testing.TB, migration string) string {
	t.Helper()
	text, err := fs.ReadFile(db.Postgres(), migration)
	require.NoError(t, err)
	var rows strings.Builder
	for line := range strings.Lines(string(text)) {
		if row, ok := strings.CutPrefix(line, "-- fixture: "); ok {
			rows.WriteString(row)
		}
	}
	if rows.Len() == 0 {
		return ""
	}
	return "SELECT set_config('app.org', '" + fixtureOrg + "', false);\n" + rows.String()
}

// fixtureOf is the rows that belong after one migration, as rows of another
// organization.
func fixtureOf(t testing.TB, org principal.OrgID, version int64) string {
	t.Helper()
	id := org.String()
	ours := strings.NewReplacer(fixtureOrg, id, fixtureKey, strings.ReplaceAll(id, "-", "")[20:])
	return ours.Replace(fixture(t, version))
}

// filled brings a database up one migration at a time, with the fixtures of
// each as rows of every given organization.
func filled(t testing.TB, orgs ...principal.OrgID) postgres.Config {
	t.Helper()
	cfg := postgrestest.Empty(t)
	conn := owner(t, cfg)
	for _, v := range versions(t) {
		_, err := postgres.MigrateTo(t.Context(), cfg, db.Postgres(), v)
		require.NoError(t, err)
		for _, org := range orgs {
			_, err := conn.Exec(t.Context(), fixtureOf(t, org, v))
			require.NoError(t, err, "fixture %d", v)
		}
	}
	return cfg
}

// owner connects as the owner of the tables.
func owner(t testing.TB, cfg postgres.Config) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), cfg.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// tables are all tables of ours with the column that names the organization.
// Rows are reached through a partitioned table, not through its partitions.
func tables(t testing.TB, conn *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'org_id'
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	out := map[string]string{"organizations": "id"}
	for _, name := range names {
		out[name] = "org_id"
	}
	return out
}
