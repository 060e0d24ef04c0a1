package tenancy

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

// overOwners reports whether the key decides about owners. A personal key that
// somebody else made does so only if its maker did: its owner may have become
// one since.
func (k storedKey) overOwners() bool {
	if k.Owner == nil {
		return k.OverOwners
	}
	return k.Role == principal.Owner && (!k.Asserted || k.OverOwners)
}

// expired reports whether the key has ended. The database says how long it still
// had, and the process measures how long ago that was, so that no clock of a
// process can lengthen the life of a key.
func (k storedKey) expired(now time.Time) bool {
	return now.Sub(k.Read) >= k.Left
}

func (s store) presentedKey(ctx context.Context, keyID string) (storedKey, error) {
	r, err := db.New(s.db.Key(keyID)).FindPresentedKey(ctx, keyID)
	if postgres.NoRows(err) {
		return storedKey{}, ErrKeyUnknown
	}
	if err != nil {
		return storedKey{}, fmt.Errorf("find presented key: %w", err)
	}
	k := storedKey{
		Org: r.OrgID, ID: r.ID, KeyID: r.KeyID, Scopes: toScopes(r.Scopes), Hash: r.Hash, PepperVersion: int(r.PepperVersion),
		RevokedAt: r.RevokedAt, Status: Status(r.OrgStatus), Plan: Plan(r.Plan), HourlyLimit: number(r.HourlyLimit),
		Left: time.Duration(r.SecondsLeft * float64(time.Second)), NoDelete: r.NoDelete,
		Owner: r.OwnerID, OwnerGone: r.OwnerRemovedAt != nil, OverOwners: r.OverOwners, Asserted: r.Asserted,
	}
	if r.Role != nil {
		k.Role = principal.Role(*r.Role)
	}
	return k, nil
}

func (s store) insertKeyTx(ctx context.Context, tx postgres.Tx, k Key, hash []byte, pepperVersion int) (int64, error) {
	id, err := db.New(tx).InsertKey(ctx, db.InsertKeyParams{
		OrgID: tx.Org, KeyID: k.KeyID, Name: k.Name, Environment: string(k.Mode), Scopes: fromScopes(k.Scopes),
		Hash: hash, PepperVersion: int32(pepperVersion), Last4: k.Last4, OwnerID: k.Owner, CreatedBy: userOf(k.CreatedBy), Creator: k.CreatedBy.String(),
		OverOwners: k.OverOwners, Asserted: k.Asserted,
		CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, ParentID: k.Parent, MadeWith: postgres.OrNull(principal.From(ctx).Key), Succeeds: postgres.OrNull(k.succeeds), NoDelete: k.NoDelete,
	})
	if postgres.Violates(err, "api_keys_name") {
		return 0, ErrKeyNameTaken
	}
	if err != nil {
		return 0, fmt.Errorf("insert key: %w", err)
	}
	return id, nil
}

// freeNameTx lets a key that has expired go of its name.
func (s store) freeNameTx(ctx context.Context, tx postgres.Tx, name string, at time.Time) error {
	if err := db.New(tx).FreeKeyName(ctx, db.FreeKeyNameParams{OrgID: tx.Org, Name: name, At: &at}); err != nil {
		return fmt.Errorf("free name of key: %w", err)
	}
	return nil
}

func (s store) key(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Key, error) {
	r, err := db.New(q).FindKey(ctx, db.FindKeyParams{OrgID: org, ID: id})
	if postgres.NoRows(err) {
		return Key{}, ErrKeyNotFound
	}
	if err != nil {
		return Key{}, fmt.Errorf("find key: %w", err)
	}
	return fromKeyRow(db.ListKeysRow(r)), nil
}

// lockKeyTx reads a key and keeps it from changing until the transaction ends.
func (s store) lockKeyTx(ctx context.Context, tx postgres.Tx, id int64) (Key, error) {
	r, err := db.New(tx).LockKey(ctx, db.LockKeyParams{OrgID: tx.Org, ID: id})
	if postgres.NoRows(err) {
		return Key{}, ErrKeyNotFound
	}
	if err != nil {
		return Key{}, fmt.Errorf("lock key: %w", err)
	}
	return fromKeyRow(db.ListKeysRow(r)), nil
}

