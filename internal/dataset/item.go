package dataset

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrItemNotFound is returned when the dataset has no such item.
var ErrItemNotFound = fault.New(fault.NotFound, "dataset_item_not_found", "The dataset does not have this item.")

// ErrDuplicate is returned when an item would get the content of another.
var ErrDuplicate = fault.New(fault.Conflict, "already_exists", "The dataset already has an item with this content.")

// ErrItemVersionConflict is returned when the item has changed since the caller
// read it.
var ErrItemVersionConflict = fault.New(fault.Conflict, "version_conflict", "The item has changed since you read it. Read it again and repeat the change.")

// ErrGolden is returned for a direct write to a golden dataset.
var ErrGolden = fault.New(fault.Forbidden, "kind_not_writable", "Items of a golden dataset cannot be written directly; they are added by promotion.")

// Content is what an evaluation sees of an item. Values are kept as sent.
type Content struct {
	Input          jsontext.Value   `json:"input"`
	ExpectedOutput jsontext.Value   `json:"expected_output,omitzero"`
	Output         jsontext.Value   `json:"output,omitzero"`
	Context        jsontext.Value   `json:"context,omitzero"`
	Messages       jsontext.Value   `json:"messages,omitzero"`
	Tools          jsontext.Value   `json:"tools,omitzero"`
	Assertions     []jsontext.Value `json:"assertions,omitzero"`
	Labels         jsontext.Value   `json:"labels,omitzero"`
}

// Bytes is about how much memory the content takes.
func (c Content) Bytes() int {
	n := 0
	for _, v := range []jsontext.Value{c.Input, c.ExpectedOutput, c.Output, c.Context, c.Messages, c.Tools, c.Labels} {
		n += len(v)
	}
	for _, v := range c.Assertions {
		n += len(v)
	}
	return n
}

// Source says where an item came from.
type Source struct {
	Type string
	ID   string
}

// Item is one case of a dataset.
type Item struct {
	ID      int64
	Content Content
	// Split is train, dev, test or empty.
	Split     string
	Weight    float64
	Source    Source
	Digest    Digest
	CreatedAt time.Time
	// UpdatedAt is when the item got its content, and CreatedAt until then.
	UpdatedAt time.Time
	// Version counts changes of the item.
	Version int64

	validFrom int
}

// digest covers everything that can change a result: content, split, weight.
func (i Item) digest() (Digest, error) {
	text, err := json.Marshal(struct {
		Content
		Split  string  `json:"split,omitzero"`
		Weight float64 `json:"weight"`
	}{i.Content, i.Split, i.Weight})
	if err != nil {
		return Digest{}, err
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return Digest{}, err
	}
	return sha256.Sum256(canonical), nil
}

// Added says what became of one item of an import.
type Added struct {
	Index  int
	ID     int64
	Digest Digest
	// Duplicate is true if the dataset had this content already, under ID.
	Duplicate bool
}

// AddItemsTx adds items in the order given. Content that the dataset already
// has is skipped and reported, so an import can be repeated.
func (s *Service) AddItemsTx(ctx context.Context, tx postgres.Tx, p Prepared) ([]Added, error) {
	d, err := s.writable(ctx, tx, p.dataset, p.promoted)
	if err != nil {
		return nil, err
	}
	if err := p.against(d.Schema); err != nil {
		return nil, err
	}
	added := make([]Added, len(p.items))
	for i, item := range p.items {
		added[i] = Added{Index: i, Digest: item.Digest}
	}
	ids, err := s.store.insertItemsTx(ctx, tx, d.ID, d.LatestVersion+1, p.items, s.now())
	if err != nil {
		return nil, err
	}
	after := d
	for digest := range ids {
		after.sum.add(digest)
	}
	after.ItemCount += int64(len(ids))
	if err := s.nameDuplicatesTx(ctx, tx, d.ID, added, ids); err != nil {
		return nil, err
	}
	return added, s.saveContentsTx(ctx, tx, eventItemsAdded, d, after)
}

// nameDuplicatesTx fills in the ids: of new items from the insertion, of the
// others from what the dataset already has.
func (s *Service) nameDuplicatesTx(ctx context.Context, tx postgres.Tx, datasetID int64, added []Added, ids map[Digest]int64) error {
	fresh := make(map[Digest]bool, len(ids))
	var missing []Digest
	for i, a := range added {
		id, ok := ids[a.Digest]
		if !ok {
			missing = append(missing, a.Digest)
			continue
		}
		added[i].ID = id
		added[i].Duplicate = fresh[a.Digest] // its twin came earlier in the same import
		fresh[a.Digest] = true
	}
	if len(missing) == 0 {
		return nil
	}
	known, err := s.store.currentByDigestTx(ctx, tx, datasetID, missing)
	if err != nil {
		return err
	}
	for i, a := range added {
		if a.ID == 0 {
			added[i].ID, added[i].Duplicate = known[a.Digest], true
		}
	}
	return nil
}

