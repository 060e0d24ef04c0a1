package statedb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/assayhq/assay/internal/agent/evidence/internal/db"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Want is a key that is to be claimed.
type Want struct {
	// Content is the digest of what is sent under a name; nil if the key is not one.
	Content []byte
	// ID is the record's, if it has one already.
	ID int64
	// Lasts says that the record does not expire.
	Lasts bool
}

// Claim is whose a key is.
type Claim struct {
	ID      int64
	Content []byte
	// Fresh is true if the key was not claimed before.
	Fresh bool
}

// IDs are some that no other record has.
func (s DB) IDs(ctx context.Context, q db.DBTX, n int) ([]int64, error) {
	if n == 0 {
		return nil, nil
	}
	out, err := db.New(q).NewIDs(ctx, int32(n))
	if err != nil {
		return nil, fmt.Errorf("get ids: %w", err)
	}
	return out, nil
}

// ClaimTx claims keys without a lease, and finds out which ids they have.
func (s DB) ClaimTx(ctx context.Context, tx postgres.Tx, wanted map[record.Key]Want, expires time.Time) (map[record.Key]Claim, error) {
	claims, _, err := s.claimsTx(ctx, tx, wanted, 0, expires)
	return claims, err
}

// Claimed are those of the keys that were claimed before.
func (s DB) Claimed(ctx context.Context, org principal.OrgID, keys []record.Key) (map[record.Key]Claim, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	p := db.FindKeysParams{OrgID: org}
	for _, k := range keys {
		p.Keys = append(p.Keys, bytes.Clone(k[:]))
	}
	rows, err := db.New(s.db.Org(org)).FindKeys(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("find keys: %w", err)
	}
	out := make(map[record.Key]Claim, len(rows))
	for _, r := range rows {
		out[record.Key(r.Key)] = Claim{ID: r.ID, Content: r.Content}
	}
	return out, nil
}

