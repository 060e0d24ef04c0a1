package annotation

import (
	"context"
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation/internal/db"
)

// purgeItemsTx removes some items of a deleted task and says how many.
func (s store) purgeItemsTx(ctx context.Context, tx postgres.Tx, task int64, most int32) (int, error) {
	q := db.New(tx)
	items, err := q.DoomedItems(ctx, db.DoomedItemsParams{OrgID: tx.Org, TaskID: task, Batch: most})
	if err != nil {
		return 0, fmt.Errorf("find items to purge: %w", err)
	}
	if len(items) == 0 {
		return 0, nil
	}
	err = errors.Join(
		q.PurgeLeases(ctx, db.PurgeLeasesParams{OrgID: tx.Org, Items: items}),
		q.PurgeSkips(ctx, db.PurgeSkipsParams{OrgID: tx.Org, Items: items}),
		q.PurgeRevisions(ctx, db.PurgeRevisionsParams{OrgID: tx.Org, Items: items}),
		q.PurgeAnnotations(ctx, db.PurgeAnnotationsParams{OrgID: tx.Org, Items: items}),
		q.PurgeItems(ctx, db.PurgeItemsParams{OrgID: tx.Org, Items: items}),
	)
	if err != nil {
		return 0, fmt.Errorf("purge items: %w", err)
	}
	return len(items), nil
}

// purgeTaskTx removes a deleted task whose items are gone.
func (s store) purgeTaskTx(ctx context.Context, tx postgres.Tx, task int64) error {
	q := db.New(tx)
	err := errors.Join(
		q.PurgePlaces(ctx, db.PurgePlacesParams{OrgID: tx.Org, TaskID: task}),
		q.PurgeTask(ctx, db.PurgeTaskParams{OrgID: tx.Org, ID: task}),
	)
	return postgres.Wrap(err, "purge task")
}
