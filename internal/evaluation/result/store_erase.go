package result

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// erase makes the results of runs unreadable. They leave the disks with the next
// round of purges.
func (s store) erase(ctx context.Context, org principal.OrgID, runs []int64) error {
	err := s.ClickHouse.Eraser().Hide(ctx, clickhouse.Doomed{Table: "run_results", Where: "org_id = ? AND run_id IN (?)", Args: []any{uuid.UUID(org), runs}})
	if err != nil {
		return fmt.Errorf("erase results: %w", err)
	}
	return nil
}
