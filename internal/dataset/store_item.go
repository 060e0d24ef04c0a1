package dataset

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// insertItemsTx stores the items that are new and returns their ids.
func (s store) insertItemsTx(ctx context.Context, tx postgres.Tx, datasetID int64, validFrom int, items []encodedItem, at time.Time) (map[Digest]int64, error) {
	p := db.InsertItemsParams{OrgID: tx.Org, DatasetID: datasetID, ValidFrom: int32(validFrom), CreatedAt: at}
	for _, i := range items {
		p.Digests = append(p.Digests, i.Digest[:])
		p.Contents = append(p.Contents, i.text)
		p.Splits = append(p.Splits, i.Split)
		p.Weights = append(p.Weights, i.Weight)
		p.SourceTypes = append(p.SourceTypes, i.Source.Type)
		p.SourceIds = append(p.SourceIds, i.Source.ID)
		p.Assessed = append(p.Assessed, i.assessed)
	}
	rows, err := db.New(tx).InsertItems(ctx, p)
	if leak := leaked(err); leak != nil {
		return nil, leak
	}
	if err != nil {
		return nil, fmt.Errorf("insert items: %w", err)
	}
	ids := make(map[Digest]int64, len(rows))
	for _, r := range rows {
		ids[Digest(r.Digest)] = r.ID
	}
	return ids, nil
}

func (s store) currentByDigestTx(ctx context.Context, tx postgres.Tx, datasetID int64, digests []Digest) (map[Digest]int64, error) {
	raw := make([][]byte, len(digests))
	for i := range digests {
		raw[i] = digests[i][:]
	}
	rows, err := db.New(tx).FindCurrentByDigest(ctx, db.FindCurrentByDigestParams{OrgID: tx.Org, DatasetID: datasetID, Digests: raw})
	if err != nil {
		return nil, fmt.Errorf("find items by digest: %w", err)
	}
	ids := make(map[Digest]int64, len(rows))
	for _, r := range rows {
		ids[Digest(r.Digest)] = r.ID
	}
	return ids, nil
}

// findItem reads the current revision, or the one of a frozen version.
func (s store) findItem(ctx context.Context, q db.DBTX, org principal.OrgID, datasetID, id int64, version int) (Item, error) {
	var r db.FindItemRow
	var err error
	if version == 0 {
		r, err = db.New(q).FindItem(ctx, db.FindItemParams{OrgID: org, DatasetID: datasetID, ID: id})
	} else {
		var v db.FindItemInVersionRow
		v, err = db.New(q).FindItemInVersion(ctx, db.FindItemInVersionParams{OrgID: org, DatasetID: datasetID, ID: id, Version: int32(version)})
		r = db.FindItemRow(v)
	}
	return postgres.DecodeOne(r, err, "find item", ErrItemNotFound, fromItemRow)
}

// newestStartTx is the first version with the newest revision of an item, deleted or not.
func (s store) newestStartTx(ctx context.Context, tx postgres.Tx, datasetID, id int64) (int, error) {
	v, err := db.New(tx).NewestItemStart(ctx, db.NewestItemStartParams{OrgID: tx.Org, DatasetID: datasetID, ID: id})
	if err != nil {
		return 0, postgres.Missing(err, "find the newest revision of an item", ErrItemNotFound)
	}
	return int(v), nil
}

