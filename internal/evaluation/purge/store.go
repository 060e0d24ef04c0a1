package purge

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

// purgeable are runs of a deleted evaluation that are still there.
func (s store) purgeable(ctx context.Context, p Purge, limit int32) ([]int64, error) {
	runs, err := db.New(s.db.Org(p.Org)).PurgeableRuns(ctx, db.PurgeableRunsParams{OrgID: p.Org, EvaluationID: p.Evaluation, RowLimit: limit})
	return runs, postgres.Wrap(err, "find runs to purge")
}

// purgeRun removes the rows of a run.
func (s store) purgeRun(ctx context.Context, org principal.OrgID, run int64) error {
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		q := db.New(tx)
		for name, remove := range map[string]func() error{
			"items":     func() error { return q.PurgeRunItems(ctx, db.PurgeRunItemsParams{OrgID: org, RunID: run}) },
			"chunks":    func() error { return q.PurgeRunChunks(ctx, db.PurgeRunChunksParams{OrgID: org, RunID: run}) },
			"notes":     func() error { return q.PurgeRunNotes(ctx, db.PurgeRunNotesParams{OrgID: org, RunID: run}) },
			"artifacts": func() error { return q.PurgeRunArtifacts(ctx, db.PurgeRunArtifactsParams{OrgID: org, RunID: run}) },
		} {
			if err := remove(); err != nil {
				return fmt.Errorf("purge %s of run: %w", name, err)
			}
		}
		return postgres.Wrap(q.PurgeRun(ctx, db.PurgeRunParams{OrgID: org, ID: run}), "purge run")
	})
}

// purge removes a deleted evaluation that has no runs any more.
func (s store) purge(ctx context.Context, p Purge) error {
	err := db.New(s.db.Org(p.Org)).PurgeEvaluation(ctx, db.PurgeEvaluationParams{OrgID: p.Org, ID: p.Evaluation})
	return postgres.Wrap(err, "purge evaluation")
}
