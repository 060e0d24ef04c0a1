package tenancy

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
)

// Faults of key management.
var (
	ErrKeyNotFound      = fault.New(fault.NotFound, "api_key_not_found", "The API key does not exist.")
	ErrKeyNameTaken     = fault.New(fault.Conflict, "already_exists", "An active API key already has this name. Choose another name, or delete that key.")
	ErrScopeEscalation  = fault.New(fault.Forbidden, "scope_escalation", "An API key cannot have a scope that its creator does not have.")
	ErrDeleteEscalation = fault.New(fault.Forbidden, "delete_escalation", "An API key that may not delete cannot make one that may. Send canDelete: false.")
	ErrNotAPerson       = fault.New(fault.Forbidden, "not_a_person", "A service key does not belong to a person, so it cannot have personal keys. Use a personal key, or X-On-Behalf-Of with a key that has admin:org.")
	ErrTooManyKeys      = fault.New(fault.Conflict, "too_many_api_keys", "A member has at most 20 personal keys that work. Delete some that are no longer used.")
	ErrKeyEnded         = fault.New(fault.Conflict, "invalid_transition", "The API key has expired or was rotated, so it cannot be changed.")
)

// maxPersonalKeys is how many personal keys of a member work at a time.
const maxPersonalKeys = 20

// KeyStatus says whether a key works.
type KeyStatus string

// The statuses of keys.
const (
	KeyActive  KeyStatus = "active"
	KeyExpired KeyStatus = "expired"
	KeyRevoked KeyStatus = "revoked"
)

// Key is an API key as it can be shown: without its secret.
type Key struct {
	ID     int64
	KeyID  string
	Name   string
	Mode   Mode
	Scopes []principal.Scope
	Last4  string
	// Owner is set on a personal key, which ends with the membership.
	Owner *uuid.UUID
	// OverOwners lets a service key decide about owners.
	OverOwners bool
	// Asserted is true if someone else made the personal key for its owner: whoever uses
	// it is no person.
	Asserted bool
	// Parent is the personal key that its owner made this one with. The key ends
	// with it.
	Parent   *int64
	succeeds int64 // the key that it replaces
	// NoDelete keeps the key from operations that delete.
	NoDelete   bool
	CreatedBy  principal.Actor
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
	Superseded *time.Time
	LastUsedAt *time.Time
	// Version counts changes of the key.
	Version int64
}

// Prefix is the part of a key that may be shown.
func (k Key) Prefix() string {
	return keyPrefix + "_" + string(k.Mode) + "_" + k.KeyID
}

// StatusAt says whether the key works at a time.
func (k Key) StatusAt(now time.Time) KeyStatus {
	switch {
	case k.RevokedAt != nil:
		return KeyRevoked
	case k.ExpiresAt != nil && !now.Before(*k.ExpiresAt):
		return KeyExpired
	}
	return KeyActive
}

// NewKey describes a key to make.
type NewKey struct {
	Name      string
	Mode      Mode
	Scopes    []principal.Scope
	ExpiresAt *time.Time
	// Personal makes the key end with its creator's membership.
	Personal bool
	// NoDelete keeps the key from operations that delete.
	NoDelete bool
}

// KeyFilter selects keys; an empty field matches everything, and a list matches
// any of its values.
type KeyFilter struct {
	// Status matches keys that are not revoked if it is empty.
	Status []KeyStatus
	// Owner matches the personal keys of one member.
	Owner                       *uuid.UUID
	Search                      string
	CreatedAfter, CreatedBefore *time.Time
	postgres.Page
}

// Keys returns a page of keys, newest first, with one key more than the limit if
// there is a next page.
func (s *Service) Keys(ctx context.Context, org principal.OrgID, f KeyFilter) ([]Key, int64, error) {
	if len(f.Status) == 0 {
		f.Status = []KeyStatus{KeyActive, KeyExpired}
	}
	return s.store.keys(ctx, org, f, s.now())
}

