package rule

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/rule/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

func (s store) insertBackfillTx(ctx context.Context, tx postgres.Tx, b Backfill) (int64, error) {
	filter, err := json.Marshal(toStored(b.Filter))
	if err != nil {
		return 0, fmt.Errorf("encode the filter of a back-fill: %w", err)
	}
	id, err := db.New(tx).InsertBackfill(ctx, db.InsertBackfillParams{
		OrgID: tx.Org, RuleID: b.Rule, ConfigID: b.Config, ConfigVersion: int32(b.Version), Filter: filter, SamplingKey: b.SamplingKey, SampleRate: b.SampleRate,
		FromAt: b.From, ToAt: b.To, MaxTraces: b.MaxTraces, SpendCapNano: b.CapNanoUSD, CreatedBy: b.CreatedBy.String(), CreatedAt: b.CreatedAt,
	})
	return id, postgres.Wrap(err, "insert back-fill")
}

func (s store) findBackfill(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Backfill, error) {
	r, err := db.New(q).FindBackfill(ctx, db.FindBackfillParams{OrgID: org, ID: id})
	return postgres.DecodeOne(r, err, "find back-fill", ErrBackfillNotFound, fromBackfill)
}

func (s store) lockBackfillTx(ctx context.Context, tx postgres.Tx, id int64) (Backfill, error) {
	r, err := db.New(tx).LockBackfill(ctx, db.LockBackfillParams{OrgID: tx.Org, ID: id})
	return postgres.DecodeOne(r, err, "lock back-fill", ErrBackfillNotFound, fromBackfill)
}

func (s store) listBackfills(ctx context.Context, org principal.OrgID, rule int64, l BackfillList) ([]Backfill, int64, error) {
	q := db.New(s.db.Org(org))
	rows, err := q.ListBackfills(ctx, db.ListBackfillsParams{
		OrgID: org, RuleID: rule, Statuses: postgres.Texts(l.Status), Below: l.Below, RowLimit: l.Rows(), RowOffset: l.Skip(),
	})
	return postgres.DecodeListed(rows, err, "back-fills", fromBackfill, l.Count, func() (int64, error) {
		return q.CountBackfills(ctx, db.CountBackfillsParams{OrgID: org, RuleID: rule, Statuses: postgres.Texts(l.Status)})
	})
}

// runningTx is how many back-fills of a rule, or of all rules if it is zero, are
// under way.
func (s store) runningTx(ctx context.Context, tx postgres.Tx, rule int64) (int64, error) {
	n, err := db.New(tx).CountRunning(ctx, db.CountRunningParams{OrgID: tx.Org, RuleID: postgres.OrNull(rule)})
	return n, postgres.Wrap(err, "count back-fills")
}

func (s store) setBackfillTotal(ctx context.Context, org principal.OrgID, id, total int64) error {
	err := db.New(s.db.Org(org)).SetBackfillTotal(ctx, db.SetBackfillTotalParams{OrgID: org, ID: id, Total: total})
	return postgres.Wrap(err, "set the total of a back-fill")
}

// moveBackfillTx moves a back-fill on that is locked.
func (s store) moveBackfillTx(ctx context.Context, tx postgres.Tx, b Backfill, below trace.Position, matched, sampled int64, at time.Time) error {
	n, err := db.New(tx).MoveBackfill(ctx, db.MoveBackfillParams{
		OrgID: tx.Org, ID: b.ID, ExpectedStep: b.step, BelowStart: below.Start, BelowID: below.ID[:], Matched: matched, Sampled: sampled, UpdatedAt: at,
	})
	if err != nil {
		return fmt.Errorf("move back-fill: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("move back-fill %d: it is not at step %d", b.ID, b.step)
	}
	return nil
}

func (s store) endBackfillTx(ctx context.Context, tx postgres.Tx, id int64, to BackfillStatus, why *Blocked, at time.Time) error {
	p := db.EndBackfillParams{OrgID: tx.Org, ID: id, Status: string(to), EndedAt: at}
	if why != nil {
		p.ReasonCode, p.ReasonMessage = &why.Code, &why.Message
	}
	n, err := db.New(tx).EndBackfill(ctx, p)
	return postgres.Changed(n, err, "end back-fill", ErrBackfillEnded)
}

func fromBackfill(r db.JudgeRuleBackfill) (Backfill, error) {
	b := Backfill{
		ID: r.ID, Rule: r.RuleID, Config: r.ConfigID, Version: int(r.ConfigVersion), SamplingKey: r.SamplingKey, SampleRate: r.SampleRate, From: r.FromAt, To: r.ToAt,
		MaxTraces: r.MaxTraces, CapNanoUSD: r.SpendCapNano, Status: BackfillStatus(r.Status), Total: r.Total, Matched: r.Matched, Sampled: r.Sampled,
		CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, EndedAt: r.EndedAt,
		step: r.Step, below: trace.Position{Start: r.BelowStart},
	}
	copy(b.below.ID[:], r.BelowID)
	if r.ReasonCode != nil && r.ReasonMessage != nil && r.EndedAt != nil {
		b.Reason = &Blocked{*r.ReasonCode, *r.ReasonMessage, *r.EndedAt}
	}
	var filter storedFilter
	if err := json.Unmarshal(r.Filter, &filter); err != nil {
		return Backfill{}, fmt.Errorf("read the filter of back-fill %d: %w", r.ID, err)
	}
	b.Filter = filter.filter()
	return b, nil
}
