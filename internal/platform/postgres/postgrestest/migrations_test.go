package postgrestest_test

import (
	"io/fs"
	"os/exec"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
)

// random is the key that some versions of pg_dump put into their output.
var random = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

// glob are the names of the SQL files of a folder, in order.
func glob(t testing.TB, dir fs.FS) []string {
	t.Helper()
	names, err := fs.Glob(dir, "*.sql")
	require.NoError(t, err)
	return names
}

// dump is the schema of a database with its privileges, as text. Partitions
// follow from rows and from the time, so they are left out.
func dump(t testing.TB, cfg postgres.Config) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--schema-only", "--exclude-table=*_20[0-9][0-9][0-9][0-9][0-9][0-9]", "--dbname="+cfg.OwnerURL.Reveal()).Output()
	require.NoError(t, err)
	return random.ReplaceAllString(string(out), "")
}

// TestMigrationsMeetData brings a database up one migration at a time, with
// rows in every table before the next migration comes.
func TestMigrationsMeetData(t *testing.T) {
	t.Parallel()
	cfg := postgrestest.Empty(t)
	conn := owner(t, cfg)
	for _, v := range versions(t) {
		applied, err := postgres.MigrateTo(t.Context(), cfg, db.Postgres(), v)
		require.NoError(t, err)
		require.Len(t, applied, 1)
		require.Equal(t, v, applied[0].Version)

		_, err = conn.Exec(t.Context(), fixture(t, v))
		require.NoError(t, err, "fixture %d", v)
		for table := range tables(t, conn) {
			var n int
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
			require.NotZero(t, n, "after migration %d table %s has no row: add one to its fixture", v, table)
		}
	}

	straight := postgrestest.Empty(t)
	_, err := postgres.Migrate(t.Context(), straight, db.Postgres())
	require.NoError(t, err)
	require.Equal(t, dump(t, straight), dump(t, cfg), "step by step and at once give one schema")

	again, err := postgres.Migrate(t.Context(), cfg, db.Postgres())
	require.NoError(t, err)
	require.Empty(t, again)
}

// TestTheBinaryBeforeKeepsWorking writes to the newest schema what binaries of
// every earlier schema write: during an upgrade they still run.
func TestTheBinaryBeforeKeepsWorking(t *testing.T) {
	t.Parallel()
	conn := owner(t, postgrestest.New(t))
	org := principal.NewOrgID()
	for _, v := range versions(t) {
		_, err := conn.Exec(t.Context(), fixtureOf(t, org, v))
		require.NoError(t, err, "what a binary of migration %d writes is refused by a later migration: give the new column a default", v)
	}
}

// TestOlderEventsReachFollowers shows that an event which an older binary put
// into the outbox becomes a row of events, whether it was there before the
// migration or comes while both binaries run.
func TestOlderEventsReachFollowers(t *testing.T) {
	t.Parallel()
	org := principal.NewOrgID()
	for name, conn := range map[string]*pgx.Conn{"before": owner(t, filled(t, org)), "meanwhile": owner(t, postgrestest.New(t))} {
		if name == "meanwhile" {
			for _, v := range versions(t) {
				_, err := conn.Exec(t.Context(), fixtureOf(t, org, v))
				require.NoError(t, err)
			}
		}
		_, err := conn.Exec(t.Context(), "SELECT set_config('app.org', $1, false)", org.String())
		require.NoError(t, err)
		var event string
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT type || ' ' || resource || ' ' || resource_id || ' ' || payload FROM events
			WHERE at = '2026-01-01T00:00:00Z' AND payload->>'request_id' = 'r'`).Scan(&event), name)
		require.Equal(t, `fixture.created fixture 1 {"request_id": "r"}`, event, name)
		var left int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE topic = 'event'").Scan(&left))
		require.Zero(t, left, name)
	}
}

func TestSeveralProcessesMayMigrateAtOnce(t *testing.T) {
	t.Parallel()
	cfg := postgrestest.Empty(t)
	var g errgroup.Group
	counts := make([]int, 3)
	for i := range counts {
		g.Go(func() error {
			applied, err := postgres.Migrate(t.Context(), cfg, db.Postgres())
			counts[i] = len(applied)
			return err
		})
	}
	require.NoError(t, g.Wait())

	total := 0
	for _, n := range counts {
		total += n
	}
	require.Equal(t, len(versions(t)), total, "each migration ran once: %v", counts)
}

// TestMigrationsAreNamedByTime keeps two branches from taking one number: the
// first eight have numbers, and everything since has the second it was made in.
func TestMigrationsAreNamedByTime(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^(000[1-8]|20[0-9]{12})_[a-z_]+\.sql$`)
	migrations := glob(t, db.Postgres())
	for _, m := range migrations {
		require.Regexp(t, name, m, "name it by the current time: date -u +%%Y%%m%%d%%H%%M%%S")
	}
	require.Subset(t, migrations, glob(t, db.PostgresFixtures()), "fixtures have the name of their migration")
	for _, v := range versions(t) {
		require.NotEmpty(t, fixture(t, v))
	}
	for _, bad := range []string{"0009_next.sql", "next.sql", "20261115_next.sql", "20261115204500-next.sql"} {
		require.NotRegexp(t, name, bad)
	}
}

func TestCheckSchema(t *testing.T) {
	t.Parallel()
	t.Run("a database without tables says to migrate", func(t *testing.T) {
		t.Parallel()
		pg, err := postgres.Open(t.Context(), postgrestest.Empty(t))
		require.NoError(t, err)
		t.Cleanup(pg.Close)

		require.ErrorContains(t, pg.CheckSchema(t.Context(), db.Postgres()), "assay migrate")
	})

	t.Run("an older schema is behind, a newer one is fine", func(t *testing.T) {
		t.Parallel()
		pg, err := postgres.Open(t.Context(), postgrestest.New(t))
		require.NoError(t, err)
		t.Cleanup(pg.Close)

		newer := fstest.MapFS{"99991231235959_late.sql": {}}
		older := fstest.MapFS{"0001_tenancy.sql": {}}
		require.ErrorIs(t, pg.CheckSchema(t.Context(), newer), postgres.ErrSchemaBehind)
		require.NoError(t, pg.CheckSchema(t.Context(), db.Postgres()))
		require.NoError(t, pg.CheckSchema(t.Context(), older))
	})

	t.Run("a migration merged late is applied, and missed until then", func(t *testing.T) {
		t.Parallel()
		cfg := postgrestest.New(t)
		pg, err := postgres.Open(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(pg.Close)

		late := fstest.MapFS{"20200101000000_late.sql": {Data: []byte("-- +goose Up\nSELECT 1;\n")}}
		for _, name := range glob(t, db.Postgres()) {
			text, err := fs.ReadFile(db.Postgres(), name)
			require.NoError(t, err)
			late[name] = &fstest.MapFile{Data: text}
		}
		require.ErrorContains(t, pg.CheckSchema(t.Context(), late), "20200101000000")
		applied, err := postgres.Migrate(t.Context(), cfg, late)
		require.NoError(t, err)
		require.Len(t, applied, 1)
		require.NoError(t, pg.CheckSchema(t.Context(), late))
	})

	t.Run("a migration without an owner says what to set", func(t *testing.T) {
		t.Parallel()
		_, err := postgres.Migrate(t.Context(), postgres.Config{}, db.Postgres())
		require.ErrorContains(t, err, "ASSAY_POSTGRES_OWNER_URL")
	})
}
