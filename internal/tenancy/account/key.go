package account

import (
	"context"
	"math"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

// mostKeys is how many keys a member may have at a time, and a little more.
const mostKeys = 50

// Keys are the caller's own keys that work.
func (s *Service) Keys(ctx context.Context) ([]tenancy.Key, error) {
	f := tenancy.KeyFilter{Status: []tenancy.KeyStatus{tenancy.KeyActive}}
	f.Below, f.Limit = math.MaxInt64, mostKeys
	keys, _, err := s.tenancy.MyKeys(ctx, principal.From(ctx).Org, f)
	return keys, err
}

// MakeKey makes a key of the caller's own, which is a person's as the caller is.
func (s *Service) MakeKey(ctx context.Context, name string, scopes []principal.Scope, expires *time.Time) (secret.Text, error) {
	made, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*secret.Text, error) {
		k := tenancy.NewKey{Name: name, Mode: tenancy.ModeLive, Scopes: scopes, ExpiresAt: expires, Personal: true}
		_, text, err := s.tenancy.CreateKeyTx(ctx, tx, k)
		return &text, err
	})
	if err != nil {
		return "", err
	}
	return *made, nil
}

// FirstKey makes a key with all that the caller may do, for a terminal.
func (s *Service) FirstKey(ctx context.Context, email string) (secret.Text, error) {
	return s.MakeKey(ctx, email+", "+s.now().UTC().Format("2006-01-02 15:04:05.000"), principal.From(ctx).Role.Scopes(), nil)
}

// RevokeKey ends one of the caller's own keys.
func (s *Service) RevokeKey(ctx context.Context, id int64) error {
	org := principal.From(ctx).Org
	if _, err := s.tenancy.MyKey(ctx, org, id); err != nil {
		return err
	}
	return s.tenancy.RevokeKey(ctx, org, id)
}

// Organization is the caller's.
func (s *Service) Organization(ctx context.Context) (tenancy.Organization, error) {
	return s.tenancy.Organization(ctx, principal.From(ctx).Org)
}
