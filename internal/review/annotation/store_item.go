package annotation

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation/internal/db"
	"github.com/assayhq/assay/internal/telemetry/span"
)

func (s store) insertItemsTx(ctx context.Context, tx postgres.Tx, t Task, items []NewItem, at time.Time) ([]Item, error) {
	p := db.InsertItemsParams{OrgID: tx.Org, TaskID: t.ID, Required: int32(t.Annotators), CreatedAt: at}
	for _, i := range items {
		trace := []byte{}
		if i.Trace != nil {
			trace = i.Trace[:]
		}
		p.Contents, p.Suggestions = append(p.Contents, string(i.Content)), append(p.Suggestions, string(i.Suggestion))
		p.Runs, p.TestCases = append(p.Runs, i.Run), append(p.TestCases, i.TestCase)
		p.Traces, p.Spans = append(p.Traces, trace), append(p.Spans, i.Span)
		p.Probabilities = append(p.Probabilities, i.Probability)
	}
	rows, err := db.New(tx).InsertItems(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("insert items: %w", err)
	}
	return fromItems(rows), nil
}

func (s store) findItem(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Item, error) {
	r, err := db.New(q).FindItem(ctx, db.FindItemParams{OrgID: org, ID: id})
	return foundItem(r, err)
}

func (s store) lockItemTx(ctx context.Context, tx postgres.Tx, id int64) (Item, error) {
	r, err := db.New(tx).LockItem(ctx, db.LockItemParams{OrgID: tx.Org, ID: id})
	return foundItem(r, err)
}

func foundItem(r db.AnnotationItem, err error) (Item, error) {
	return postgres.One(r, err, "find item", ErrItemNotFound, fromItem)
}

func (s store) listItems(ctx context.Context, org principal.OrgID, task int64, reader *uuid.UUID, p ItemPage) (items []Item, more bool, total int64, err error) {
	q := db.New(s.db.Org(org))
	rows, err := q.ListItems(ctx, db.ListItemsParams{
		OrgID: org, TaskID: task, Reader: reader, Annotated: p.Annotated, Below: p.Below, RowLimit: int32(p.Limit), OneMore: int32(p.Limit) + 1, RowOffset: int32(p.Offset), MaxBytes: PageBytes,
	})
	if err != nil {
		return nil, false, 0, fmt.Errorf("list items: %w", err)
	}
	items = make([]Item, len(rows))
	for i, r := range rows {
		more = r.More
		items[i] = fromItem(db.AnnotationItem{
			OrgID: r.OrgID, ID: r.ID, TaskID: r.TaskID, Status: r.Status, Content: r.Content, Suggestion: r.Suggestion, Bytes: r.Bytes, EvaluationRunID: r.EvaluationRunID, TestCaseID: r.TestCaseID,
			TraceID: r.TraceID, SpanID: r.SpanID, Required: r.Required, Submitted: r.Submitted, Held: r.Held, Skipped: r.Skipped, Agreement: r.Agreement, AdjudicationID: r.AdjudicationID,
			Queue: r.Queue, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version, InclusionProbability: r.InclusionProbability,
		})
	}
	if p.Count {
		if total, err = q.CountItems(ctx, db.CountItemsParams{OrgID: org, TaskID: task, Annotated: p.Annotated}); err != nil {
			return nil, false, 0, fmt.Errorf("count items: %w", err)
		}
	}
	return items, more, total, nil
}

// read adds to items what a reader may see of their annotations, who holds them and
// who skipped them.
func (s store) read(ctx context.Context, h db.DBTX, org principal.OrgID, reader *uuid.UUID, items []Item, now time.Time) ([]Read, error) {
	out, at, ids := make([]Read, len(items)), map[int64]*Read{}, make([]int64, len(items))
	for i, one := range items {
		out[i].Item, ids[i] = one, one.ID
		at[one.ID] = &out[i]
	}
	q := db.New(h)
	answers, err := q.AnnotationsOfItems(ctx, db.AnnotationsOfItemsParams{OrgID: org, Items: ids, Reader: reader})
	if err != nil {
		return nil, fmt.Errorf("read annotations: %w", err)
	}
	for _, r := range answers {
		a, err := fromAnnotation(r)
		if err != nil {
			return nil, err
		}
		at[a.Item].Annotations = append(at[a.Item].Annotations, a)
	}
	leases, err := q.Leases(ctx, db.LeasesParams{OrgID: org, Items: ids, Now: now})
	if err != nil {
		return nil, fmt.Errorf("read leases: %w", err)
	}
	for _, l := range leases {
		at[l.ItemID].Leases = append(at[l.ItemID].Leases, Lease{l.Person, l.ExpiresAt})
	}
	skips, err := q.Skips(ctx, db.SkipsParams{OrgID: org, Items: ids})
	if err != nil {
		return nil, fmt.Errorf("read skips: %w", err)
	}
	for _, r := range skips {
		at[r.ItemID].Skips = append(at[r.ItemID].Skips, Skipped{r.Person, r.Reason, r.CreatedAt})
	}
	return out, nil
}

