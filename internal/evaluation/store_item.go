package evaluation

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// pageItems is how many items a row of a run's order has.
const pageItems = 1000

func (s store) putItemsTx(ctx context.Context, tx postgres.Tx, run int64, items []int64) error {
	q := db.New(tx)
	for page := 0; page*pageItems < len(items); page++ {
		part := items[page*pageItems : min(len(items), (page+1)*pageItems)]
		if err := q.PutRunItems(ctx, db.PutRunItemsParams{OrgID: tx.Org, RunID: run, Page: int32(page), Items: part}); err != nil {
			return fmt.Errorf("put items of run: %w", err)
		}
	}
	return nil
}

// items reads a stretch of a run's order.
func (s store) items(ctx context.Context, org principal.OrgID, run int64, from, to int) ([]int64, error) {
	first := from / pageItems
	rows, err := db.New(s.db.Org(org)).RunItems(ctx, db.RunItemsParams{OrgID: org, RunID: run, First: int32(first), Last: int32((to - 1) / pageItems)})
	if err != nil {
		return nil, fmt.Errorf("read items of run: %w", err)
	}
	var all []int64
	for _, r := range rows {
		all = append(all, r.Items...)
	}
	from, to = from-first*pageItems, to-first*pageItems
	if to > len(all) {
		return nil, fmt.Errorf("run %d has no items %d to %d", run, from, to)
	}
	return all[from:to], nil
}

// look tells whether a run still runs, and what its other chunks have cost if it
// has a budget.
func (s store) look(ctx context.Context, org principal.OrgID, r Run, chunk int) (running bool, spent int64, err error) {
	found, err := db.New(s.db.Org(org)).LookAtRun(ctx, db.LookAtRunParams{OrgID: org, RunID: r.ID, Chunk: int32(chunk), Budgeted: r.Request.BudgetUSD != nil})
	if err != nil {
		return false, 0, postgres.Missing(err, "look at run", ErrRunNotFound)
	}
	return Status(found.Status) == StatusRunning, found.Spent, nil
}
