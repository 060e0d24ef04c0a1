package dataset

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/dataset/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// leaked is the refusal of content that has another side, or nil if that is not what
// went wrong.
func leaked(err error) error {
	if !postgres.Violates(err, "assessed_contents_one_side") {
		return nil
	}
	return ErrLeakage
}

// freeGoldenTx lets content be used otherwise that no golden dataset has any more:
// the answer that a digest names, and what was asked. The lock comes first: an item
// that is added at this moment is seen, or sees that the content is free.
func (s store) freeGoldenTx(ctx context.Context, tx postgres.Tx, assessed Digest, content []byte) error {
	q := db.New(tx)
	sides, err := q.LockSides(ctx, db.LockSidesParams{OrgID: tx.Org, Digest: assessed[:], Content: content})
	if err != nil {
		return fmt.Errorf("lock content: %w", err)
	}
	for _, digest := range sides {
		if err := q.FreeGolden(ctx, db.FreeGoldenParams{OrgID: tx.Org, Digest: digest}); err != nil {
			return fmt.Errorf("free content: %w", err)
		}
	}
	return nil
}
