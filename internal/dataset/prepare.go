package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

// Bounds in bytes of JSON. Items from before there was a bound stay readable.
const (
	// MaxItemBytes is the largest content of an item: what metrics read.
	MaxItemBytes = 4 << 20
	// PageBytes is where a page of items ends, however few there are.
	PageBytes = 8 << 20
)

// ErrMoved is returned when the dataset or the item changed after a write to it
// was prepared. Retry prepares it again.
var ErrMoved = fault.New(fault.Unavailable, "dataset_changing", "The dataset keeps changing while the request is checked. Send the request again.").With("retryAfterSeconds", 1)

// Prepared is items that are encoded and held against the schema of their
// dataset. Both can take seconds, so they happen before the transaction, which
// only compares the schema.
type Prepared struct {
	dataset int64
	known   bool // whether the dataset was found
	schema  jsontext.Value
	items   []encodedItem
	// promoted says that the items may enter a golden dataset.
	promoted bool
	// refusal is what is wrong with the items. The transaction reports it, after
	// what is wrong with the dataset and unless it repeats an answer.
	refusal error
}

// encodedItem is an item with the text of its content.
type encodedItem struct {
	Item
	text string
	// assessed is the digest of what was assessed, where items are kept apart by it.
	assessed []byte
}

// as is another item with the same content.
func (e encodedItem) as(i Item) encodedItem { return encodedItem{i, e.text, e.assessed} }

// against reports what is wrong with the items, unless the schema is another one
// by now.
func (p Prepared) against(now jsontext.Value) error {
	if !p.known || !bytes.Equal(p.schema, now) {
		return ErrMoved
	}
	return p.refusal
}

// PrepareItems makes items ready to be added to a dataset.
func (s *Service) PrepareItems(ctx context.Context, org principal.OrgID, datasetID int64, items []Item) (Prepared, error) {
	d, err := s.store.find(ctx, s.db.Org(org), org, datasetID)
	if errors.Is(err, ErrNotFound) {
		return Prepared{dataset: datasetID}, nil // the transaction does not find it either
	}
	if err != nil {
		return Prepared{}, err
	}
	return prepare(ctx, d, items)
}

// PrepareUpdate makes a change of an item ready.
func (s *Service) PrepareUpdate(ctx context.Context, org principal.OrgID, datasetID, id int64, edit func(*Item)) (Prepared, error) {
	item, err := s.FindItem(ctx, org, datasetID, id, 0)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrItemNotFound) {
		return Prepared{dataset: datasetID}, nil // the transaction does not find it either
	}
	if err != nil {
		return Prepared{}, err
	}
	d, err := s.store.find(ctx, s.db.Org(org), org, datasetID)
	if err != nil {
		return Prepared{}, err
	}
	edit(&item)
	return prepare(ctx, d, []Item{item})
}

func prepare(ctx context.Context, d Dataset, items []Item) (p Prepared, err error) {
	err = admission.From(ctx).Work(ctx, func(pause func() error) error {
		p, err = prepareIn(pause, d, items)
		return err
	})
	return p, err
}

func prepareIn(pause func() error, d Dataset, items []Item) (Prepared, error) {
	p := Prepared{dataset: d.ID, known: true, schema: d.Schema, items: make([]encodedItem, len(items))}
	var large []fault.Field
	for i, item := range items {
		if err := pause(); err != nil {
			return Prepared{}, err
		}
		text, err := json.Marshal(item.Content)
		if err != nil {
			return Prepared{}, fmt.Errorf("encode item %d: %w", i, err)
		}
		if len(text) > MaxItemBytes {
			large = append(large, fault.Field{
				In: "body", Path: "/items/" + strconv.Itoa(i), Code: "length", Limit: MaxItemBytes,
				Message: fmt.Sprintf("has %d bytes of JSON, and an item may have %d at most: shorten it, or split it into several items", len(text), MaxItemBytes),
			})
		}
		if item.Digest, err = item.digest(); err != nil {
			return Prepared{}, fmt.Errorf("digest item %d: %w", i, err)
		}
		p.items[i] = encodedItem{Item: item, text: string(text)}
		if d.Purpose == PurposeGolden || d.Purpose == PurposeCalibration {
			assessed, err := Assessed(item.Content.Input, item.Content.Output)
			if err != nil {
				return Prepared{}, fmt.Errorf("digest item %d: %w", i, err)
			}
			p.items[i].assessed = assessed[:]
		}
	}
	if len(large) > 0 {
		p.refusal = fault.New(fault.Validation, "item_too_large", "Some items are too large.").WithFields(large...)
		return p, nil
	}
	err := checkItems(pause, d.Schema, p.items)
	if f, ok := fault.From(err); ok && f.Kind == fault.Validation {
		p.refusal, err = f, nil
	}
	return p, err
}

// Retry prepares a write and does it, again if the dataset changed in between.
func Retry[T any](prepare func() (Prepared, error), do func(Prepared) (T, error)) (out T, err error) {
	for range 3 {
		var p Prepared
		if p, err = prepare(); err != nil {
			return out, err
		}
		if out, err = do(p); !errors.Is(err, ErrMoved) {
			return out, err
		}
	}
	return out, err
}
