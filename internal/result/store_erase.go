package result

import (
	"context"
	"fmt"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/principal"
)

func (s store) erase(ctx context.Context, org principal.OrgID, runs []int64) error {
	var partitions []string
	err := s.each(ctx, org, func(rows driver.Rows) error {
		var p string
		err := rows.Scan(&p)
		partitions = append(partitions, p)
		return err
	}, "SELECT DISTINCT _partition_id FROM run_results WHERE org_id = ? AND run_id IN (?)", uuid.UUID(org), runs)
	if err != nil {
		return fmt.Errorf("find results to erase: %w", err)
	}
	t := clickhouse.Topology{Cluster: s.ClickHouse.Cluster()}
	table := t.Local("run_results")
	if on := t.OnCluster(); on != "" {
		table += " " + on
	}
	// It returns when every replica has rewritten its parts.
	waiting := chgo.Context(ctx, chgo.WithSettings(chgo.Settings{"mutations_sync": 2}))
	for _, p := range partitions {
		text := "ALTER TABLE " + table + " DELETE IN PARTITION ID '" + p + "' WHERE org_id = ? AND run_id IN (?)"
		if err := s.ClickHouse.Writer().Exec(waiting, text, uuid.UUID(org), runs); err != nil {
			return fmt.Errorf("erase results: %w", clickhouse.Translate(err))
		}
	}
	return nil
}
