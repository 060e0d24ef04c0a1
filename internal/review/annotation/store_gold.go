package annotation

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation/internal/db"
)

func (s store) insertGoldTx(ctx context.Context, tx postgres.Tx, task int64, items []Item, asked []NewItem) error {
	p := db.InsertGoldParams{OrgID: tx.Org, TaskID: task}
	for n, i := range asked {
		if i.Gold != nil {
			p.Items, p.Labels = append(p.Items, items[n].ID), append(p.Labels, i.label)
		}
	}
	if len(p.Items) == 0 {
		return nil
	}
	return postgres.Wrap(db.New(tx).InsertGold(ctx, p), "insert gold questions")
}

func (s store) hasGoldTx(ctx context.Context, tx postgres.Tx, task int64) (bool, error) {
	has, err := db.New(tx).HasGold(ctx, db.HasGoldParams{OrgID: tx.Org, TaskID: task})
	return has, postgres.Wrap(err, "find gold questions")
}

func (s store) known(ctx context.Context, org principal.OrgID, task int64) (Known, error) {
	k := Known{map[int64]string{}, map[int64]string{}, map[int64]bool{}}
	rows, err := db.New(s.db.Org(org)).Truths(ctx, db.TruthsParams{OrgID: org, TaskID: task})
	if err != nil {
		return k, fmt.Errorf("read what is known about the items of task %d: %w", task, err)
	}
	for _, r := range rows {
		switch {
		case r.Origin == "gold":
			k.Gold[r.ItemID] = orZero(r.Label)
		case r.Label != nil:
			k.Decided[r.ItemID] = *r.Label
		case r.Confirmed != nil:
			k.Confirmed[r.ItemID] = *r.Confirmed
		}
	}
	return k, nil
}

func (s store) keepDecisionTx(ctx context.Context, tx postgres.Tx, i Item, v Verdict) error {
	err := db.New(tx).KeepDecision(ctx, db.KeepDecisionParams{OrgID: tx.Org, TaskID: i.Task, ItemID: i.ID, Label: postgres.OrNull(v.Label), Confirmed: v.Confirmed})
	return postgres.Wrap(err, "keep a decision")
}

func (s store) dropDecisionTx(ctx context.Context, tx postgres.Tx, i Item) error {
	return postgres.Wrap(db.New(tx).DropDecision(ctx, db.DropDecisionParams{OrgID: tx.Org, ItemID: i.ID}), "forget a decision")
}

// hasAnswered reports whether a person has said anything about an item of a task.
func (s store) hasAnswered(ctx context.Context, org principal.OrgID, task int64, person uuid.UUID) (bool, error) {
	has, err := db.New(s.db.Org(org)).HasAnswered(ctx, db.HasAnsweredParams{OrgID: org, TaskID: task, Person: person})
	return has, postgres.Wrap(err, "find the answers of a person")
}
