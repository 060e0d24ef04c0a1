package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/provider/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

type store struct{ db *postgres.DB }

func (s store) dataKey(ctx context.Context, q db.DBTX, org principal.OrgID) (secret.DataKey, error) {
	wrapped, err := db.New(q).FindDataKey(ctx, org)
	return wrapped, postgres.Wrap(err, "find data key")
}

func (s store) insertDataKeyTx(ctx context.Context, tx postgres.Tx, key secret.DataKey, at time.Time) error {
	master, err := key.MasterKeyID()
	if err != nil {
		return fmt.Errorf("read new data key: %w", err)
	}
	err = db.New(tx).InsertDataKey(ctx, db.InsertDataKeyParams{OrgID: tx.Org, Wrapped: key, MasterKeyID: master, CreatedAt: at})
	return postgres.Wrap(err, "insert data key")
}

// orgDataKey is an organization's wrapped key.
type orgDataKey struct {
	org     principal.OrgID
	wrapped secret.DataKey
}

func (s store) dataKeysToRewrap(ctx context.Context, current string, limit int) ([]orgDataKey, error) {
	rows, err := db.New(s.db.Claim("app.sweep", "data_keys")).ListDataKeysToRewrap(ctx, db.ListDataKeysToRewrapParams{Current: current, RowLimit: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list data keys: %w", err)
	}
	out := make([]orgDataKey, len(rows))
	for i, r := range rows {
		out[i] = orgDataKey{org: r.OrgID, wrapped: r.Wrapped}
	}
	return out, nil
}

func (s store) countDataKeysToRewrap(ctx context.Context, current string) (int64, error) {
	n, err := db.New(s.db.Claim("app.sweep", "data_keys")).CountDataKeysToRewrap(ctx, current)
	return n, postgres.Wrap(err, "count data keys")
}

// rewrapDataKey replaces a wrapping; one that somebody else has replaced
// meanwhile is left alone.
func (s store) rewrapDataKey(ctx context.Context, old orgDataKey, wrapped secret.DataKey) error {
	master, err := wrapped.MasterKeyID()
	if err != nil {
		return fmt.Errorf("read rewrapped data key: %w", err)
	}
	_, err = db.New(s.db.Org(old.org)).RewrapDataKey(ctx, db.RewrapDataKeyParams{OrgID: old.org, Expected: old.wrapped, Wrapped: wrapped, MasterKeyID: master})
	return postgres.Wrap(err, "rewrap data key")
}

func (s store) insertTx(ctx context.Context, tx postgres.Tx, k Key) (int64, error) {
	id, err := db.New(tx).InsertProviderKey(ctx, db.InsertProviderKeyParams{
		OrgID: tx.Org, Provider: k.Provider, Name: k.Name, BaseUrl: k.BaseURL, Last4: k.Last4, Models: k.Models, MonthlyCapNanoUsd: limitOf(k.MonthlyCapNanoUSD),
		CreatedAt: k.CreatedAt,
	})
	return id, keyError("insert provider key", err)
}

func (s store) setSecretTx(ctx context.Context, tx postgres.Tx, id int64, sealed []byte) error {
	err := db.New(tx).SetProviderSecret(ctx, db.SetProviderSecretParams{OrgID: tx.Org, ID: id, Secret: sealed})
	return keyError("set provider secret", err)
}

func (s store) find(ctx context.Context, q db.DBTX, org principal.OrgID, id int64, month string) (Key, error) {
	r, err := db.New(q).FindProviderKey(ctx, db.FindProviderKeyParams{OrgID: org, ID: id, Period: month})
	if err != nil {
		return Key{}, keyError("find provider key", err)
	}
	return fromKeyRow(db.ListProviderKeysRow(r)), nil
}

// lockTx reads a credential that does not change until the transaction ends.
func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64, month string) (Key, error) {
	r, err := db.New(tx).LockProviderKey(ctx, db.LockProviderKeyParams{OrgID: tx.Org, ID: id, Period: month})
	if err != nil {
		return Key{}, keyError("lock provider key", err)
	}
	return fromKeyRow(db.ListProviderKeysRow(r)), nil
}

func (s store) list(ctx context.Context, org principal.OrgID, f KeyFilter, month string) ([]Key, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountProviderKeysParams{
		OrgID: org, Statuses: postgres.Texts(f.Status), Provider: postgres.OrNull(f.Provider), Search: postgres.OrNull(f.Search),
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
	}
	rows, err := q.ListProviderKeys(ctx, db.ListProviderKeysParams{
		OrgID: count.OrgID, Statuses: count.Statuses, Provider: count.Provider, Search: count.Search,
		CreatedAfter: count.CreatedAfter, CreatedBefore: count.CreatedBefore,
		Period: month, Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	})
	return postgres.Listed(rows, err, "provider keys", fromKeyRow, f.Count, func() (int64, error) {
		return q.CountProviderKeys(ctx, count)
	})
}

func (s store) updateTx(ctx context.Context, tx postgres.Tx, expected int64, k Key) error {
	n, err := db.New(tx).UpdateProviderKey(ctx, db.UpdateProviderKeyParams{
		OrgID: tx.Org, ID: k.ID, ExpectedVersion: expected, Name: k.Name, BaseUrl: k.BaseURL, Secret: k.sealed, Last4: k.Last4,
		Models: k.Models, Status: string(k.Status), MonthlyCapNanoUsd: limitOf(k.MonthlyCapNanoUSD), UpdatedAt: k.UpdatedAt,
	})
	if err == nil && n == 0 {
		return tenancy.ErrVersionConflict
	}
	return keyError("update provider key", err)
}

func (s store) deleteTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	n, err := db.New(tx).DeleteProviderKey(ctx, db.DeleteProviderKeyParams{OrgID: tx.Org, ID: id, DeletedAt: &at})
	if err == nil && n == 0 {
		return ErrKeyNotFound // somebody else was quicker
	}
	return keyError("delete provider key", err)
}

func keyError(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case postgres.NoRows(err):
		return ErrKeyNotFound
	case postgres.Violates(err, "provider_keys_name"):
		return ErrKeyNameTaken
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func fromKeyRow(r db.ListProviderKeysRow) Key {
	k := Key{
		ID: r.ID, Provider: r.Provider, Name: r.Name, BaseURL: r.BaseUrl, Last4: r.Last4, Models: r.Models,
		Status: KeyStatus(r.Status), Version: r.Version, LastUsedAt: r.LastUsedAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		MonthSpentNanoUSD: uint64(r.MonthSpentNanoUsd), sealed: r.Secret,
	}
	if r.MonthlyCapNanoUsd != nil {
		nano := uint64(*r.MonthlyCapNanoUsd)
		k.MonthlyCapNanoUSD = &nano
	}
	return k
}
