package judge

import (
	"context"
	"fmt"
	"math"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

func (s store) insertTx(ctx context.Context, tx postgres.Tx, c Config) (int64, error) {
	id, err := db.New(tx).InsertConfig(ctx, db.InsertConfigParams{
		OrgID: tx.Org, Key: c.Key, Name: c.Name, Description: c.Description, LabelKey: c.LabelKey, LabelSampling: string(c.Sampling),
		Status: string(c.Status), ConfigVersion: int32(c.Current.Number), SpendCapNano: c.CapNanoUSD, CreatedBy: c.CreatedBy.String(), CreatedAt: c.CreatedAt,
	})
	if postgres.Violates(err, "judge_configs_key") {
		return 0, ErrKeyTaken
	}
	return id, postgres.Wrap(err, "insert judge")
}

func (s store) insertVersionTx(ctx context.Context, tx postgres.Tx, id int64, v Version) error {
	spec, err := json.Marshal(v.Spec)
	if err != nil {
		return fmt.Errorf("encode the spec of a judge: %w", err)
	}
	err = db.New(tx).InsertVersion(ctx, db.InsertVersionParams{
		OrgID: tx.Org, ConfigID: id, Number: int32(v.Number), Spec: spec, Digest: v.Digest[:], Salt: v.salt, CreatedBy: v.CreatedBy.String(), CreatedAt: v.CreatedAt,
	})
	return postgres.Wrap(err, "insert version of judge")
}

func (s store) find(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Config, error) {
	r, err := db.New(q).FindConfig(ctx, db.FindConfigParams{OrgID: org, ID: id})
	if err != nil {
		return Config{}, postgres.Missing(err, "find judge", ErrNotFound)
	}
	return fromRows(r.JudgeConfig, r.JudgeVersion)
}

func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64) (Config, error) {
	r, err := db.New(tx).LockConfig(ctx, db.LockConfigParams{OrgID: tx.Org, ID: id})
	if err != nil {
		return Config{}, postgres.Missing(err, "lock judge", ErrNotFound)
	}
	return fromRows(r.JudgeConfig, r.JudgeVersion)
}

func (s store) named(ctx context.Context, q db.DBTX, org principal.OrgID, keys []string, ids []int64) ([]Config, error) {
	rows, err := db.New(q).ConfigsNamed(ctx, db.ConfigsNamedParams{OrgID: org, Keys: keys, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("find judges: %w", err)
	}
	out := make([]Config, len(rows))
	for i, r := range rows {
		if out[i], err = fromRows(r.JudgeConfig, r.JudgeVersion); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s store) list(ctx context.Context, org principal.OrgID, f Filter) ([]Config, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountConfigsParams{
		OrgID: org, Statuses: postgres.Texts(f.Status), Key: postgres.OrNull(f.Key), Search: postgres.OrNull(f.Search),
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
	}
	rows, err := q.ListConfigs(ctx, db.ListConfigsParams{
		OrgID: org, Statuses: count.Statuses, Key: count.Key, Search: count.Search, CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
		Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	})
	return postgres.DecodeListed(rows, err, "judges", func(r db.ListConfigsRow) (Config, error) {
		return fromRows(r.JudgeConfig, r.JudgeVersion)
	}, f.Count, func() (int64, error) { return q.CountConfigs(ctx, count) })
}

// updateTx writes after over before, if before is still what is stored.
func (s store) updateTx(ctx context.Context, tx postgres.Tx, before, after Config) error {
	n, err := db.New(tx).UpdateConfig(ctx, db.UpdateConfigParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Changes, ExpectedStatus: string(before.Status),
		Name: after.Name, Description: after.Description, LabelKey: after.LabelKey, LabelSampling: string(after.Sampling), Status: string(after.Status),
		ConfigVersion: int32(after.Current.Number), SpendCapNano: after.CapNanoUSD, UpdatedAt: after.UpdatedAt,
	})
	return postgres.Changed(n, err, "update judge", ErrConflict)
}

func (s store) version(ctx context.Context, q db.DBTX, org principal.OrgID, id int64, number int) (Version, error) {
	r, err := db.New(q).FindVersion(ctx, db.FindVersionParams{OrgID: org, ConfigID: id, Number: int32(number)})
	return postgres.DecodeOne(r, err, "find version of judge", ErrVersionNotFound, fromVersion)
}

func (s store) versions(ctx context.Context, org principal.OrgID, id int64, p postgres.Page) ([]Version, error) {
	rows, err := db.New(s.db.Org(org)).ListVersions(ctx, db.ListVersionsParams{
		OrgID: org, ConfigID: id, Below: int32(min(p.Below, math.MaxInt32)), RowLimit: p.Rows(), RowOffset: p.Skip(),
	})
	return postgres.DecodeAll(rows, err, "list versions of judge", fromVersion)
}

// condition is the zero value for a version that is not watched.
func (s store) condition(ctx context.Context, q db.DBTX, org principal.OrgID, id int64, number int) (Condition, error) {
	r, err := db.New(q).FindCondition(ctx, db.FindConditionParams{OrgID: org, ConfigID: id, Number: int32(number)})
	if postgres.NoRows(err) {
		return Condition{}, nil
	}
	if err != nil {
		return Condition{}, fmt.Errorf("find condition of judge: %w", err)
	}
	return Condition(r), nil
}

func (s store) setConditionTx(ctx context.Context, tx postgres.Tx, id int64, number int, c Condition) error {
	err := db.New(tx).SetCondition(ctx, db.SetConditionParams{
		OrgID: tx.Org, ConfigID: id, Number: int32(number), SettledAt: c.SettledAt, QuietAt: c.QuietAt, DriftedAt: c.DriftedAt, Message: c.Message,
	})
	return postgres.Wrap(err, "set condition of judge")
}

// resultIDs takes numbers for results.
func (s store) resultIDs(ctx context.Context, org principal.OrgID, n int) ([]int64, error) {
	ids, err := db.New(s.db.Org(org)).NextResultIDs(ctx, int32(n))
	return ids, postgres.Wrap(err, "number results of judges")
}

func fromRows(c db.JudgeConfig, v db.JudgeVersion) (Config, error) {
	current, err := fromVersion(v)
	return Config{
		ID: c.ID, Key: c.Key, Name: c.Name, Description: c.Description, LabelKey: c.LabelKey, Sampling: Sampling(c.LabelSampling), Status: Status(c.Status),
		Current: current, CapNanoUSD: c.SpendCapNano, CreatedBy: principal.ParseActor(c.CreatedBy), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Changes: c.Version,
	}, err
}

func fromVersion(r db.JudgeVersion) (Version, error) {
	v := Version{Number: int(r.Number), CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, salt: r.Salt}
	copy(v.Digest[:], r.Digest)
	if err := json.Unmarshal(r.Spec, &v.Spec); err != nil {
		return Version{}, fmt.Errorf("read version %d of judge %d: %w", r.Number, r.ConfigID, err)
	}
	return v, nil
}
