package clickhouse

import (
	"context"
	"errors"
	"fmt"
)

// ErrUnfiltered is what Filtered returns while the server would show the reader
// rows of every organization.
var ErrUnfiltered = errors.New("ClickHouse does not filter what the reader sees")

// Filtered reports whether every server has a row filter for the reader that
// compares rows with the organization of the query. Queries name their
// organization in any case; the filter holds if one of them forgets to.
func (db *DB) Filtered(ctx context.Context) error {
	policies, servers := "system.row_policies", uint64(1)
	if db.cluster != "" {
		policies = "clusterAllReplicas('" + db.cluster + "', system.row_policies)"
		if err := db.writer.QueryRow(ctx, "SELECT count() FROM system.clusters WHERE cluster = ?", db.cluster).Scan(&servers); err != nil {
			return fmt.Errorf("count servers of the cluster: %w", Translate(err))
		}
	}
	var filtering uint64
	err := db.writer.QueryRow(ctx, "SELECT uniqExact(hostName(), tcpPort()) FROM "+policies+
		" WHERE database = ? AND table = '' AND position(select_filter, '"+orgSetting+"') > 0"+
		" AND (has(apply_to_list, ?) OR apply_to_all AND NOT has(apply_to_except, ?))",
		db.database, db.readerUser, db.readerUser).Scan(&filtering)
	if err != nil {
		return fmt.Errorf("look for the row filter: %w", Translate(err))
	}
	if filtering < servers {
		return fmt.Errorf("%w: %d of %d servers have a row filter for the user %q on the database %q; install deploy/clickhouse/users.d/assay.xml on every server, with the name of your database",
			ErrUnfiltered, filtering, servers, db.readerUser, db.database)
	}
	return nil
}