// FindItem returns an item as it is now, or as a frozen version has it.
func (s *Service) FindItem(ctx context.Context, org principal.OrgID, datasetID, id int64, version int) (Item, error) {
	if _, err := s.store.find(ctx, s.db.Org(org), org, datasetID); err != nil {
		return Item{}, err
	}
	if version != 0 {
		if _, err := s.store.findVersion(ctx, s.db.Org(org), org, datasetID, version); err != nil {
			return Item{}, err
		}
	}
	return s.store.findItem(ctx, s.db.Org(org), org, datasetID, id, version)
}

// ItemPage selects items of a dataset, newest first.
type ItemPage struct {
	// Version is a frozen version, or zero for the items as they are now.
	Version int
	// Below continues under an item's id.
	Below         int64
	Limit, Offset int
}

// ItemList is a page of items.
type ItemList struct {
	Items []Item
	// More is whether there are items after the page.
	More bool
	// Total is the number of items on all pages.
	Total int64
}

// bytes is how much the contents of the items are.
func (l ItemList) bytes() (n int) {
	for _, item := range l.Items {
		n += item.Content.Bytes()
	}
	return n
}

// Items returns a page of items. It has fewer than the limit if these have
// PageBytes.
func (s *Service) Items(ctx context.Context, org principal.OrgID, datasetID int64, p ItemPage) (ItemList, error) {
	d, err := s.store.find(ctx, s.db.Org(org), org, datasetID)
	if err != nil {
		return ItemList{}, err
	}
	total := d.ItemCount
	if p.Version != 0 {
		v, err := s.store.findVersion(ctx, s.db.Org(org), org, datasetID, p.Version)
		if err != nil {
			return ItemList{}, err
		}
		total = v.ItemCount
	}
	items, more, err := s.store.listItems(ctx, org, datasetID, p)
	return ItemList{Items: items, More: more, Total: total}, err
}

// UpdateItemTx gives an item its prepared content. Frozen versions keep it as it
// was. A nonzero expected version must be the current one.
func (s *Service) UpdateItemTx(ctx context.Context, tx postgres.Tx, id, expected int64, p Prepared) (Item, error) {
	d, err := s.writable(ctx, tx, p.dataset, p.promoted)
	if err != nil {
		return Item{}, err
	}
	return change.Update(change.Edit[Item]{
		Expected: expected, Conflict: ErrItemVersionConflict,
		Lock: func() (Item, error) { return s.store.findItem(ctx, tx, tx.Org, d.ID, id, 0) },
		Apply: func(i *Item) error {
			if len(p.items) != 1 || p.items[0].Version != i.Version {
				return ErrMoved
			}
			if p.items[0].Digest != i.Digest { // content has one text for each digest
				*i = p.items[0].Item
			}
			return nil
		},
		Save: func(before Item, after *Item) error {
			if err := alone(p.against(d.Schema)); err != nil {
				return err
			}
			after.UpdatedAt, after.Version, after.validFrom = s.now(), before.Version+1, before.validFrom
			return s.store.reviseItemsTx(ctx, tx, d.ID, d.LatestVersion, after.UpdatedAt, p.items[0].as(*after))
		},
		Audit: func(before, after Item) error {
			revised := d
			revised.sum.remove(before.Digest)
			revised.sum.add(after.Digest)
			return s.saveContentsTx(ctx, tx, eventItemUpdated, d, revised)
		},
	})
}

// DeleteItemTx removes an item. Frozen versions keep it.
func (s *Service) DeleteItemTx(ctx context.Context, tx postgres.Tx, datasetID, id int64) error {
	return s.deleteItemTx(ctx, tx, datasetID, id, false)
}

func (s *Service) deleteItemTx(ctx context.Context, tx postgres.Tx, datasetID, id int64, promoted bool) error {
	d, err := s.writable(ctx, tx, datasetID, promoted)
	if err != nil {
		return err
	}
	item, err := s.store.findItem(ctx, tx, tx.Org, datasetID, id, 0)
	if err != nil {
		return err
	}
	if err := s.store.endItemsTx(ctx, tx, datasetID, d.LatestVersion, revision{id: id, validFrom: item.validFrom}); err != nil {
		return err
	}
	after := d
	after.sum.remove(item.Digest)
	after.ItemCount--
	return s.saveContentsTx(ctx, tx, eventItemDeleted, d, after)
}

// saveContentsTx records what a dataset's items add up to after a change.
func (s *Service) saveContentsTx(ctx context.Context, tx postgres.Tx, happened event.Type, before, after locked) error {
	after.ContentDigest, after.UpdatedAt = after.sum.digest(), s.now()
	if err := s.store.setContentsTx(ctx, tx, after); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, happened, before.ID, &before.Dataset, &after.Dataset)
}

// writable locks a dataset whose items may be written: those of a golden one by
// promotion only.
func (s *Service) writable(ctx context.Context, tx postgres.Tx, id int64, promoted bool) (locked, error) {
	d, err := s.store.lockTx(ctx, tx, id)
	switch {
	case err != nil:
		return locked{}, err
	case d.Purpose == PurposeGolden && !promoted:
		return locked{}, ErrGolden
	case d.Status != StatusActive:
		return locked{}, transitions.In(ErrArchived, d.Status)
	}
	return d, nil
}
