package rule

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/rule/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

type store struct{ db *postgres.DB }

func (s store) insertTx(ctx context.Context, tx postgres.Tx, r Rule) (int64, error) {
	filter, err := json.Marshal(toStored(r.Filter))
	if err != nil {
		return 0, fmt.Errorf("encode the filter of a rule: %w", err)
	}
	id, err := db.New(tx).InsertRule(ctx, db.InsertRuleParams{
		OrgID: tx.Org, Key: r.Key, Name: r.Name, Description: r.Description, ConfigID: r.Config, Filter: filter, SamplingKey: r.SamplingKey, SampleRate: r.SampleRate,
		Status: string(r.Status), SpendCapNano: r.CapNanoUSD, CapPeriod: string(r.CapPeriod), Activation: r.activation, CreatedBy: r.CreatedBy.String(), CreatedAt: r.CreatedAt,
	})
	if postgres.Violates(err, "judge_rules_key") {
		return 0, ErrKeyTaken
	}
	return id, postgres.Wrap(err, "insert rule")
}

// putCursorTx lets a rule begin with what arrives after a time.
func (s store) putCursorTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	err := db.New(tx).PutCursor(ctx, db.PutCursorParams{OrgID: tx.Org, RuleID: id, AtMs: at.UnixMilli()})
	return postgres.Wrap(err, "put the cursor of a rule")
}

func (s store) find(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Rule, error) {
	r, err := db.New(q).FindRule(ctx, db.FindRuleParams{OrgID: org, ID: id})
	if err != nil {
		return Rule{}, postgres.Missing(err, "find rule", ErrNotFound)
	}
	return fromRows(r.JudgeRule, r.JudgeRuleCursor)
}

func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64) (Rule, error) {
	r, err := db.New(tx).LockRule(ctx, db.LockRuleParams{OrgID: tx.Org, ID: id})
	if err != nil {
		return Rule{}, postgres.Missing(err, "lock rule", ErrNotFound)
	}
	return fromRows(r.JudgeRule, r.JudgeRuleCursor)
}

func (s store) list(ctx context.Context, org principal.OrgID, l List) ([]Rule, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountRulesParams{OrgID: org, Statuses: postgres.Texts(l.Status), Key: postgres.OrNull(l.Key), ConfigID: postgres.OrNull(l.Config)}
	rows, err := q.ListRules(ctx, db.ListRulesParams{
		OrgID: org, Statuses: count.Statuses, Key: count.Key, ConfigID: count.ConfigID, Below: l.Below, RowLimit: l.Rows(), RowOffset: l.Skip(),
	})
	return postgres.DecodeListed(rows, err, "rules", func(r db.ListRulesRow) (Rule, error) {
		return fromRows(r.JudgeRule, r.JudgeRuleCursor)
	}, l.Count, func() (int64, error) { return q.CountRules(ctx, count) })
}

// lockLimitsTx has requests that count against a limit of the organization wait for
// each other, so that each counts what those before it made.
func (s store) lockLimitsTx(ctx context.Context, tx postgres.Tx) error {
	return postgres.Wrap(db.New(tx).LockLimits(ctx, tx.Org.String()), "lock the limits of rules")
}

func (s store) countTx(ctx context.Context, tx postgres.Tx, status Status) (int64, error) {
	n, err := db.New(tx).CountRules(ctx, db.CountRulesParams{OrgID: tx.Org, Statuses: postgres.Texts([]Status{status})})
	return n, postgres.Wrap(err, "count rules")
}

// updateTx writes after over before, if before is still what is stored.
func (s store) updateTx(ctx context.Context, tx postgres.Tx, before, after Rule) error {
	filter, err := json.Marshal(toStored(after.Filter))
	if err != nil {
		return fmt.Errorf("encode the filter of a rule: %w", err)
	}
	n, err := db.New(tx).UpdateRule(ctx, db.UpdateRuleParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Changes, ExpectedStatus: string(before.Status), Name: after.Name, Description: after.Description,
		ConfigID: after.Config, Filter: filter, SampleRate: after.SampleRate, Status: string(after.Status), SpendCapNano: after.CapNanoUSD,
		CapPeriod: string(after.CapPeriod), Activation: after.activation, UpdatedAt: after.UpdatedAt,
	})
	return postgres.Changed(n, err, "update rule", ErrConflict)
}

func (s store) deleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	if _, err := db.New(tx).DeleteRule(ctx, db.DeleteRuleParams{OrgID: tx.Org, ID: id}); err != nil {
		return fmt.Errorf("delete rule: %w", err)
	}
	return nil
}

// tallies are the counts of rules and back-fills, by holder.
func (s store) tallies(ctx context.Context, org principal.OrgID, rules, backfills []int64) (map[holder]Tally, error) {
	rows, err := db.New(s.db.Org(org)).Tallies(ctx, db.TalliesParams{OrgID: org, Rules: rules, Backfills: backfills})
	if err != nil {
		return nil, fmt.Errorf("read the counts of rules: %w", err)
	}
	all := map[holder]Tally{}
	for _, r := range rows {
		h := holder{rule: r.RuleID, backfill: r.BackfillID}
		t := all[h]
		t.add(Outcome(r.Outcome), r.Reason, r.Traces, r.CostNano)
		all[h] = t
	}
	return all, nil
}

