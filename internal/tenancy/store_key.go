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
	if err != nil {
		return storedKey{}, postgres.Missing(err, "find presented key", ErrKeyUnknown)
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
		Hash: hash, PepperVersion: int32(pepperVersion), Last4: k.Last4, OwnerID: k.Owner, CreatedBy: userOf(k.CreatedBy), Creator: k.CreatedBy,
		OverOwners: k.OverOwners, Asserted: k.Asserted,
		CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, ParentID: k.Parent, MadeWith: postgres.OrNull(principal.From(ctx).Key), Succeeds: postgres.OrNull(k.succeeds), NoDelete: k.NoDelete,
	})
	if postgres.Violates(err, "api_keys_name") {
		return 0, ErrKeyNameTaken
	}
	return id, postgres.Wrap(err, "insert key")
}

// freeNameTx lets a key that has expired go of its name.
func (s store) freeNameTx(ctx context.Context, tx postgres.Tx, name string, at time.Time) error {
	return postgres.Wrap(db.New(tx).FreeKeyName(ctx, db.FreeKeyNameParams{OrgID: tx.Org, Name: name, At: &at}), "free name of key")
}

func (s store) key(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Key, error) {
	r, err := db.New(q).FindKey(ctx, db.FindKeyParams{OrgID: org, ID: id})
	return postgres.One(db.ListKeysRow(r), err, "find key", ErrKeyNotFound, fromKeyRow)
}

// lockKeyTx reads a key and keeps it from changing until the transaction ends.
func (s store) lockKeyTx(ctx context.Context, tx postgres.Tx, id int64) (Key, error) {
	r, err := db.New(tx).LockKey(ctx, db.LockKeyParams{OrgID: tx.Org, ID: id})
	return postgres.One(db.ListKeysRow(r), err, "lock key", ErrKeyNotFound, fromKeyRow)
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
		Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	})
	return postgres.Listed(rows, err, "keys", fromKeyRow, f.Count, func() (int64, error) { return q.CountKeys(ctx, count) })
}

func (s store) updateKeyTx(ctx context.Context, tx postgres.Tx, k Key) error {
	n, err := db.New(tx).UpdateKey(ctx, db.UpdateKeyParams{OrgID: tx.Org, ID: k.ID, Name: k.Name, Scopes: fromScopes(k.Scopes), ExpiresAt: k.ExpiresAt, NoDelete: k.NoDelete})
	if postgres.Violates(err, "api_keys_name") {
		return ErrKeyNameTaken
	}
	return postgres.Changed(n, err, "update key", ErrKeyEnded)
}

func (s store) revokeKeyTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	_, err := db.New(tx).RevokeKey(ctx, db.RevokeKeyParams{OrgID: tx.Org, ID: id, RevokedAt: &at})
	if postgres.NoRows(err) {
		return ErrKeyNotFound // someone else was quicker
	}
	return postgres.Wrap(err, "revoke key")
}

// supersedeKeyTx lets a key work on for a grace and returns its end.
func (s store) supersedeKeyTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time, grace time.Duration) (*time.Time, error) {
	end, err := db.New(tx).SupersedeKey(ctx, db.SupersedeKeyParams{OrgID: tx.Org, ID: id, SupersededAt: &at, GraceSeconds: grace.Seconds()})
	if err != nil {
		return nil, postgres.Missing(err, "supersede key", ErrKeyEnded)
	}
	return end, nil
}

// revokeKeysOfTx ends the personal keys of a member and returns them as they were
// before.
func (s store) revokeKeysOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID, at time.Time) ([]Key, error) {
	rows, err := db.New(tx).RevokeKeysOf(ctx, db.RevokeKeysOfParams{OrgID: tx.Org, OwnerID: &user, RevokedAt: &at})
	return postgres.All(rows, err, "revoke keys of member", func(r db.RevokeKeysOfRow) Key { return beforeRevocation(db.ListKeysRow(r)) })
}

// revokeKeysBelowTx ends what was made with a key, directly or not, and returns
// it as it was before.
func (s store) revokeKeysBelowTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) ([]Key, error) {
	rows, err := db.New(tx).RevokeKeysBelow(ctx, db.RevokeKeysBelowParams{OrgID: tx.Org, ID: &id, RevokedAt: &at})
	return postgres.All(rows, err, "revoke keys below a key", func(r db.RevokeKeysBelowRow) Key { return beforeRevocation(db.ListKeysRow(r)) })
}

// shortenKeysBelowTx lets nothing that was made with a key work after its end.
func (s store) shortenKeysBelowTx(ctx context.Context, tx postgres.Tx, id int64, end time.Time) error {
	err := db.New(tx).ShortenKeysBelow(ctx, db.ShortenKeysBelowParams{OrgID: tx.Org, ID: &id, ExpiresAt: &end})
	return postgres.Wrap(err, "shorten keys below a key")
}

// handOverKeysTx makes a key's successor the parent of what was made with it.
func (s store) handOverKeysTx(ctx context.Context, tx postgres.Tx, id, successor int64) error {
	err := db.New(tx).HandOverKeys(ctx, db.HandOverKeysParams{OrgID: tx.Org, ID: &id, Successor: &successor})
	return postgres.Wrap(err, "hand keys over")
}

// lockKeysOfTx counts the personal keys of a member that work, and keeps others
// from making more until the transaction ends.
func (s store) lockKeysOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) (int64, error) {
	if _, err := db.New(tx).LockMember(ctx, db.LockMemberParams{OrgID: tx.Org, UserID: user}); err != nil {
		return 0, postgres.Missing(err, "lock member", ErrMemberNotFound)
	}
	n, err := db.New(tx).CountKeysOf(ctx, db.CountKeysOfParams{OrgID: tx.Org, OwnerID: &user})
	return n, postgres.Wrap(err, "count keys of member")
}

// revokeAllKeysTx ends every key and returns them as they were before.
func (s store) revokeAllKeysTx(ctx context.Context, tx postgres.Tx, at time.Time) ([]Key, error) {
	rows, err := db.New(tx).RevokeAllKeys(ctx, db.RevokeAllKeysParams{OrgID: tx.Org, RevokedAt: &at})
	return postgres.All(rows, err, "revoke keys", func(r db.RevokeAllKeysRow) Key { return beforeRevocation(db.ListKeysRow(r)) })
}

// beforeRevocation is a key that was just revoked, as it was before.
func beforeRevocation(r db.ListKeysRow) Key {
	k := fromKeyRow(r)
	k.RevokedAt, k.Version = nil, k.Version-1
	return k
}

func (s store) touchKey(ctx context.Context, org principal.OrgID, id int64, at time.Time) error {
	before := at.Add(-time.Minute)
	return postgres.Wrap(db.New(s.db.Org(org)).TouchKey(ctx, db.TouchKeyParams{OrgID: org, ID: id, At: &at, Before: &before}), "touch key")
}

func fromKeyRow(r db.ListKeysRow) Key {
	k := Key{
		ID: r.ID, KeyID: r.KeyID, Name: r.Name, Mode: Mode(r.Environment), Scopes: toScopes(r.Scopes), Last4: r.Last4,
		Owner: r.OwnerID, CreatedBy: r.Creator, OverOwners: r.OverOwners, Asserted: r.Asserted, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt,
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
