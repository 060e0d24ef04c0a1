package tenancy

import (
	"context"
	"crypto/hmac"
	"time"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/principal"
)

// Service keeps organizations and keys, and recognises callers.
type Service struct {
	cfg   Config
	store store
	now   func() time.Time
}

// New makes the service.
func New(cfg Config, pg *postgres.DB, now func() time.Time) *Service {
	return &Service{cfg: cfg, store: store{pg}, now: now}
}

// NewKey describes a key to make.
type NewKey struct {
	Name        string
	Environment Environment
	Scopes      []principal.Scope
	ExpiresAt   *time.Time
}

// CreateOrganization makes an organization and its first key, which is
// returned here and can never be read again.
func (s *Service) CreateOrganization(ctx context.Context, name string, first NewKey) (principal.OrgID, secret.Text, error) {
	org := principal.NewOrgID()
	key := newKey(first.Environment)
	err := postgres.InTx(ctx, s.store.db, org, func(tx postgres.Tx) error {
		if err := s.store.insertOrganizationTx(ctx, tx, name, s.now()); err != nil {
			return err
		}
		_, err := s.insertKeyTx(ctx, tx, key, first)
		return err
	})
	if err != nil {
		return principal.OrgID{}, "", err
	}
	return org, secret.Text(key.whole), nil
}

// CreateKey makes a key of an organization. It is returned here and can never
// be read again.
func (s *Service) CreateKey(ctx context.Context, org principal.OrgID, k NewKey) (id int64, key secret.Text, err error) {
	made := newKey(k.Environment)
	err = postgres.InTx(ctx, s.store.db, org, func(tx postgres.Tx) error {
		id, err = s.insertKeyTx(ctx, tx, made, k)
		return err
	})
	return id, secret.Text(made.whole), err
}

// RevokeKey ends a key. Revoking it again does nothing.
func (s *Service) RevokeKey(ctx context.Context, org principal.OrgID, id int64) error {
	return s.store.revokeKey(ctx, org, id, s.now())
}

func (s *Service) insertKeyTx(ctx context.Context, tx postgres.Tx, key parsedKey, k NewKey) (int64, error) {
	return s.store.insertKeyTx(ctx, tx, storedKey{
		ID: key.id, Scopes: k.Scopes, Hash: key.hash(s.cfg.Pepper), PepperVersion: s.cfg.PepperVersion, ExpiresAt: k.ExpiresAt,
	}, k, key.whole[len(key.whole)-4:], s.now())
}

// Authenticate recognises the caller behind a presented key. While the
// database is away the answer is "unavailable", never access.
func (s *Service) Authenticate(ctx context.Context, token string) (principal.Caller, error) {
	key, err := parseKey(token)
	if err != nil {
		return principal.Caller{}, err
	}
	stored, err := s.store.presentedKey(ctx, key.id)
	if err != nil {
		return principal.Caller{}, err
	}
	pepper, ok := s.cfg.pepper(stored.PepperVersion)
	if !ok || !hmac.Equal(key.hash(pepper), stored.Hash) {
		return principal.Caller{}, ErrKeyUnknown
	}
	if stored.RevokedAt != nil {
		return principal.Caller{}, ErrKeyRevoked
	}
	if stored.ExpiresAt != nil && !s.now().Before(*stored.ExpiresAt) {
		return principal.Caller{}, ErrKeyExpired
	}
	return principal.Caller{Org: stored.Org, KeyID: stored.ID, Scopes: stored.Scopes}, nil
}
