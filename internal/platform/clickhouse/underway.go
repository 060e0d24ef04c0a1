package clickhouse

import (
	"context"
	"fmt"
)

// Underway reports whether the server is at an insert whose name begins with a
// prefix, on any of its nodes.
func (db *DB) Underway(ctx context.Context, prefix string) (bool, error) {
	processes := "system.processes"
	if db.cluster != "" {
		processes = fmt.Sprintf("clusterAllReplicas('%s', system.processes)", db.cluster)
	}
	var n uint64
	if err := db.writer.QueryRow(ctx, "SELECT count() FROM "+processes+" WHERE startsWith(initial_query_id, ?)", prefix).Scan(&n); err != nil {
		return false, fmt.Errorf("look for running inserts: %w", err)
	}
	return n > 0, nil
}

// Cancel asks the server to end the inserts whose names begin with a prefix. It
// does not wait until they have ended.
func (db *DB) Cancel(ctx context.Context, prefix string) error {
	on := ""
	if db.cluster != "" {
		on = fmt.Sprintf(" ON CLUSTER '%s'", db.cluster)
	}
	if err := db.writer.Exec(ctx, "KILL QUERY"+on+" WHERE startsWith(initial_query_id, ?) ASYNC", prefix); err != nil {
		return fmt.Errorf("cancel inserts: %w", err)
	}
	return nil
}
