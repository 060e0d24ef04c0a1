package tenancy

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

type store struct{ db *postgres.DB }

// storedKey is what is kept of a key.
type storedKey struct {
	Org           principal.OrgID
	ID            string
	Scopes        []principal.Scope
	Hash          []byte
	PepperVersion int
	ExpiresAt     *time.Time
	RevokedAt     *time.Time
}

func (s store) insertOrganizationTx(ctx context.Context, tx postgres.Tx, name string, at time.Time) error {
	err := db.New(tx).InsertOrganization(ctx, db.InsertOrganizationParams{OrgID: tx.Org, Name: name, CreatedAt: at})
	if err != nil {
		return fmt.Errorf("insert organization: %w", err)
	}
	return nil
}

func (s store) insertKeyTx(ctx context.Context, tx postgres.Tx, key storedKey, k NewKey, last4 string, at time.Time) (int64, error) {
	scopes := make([]string, len(k.Scopes))
	for i, sc := range k.Scopes {
		scopes[i] = string(sc)
	}
	id, err := db.New(tx).InsertKey(ctx, db.InsertKeyParams{
		OrgID: tx.Org, KeyID: key.ID, Name: k.Name, Environment: string(k.Environment), Scopes: scopes,
		Hash: key.Hash, PepperVersion: int32(key.PepperVersion), Last4: last4, CreatedAt: at, ExpiresAt: key.ExpiresAt,
	})
	if err != nil {
		return 0, fmt.Errorf("insert key: %w", err)
	}
	return id, nil
}

func (s store) presentedKey(ctx context.Context, keyID string) (storedKey, error) {
	r, err := db.New(s.db.Claim("app.api_key", keyID)).FindPresentedKey(ctx, keyID)
	if postgres.NoRows(err) {
		return storedKey{}, ErrKeyUnknown
	}
	if err != nil {
		return storedKey{}, fmt.Errorf("find presented key: %w", err)
	}
	scopes := make([]principal.Scope, len(r.Scopes))
	for i, sc := range r.Scopes {
		scopes[i] = principal.Scope(sc)
	}
	return storedKey{
		Org: r.OrgID, ID: r.KeyID, Scopes: scopes, Hash: r.Hash, PepperVersion: int(r.PepperVersion),
		ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt,
	}, nil
}

func (s store) revokeKey(ctx context.Context, org principal.OrgID, id int64, at time.Time) error {
	if _, err := db.New(s.db.Org(org)).RevokeKey(ctx, db.RevokeKeyParams{OrgID: org, ID: id, RevokedAt: &at}); err != nil {
		return fmt.Errorf("revoke key: %w", err)
	}
	return nil
}
