package gather

import (
	"context"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ofDataset makes items of a frozen version of a dataset.
func (r Reader) ofDataset(ctx context.Context, org principal.OrgID, from *Source, g *gathered) error {
	if err := from.onlyAll("a dataset"); err != nil {
		return err
	}
	id, err := strconv.ParseInt(from.Dataset, 10, 64)
	if err != nil {
		return Unknown(dataset.ErrNotFound, "/source/datasetId", "is not the id of a dataset")
	}
	var v dataset.Version
	err = postgres.InTx(ctx, r.Postgres, org, func(tx postgres.Tx) error {
		v, err = r.Datasets.SnapshotTx(ctx, tx, id, "Items of an annotation task")
		return err
	})
	if err != nil {
		return Unknown(err, "/source/datasetId", "is not the id of a dataset")
	}
	from.Version = v.Number
	var ids []int64
	for above := int64(0); ; {
		page, err := r.Datasets.ItemIDs(ctx, org, id, v.Number, above, 10_000)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		ids, above = append(ids, page...), page[len(page)-1]
	}
	if ids, err = choose(from, ids); err != nil {
		return err
	}
	for len(ids) > 0 {
		found, read, err := r.Datasets.ItemsByID(ctx, org, id, v.Number, ids)
		if err != nil {
			return err
		}
		for _, one := range ids[:read] {
			item, err := shownContent(found[one].Content, nil)
			if err != nil {
				return err
			}
			if err := g.add(ctx, Item{TestCase: one, Content: item}); err != nil {
				return err
			}
		}
		ids = ids[read:]
	}
	return nil
}