// Key returns one key that is not revoked.
func (s *Service) Key(ctx context.Context, org principal.OrgID, id int64) (Key, error) {
	return s.store.key(ctx, s.db.Org(org), org, id)
}

// CreateKey makes a key of an organization outside a request. It is returned
// here and can never be read again.
func (s *Service) CreateKey(ctx context.Context, org principal.OrgID, k NewKey) (made Key, text secret.Text, err error) {
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		made, text, err = s.createKeyTx(ctx, tx, k)
		return err
	})
	return made, text, err
}

// CreateKeyTx makes a key for the caller. It is returned here and can never be
// read again.
func (s *Service) CreateKeyTx(ctx context.Context, tx postgres.Tx, k NewKey) (Key, secret.Text, error) {
	if err := grantable(ctx, k.Scopes, k.NoDelete); err != nil {
		return Key{}, "", err
	}
	return s.createKeyTx(ctx, tx, k)
}

func (s *Service) createKeyTx(ctx context.Context, tx postgres.Tx, k NewKey) (Key, secret.Text, error) {
	made := newKey(k.Mode)
	key := Key{
		KeyID: made.id, Name: k.Name, Mode: k.Mode, Scopes: k.Scopes, Last4: made.whole[len(made.whole)-4:],
		CreatedBy: principal.ActorOf(ctx), CreatedAt: s.now(), ExpiresAt: k.ExpiresAt, Version: 1, NoDelete: k.NoDelete,
	}
	key.OverOwners = mayTouchOwners(ctx) && (k.Personal || slices.Contains(k.Scopes, principal.AdminOrg))
	if k.Personal {
		key.Owner, key.Asserted = principal.From(ctx).User, principal.From(ctx).Asserted
		if err := s.mayActAsTx(ctx, tx, *key.Owner); err != nil {
			return Key{}, "", err
		}
		n, err := s.store.lockKeysOfTx(ctx, tx, *key.Owner)
		if err != nil {
			return Key{}, "", err
		}
		if n >= maxPersonalKeys {
			return Key{}, "", ErrTooManyKeys
		}
		if err := s.attachTx(ctx, tx, &key); err != nil {
			return Key{}, "", err
		}
	}
	err := s.store.freeNameTx(ctx, tx, key.Name, key.CreatedAt)
	if err != nil {
		return Key{}, "", err
	}
	if key.ID, err = s.store.insertKeyTx(ctx, tx, key, made.hash(s.cfg.Pepper), s.cfg.PepperVersion); err != nil {
		return Key{}, "", err
	}
	return key, secret.Text(made.whole), change.RecordTx(ctx, s.log, tx, eventKeyCreated, key.ID, nil, &key)
}

// attachTx makes the caller's key the parent of a personal key that its owner
// makes with it, and bounds its life by the parent's. The lock lets the parent
// not end in between.
func (s *Service) attachTx(ctx context.Context, tx postgres.Tx, k *Key) error {
	caller := principal.From(ctx)
	if caller.Role == "" || caller.Key == 0 {
		return nil // a service key, or a session
	}
	parent, err := s.store.lockKeyTx(ctx, tx, caller.Key)
	if errors.Is(err, ErrKeyNotFound) {
		return ErrKeyRevoked // a moment ago
	}
	if err != nil || !parent.belongsTo(*k.Owner) {
		return err
	}
	k.Parent = &parent.ID
	return k.within(parent)
}