// listItems reads a page, and whether there are items after it.
func (s store) listItems(ctx context.Context, org principal.OrgID, datasetID int64, p ItemPage) (items []Item, more bool, err error) {
	q := db.New(s.db.Org(org))
	var rows []db.ListItemsRow
	if p.Version == 0 {
		rows, err = q.ListItems(ctx, db.ListItemsParams{
			OrgID: org, DatasetID: datasetID, Below: p.Below, RowLimit: int32(p.Limit), OneMore: int32(p.Limit) + 1, RowOffset: int32(p.Offset), MaxBytes: PageBytes,
		})
	} else {
		var frozen []db.ListItemsInVersionRow
		frozen, err = q.ListItemsInVersion(ctx, db.ListItemsInVersionParams{
			OrgID: org, DatasetID: datasetID, Version: int32(p.Version), Below: p.Below, RowLimit: int32(p.Limit), OneMore: int32(p.Limit) + 1, RowOffset: int32(p.Offset), MaxBytes: PageBytes,
		})
		for _, r := range frozen {
			rows = append(rows, db.ListItemsRow(r))
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("list items: %w", err)
	}
	items = make([]Item, len(rows))
	for i, r := range rows {
		items[i], err = fromItemRow(db.FindItemRow{
			ID: r.ID, ValidFrom: r.ValidFrom, Digest: r.Digest, Content: r.Content, Split: r.Split, Weight: r.Weight,
			SourceType: r.SourceType, SourceID: r.SourceID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
		})
		if err != nil {
			return nil, false, err
		}
		more = r.More
	}
	return items, more, nil
}

func fromItemRow(r db.FindItemRow) (Item, error) {
	i := Item{
		ID: r.ID, Weight: r.Weight, Digest: Digest(r.Digest), CreatedAt: r.CreatedAt, UpdatedAt: r.CreatedAt, Version: r.Version,
		validFrom: int(r.ValidFrom),
	}
	if r.UpdatedAt != nil {
		i.UpdatedAt = *r.UpdatedAt
	}
	if r.Split != nil {
		i.Split = *r.Split
	}
	if r.SourceType != nil {
		i.Source.Type = *r.SourceType
	}
	if r.SourceID != nil {
		i.Source.ID = *r.SourceID
	}
	if err := json.Unmarshal(r.Content, &i.Content); err != nil {
		return Item{}, fmt.Errorf("decode item %d: %w", r.ID, err)
	}
	return i, nil
}

func (s store) itemIDs(ctx context.Context, org principal.OrgID, datasetID int64, version int, above int64, limit int) ([]int64, error) {
	ids, err := db.New(s.db.Org(org)).ListItemIDsInVersion(ctx, db.ListItemIDsInVersionParams{
		OrgID: org, DatasetID: datasetID, Version: int32(version), Above: above, RowLimit: int32(limit),
	})
	return ids, postgres.Wrap(err, "list item ids")
}

// itemsByID reads items until they have PageBytes, and returns how many of the
// ids it looked for.
func (s store) itemsByID(ctx context.Context, org principal.OrgID, datasetID int64, version int, ids []int64) (map[int64]Item, int, error) {
	rows, err := db.New(s.db.Org(org)).FindItemsInVersion(ctx, db.FindItemsInVersionParams{
		OrgID: org, DatasetID: datasetID, Version: int32(version), Ids: ids, MaxBytes: PageBytes,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("find items: %w", err)
	}
	read := len(ids)
	out := make(map[int64]Item, len(rows))
	for i, r := range rows {
		out[r.ID], err = fromItemRow(db.FindItemRow{
			ID: r.ID, ValidFrom: r.ValidFrom, Digest: r.Digest, Content: r.Content, Split: r.Split, Weight: r.Weight,
			SourceType: r.SourceType, SourceID: r.SourceID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
		})
		if err != nil {
			return nil, 0, err
		}
		if i == len(rows)-1 && r.More {
			read = int(r.Place)
		}
	}
	return out, read, nil
}

// labelled reads items that have a label, until they have PageBytes.
func (s store) labelled(ctx context.Context, org principal.OrgID, datasetID int64, key string, above int64, limit int) ([]Item, error) {
	rows, err := db.New(s.db.Org(org)).ListLabelled(ctx, db.ListLabelledParams{
		OrgID: org, DatasetID: datasetID, Key: key, Above: above, RowLimit: int32(limit), MaxBytes: PageBytes,
	})
	return postgres.DecodeAll(rows, err, "list labelled items", func(r db.ListLabelledRow) (Item, error) {
		return fromItemRow(db.FindItemRow(r))
	})
}
