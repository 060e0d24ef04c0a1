package dataset

import (
	"context"
	"crypto/sha256"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrLeakage is returned when content would be used both to tune judges and to gate
// releases. The database keeps the two apart, whoever writes.
var ErrLeakage = fault.New(fault.Conflict, "precondition_missing", "Content cannot be both in a golden dataset and in the split train or dev of a calibration dataset, nor can two answers to the same input: a judge must not be tuned on what gates releases. Use the split test, or other content.").With("cause", "leakage")

// Assessed is the digest of what people and judges assess: the SHA-256 of
// {"input": …, "output": …} in canonical JSON (RFC 8785), without the output if
// there is none. Unlike the digest of an item it does not change with labels, split
// or weight, so it recognises an answer in every dataset.
func Assessed(input, output jsontext.Value) (Digest, error) {
	if string(output) == "null" {
		output = nil
	}
	text, err := json.Marshal(struct {
		Input  jsontext.Value `json:"input"`
		Output jsontext.Value `json:"output,omitzero"`
	}{input, output})
	if err != nil {
		return Digest{}, err
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return Digest{}, err
	}
	return sha256.Sum256(canonical), nil
}

// Promoted are the same items, allowed to enter a golden dataset. Only those who
// have ground truth for them may call it.
func (p Prepared) Promoted() Prepared {
	p.promoted = true
	return p
}

// RetractItemTx removes an item that was promoted, and lets its content be used
// otherwise if no golden dataset has it any more, in no version. Frozen versions keep
// the item.
func (s *Service) RetractItemTx(ctx context.Context, tx postgres.Tx, datasetID, id int64) error {
	item, err := s.store.findItem(ctx, tx, tx.Org, datasetID, id, 0)
	if err != nil {
		return err
	}
	if err := s.deleteItemTx(ctx, tx, datasetID, id, true); err != nil {
		return err
	}
	digest, err := Assessed(item.Content.Input, item.Content.Output)
	if err != nil {
		return err
	}
	text, err := json.Marshal(item.Content)
	if err != nil {
		return err
	}
	return s.store.freeGoldenTx(ctx, tx, digest, text)
}

// FindItemTx returns an item as it is now.
func (s *Service) FindItemTx(ctx context.Context, tx postgres.Tx, datasetID, id int64) (Item, error) {
	return s.store.findItem(ctx, tx, tx.Org, datasetID, id, 0)
}

// FrozenTx reports whether a frozen version has the newest content of an item, which may
// have been deleted since.
func (s *Service) FrozenTx(ctx context.Context, tx postgres.Tx, datasetID, id int64) (bool, error) {
	d, err := s.store.lockTx(ctx, tx, datasetID)
	if err != nil {
		return false, err
	}
	start, err := s.store.newestStartTx(ctx, tx, datasetID, id)
	return err == nil && start <= d.LatestVersion, err
}