// within bounds the key's life by its parent's: without an end of its own it has
// the parent's, and a later one is refused.
func (k *Key) within(parent Key) error {
	switch {
	case parent.ExpiresAt == nil:
	case k.ExpiresAt == nil:
		k.ExpiresAt = parent.ExpiresAt
	case k.ExpiresAt.After(*parent.ExpiresAt):
		return fault.Invalid("body", "/expiresAt", "max", "must not be after the end of the key that creates it, "+parent.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// UpdateKeyTx renames a key or changes its scopes or expiry. A nonzero expected
// version must be the current one.
func (s *Service) UpdateKeyTx(ctx context.Context, tx postgres.Tx, id, expected int64, edit func(*Key)) (Key, error) {
	return change.Update(change.Edit[Key]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock:  func() (Key, error) { return s.store.lockKeyTx(ctx, tx, id) },
		Apply: func(k *Key) error { edit(k); return nil },
		Save: func(before Key, after *Key) error {
			if err := s.changeable(before); err != nil {
				return err
			}
			if err := s.mayManageTx(ctx, tx, before); err != nil {
				return err
			}
			added := slices.DeleteFunc(slices.Clone(after.Scopes), func(sc principal.Scope) bool { return slices.Contains(before.Scopes, sc) })
			if err := grantable(ctx, added, after.NoDelete || !before.NoDelete); err != nil {
				return err
			}
			if err := s.boundTx(ctx, tx, before, after); err != nil {
				return err
			}
			if err := s.store.freeNameTx(ctx, tx, after.Name, s.now()); err != nil {
				return err
			}
			after.Version = before.Version + 1
			return s.endedTx(ctx, tx, id, s.store.updateKeyTx(ctx, tx, *after))
		},
		Audit: func(before, after Key) error {
			return change.RecordTx(ctx, s.log, tx, eventKeyUpdated, id, &before, &after)
		},
	})
}

// boundTx keeps a key that changes within the life of its parent, and what was
// made with it within its own.
func (s *Service) boundTx(ctx context.Context, tx postgres.Tx, before Key, after *Key) error {
	if after.Parent != nil {
		parent, err := s.store.key(ctx, tx, tx.Org, *after.Parent)
		if err != nil {
			return err
		}
		if err := after.within(parent); err != nil {
			return err
		}
	}
	if after.ExpiresAt == nil || before.ExpiresAt != nil && !after.ExpiresAt.Before(*before.ExpiresAt) {
		return nil
	}
	return s.store.shortenKeysBelowTx(ctx, tx, after.ID, *after.ExpiresAt)
}

// RotateKeyTx makes a successor with the same name, scopes and owner, and lets
// the old key work on for the grace. What was made with the old key is then as
// if it was made with the successor.
func (s *Service) RotateKeyTx(ctx context.Context, tx postgres.Tx, id int64, grace time.Duration) (Key, secret.Text, error) {
	old, err := s.store.lockKeyTx(ctx, tx, id)
	if err != nil {
		return Key{}, "", err
	}
	if err := s.changeable(old); err != nil {
		return Key{}, "", err
	}
	if err := grantable(ctx, old.Scopes, old.NoDelete); err != nil {
		return Key{}, "", err
	}
	asserted := old.Asserted
	if caller := principal.From(ctx); old.Owner != nil && (!caller.InPerson() || *caller.User != *old.Owner) {
		asserted = true // whoever gets the successor is not known to be its owner
	}
	if err := s.mayManageTx(ctx, tx, old); err != nil {
		return Key{}, "", err
	}
	superseded, at := old, s.now()
	superseded.Superseded, superseded.Version = &at, old.Version+1
	if superseded.ExpiresAt, err = s.store.supersedeKeyTx(ctx, tx, id, at, grace); err != nil {
		return Key{}, "", s.endedTx(ctx, tx, id, err)
	}
	if err := change.RecordTx(ctx, s.log, tx, eventKeyRotated, id, &old, &superseded); err != nil {
		return Key{}, "", err
	}
	made := newKey(old.Mode)
	next := Key{
		KeyID: made.id, Name: old.Name, Mode: old.Mode, Scopes: old.Scopes, Last4: made.whole[len(made.whole)-4:],
		Owner: old.Owner, OverOwners: old.OverOwners, Asserted: asserted, CreatedBy: principal.ActorOf(ctx), CreatedAt: s.now(), ExpiresAt: old.ExpiresAt,
		Parent: old.Parent, NoDelete: old.NoDelete, Version: 1, succeeds: old.ID,
	}
	if next.ID, err = s.store.insertKeyTx(ctx, tx, next, made.hash(s.cfg.Pepper), s.cfg.PepperVersion); err != nil {
		return Key{}, "", err
	}
	if err := s.store.handOverKeysTx(ctx, tx, id, next.ID); err != nil {
		return Key{}, "", err
	}
	return next, secret.Text(made.whole), change.RecordTx(ctx, s.log, tx, eventKeyCreated, next.ID, nil, &next)
}

// mayManageTx refuses a key that decides about owners, and an owner's personal
// key, to whoever may not: changing, taking or ending it is deciding about an
// owner.
func (s *Service) mayManageTx(ctx context.Context, tx postgres.Tx, k Key) error {
	if k.Owner != nil {
		return s.mayActAsTx(ctx, tx, *k.Owner)
	}
	if k.OverOwners && !mayTouchOwners(ctx) {
		return ErrOwnersOnly
	}
	return nil
}

// mayActAsTx refuses a key in the name of an owner to whoever may not decide
// about owners: such a key would be one.
func (s *Service) mayActAsTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) error {
	if mayTouchOwners(ctx) {
		return nil
	}
	m, err := s.store.member(ctx, tx, tx.Org, user)
	if err != nil {
		return err
	}
	if m.Role == principal.Owner {
		return ErrOwnersOnly
	}
	return nil
}

// RevokeKeyTx ends a key and those that were made with it: at once on this
// replica, and within the cache's two seconds on every other.
func (s *Service) RevokeKeyTx(ctx context.Context, tx postgres.Tx, id int64) error {
	before, err := s.store.lockKeyTx(ctx, tx, id)
	if err != nil {
		return err
	}
	return s.revokeKeyTx(ctx, tx, before)
}

func (s *Service) revokeKeyTx(ctx context.Context, tx postgres.Tx, k Key) error {
	if err := s.mayManageTx(ctx, tx, k); err != nil {
		return err
	}
	if err := s.store.revokeKeyTx(ctx, tx, k.ID, s.now()); err != nil {
		return err
	}
	below, err := s.store.revokeKeysBelowTx(ctx, tx, k.ID, s.now())
	if err != nil {
		return err
	}
	return s.auditRevokedTx(ctx, tx, append([]Key{k}, below...))
}

// RevokeKey ends a key outside a request.
func (s *Service) RevokeKey(ctx context.Context, org principal.OrgID, id int64) error {
	defer s.cache.forgetOrg(org)
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error { return s.RevokeKeyTx(ctx, tx, id) })
}

