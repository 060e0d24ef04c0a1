package trace

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/db"
)

// deletion is the record of one deletion.
type deletion struct {
	id        int64
	requested time.Time
}

// findDeletion returns the newest deletion of a trace.
func (s store) findDeletion(ctx context.Context, org principal.OrgID, trace span.TraceID) (d deletion, ok bool, err error) {
	r, err := db.New(s.db.Org(org)).FindDeletion(ctx, db.FindDeletionParams{OrgID: org, TraceID: trace[:]})
	if postgres.NoRows(err) {
		return deletion{}, false, nil
	}
	if err != nil {
		return deletion{}, false, fmt.Errorf("find deletion: %w", err)
	}
	return deletion{id: r.ID, requested: r.RequestedAt}, true, nil
}

// deleteTx notes the deletion and forgets what PostgreSQL knows of the trace,
// except its number.
func (s store) deleteTx(ctx context.Context, tx postgres.Tx, trace span.TraceID, at time.Time) (int64, error) {
	q := db.New(tx)
	id, err := q.InsertDeletion(ctx, db.InsertDeletionParams{OrgID: tx.Org, TraceID: trace[:], RequestedAt: at})
	if err != nil {
		return 0, fmt.Errorf("insert deletion: %w", err)
	}
	if err := q.ForgetRef(ctx, db.ForgetRefParams{OrgID: tx.Org, TraceID: trace[:]}); err != nil {
		return 0, fmt.Errorf("forget trace: %w", err)
	}
	return id, nil
}

// finishDeletion notes that nothing of the trace is left.
func (s store) finishDeletion(ctx context.Context, org principal.OrgID, id int64, at time.Time) error {
	if err := db.New(s.db.Org(org)).FinishDeletion(ctx, db.FinishDeletionParams{OrgID: org, ID: id, PurgedAt: &at}); err != nil {
		return fmt.Errorf("finish deletion: %w", err)
	}
	return nil
}
