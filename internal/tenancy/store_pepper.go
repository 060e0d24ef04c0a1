package tenancy

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

// pepper returns the fingerprint that the database knows for a version of the
// pepper, which is the given one if it knew none. It knows it from then on if it is
// to be recorded.
func (s store) pepper(ctx context.Context, version int, fingerprint []byte, record bool) ([]byte, error) {
	q := db.New(s.db.Claim("app.sweep", "key_peppers"))
	if record {
		if err := q.AddPepper(ctx, db.AddPepperParams{Version: int32(version), Fingerprint: fingerprint}); err != nil {
			return nil, fmt.Errorf("add fingerprint of the pepper: %w", err)
		}
	}
	stored, err := q.FindPepper(ctx, int32(version))
	if postgres.NoRows(err) {
		return fingerprint, nil
	}
	return stored, postgres.Wrap(err, "find fingerprint of the pepper")
}