// keys are the keys that the filter selects by the statuses that they have at a
// time.
func (s store) keys(ctx context.Context, org principal.OrgID, f KeyFilter, at time.Time) ([]Key, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountKeysParams{
		OrgID: org, At: &at, Statuses: postgres.Texts(f.Status), OwnerID: f.Owner, Search: postgres.OrNull(f.Search),
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
	}
	rows, err := q.ListKeys(ctx, db.ListKeysParams{
		OrgID: count.OrgID, At: count.At, Statuses: count.Statuses, OwnerID: count.OwnerID, Search: count.Search,
		CreatedAfter: count.CreatedAfter, CreatedBefore: count.CreatedBefore,
		Below: f.Below, RowLimit: int32(f.Limit) + 1, RowOffset: int32(f.Offset),
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list keys: %w", err)
	}
	out := make([]Key, len(rows))
	for i, r := range rows {
		out[i] = fromKeyRow(r)
	}
	if !f.Count {
		return out, 0, nil
	}
	total, err := q.CountKeys(ctx, count)
	if err != nil {
		return nil, 0, fmt.Errorf("count keys: %w", err)
	}
	return out, total, nil
}

func (s store) updateKeyTx(ctx context.Context, tx postgres.Tx, k Key) error {
	n, err := db.New(tx).UpdateKey(ctx, db.UpdateKeyParams{OrgID: tx.Org, ID: k.ID, Name: k.Name, Scopes: fromScopes(k.Scopes), ExpiresAt: k.ExpiresAt, NoDelete: k.NoDelete})
	if postgres.Violates(err, "api_keys_name") {
		return ErrKeyNameTaken
	}
	if err != nil {
		return fmt.Errorf("update key: %w", err)
	}
	if n == 0 {
		return ErrKeyEnded
	}
	return nil
}

func (s store) revokeKeyTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	_, err := db.New(tx).RevokeKey(ctx, db.RevokeKeyParams{OrgID: tx.Org, ID: id, RevokedAt: &at})
	if postgres.NoRows(err) {
		return ErrKeyNotFound // someone else was quicker
	}
	if err != nil {
		return fmt.Errorf("revoke key: %w", err)
	}
	return nil
}

// supersedeKeyTx lets a key work on for a grace and returns its end.
func (s store) supersedeKeyTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time, grace time.Duration) (*time.Time, error) {
	end, err := db.New(tx).SupersedeKey(ctx, db.SupersedeKeyParams{OrgID: tx.Org, ID: id, SupersededAt: &at, GraceSeconds: grace.Seconds()})
	if postgres.NoRows(err) {
		return nil, ErrKeyEnded
	}
	if err != nil {
		return nil, fmt.Errorf("supersede key: %w", err)
	}
	return end, nil
}

// revokeKeysOfTx ends the personal keys of a member and returns them as they were
// before.
func (s store) revokeKeysOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID, at time.Time) ([]Key, error) {
	rows, err := db.New(tx).RevokeKeysOf(ctx, db.RevokeKeysOfParams{OrgID: tx.Org, OwnerID: &user, RevokedAt: &at})
	if err != nil {
		return nil, fmt.Errorf("revoke keys of member: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = beforeRevocation(db.ListKeysRow(r))
	}
	return keys, nil
}

// revokeKeysBelowTx ends what was made with a key, directly or not, and returns
// it as it was before.
func (s store) revokeKeysBelowTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) ([]Key, error) {
	rows, err := db.New(tx).RevokeKeysBelow(ctx, db.RevokeKeysBelowParams{OrgID: tx.Org, ID: &id, RevokedAt: &at})
	if err != nil {
		return nil, fmt.Errorf("revoke keys below a key: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = beforeRevocation(db.ListKeysRow(r))
	}
	return keys, nil
}

// shortenKeysBelowTx lets nothing that was made with a key work after its end.
func (s store) shortenKeysBelowTx(ctx context.Context, tx postgres.Tx, id int64, end time.Time) error {
	if err := db.New(tx).ShortenKeysBelow(ctx, db.ShortenKeysBelowParams{OrgID: tx.Org, ID: &id, ExpiresAt: &end}); err != nil {
		return fmt.Errorf("shorten keys below a key: %w", err)
	}
	return nil
}

// handOverKeysTx makes a key's successor the parent of what was made with it.
func (s store) handOverKeysTx(ctx context.Context, tx postgres.Tx, id, successor int64) error {
	if err := db.New(tx).HandOverKeys(ctx, db.HandOverKeysParams{OrgID: tx.Org, ID: &id, Successor: &successor}); err != nil {
		return fmt.Errorf("hand keys over: %w", err)
	}
	return nil
}

// lockKeysOfTx counts the personal keys of a member that work, and keeps others
// from making more until the transaction ends.
func (s store) lockKeysOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) (int64, error) {
	if _, err := db.New(tx).LockMember(ctx, db.LockMemberParams{OrgID: tx.Org, UserID: user}); postgres.NoRows(err) {
		return 0, ErrMemberNotFound
	} else if err != nil {
		return 0, fmt.Errorf("lock member: %w", err)
	}
	n, err := db.New(tx).CountKeysOf(ctx, db.CountKeysOfParams{OrgID: tx.Org, OwnerID: &user})
	if err != nil {
		return 0, fmt.Errorf("count keys of member: %w", err)
	}
	return n, nil
}

