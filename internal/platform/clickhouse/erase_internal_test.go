package clickhouse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErasingReachesEveryNodeOfACluster(t *testing.T) {
	t.Parallel()
	of := func(table string) Doomed {
		return Doomed{Table: table, Arrived: "ingested_at", Where: "org_id = ? AND trace_id = unhex(?)"}
	}
	e := Eraser{topology: Topology{Cluster: "main"}}
	require.Equal(t, "DELETE FROM spans_local ON CLUSTER 'main' IN PARTITION ID 'p' WHERE org_id = ? AND trace_id = unhex(?) AND ingested_at <= fromUnixTimestamp64Milli(?, 'UTC')",
		e.hideSQL(of("spans"), "p", true))
	require.Equal(t, "ALTER TABLE spans_local ON CLUSTER 'main' APPLY DELETED MASK IN PARTITION ID 'p'", e.dropSQL(of("spans"), "p"))
	require.Equal(t, "DELETE FROM traces IN PARTITION ID 'p' WHERE org_id = ? AND trace_id = unhex(?)", Eraser{}.hideSQL(of("traces"), "p", false))
}
