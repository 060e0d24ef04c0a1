package spandb

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// TestErasingOnACluster deletes a trace whose rows are on one of two shards.
// The development servers know no ON CLUSTER, so each shard is told itself.
func TestErasingOnACluster(t *testing.T) {
	t.Parallel()
	cfg := clickhousetest.NewCluster(t)
	open := func(c clickhouse.Config) *clickhouse.DB {
		db, err := clickhouse.Open(c)
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	whole := open(cfg)
	org := principal.NewOrgID()
	count := func(id span.TraceID, mask string) (n uint64) {
		for _, table := range traceTables {
			var rows uint64
			require.NoError(t, whole.Writer().QueryRow(t.Context(), "SELECT count() FROM "+table.name+" WHERE org_id = ? AND trace_id = unhex(?) SETTINGS apply_deleted_mask = "+mask,
				uuid.UUID(org), id.String()).Scan(&rows))
			n += rows
		}
		return n
	}
	// Enough traces that both shards have some.
	var ids []span.TraceID
	for i := range 8 {
		id := span.TraceID{15: byte(i + 1)}
		ids = append(ids, id)
		for _, days := range []int{0, 1} {
			require.NoError(t, whole.Writer().Exec(t.Context(), `
				INSERT INTO spans (org_id, trace_id, span_id, start_time, name, retention_days, ingested_at, version)
				SETTINGS distributed_foreground_insert = 1
				SELECT ?, unhex(?), unhex(leftPad(hex(number + 1), 16, '0')), now64(6) - toIntervalDay(?), 'x', 90, now64(3), number + 1 FROM numbers(3)`,
				uuid.UUID(org), id.String(), days))
		}
		require.Positive(t, count(id, "1"))
	}
	gone, kept := ids[3], ids[4]
	before := count(kept, "0")

	for _, shard := range clickhousetest.Shards(t, cfg) {
		e := Eraser{eraser: open(shard).EraserOf(clickhouse.Topology{Cluster: cfg.Cluster, PerShard: true}), org: org, trace: gone}
		require.NoError(t, e.Hide(t.Context()))
	}
	require.Zero(t, count(gone, "1"))
	require.Positive(t, count(gone, "0"))

	for _, shard := range clickhousetest.Shards(t, cfg) {
		e := Eraser{eraser: open(shard).EraserOf(clickhouse.Topology{Cluster: cfg.Cluster, PerShard: true}), org: org, trace: gone}
		require.NoError(t, e.Purge(t.Context(), time.Now()))
	}
	require.Zero(t, count(gone, "0"))
	require.Equal(t, before, count(kept, "0"))
}

func TestEveryTableWithTracesIsErased(t *testing.T) {
	t.Parallel()
	db, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	var found []string
	rows, err := db.Writer().Query(t.Context(), `
		SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'trace_id'
		  AND table NOT IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView')`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		found = append(found, name)
	}
	require.NoError(t, rows.Err())
	var known []string
	for _, table := range traceTables {
		known = append(known, table.name)
	}
	require.ElementsMatch(t, known, found)
}
