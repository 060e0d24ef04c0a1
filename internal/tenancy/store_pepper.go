package tenancy

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

// pepper returns the fingerprint that the database knows for a version of the
// pepper, which is the given one if it knew none.
func (s store) pepper(ctx context.Context, version int, fingerprint []byte) ([]byte, error) {
	q := db.New(s.db.Claim("app.sweep", "key_peppers"))
	if err := q.AddPepper(ctx, db.AddPepperParams{Version: int32(version), Fingerprint: fingerprint}); err != nil {
		return nil, fmt.Errorf("add fingerprint of the pepper: %w", err)
	}
	stored, err := q.FindPepper(ctx, int32(version))
	if err != nil {
		return nil, fmt.Errorf("find fingerprint of the pepper: %w", err)
	}
	return stored, nil
}