func fromRows(r db.JudgeRule, c db.JudgeRuleCursor) (Rule, error) {
	out := Rule{
		ID: r.ID, Key: r.Key, Name: r.Name, Description: r.Description, Config: r.ConfigID, SamplingKey: r.SamplingKey, SampleRate: r.SampleRate, Status: Status(r.Status),
		CapNanoUSD: r.SpendCapNano, CapPeriod: Period(r.CapPeriod), CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Changes: r.Version, activation: r.Activation,
		cursor: cursor{step: c.Step, ended: arrival(c.EndedMs, c.EndedID), idle: arrival(c.IdleMs, c.IdleID)},
	}
	if c.BlockedCode != nil && c.BlockedMessage != nil && c.BlockedAt != nil {
		out.cursor.blocked = &Blocked{*c.BlockedCode, *c.BlockedMessage, *c.BlockedAt}
	}
	var filter storedFilter
	if err := json.Unmarshal(r.Filter, &filter); err != nil {
		return Rule{}, fmt.Errorf("read the filter of rule %d: %w", r.ID, err)
	}
	out.Filter = filter.filter()
	return out, nil
}

func arrival(ms int64, id []byte) trace.Arrival {
	a := trace.Arrival{At: ms}
	copy(a.ID[:], id)
	return a
}

// claim is the right to have a trace judged.
type claim struct {
	config  int64
	version int
	trace   span.TraceID
	at      time.Time
	outcome Outcome // empty until the trace is judged
}

// claim claims traces for a holder and returns those that it got.
func (s store) claim(ctx context.Context, org principal.OrgID, h holder, config int64, version int, traces []span.TraceID, at time.Time) (map[span.TraceID]bool, error) {
	if len(traces) == 0 {
		return nil, nil
	}
	ids := make([][]byte, len(traces))
	for i := range traces {
		ids[i] = traces[i][:]
	}
	got, err := db.New(s.db.Org(org)).Claim(ctx, db.ClaimParams{
		OrgID: org, ConfigID: config, ConfigVersion: int32(version), RuleID: h.rule, BackfillID: h.backfill, Activation: h.activation, ClaimedAt: at, Traces: ids,
	})
	if postgres.Violates(err, "judge_rule_claims_org_id_rule_id_fkey") {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("claim traces: %w", err)
	}
	out := make(map[span.TraceID]bool, len(got))
	for _, id := range got {
		out[span.TraceID(id)] = true
	}
	return out, nil
}

// claims are those of a holder.
func (s store) claims(ctx context.Context, org principal.OrgID, h holder) ([]claim, error) {
	rows, err := db.New(s.db.Org(org)).Claims(ctx, db.ClaimsParams{OrgID: org, RuleID: h.rule, BackfillID: h.backfill, Activation: h.activation})
	if err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	out := make([]claim, len(rows))
	for i, r := range rows {
		out[i] = claim{config: r.ConfigID, version: int(r.ConfigVersion), trace: span.TraceID(r.TraceID), at: r.ClaimedAt}
		if r.Outcome != nil {
			out[i].outcome = Outcome(*r.Outcome)
		}
	}
	return out, nil
}

// settled is what became of a claimed trace.
type settled struct {
	config  int64
	version int
	trace   span.TraceID
	outcome Outcome
	reason  string
	cost    int64
}

func (s store) recordOutcome(ctx context.Context, q db.DBTX, org principal.OrgID, h holder, o settled) error {
	err := db.New(q).SettleClaim(ctx, db.SettleClaimParams{
		OrgID: org, ConfigID: o.config, ConfigVersion: int32(o.version), TraceID: o.trace[:], RuleID: h.rule, BackfillID: h.backfill, Activation: h.activation,
		Outcome: string(o.outcome), Reason: o.reason, CostNano: o.cost,
	})
	return postgres.Wrap(err, "settle claim")
}

// holds reports whether a holder still is to have traces judged.
func (s store) holds(ctx context.Context, org principal.OrgID, h holder) (bool, error) {
	ok, err := db.New(s.db.Org(org)).Holds(ctx, db.HoldsParams{OrgID: org, RuleID: h.rule, BackfillID: h.backfill, Activation: h.activation})
	return ok, postgres.Wrap(err, "look at a rule")
}

// countClaimsTx adds what became of a holder's traces to its counts, and lets its claims go.
func (s store) countClaimsTx(ctx context.Context, tx postgres.Tx, h holder, skipped map[string]int64) error {
	q := db.New(tx)
	if err := q.CountClaims(ctx, db.CountClaimsParams{OrgID: tx.Org, RuleID: h.rule, BackfillID: h.backfill, Activation: h.activation}); err != nil {
		return fmt.Errorf("count claims: %w", err)
	}
	for reason, n := range skipped {
		if n == 0 {
			continue
		}
		if err := q.AddSkipped(ctx, db.AddSkippedParams{OrgID: tx.Org, RuleID: h.rule, BackfillID: h.backfill, Reason: reason, Traces: n}); err != nil {
			return fmt.Errorf("count skipped traces: %w", err)
		}
	}
	err := q.DropClaims(ctx, db.DropClaimsParams{OrgID: tx.Org, RuleID: h.rule, BackfillID: h.backfill, Activation: h.activation})
	return postgres.Wrap(err, "drop claims")
}

// moveCursorTx moves a rule on. It reports false if something else has moved it.
func (s store) moveCursorTx(ctx context.Context, tx postgres.Tx, rule int64, from, to cursor, looked bool) (bool, error) {
	p := db.MoveCursorParams{
		OrgID: tx.Org, RuleID: rule, ExpectedStep: from.step, EndedMs: to.ended.At, EndedID: to.ended.ID[:], IdleMs: to.idle.At, IdleID: to.idle.ID[:], Looked: looked,
	}
	if b := to.blocked; b != nil {
		p.BlockedCode, p.BlockedMessage, p.BlockedAt = &b.Code, &b.Message, &b.At
	}
	n, err := db.New(tx).MoveCursor(ctx, p)
	return n > 0, postgres.Wrap(err, "move the cursor of a rule")
}
