package dataset

import (
	"context"

	"go.temporal.io/sdk/activity"
)

// purgeBatch keeps each statement short: a batch takes some tens of
// milliseconds and holds its locks no longer.
const purgeBatch = 2000

// Activities are the side effects of the domain's workflows. Each may run
// again after a failure.
type Activities struct{ store store }

// Purge removes a deleted dataset and everything in it. A second run removes
// what the first left.
func (a *Activities) Purge(ctx context.Context, p Purge) error {
	var removed int64
	for {
		n, err := a.store.purgeItems(ctx, p.Org, p.DatasetID, purgeBatch)
		if err != nil {
			return err
		}
		removed += n
		activity.RecordHeartbeat(ctx, removed)
		if n < purgeBatch {
			return a.store.purgeRest(ctx, p.Org, p.DatasetID)
		}
	}
}