func (s *Service) auditRevokedTx(ctx context.Context, tx postgres.Tx, keys []Key) error {
	for _, k := range keys {
		if err := change.RecordTx(ctx, s.log, tx, eventKeyRevoked, k.ID, &k, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) changeable(k Key) error {
	state := string(k.StatusAt(s.now()))
	if state == string(KeyActive) && k.Superseded != nil {
		state = "rotated"
	}
	if state != string(KeyActive) {
		return ErrKeyEnded.With("currentState", state).With("allowedTransitions", []string{})
	}
	return nil
}

// endedTx says in which state a key is that was ended after it was read.
func (s *Service) endedTx(ctx context.Context, tx postgres.Tx, id int64, err error) error {
	if !errors.Is(err, ErrKeyEnded) {
		return err
	}
	k, err := s.store.key(ctx, tx, tx.Org, id)
	if err != nil {
		return err
	}
	return s.changeable(k)
}

// grantable fails if the caller lacks one of the scopes, or gives a key the right
// to delete that it does not have. The operator of the deployment may grant them all.
func grantable(ctx context.Context, scopes []principal.Scope, noDelete bool) error {
	caller := principal.From(ctx)
	if caller.Operator() {
		return nil
	}
	for _, scope := range scopes {
		if !caller.May(scope) {
			return ErrScopeEscalation.With("scope", scope)
		}
	}
	if caller.NoDelete && !noDelete {
		return ErrDeleteEscalation
	}
	return nil
}

func (k Key) belongsTo(user uuid.UUID) bool { return k.Owner != nil && *k.Owner == user }