// revokeAllKeysTx ends every key and returns them as they were before.
func (s store) revokeAllKeysTx(ctx context.Context, tx postgres.Tx, at time.Time) ([]Key, error) {
	rows, err := db.New(tx).RevokeAllKeys(ctx, db.RevokeAllKeysParams{OrgID: tx.Org, RevokedAt: &at})
	if err != nil {
		return nil, fmt.Errorf("revoke keys: %w", err)
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = beforeRevocation(db.ListKeysRow(r))
	}
	return keys, nil
}

// beforeRevocation is a key that was just revoked, as it was before.
func beforeRevocation(r db.ListKeysRow) Key {
	k := fromKeyRow(r)
	k.RevokedAt, k.Version = nil, k.Version-1
	return k
}

func (s store) touchKey(ctx context.Context, org principal.OrgID, id int64, at time.Time) error {
	before := at.Add(-time.Minute)
	if err := db.New(s.db.Org(org)).TouchKey(ctx, db.TouchKeyParams{OrgID: org, ID: id, At: &at, Before: &before}); err != nil {
		return fmt.Errorf("touch key: %w", err)
	}
	return nil
}

func fromKeyRow(r db.ListKeysRow) Key {
	k := Key{
		ID: r.ID, KeyID: r.KeyID, Name: r.Name, Mode: Mode(r.Environment), Scopes: toScopes(r.Scopes), Last4: r.Last4,
		Owner: r.OwnerID, CreatedBy: principal.ParseActor(r.Creator), OverOwners: r.OverOwners, Asserted: r.Asserted, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt,
		Superseded: r.SupersededAt, LastUsedAt: r.LastUsedAt, Version: r.Version, Parent: r.ParentID, NoDelete: r.NoDelete,
	}
	if k.CreatedBy.Type == principal.ActorSystem && r.CreatedBy != nil {
		// An older release made the key: it notes the person alone.
		k.CreatedBy = principal.UserActor(*r.CreatedBy, r.Asserted)
	}
	return k
}

// userOf is the person behind an actor, nil if it is none.
func userOf(a principal.Actor) *uuid.UUID {
	id, err := uuid.Parse(a.ID)
	if a.Type != principal.ActorUser || err != nil {
		return nil
	}
	return &id
}

func toScopes(texts []string) []principal.Scope {
	out := make([]principal.Scope, len(texts))
	for i, t := range texts {
		out[i] = principal.Scope(t)
	}
	return out
}

func fromScopes(scopes []principal.Scope) []string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return out
}

func (s store) lineageTx(ctx context.Context, tx postgres.Tx, keys []int64) (Lineage, error) {
	rows, err := db.New(tx).ListKeyLineage(ctx, db.ListKeyLineageParams{OrgID: tx.Org, Ids: keys})
	if err != nil {
		return nil, fmt.Errorf("find where keys come from: %w", err)
	}
	all := make(Lineage, len(rows))
	for _, r := range rows {
		all[r.ID] = origin{madeWith: postgres.OrZero(r.MadeWith), succeeds: postgres.OrZero(r.Succeeds), owner: r.OwnerID, creator: r.CreatedBy}
	}
	return all, nil
}
