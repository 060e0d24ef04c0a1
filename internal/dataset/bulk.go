package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrTooMuch is returned when items that are to change together are too large to be
// held in memory at once.
var ErrTooMuch = fault.New(fault.Validation, "items_too_large", fmt.Sprintf("The items have more than %d MiB together. Name fewer of them in a request.", PageBytes>>20))

// revision is what a transaction has to know of a current item.
type revision struct {
	id, version int64
	validFrom   int
	digest      Digest
}

// PrepareUpdates makes the same change of many items ready. Items that the dataset
// does not have are left out.
func (s *Service) PrepareUpdates(ctx context.Context, org principal.OrgID, datasetID int64, ids []int64, edit func(*Item)) (Prepared, error) {
	d, err := s.store.find(ctx, s.db.Org(org), org, datasetID)
	if errors.Is(err, ErrNotFound) {
		return Prepared{dataset: datasetID}, nil // the transaction does not find it either
	}
	if err != nil {
		return Prepared{}, err
	}
	// The current items are those that the next version would have.
	found, read, err := s.store.itemsByID(ctx, org, datasetID, d.LatestVersion+1, ids)
	if err != nil {
		return Prepared{}, err
	}
	if read < len(ids) {
		return Prepared{dataset: datasetID, known: true, schema: d.Schema, refusal: ErrTooMuch}, nil
	}
	items := make([]Item, 0, len(found))
	for _, id := range ids {
		if item, ok := found[id]; ok {
			edit(&item)
			items = append(items, item)
		}
	}
	return prepare(ctx, d, items)
}

// UpdateItemsTx gives items their prepared content and returns how many changed,
// and which of the ids the dataset does not have.
func (s *Service) UpdateItemsTx(ctx context.Context, tx postgres.Tx, ids []int64, p Prepared) (updated int, missing []int64, err error) {
	d, err := s.writable(ctx, tx, p.dataset, p.promoted)
	if err != nil {
		return 0, nil, err
	}
	if err := p.against(d.Schema); err != nil {
		return 0, nil, p.named(err, ids)
	}
	now, missing, err := s.store.revisionsTx(ctx, tx, d.ID, ids)
	if err != nil {
		return 0, nil, err
	}
	if len(p.items) != len(now) {
		return 0, nil, ErrMoved
	}
	after := d
	var changed []encodedItem
	for i, item := range p.items {
		switch {
		case item.ID != now[i].id || item.Version != now[i].version:
			return 0, nil, ErrMoved
		case item.Digest != now[i].digest:
			after.sum.remove(now[i].digest)
			after.sum.add(item.Digest)
			changed = append(changed, item)
		}
	}
	if len(changed) == 0 {
		return 0, missing, nil
	}
	if err := s.store.reviseItemsTx(ctx, tx, d.ID, d.LatestVersion, s.now(), changed...); err != nil {
		return 0, nil, err
	}
	return len(changed), missing, s.saveContentsTx(ctx, tx, eventItemsUpdated, d, after)
}

// named says what is wrong with items in terms of the ids that a request has.
func (p Prepared) named(err error, ids []int64) error {
	f, ok := fault.From(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	out := *f
	out.Fields = nil
	for _, field := range f.Fields {
		number, rest, _ := strings.Cut(strings.TrimPrefix(field.Path, "/items/"), "/")
		if n, err := strconv.Atoi(number); err == nil && n < len(p.items) {
			id := p.items[n].ID
			field.Message = strings.TrimSuffix(fmt.Sprintf("item %d at /%s", id, rest), " at /") + " " + field.Message
			field.Path = "/itemIds/" + strconv.Itoa(slices.Index(ids, id))
		}
		out.Fields = append(out.Fields, field)
	}
	return &out
}

// DeleteItemsTx removes items and returns which of the ids the dataset does not
// have. Frozen versions keep the items.
func (s *Service) DeleteItemsTx(ctx context.Context, tx postgres.Tx, datasetID int64, ids []int64) (missing []int64, err error) {
	d, err := s.writable(ctx, tx, datasetID, false)
	if err != nil {
		return nil, err
	}
	now, missing, err := s.store.revisionsTx(ctx, tx, d.ID, ids)
	if err != nil || len(now) == 0 {
		return missing, err
	}
	if err := s.store.endItemsTx(ctx, tx, d.ID, d.LatestVersion, now...); err != nil {
		return nil, err
	}
	after := d
	for _, r := range now {
		after.sum.remove(r.digest)
	}
	after.ItemCount -= int64(len(now))
	return missing, s.saveContentsTx(ctx, tx, eventItemsDeleted, d, after)
}

// mergeLabels sets labels and leaves the others as they are; null removes a label.
// What is not an object has no labels.
func mergeLabels(labels, patch jsontext.Value) jsontext.Value {
	var merged, changes map[string]jsontext.Value
	if json.Unmarshal(patch, &changes) != nil || changes == nil {
		return patch
	}
	if json.Unmarshal(labels, &merged) != nil || merged == nil {
		merged = map[string]jsontext.Value{}
	}
	for name, value := range changes {
		if value.Kind() == 'n' {
			delete(merged, name)
		} else {
			merged[name] = value
		}
	}
	if len(merged) == 0 {
		return nil
	}
	out, err := json.Marshal(merged, json.Deterministic(true))
	if err != nil {
		return patch // cannot happen: every part was JSON
	}
	return out
}
