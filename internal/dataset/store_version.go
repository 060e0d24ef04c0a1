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
	if err != nil {
		return fmt.Errorf("set latest version: %w", err)
	}
	return nil
}

func (s store) findVersion(ctx context.Context, q db.DBTX, org principal.OrgID, datasetID int64, number int) (Version, error) {
	r, err := db.New(q).FindVersion(ctx, db.FindVersionParams{OrgID: org, DatasetID: datasetID, Number: int32(number)})
	if postgres.NoRows(err) {
		return Version{}, ErrVersionNotFound
	}
	if err != nil {
		return Version{}, fmt.Errorf("find version: %w", err)
	}
	return fromVersionRow(db.ListVersionsRow(r)), nil
}

func (s store) listVersions(ctx context.Context, org principal.OrgID, datasetID int64, p VersionPage) ([]Version, error) {
	rows, err := db.New(s.db.Org(org)).ListVersions(ctx, db.ListVersionsParams{
		OrgID: org, DatasetID: datasetID, Below: p.Below, RowLimit: int32(p.Limit) + 1, RowOffset: int32(p.Offset),
	})
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	out := make([]Version, len(rows))
	for i, r := range rows {
		out[i] = fromVersionRow(r)
	}
	return out, nil
}

func fromVersionRow(r db.ListVersionsRow) Version {
	return Version{Number: int(r.Number), ItemCount: r.ItemCount, Digest: Digest(r.Digest), Note: r.Note, CreatedAt: r.CreatedAt}
}

// purgeItems removes up to batch items of a deleted dataset and returns how
// many it removed.
func (s store) purgeItems(ctx context.Context, org principal.OrgID, datasetID int64, batch int) (int64, error) {
	n, err := db.New(s.db.Org(org)).PurgeItems(ctx, db.PurgeItemsParams{OrgID: org, DatasetID: datasetID, Batch: int32(batch)})
	if err != nil {
		return 0, fmt.Errorf("purge items: %w", err)
	}
	return n, nil
}

// purgeRest removes what is left of a deleted dataset without items.
func (s store) purgeRest(ctx context.Context, org principal.OrgID, datasetID int64) error {
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		q := db.New(tx)
		if err := q.PurgeVersions(ctx, db.PurgeVersionsParams{OrgID: org, DatasetID: datasetID}); err != nil {
			return fmt.Errorf("purge versions: %w", err)
		}
		if err := q.PurgeDataset(ctx, db.PurgeDatasetParams{OrgID: org, ID: datasetID}); err != nil {
			return fmt.Errorf("purge dataset: %w", err)
		}
		return nil
	})
}
