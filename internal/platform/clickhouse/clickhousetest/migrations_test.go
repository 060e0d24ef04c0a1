package clickhousetest_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
)

var update = flag.Bool("update", false, "write the rendered migrations anew")

// TestMigrationsAreRendered compares what each kind of installation runs with
// what a reviewer has seen. The engine of development has no cluster, so for
// clusters the text is the proof.
func TestMigrationsAreRendered(t *testing.T) {
	t.Parallel()
	for kind, topology := range map[string]clickhouse.Topology{
		"single":    {Database: "assay"},
		"cluster":   {Database: "assay", Cluster: "main"},
		"per_shard": {Database: "assay", Cluster: "main", PerShard: true},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			rendered, err := clickhouse.Render(db.ClickHouse(), topology)
			require.NoError(t, err)
			names, err := fs.Glob(rendered, "*.sql")
			require.NoError(t, err)
			require.NotEmpty(t, names)
			folder := filepath.Join("..", "testdata", kind)
			for _, name := range names {
				got, err := fs.ReadFile(rendered, name)
				require.NoError(t, err)
				file := filepath.Join(folder, name)
				if *update {
					require.NoError(t, os.MkdirAll(folder, 0o755))
					require.NoError(t, os.WriteFile(file, got, 0o644))
				}
				want, err := os.ReadFile(file)
				require.NoError(t, err, "run the test with -update and look at what it wrote")
				require.Equal(t, string(want), string(got))
			}
			kept, err := os.ReadDir(folder)
			require.NoError(t, err)
			require.Len(t, kept, len(names), "a file without its migration")
		})
	}

	t.Run("a mistake in a template is an error", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"{{ .NoSuchThing }}", "{{ .Local }}", "{{"} {
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "0001_x.sql"), []byte(text), 0o600))
			_, err := clickhouse.Render(os.DirFS(folder), clickhouse.Topology{})
			require.Error(t, err, text)
		}
	})
}

func TestMigratingAgainDoesNothing(t *testing.T) {
	t.Parallel()
	cfg := clickhousetest.New(t)
	applied, err := clickhouse.Migrate(t.Context(), cfg, db.ClickHouse())
	require.NoError(t, err)
	require.Empty(t, applied)
}

func TestTheReaderCannotWrite(t *testing.T) {
	t.Parallel()
	reader, err := clickhouse.Connect(clickhousetest.New(t).ReaderURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	var n uint64
	require.NoError(t, reader.QueryRow(t.Context(), "SELECT count() FROM api_usage").Scan(&n))
	require.Zero(t, n)

	for _, statement := range []string{
		"INSERT INTO api_usage (org_id) VALUES ('01900000-0000-7000-8000-000000000001')",
		"TRUNCATE TABLE api_usage",
		"DROP TABLE api_usage",
		"CREATE TABLE mine (n UInt8) ENGINE = Memory",
	} {
		require.Error(t, reader.Exec(t.Context(), statement), statement)
	}
}

// TestOrganizationComesFirst reads the keys of every table: an organization's
// rows lie together, and no table is without the column.
func TestOrganizationComesFirst(t *testing.T) {
	t.Parallel()
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	rows, err := ch.Writer().Query(t.Context(), "SELECT name, sorting_key FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT LIKE 'goose_db_version%'")
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	tables := 0
	for rows.Next() {
		var name, key string
		require.NoError(t, rows.Scan(&name, &key))
		require.Regexp(t, `^org_id\b`, key, name)
		tables++
	}
	require.NoError(t, rows.Err())
	require.Positive(t, tables)
}
