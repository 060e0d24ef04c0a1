package dataset

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

func (s store) insertTx(ctx context.Context, tx postgres.Tx, d Dataset) (Dataset, error) {
	r, err := db.New(tx).InsertDataset(ctx, db.InsertDatasetParams{
		OrgID: tx.Org, Name: d.Name, Description: d.Description, Purpose: string(d.Purpose), Schema: d.Schema,
		Tags: d.Tags, Metadata: d.Metadata, ContentSum: make([]byte, sumSize), CreatedAt: d.CreatedAt,
	})
	if err != nil {
		return Dataset{}, fmt.Errorf("insert dataset: %w", err)
	}
	d.ID, d.Version = r.ID, r.Version
	return d, nil
}

func (s store) find(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Dataset, error) {
	r, err := db.New(q).FindDataset(ctx, db.FindDatasetParams{OrgID: org, ID: id})
	return postgres.One(r, err, "find dataset", ErrNotFound, fromRow)
}

func (s store) list(ctx context.Context, org principal.OrgID, f Filter) ([]Dataset, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountDatasetsParams{
		OrgID: org, Statuses: postgres.Texts(f.Status), Purposes: postgres.Texts(f.Purpose), Tag: postgres.OrNull(f.Tag),
		Search: postgres.OrNull(f.Search), CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
	}
	rows, err := q.ListDatasets(ctx, db.ListDatasetsParams{
		OrgID: count.OrgID, Statuses: count.Statuses, Purposes: count.Purposes, Tag: count.Tag,
		Search: count.Search, CreatedAfter: count.CreatedAfter, CreatedBefore: count.CreatedBefore,
		Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	})
	return postgres.Listed(rows, err, "datasets", fromRow, f.Count, func() (int64, error) { return q.CountDatasets(ctx, count) })
}

// updateTx writes after over before, if before is still what is stored.
func (s store) updateTx(ctx context.Context, tx postgres.Tx, before, after Dataset) error {
	n, err := db.New(tx).UpdateDataset(ctx, db.UpdateDatasetParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Version, ExpectedStatus: string(before.Status),
		Name: after.Name, Description: after.Description, Schema: after.Schema, Status: string(after.Status),
		Tags: after.Tags, Metadata: after.Metadata, UpdatedAt: after.UpdatedAt,
	})
	return postgres.Changed(n, err, "update dataset", ErrVersionConflict)
}

func (s store) deleteTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	n, err := db.New(tx).DeleteDataset(ctx, db.DeleteDatasetParams{OrgID: tx.Org, ID: id, DeletedAt: &at})
	return postgres.Changed(n, err, "delete dataset", ErrInUse)
}

// locked is a dataset that does not change until the transaction ends.
type locked struct {
	Dataset
	sum contentSum
}

func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64) (locked, error) {
	r, err := db.New(tx).LockDataset(ctx, db.LockDatasetParams{OrgID: tx.Org, ID: id})
	if err != nil {
		return locked{}, postgres.Missing(err, "lock dataset", ErrNotFound)
	}
	sum, err := parseSum(r.ContentSum)
	if err != nil {
		return locked{}, fmt.Errorf("dataset %d: %w", id, err)
	}
	return locked{sum: sum, Dataset: fromRow(r)}, nil
}

// setContentsTx records what the items of a dataset now add up to.
func (s store) setContentsTx(ctx context.Context, tx postgres.Tx, d locked) error {
	err := db.New(tx).SetContents(ctx, db.SetContentsParams{OrgID: tx.Org, ID: d.ID, ItemCount: d.ItemCount, ContentSum: d.sum[:], UpdatedAt: d.UpdatedAt})
	return postgres.Wrap(err, "set contents")
}

func (s store) holdTx(ctx context.Context, tx postgres.Tx, id int64, holder string, at time.Time) error {
	return postgres.Wrap(db.New(tx).Hold(ctx, db.HoldParams{OrgID: tx.Org, DatasetID: id, Holder: holder, CreatedAt: at}), "hold dataset")
}

func (s store) releaseTx(ctx context.Context, tx postgres.Tx, id int64, holder string) error {
	return postgres.Wrap(db.New(tx).Release(ctx, db.ReleaseParams{OrgID: tx.Org, DatasetID: id, Holder: holder}), "release dataset")
}

func fromRow(r db.Dataset) Dataset {
	return Dataset{
		ID: r.ID, Name: r.Name, Description: r.Description, Purpose: Purpose(r.Purpose), Schema: r.Schema,
		Status: Status(r.Status), Tags: r.Tags, Metadata: r.Metadata, ItemCount: r.ItemCount, ContentDigest: Digest(r.ContentDigest),
		LatestVersion: int(r.LatestVersion), Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}
