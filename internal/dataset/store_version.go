package dataset

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s store) freezeTx(ctx context.Context, tx postgres.Tx, datasetID int64, v Version) error {
	q := db.New(tx)
	err := q.InsertVersion(ctx, db.InsertVersionParams{
		OrgID: tx.Org, DatasetID: datasetID, Number: int32(v.Number), ItemCount: v.ItemCount,
		Digest: v.Digest[:], Note: v.Note, CreatedAt: v.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("insert version: %w", err)
	}
	err = q.SetLatestVersion(ctx, db.SetLatestVersionParams{OrgID: tx.Org, ID: datasetID, Number: int32(v.Number), UpdatedAt: v.CreatedAt})
	return postgres.Wrap(err, "set latest version")
}

func (s store) findVersion(ctx context.Context, q db.DBTX, org principal.OrgID, datasetID int64, number int) (Version, error) {
	r, err := db.New(q).FindVersion(ctx, db.FindVersionParams{OrgID: org, DatasetID: datasetID, Number: int32(number)})
	return postgres.One(db.ListVersionsRow(r), err, "find version", ErrVersionNotFound, fromVersionRow)
}

func (s store) listVersions(ctx context.Context, org principal.OrgID, datasetID int64, p postgres.Page) ([]Version, error) {
	rows, err := db.New(s.db.Org(org)).ListVersions(ctx, db.ListVersionsParams{
		OrgID: org, DatasetID: datasetID, Below: p.Below, RowLimit: p.Rows(), RowOffset: p.Skip(),
	})
	return postgres.All(rows, err, "list versions", fromVersionRow)
}

func fromVersionRow(r db.ListVersionsRow) Version {
	return Version{Number: int(r.Number), ItemCount: r.ItemCount, Digest: Digest(r.Digest), Note: r.Note, CreatedAt: r.CreatedAt}
}

// purgeItems removes up to batch items of a deleted dataset and returns how
// many it removed.
func (s store) purgeItems(ctx context.Context, org principal.OrgID, datasetID int64, batch int) (int64, error) {
	n, err := db.New(s.db.Org(org)).PurgeItems(ctx, db.PurgeItemsParams{OrgID: org, DatasetID: datasetID, Batch: int32(batch)})
	return n, postgres.Wrap(err, "purge items")
}

// purgeRest removes what is left of a deleted dataset without items.
func (s store) purgeRest(ctx context.Context, org principal.OrgID, datasetID int64) error {
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		q := db.New(tx)
		if err := q.PurgeVersions(ctx, db.PurgeVersionsParams{OrgID: org, DatasetID: datasetID}); err != nil {
			return fmt.Errorf("purge versions: %w", err)
		}
		return postgres.Wrap(q.PurgeDataset(ctx, db.PurgeDatasetParams{OrgID: org, ID: datasetID}), "purge dataset")
	})
}
