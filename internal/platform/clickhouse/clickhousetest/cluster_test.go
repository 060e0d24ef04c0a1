package clickhousetest_test

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
)

func open(t *testing.T, cfg clickhouse.Config) *clickhouse.DB {
	t.Helper()
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	return ch
}

func names(t *testing.T, ch *clickhouse.DB, query string) []string {
	t.Helper()
	rows, err := ch.Writer().Query(t.Context(), query)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	var found []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		found = append(found, name)
	}
	require.NoError(t, rows.Err())
	return found
}

func number(t *testing.T, ch *clickhouse.DB, query string) int {
	t.Helper()
	var n uint64
	require.NoError(t, ch.Writer().QueryRow(t.Context(), query).Scan(&n), query)
	return int(n)
}

var distributed = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+)\s+AS (\w+)\s+ENGINE = Distributed\(`)

func TestEveryShardHasEveryTable(t *testing.T) {
	t.Parallel()
	cfg := clickhousetest.NewCluster(t)
	rendered, err := clickhouse.Render(db.ClickHouse(), clickhouse.Topology{Cluster: cfg.Cluster, PerShard: true})
	require.NoError(t, err)
	files, err := fs.Glob(rendered, "*.sql")
	require.NoError(t, err)
	var over, local []string
	for _, file := range files {
		text, err := fs.ReadFile(rendered, file)
		require.NoError(t, err)
		for _, match := range distributed.FindAllStringSubmatch(string(text), -1) {
			over, local = append(over, match[1]), append(local, match[2])
		}
	}
	require.Contains(t, over, "api_usage")
	slices.Sort(over)

	for _, shard := range clickhousetest.Shards(t, cfg) {
		ch := open(t, shard)
		require.Equal(t, over, names(t, ch, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'Distributed' ORDER BY name"))
		require.Subset(t, names(t, ch, "SELECT name FROM system.tables WHERE database = currentDatabase()"), local)
		// A table that one of the shards does not have cannot be read.
		for _, table := range over {
			require.Zero(t, number(t, ch, "SELECT count() FROM "+table), table)
		}
	}
}

func TestMigratingAShardAgainDoesNothing(t *testing.T) {
	t.Parallel()
	cfg := clickhousetest.NewCluster(t)
	for _, shard := range clickhousetest.Shards(t, cfg) {
		shard.Cluster = cfg.Cluster
		applied, err := clickhouse.MigrateShard(t.Context(), shard, db.ClickHouse())
		require.NoError(t, err)
		require.Empty(t, applied)
	}
}

func TestASingleNodeHasNoShards(t *testing.T) {
	t.Parallel()
	_, err := clickhouse.MigrateShard(t.Context(), clickhousetest.New(t), db.ClickHouse())
	require.ErrorContains(t, err, "cluster is empty")
}

func TestOrganizationsSpreadOverTheShards(t *testing.T) {
	t.Parallel()
	cfg := clickhousetest.NewCluster(t)
	cluster := open(t, cfg)
	const orgs, rowsEach = 200, 5

	// The insert is acknowledged when every shard has its rows.
	ctx := chgo.Context(t.Context(), chgo.WithSettings(chgo.Settings{"distributed_foreground_insert": 1}))
	batch, err := cluster.Writer().PrepareBatch(ctx, "INSERT INTO api_usage (org_id, at, key_id, operation, status, duration_us)")
	require.NoError(t, err)
	at := time.Now().UTC().Truncate(time.Millisecond)
	for range orgs {
		org := uuid.New()
		for i := range rowsEach {
			require.NoError(t, batch.Append(org, at.Add(time.Duration(i)*time.Second), "key", "listDatasets", uint16(200), uint32(i)))
		}
	}
	require.NoError(t, batch.Send())

	var rows, found int
	for _, shard := range clickhousetest.Shards(t, cfg) {
		ch := open(t, shard)
		stored := number(t, ch, "SELECT count() FROM api_usage_local")
		require.Positive(t, stored, "a shard has no rows")
		rows += stored
		found += number(t, ch, "SELECT uniqExact(org_id) FROM api_usage_local")
		// Each shard answers for both.
		require.Equal(t, orgs*rowsEach, number(t, ch, "SELECT count() FROM api_usage"))
	}
	require.Equal(t, orgs*rowsEach, rows)
	require.Equal(t, rows, number(t, cluster, "SELECT count() FROM api_usage"))
	require.Equal(t, orgs, found, "the rows of an organization lie on one shard")
}