func (s store) updateItemTx(ctx context.Context, tx postgres.Tx, before, after Item, requeue bool) error {
	n, err := db.New(tx).UpdateItem(ctx, db.UpdateItemParams{
		OrgID: tx.Org, ID: before.ID, ExpectedStatus: string(before.Status), Status: string(after.Status), Content: after.Content, Suggestion: after.Suggestion, Bytes: int32(after.size()),
		Submitted: int32(after.Submitted), Held: int32(after.Held), Skipped: int32(after.Skipped), Agreement: after.Agreement, AdjudicationID: postgres.OrNull(after.Adjudication),
		Requeue: requeue, UpdatedAt: after.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("update item: %w", err)
	}
	if n == 0 {
		return itemMoves.In(ErrItemTransition, before.Status)
	}
	return nil
}

// nextTx gives a person the item that they hold, or the next one of the queue; zero
// if there is none.
func (s store) nextTx(ctx context.Context, tx postgres.Tx, task int64, person uuid.UUID, now time.Time, lease time.Duration) (int64, error) {
	q, until := db.New(tx), now.Add(lease)
	place, err := q.EnterQueue(ctx, db.EnterQueueParams{OrgID: tx.Org, TaskID: task, Person: person})
	if err != nil {
		return 0, fmt.Errorf("enter the queue: %w", err)
	}
	item, err := q.Renew(ctx, db.RenewParams{OrgID: tx.Org, TaskID: task, Person: person, ExpiresAt: until})
	if postgres.NoRows(err) {
		item, err = q.Take(ctx, db.TakeParams{OrgID: tx.Org, TaskID: task, Person: person, Place: place, Now: now, ExpiresAt: until})
	}
	if postgres.NoRows(err) {
		return 0, nil
	}
	return item, postgres.Wrap(err, "take an item")
}

func (s store) expiredTx(ctx context.Context, tx postgres.Tx, task int64, now time.Time, batch int) ([]Item, error) {
	rows, err := db.New(tx).ExpiredItems(ctx, db.ExpiredItemsParams{OrgID: tx.Org, TaskID: task, Now: now, Batch: int32(batch)})
	if err != nil {
		return nil, fmt.Errorf("find expired leases: %w", err)
	}
	return fromItems(rows), nil
}

func (s store) dropExpiredTx(ctx context.Context, tx postgres.Tx, item int64, now time.Time) (int, error) {
	n, err := db.New(tx).DropExpired(ctx, db.DropExpiredParams{OrgID: tx.Org, ItemID: item, Now: now})
	return int(n), postgres.Wrap(err, "drop expired leases")
}

func (s store) dropLeaseTx(ctx context.Context, tx postgres.Tx, item int64, person uuid.UUID) (int, error) {
	n, err := db.New(tx).DropLease(ctx, db.DropLeaseParams{OrgID: tx.Org, ItemID: item, Person: person})
	return int(n), postgres.Wrap(err, "drop lease")
}

func (s store) dropLeasesTx(ctx context.Context, tx postgres.Tx, item int64) error {
	return postgres.Wrap(db.New(tx).DropLeases(ctx, db.DropLeasesParams{OrgID: tx.Org, ItemID: item}), "drop leases")
}

func (s store) skipTx(ctx context.Context, tx postgres.Tx, item int64, person uuid.UUID, reason string, at time.Time) (bool, error) {
	n, err := db.New(tx).Skip(ctx, db.SkipParams{OrgID: tx.Org, ItemID: item, Person: person, Reason: reason, CreatedAt: at})
	return n > 0, postgres.Wrap(err, "skip item")
}

func (s store) unskipTx(ctx context.Context, tx postgres.Tx, item int64) error {
	return postgres.Wrap(db.New(tx).Unskip(ctx, db.UnskipParams{OrgID: tx.Org, ItemID: item}), "reopen item")
}

// unskipOwnTx forgets that a person skipped an item, and counts it.
func (s store) unskipOwnTx(ctx context.Context, tx postgres.Tx, item int64, person uuid.UUID) (int, error) {
	n, err := db.New(tx).UnskipOwn(ctx, db.UnskipOwnParams{OrgID: tx.Org, ItemID: item, Person: person})
	return int(n), postgres.Wrap(err, "forget skip")
}

func fromItems(rows []db.AnnotationItem) []Item {
	items := make([]Item, len(rows))
	for i, r := range rows {
		items[i] = fromItem(r)
	}
	return items
}

func fromItem(r db.AnnotationItem) Item {
	return Item{
		ID: r.ID, Task: r.TaskID, Status: ItemStatus(r.Status), NewItem: NewItem{Subject: fromSubject(r.EvaluationRunID, r.TestCaseID, r.TraceID, r.SpanID), Content: r.Content, Suggestion: r.Suggestion, Probability: orZero(r.InclusionProbability)},
		Required: int(r.Required), Submitted: int(r.Submitted), Held: int(r.Held), Skipped: int(r.Skipped), Agreement: r.Agreement, Adjudication: orZero(r.AdjudicationID),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
	}
}

func fromSubject(run, testCase *int64, trace []byte, spanID *string) Subject {
	s := Subject{Run: orZero(run), TestCase: orZero(testCase), Span: orZero(spanID)}
	if trace != nil {
		id := span.TraceID(trace)
		s.Trace = &id
	}
	return s
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}
