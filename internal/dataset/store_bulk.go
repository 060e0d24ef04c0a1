package dataset

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/dataset/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// revisionsTx are the current revisions of items in the order of the ids, and the
// ids that the dataset does not have.
func (s store) revisionsTx(ctx context.Context, tx postgres.Tx, datasetID int64, ids []int64) (now []revision, missing []int64, err error) {
	rows, err := db.New(tx).FindRevisions(ctx, db.FindRevisionsParams{OrgID: tx.Org, DatasetID: datasetID, Ids: ids})
	if err != nil {
		return nil, nil, fmt.Errorf("find revisions: %w", err)
	}
	found := make(map[int64]revision, len(rows))
	for _, r := range rows {
		found[r.ID] = revision{id: r.ID, version: r.Version, digest: Digest(r.Digest)}
	}
	for _, id := range ids {
		if r, ok := found[id]; ok {
			now = append(now, r)
		} else {
			missing = append(missing, id)
		}
	}
	return now, missing, nil
}

// endItemsTx takes current revisions out of the dataset; versions up to the latest
// keep them.
func (s store) endItemsTx(ctx context.Context, tx postgres.Tx, datasetID int64, latest int, ids []int64) error {
	q := db.New(tx)
	if err := q.RemoveRevisions(ctx, db.RemoveRevisionsParams{OrgID: tx.Org, DatasetID: datasetID, Ids: ids, Latest: int32(latest)}); err != nil {
		return fmt.Errorf("remove revisions: %w", err)
	}
	next := int32(latest + 1)
	if err := q.CloseRevisions(ctx, db.CloseRevisionsParams{OrgID: tx.Org, DatasetID: datasetID, Ids: ids, ValidTo: &next}); err != nil {
		return fmt.Errorf("close revisions: %w", err)
	}
	return nil
}

// reviseItemsTx is reviseItemTx for many items.
func (s store) reviseItemsTx(ctx context.Context, tx postgres.Tx, datasetID int64, latest int, items []encodedItem, at time.Time) error {
	var replaced, begun db.ReplaceRevisionsParams
	var closed []int64
	for _, i := range items {
		p := &replaced
		if i.validFrom <= latest {
			p, closed = &begun, append(closed, i.ID)
		}
		p.Ids = append(p.Ids, i.ID)
		p.Digests = append(p.Digests, i.Digest[:])
		p.Contents = append(p.Contents, i.text)
		p.Splits = append(p.Splits, i.Split)
		p.Weights = append(p.Weights, i.Weight)
	}
	q := db.New(tx)
	next := int32(latest + 1)
	err := q.CloseRevisions(ctx, db.CloseRevisionsParams{OrgID: tx.Org, DatasetID: datasetID, Ids: closed, ValidTo: &next})
	if err == nil {
		err = q.InsertRevisions(ctx, db.InsertRevisionsParams{
			OrgID: tx.Org, DatasetID: datasetID, ValidFrom: next, UpdatedAt: &at,
			Ids: begun.Ids, Digests: begun.Digests, Contents: begun.Contents, Splits: begun.Splits, Weights: begun.Weights,
		})
	}
	if err == nil {
		replaced.OrgID, replaced.DatasetID, replaced.UpdatedAt = tx.Org, datasetID, &at
		err = q.ReplaceRevisions(ctx, replaced)
	}
	if postgres.Violates(err, "dataset_items_current_digest") {
		return ErrDuplicate
	}
	if err != nil {
		return fmt.Errorf("revise items: %w", err)
	}
	return nil
}