// IdleTx are those of the side effects that are known not to have happened.
func (s DB) IdleTx(ctx context.Context, tx postgres.Tx, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := db.New(tx).FindIdleEffects(ctx, db.FindIdleEffectsParams{OrgID: tx.Org, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("find side effects: %w", err)
	}
	return out, nil
}

// PassTx passes keys that were claimed in the transaction on to other records.
func (s DB) PassTx(ctx context.Context, tx postgres.Tx, heirs map[record.Key]int64) error {
	if len(heirs) == 0 {
		return nil
	}
	p := db.PassKeysParams{OrgID: tx.Org}
	for k, id := range heirs {
		p.Keys, p.Ids = append(p.Keys, bytes.Clone(k[:])), append(p.Ids, id)
	}
	if err := db.New(tx.Later()).PassKeys(ctx, p); err != nil {
		return fmt.Errorf("pass keys: %w", err)
	}
	return nil
}

// HoldTx claims keys and puts those of records that expire under a lease that lasts for
// a while. It reports false if another lease holds one of them. Request says what is stored under the lease,
// if the same can be stored again at any time; zero says nothing.
func (s DB) HoldTx(ctx context.Context, tx postgres.Tx, wanted map[record.Key]Want, request record.Key, last time.Duration, expires time.Time) (claims map[record.Key]Claim, lease int64, free bool, err error) {
	made, err := s.IDs(ctx, tx, 1)
	if err != nil {
		return nil, 0, false, err
	}
	lease = made[0]
	var digest []byte
	if request != (record.Key{}) {
		digest = request[:]
	}
	claims, held, err := s.claimsTx(ctx, tx, wanted, lease, expires)
	if err != nil {
		return nil, 0, false, err
	}
	// The lease counts from here: the claim may have waited.
	q := db.New(tx)
	if err := q.TakeLease(ctx, db.TakeLeaseParams{OrgID: tx.Org, ID: lease, Seconds: last.Seconds(), Digest: digest}); err != nil {
		return nil, 0, false, fmt.Errorf("take lease: %w", err)
	}
	if len(held) == 0 {
		return claims, lease, true, nil
	}
	// The claim has locked the keys, so what is read now stays so.
	holders, keys := make([]int64, 0, len(held)), make([][]byte, 0, len(held))
	for k, holder := range held {
		holders, keys = append(holders, holder), append(keys, bytes.Clone(k[:]))
	}
	n, err := q.CountLeases(ctx, db.CountLeasesParams{OrgID: tx.Org, Ids: holders, Digest: digest})
	if err != nil {
		return nil, 0, false, fmt.Errorf("find leases: %w", err)
	}
	if n > 0 {
		return nil, 0, false, nil
	}
	if err := q.InheritLease(ctx, db.InheritLeaseParams{OrgID: tx.Org, ID: lease, Ids: holders}); err != nil {
		return nil, 0, false, fmt.Errorf("inherit leases: %w", err)
	}
	if err := q.HoldKeys(ctx, db.HoldKeysParams{OrgID: tx.Org, Holder: lease, Keys: keys}); err != nil {
		return nil, 0, false, fmt.Errorf("hold keys: %w", err)
	}
	return claims, lease, true, nil
}

// claimsTx claims keys, and returns the leases of keys that were claimed before.
func (s DB) claimsTx(ctx context.Context, tx postgres.Tx, wanted map[record.Key]Want, lease int64, expires time.Time) (map[record.Key]Claim, map[record.Key]int64, error) {
	if len(wanted) == 0 {
		return nil, nil, nil
	}
	ids, err := s.IDs(ctx, tx, len(wanted))
	if err != nil {
		return nil, nil, err
	}
	p := db.ClaimKeysParams{OrgID: tx.Org, Ids: ids, Holder: lease, Expires: pgtype.Date{Time: expires, Valid: true}}
	for k := range wanted {
		p.Keys = append(p.Keys, bytes.Clone(k[:]))
	}
	slices.SortFunc(p.Keys, bytes.Compare) // all callers lock in the same order
	offered := make(map[record.Key]int64, len(ids))
	for i, k := range p.Keys {
		w := wanted[record.Key(k)]
		if w.ID != 0 {
			ids[i] = w.ID
		}
		p.Contents = append(p.Contents, append([]byte{}, w.Content...))
		p.Lasts = append(p.Lasts, w.Lasts)
		offered[record.Key(k)] = ids[i]
	}
	rows, err := db.New(tx).ClaimKeys(ctx, p)
	if err != nil {
		return nil, nil, fmt.Errorf("claim keys: %w", err)
	}
	claims, held := make(map[record.Key]Claim, len(rows)), map[record.Key]int64{}
	for _, r := range rows {
		k := record.Key(r.Key)
		claims[k] = Claim{ID: r.ID, Content: r.Content, Fresh: r.ID == offered[k] && wanted[k].ID == 0}
		if !wanted[k].Lasts && r.Holder != lease {
			held[k] = r.Holder
		}
	}
	return claims, held, nil
}

// errEnded says that a lease has ended: others may hold its keys.
var errEnded = errors.New("the lease has ended")

// Renew makes a lease last for a while from now on, unless it has ended.
func (s DB) Renew(ctx context.Context, org principal.OrgID, lease int64, last time.Duration) error {
	n, err := db.New(s.db.Org(org)).RenewLease(ctx, db.RenewLeaseParams{OrgID: org, ID: lease, Seconds: last.Seconds()})
	switch {
	case err != nil:
		return fmt.Errorf("renew lease: %w", err)
	case n == 0:
		return errEnded
	}
	return nil
}

// Extend makes a lease last for a while from now on, also if it has ended.
func (s DB) Extend(ctx context.Context, org principal.OrgID, lease int64, last time.Duration) error {
	if err := db.New(s.db.Org(org)).ExtendLease(ctx, db.ExtendLeaseParams{OrgID: org, ID: lease, Seconds: last.Seconds()}); err != nil {
		return fmt.Errorf("extend lease: %w", err)
	}
	return nil
}

// Release ends a lease.
func (s DB) Release(ctx context.Context, org principal.OrgID, lease int64) error {
	if err := db.New(s.db.Org(org)).DropLease(ctx, db.DropLeaseParams{OrgID: org, ID: lease}); err != nil {
		return fmt.Errorf("release lease: %w", err)
	}
	return nil
}

// SweepKeys forgets the keys of records that are gone.
func (s DB) SweepKeys(ctx context.Context) (gone int64, err error) {
	q := db.New(s.db.Claim("app.sweep", "evidence_keys"))
	if _, err := q.DeleteEndedLeases(ctx); err != nil {
		return 0, fmt.Errorf("delete ended leases: %w", err)
	}
	for {
		n, err := q.DeleteExpiredKeys(ctx)
		gone += n
		if err != nil || n == 0 {
			return gone, err
		}
	}
}
