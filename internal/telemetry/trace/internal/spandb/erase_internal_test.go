package spandb

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// TestErasingOnACluster deletes a trace whose rows are on one of two shards.
func TestErasingOnACluster(t *testing.T) {
	t.Parallel()
	cfg := clickhousetest.NewCluster(t)
	whole, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = whole.Close() })
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

	e := DB{ch: whole}.Eraser(org, gone)
	require.NoError(t, e.Hide(t.Context(), time.Time{}))
	require.Zero(t, count(gone, "1"))
	hidden := count(gone, "0")
	require.Positive(t, hidden)
	left, err := e.Left(t.Context(), time.Now())
	require.NoError(t, err)
	require.Equal(t, hidden, left)

	require.NoError(t, whole.Eraser().Drop(t.Context()))
	require.Zero(t, count(gone, "0"))
	require.Equal(t, before, count(kept, "0"))
	left, err = e.Left(t.Context(), time.Now())
	require.NoError(t, err)
	require.Zero(t, left)
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
	known := []string{"evidence"} // what an agent did is kept for a time of its own, also if its trace is deleted
	for _, table := range traceTables {
		known = append(known, table.name)
	}
	require.ElementsMatch(t, known, found)
}
