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
		found[r.ID] = revision{id: r.ID, validFrom: int(r.ValidFrom), version: r.Version, digest: Digest(r.Digest)}
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
func (s store) endItemsTx(ctx context.Context, tx postgres.Tx, datasetID int64, latest int, items ...revision) error {
	var removed, closed []int64
	for _, i := range items {
		if i.validFrom > latest {
			removed = append(removed, i.id)
		} else {
			closed = append(closed, i.id)
		}
	}
	q, err := db.New(tx), error(nil)
	if len(removed) > 0 {
		err = q.RemoveRevisions(ctx, db.RemoveRevisionsParams{OrgID: tx.Org, DatasetID: datasetID, Ids: removed})
	}
	if err == nil && len(closed) > 0 {
		next := int32(latest + 1)
		err = q.CloseRevisions(ctx, db.CloseRevisionsParams{OrgID: tx.Org, DatasetID: datasetID, Ids: closed, ValidTo: &next})
	}
	return postgres.Wrap(err, "end revisions")
}

// reviseItemsTx replaces revisions that no frozen version contains, and ends the
// others and begins new ones.
func (s store) reviseItemsTx(ctx context.Context, tx postgres.Tx, datasetID int64, latest int, at time.Time, items ...encodedItem) error {
	var replaced, begun db.ReplaceRevisionsParams
	var ended []revision
	for _, i := range items {
		p := &replaced
		if i.validFrom <= latest {
			p, ended = &begun, append(ended, revision{id: i.ID, validFrom: i.validFrom})
		}
		p.Ids = append(p.Ids, i.ID)
		p.Digests = append(p.Digests, i.Digest[:])
		p.Contents = append(p.Contents, i.text)
		p.Splits = append(p.Splits, i.Split)
		p.Weights = append(p.Weights, i.Weight)
		p.Assessed = append(p.Assessed, i.assessed)
	}
	if err := s.endItemsTx(ctx, tx, datasetID, latest, ended...); err != nil {
		return err
	}
	q, err := db.New(tx), error(nil)
	if len(begun.Ids) > 0 {
		err = q.InsertRevisions(ctx, db.InsertRevisionsParams{
			OrgID: tx.Org, DatasetID: datasetID, ValidFrom: int32(latest + 1), UpdatedAt: &at,
			Ids: begun.Ids, Digests: begun.Digests, Contents: begun.Contents, Splits: begun.Splits, Weights: begun.Weights, Assessed: begun.Assessed,
		})
	}
	if err == nil && len(replaced.Ids) > 0 {
		replaced.OrgID, replaced.DatasetID, replaced.UpdatedAt = tx.Org, datasetID, &at
		err = q.ReplaceRevisions(ctx, replaced)
	}
	if postgres.Violates(err, "dataset_items_current_digest") {
		return ErrDuplicate
	}
	if leak := leaked(err); leak != nil {
		return leak
	}
	return postgres.Wrap(err, "revise items")
}
