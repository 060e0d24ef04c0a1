package tenancy

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// Faults of acting for a user.
var (
	ErrActForForbidden = fault.New(fault.Forbidden, "on_behalf_of_forbidden", "Only an API key with the scope admin:org may send X-On-Behalf-Of.")
	ErrNotAMember      = fault.New(fault.Forbidden, "not_a_member", "X-On-Behalf-Of must name a member of the organization.")
)

// Authenticate recognises the caller behind a presented key. What is known of
// a key may be at most as old as the cache allows; while the database is away
// and the cache has nothing fresh, the answer is "unavailable", never access.
func (s *Service) Authenticate(ctx context.Context, token string) (principal.Caller, error) {
	key, err := parseKey(token)
	if err != nil {
		return principal.Caller{}, s.failures.note(ctx, "", err)
	}
	if !s.cache.knows(key.id) {
		if err := s.failures.held(ctx); err != nil {
			return principal.Caller{}, err
		}
	}
	stored, err := s.cache.get(ctx, key.id, s.store.presentedKey)
	if errors.Is(err, ErrKeyUnknown) {
		return principal.Caller{}, s.failures.note(ctx, "", err)
	}
	if err != nil {
		return principal.Caller{}, err
	}
	if !s.verifier.matches(key, stored.PepperVersion, stored.Hash) {
		return principal.Caller{}, s.failures.note(ctx, key.id, ErrKeyUnknown)
	}
	switch {
	case stored.RevokedAt != nil, stored.OwnerGone, stored.Status == StatusDeleting:
		return principal.Caller{}, s.failures.note(ctx, "", ErrKeyRevoked)
	case stored.expired(s.clock()):
		return principal.Caller{}, s.failures.note(ctx, "", ErrKeyExpired)
	}
	s.meter.used(stored, s.now())
	return principal.Caller{
		Org: stored.Org, Key: stored.ID, KeyID: stored.KeyID, Scopes: stored.Scopes,
		User: stored.Owner, Asserted: stored.Asserted, Role: stored.Role,
		NoDelete:    stored.NoDelete,
		OverOwners:  stored.overOwners(),
		Suspended:   stored.Status == StatusSuspended,
		HourlyLimit: s.plans.limit(stored.Plan, stored.HourlyLimit), OrgHourlyLimit: s.plans.orgLimit(stored.Plan, stored.HourlyLimit),
	}, nil
}

// ActFor lets an administrator's key act for a member; records then show that
// the member was asserted.
func (s *Service) ActFor(ctx context.Context, caller principal.Caller, user string) (principal.Caller, error) {
	if !caller.May(principal.AdminOrg) {
		return caller, ErrActForForbidden
	}
	id, err := uuid.Parse(user)
	if err != nil {
		return caller, ErrNotAMember
	}
	m, err := s.store.member(ctx, s.db.Org(caller.Org), caller.Org, id)
	if fault.IsNotFound(err) {
		return caller, ErrNotAMember
	}
	if err != nil {
		return caller, err
	}
	caller.User, caller.Asserted = &m.UserID, true
	return caller, nil
}
