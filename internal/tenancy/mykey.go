package tenancy

import (
	"context"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// person is whom the caller is or speaks for; a service key is no person.
func person(ctx context.Context) (uuid.UUID, error) {
	user := principal.From(ctx).User
	if user == nil {
		return uuid.UUID{}, ErrNotAPerson
	}
	return *user, nil
}

// MyKeys are the keys that the filter selects among the caller's own.
func (s *Service) MyKeys(ctx context.Context, org principal.OrgID, f KeyFilter) ([]Key, int64, error) {
	user, err := person(ctx)
	if err != nil {
		return nil, 0, err
	}
	f.Owner = &user
	return s.Keys(ctx, org, f)
}

// MyKey returns one of the caller's own keys; anyone else's is not found.
func (s *Service) MyKey(ctx context.Context, org principal.OrgID, id int64) (Key, error) {
	user, err := person(ctx)
	if err != nil {
		return Key{}, err
	}
	k, err := s.Key(ctx, org, id)
	if err == nil && !k.belongsTo(user) {
		err = ErrKeyNotFound
	}
	return k, err
}

// RevokeMyKeyTx ends one of the caller's own keys; anyone else's is not found.
func (s *Service) RevokeMyKeyTx(ctx context.Context, tx postgres.Tx, id int64) error {
	user, err := person(ctx)
	if err != nil {
		return err
	}
	k, err := s.store.lockKeyTx(ctx, tx, id)
	if err != nil {
		return err
	}
	if !k.belongsTo(user) {
		return ErrKeyNotFound
	}
	return s.revokeKeyTx(ctx, tx, k)
}
