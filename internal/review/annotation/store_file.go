package annotation

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation/internal/db"
	"github.com/assayhq/assay/internal/review/labelfile"
)

// exportBatch is how many items are read at once, if PageBytes does not end before.
const exportBatch = 500

// itemsAbove are some items of a task whose id is above another, oldest first.
func (s store) itemsAbove(ctx context.Context, org principal.OrgID, task, above int64) ([]Item, error) {
	rows, err := db.New(s.db.Org(org)).ItemsAbove(ctx, db.ItemsAboveParams{OrgID: org, TaskID: task, Above: above, RowLimit: exportBatch, MaxBytes: PageBytes})
	if err != nil {
		return nil, fmt.Errorf("read the items of task %d: %w", task, err)
	}
	return fromItems(rows), nil
}

// importsTx keeps answers that came with items.
func (s store) importsTx(ctx context.Context, tx postgres.Tx, items []int64, answers []labelfile.Answer, by principal.Actor, at time.Time) error {
	p := db.InsertImportsParams{OrgID: tx.Org, Items: items, ImportedBy: by.String(), CreatedAt: at}
	for _, a := range answers {
		text, err := json.Marshal(a, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
		p.Answers = append(p.Answers, string(text))
	}
	return postgres.Wrap(db.New(tx).InsertImports(ctx, p), "keep imported answers")
}

// imports are the answers that came with items, by item.
func (s store) imports(ctx context.Context, org principal.OrgID, items []int64) (map[int64][]labelfile.Answer, error) {
	rows, err := db.New(s.db.Org(org)).ImportsOfItems(ctx, db.ImportsOfItemsParams{OrgID: org, Items: items})
	if err != nil {
		return nil, fmt.Errorf("read imported answers: %w", err)
	}
	out := map[int64][]labelfile.Answer{}
	for _, r := range rows {
		var a labelfile.Answer
		if err := json.Unmarshal(r.Answer, &a); err != nil {
			return nil, fmt.Errorf("imported answer to item %d: %w", r.ItemID, err)
		}
		out[r.ItemID] = append(out[r.ItemID], a)
	}
	return out, nil
}
