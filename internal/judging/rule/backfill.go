package rule

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// What callers of back-fills are refused with.
var (
	ErrBackfillNotFound = fault.New(fault.NotFound, "judge_backfill_not_found", "The back-fill does not exist.")
	ErrManyBackfills    = fault.New(fault.Conflict, "backfill_limit", fmt.Sprintf("The organization has %d running back-fills, which is the limit. Wait for the end of one or cancel one first.", maxRunning))
)

// maxRunning bounds the back-fills of an organization that are under way.
const maxRunning = 20

// CodeMaxTraces stops a back-fill that has had as many traces judged as it may.
const CodeMaxTraces = "max_traces_reached"

// Backfill applies a rule, as it was at the start, to traces of the past.
type Backfill struct {
	ID, Rule int64
	// Config and Version are the judge that is asked to the end.
	Config      int64
	Version     int
	Filter      trace.Filter // without times
	SamplingKey string
	SampleRate  float64
	From, To    time.Time // From is part of the time, To is not
	MaxTraces   *int32
	CapNanoUSD  *int64
	Status      BackfillStatus
	Reason      *Blocked // why it was stopped
	// Total is how many traces matched at the start, nil until they are counted.
	Total     *int64
	Matched   int64 // that were looked at so far
	Sampled   int64 // of those
	CreatedBy principal.Actor
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   *time.Time
	Tally     Tally

	step  int64
	below trace.Position
}

// traces is the filter of the back-fill with its time.
func (b Backfill) traces() trace.Filter {
	f := b.Filter
	f.StartAfter, f.StartBefore = b.From.Add(-time.Microsecond), b.To
	return f
}

func (b Backfill) purse() provider.Purse {
	return provider.Purse{Kind: "judge_backfill", ID: strconv.FormatInt(b.ID, 10), Name: fmt.Sprintf("the back-fill %d", b.ID), CapNanoUSD: unsigned(b.CapNanoUSD)}
}

// FindBackfill returns one back-fill of a rule with its counts.
func (s *Service) FindBackfill(ctx context.Context, org principal.OrgID, rule, id int64) (Backfill, error) {
	b, err := s.store.findBackfill(ctx, s.db.Org(org), org, id)
	if err != nil {
		return Backfill{}, err
	}
	if b.Rule != rule {
		return Backfill{}, ErrBackfillNotFound
	}
	all, err := s.store.tallies(ctx, org, []int64{rule}, []int64{id})
	b.Tally = all[holder{rule: rule, backfill: id}]
	return b, err
}

// Backfills returns a page of a rule's back-fills, newest first, with one more than
// the limit if there is a next page.
func (s *Service) Backfills(ctx context.Context, org principal.OrgID, rule int64, l BackfillList) ([]Backfill, int64, error) {
	if _, err := s.store.find(ctx, s.db.Org(org), org, rule); err != nil {
		return nil, 0, err
	}
	all, total, err := s.store.listBackfills(ctx, org, rule, l)
	if err != nil || len(all) == 0 {
		return all, total, err
	}
	ids := make([]int64, len(all))
	for i, b := range all {
		ids[i] = b.ID
	}
	counts, err := s.store.tallies(ctx, org, []int64{rule}, ids)
	for i := range all {
		all[i].Tally = counts[holder{rule: rule, backfill: all[i].ID}]
	}
	return all, total, err
}

// BackfillList selects back-fills of a rule.
type BackfillList struct {
	Status []BackfillStatus
	postgres.Page
}

// StartBackfillTx makes a back-fill. Once it is committed it happens, even if the
// workflow engine is away at the moment.
func (s *Service) StartBackfillTx(ctx context.Context, tx postgres.Tx, rule int64, b Backfill) (Backfill, error) {
	r, err := s.store.lockTx(ctx, tx, rule)
	if err != nil {
		return Backfill{}, err
	}
	if err := s.store.lockLimitsTx(ctx, tx); err != nil {
		return Backfill{}, err
	}
	running, err := s.store.runningTx(ctx, tx, 0)
	if err != nil {
		return Backfill{}, err
	}
	if running >= maxRunning {
		return Backfill{}, ErrManyBackfills
	}
	found, err := s.judges.NamedTx(ctx, tx, nil, []int64{r.Config})
	if err != nil {
		return Backfill{}, err
	}
	if len(found) == 0 || found[0].Status != judge.StatusActive {
		return Backfill{}, ErrInactive
	}
	b.Rule, b.Config, b.Version, b.Filter, b.SamplingKey = r.ID, r.Config, found[0].Current.Number, r.Filter, r.SamplingKey
	if b.SampleRate == 0 {
		b.SampleRate = r.SampleRate
	}
	b.Status, b.CreatedBy, b.CreatedAt = BackfillRunning, principal.ActorOf(ctx), s.now()
	b.UpdatedAt = b.CreatedAt
	if b.To.IsZero() {
		b.To = b.CreatedAt
	}
	if b.ID, err = s.store.insertBackfillTx(ctx, tx, b); err != nil {
		return Backfill{}, err
	}
	if err := change.RecordTx(ctx, s.log, tx, eventBackfillCreated, b.ID, nil, &b); err != nil {
		return Backfill{}, err
	}
	return b, s.log.PublishTx(ctx, tx, TopicBackfill, strconv.FormatInt(b.ID, 10), BackfillTicket{Org: tx.Org, Backfill: b.ID})
}

// CancelBackfillTx ends a back-fill. Calls that are under way are waited for and
// counted.
func (s *Service) CancelBackfillTx(ctx context.Context, tx postgres.Tx, rule, id int64) (Backfill, error) {
	b, err := s.store.lockBackfillTx(ctx, tx, id)
	if err != nil {
		return Backfill{}, err
	}
	if b.Rule != rule {
		return Backfill{}, ErrBackfillNotFound
	}
	before := b
	if err := backfillTransitions.Check(ErrBackfillEnded, b.Status, BackfillCancelled); err != nil {
		return Backfill{}, err
	}
	at := s.now()
	b.Status, b.EndedAt, b.UpdatedAt = BackfillCancelled, &at, at
	if err := s.store.endBackfillTx(ctx, tx, id, BackfillCancelled, nil, at); err != nil {
		return Backfill{}, err
	}
	return b, change.RecordTx(ctx, s.log, tx, eventBackfillCancelled, id, &before, &b)
}

// pageTraces is how many traces a step of a back-fill looks at.
const pageTraces = 200

// fill has the sampled ones of the next traces judged, from the newest to the oldest.
func (s *Service) fill(ctx, staying context.Context, t BackfillTicket) (Look, error) {
	b, err := s.store.findBackfill(ctx, s.db.Org(t.Org), t.Org, t.Backfill)
	if errors.Is(err, ErrBackfillNotFound) {
		return Look{Ended: true}, nil
	}
	if err != nil {
		return Look{}, err
	}
	h := holder{rule: b.Rule, backfill: b.ID}
	if b.Status != BackfillRunning {
		return Look{Ended: true}, s.release(ctx, t.Org, h)
	}
	if o, err := s.tenancy.Organization(ctx, t.Org); err != nil || o.Status == tenancy.StatusSuspended {
		return Look{}, err
	}
	if b.Total == nil {
		n, err := s.traces.Count(ctx, t.Org, b.traces())
		if err != nil {
			return Look{}, err
		}
		if err := s.store.setBackfillTotal(ctx, t.Org, b.ID, n); err != nil {
			return Look{}, err
		}
	}
	page, err := s.traces.List(ctx, t.Org, b.traces(), trace.Page{Limit: pageTraces, After: b.below})
	if err != nil {
		return Look{}, err
	}
	c, err := s.judges.Find(ctx, t.Org, b.Config)
	if err != nil {
		return Look{}, err
	}
	counts, err := s.store.tallies(ctx, t.Org, []int64{b.Rule}, []int64{b.ID})
	if err != nil {
		return Look{}, err
	}
	l := &lot{Service: s, org: t.Org, holder: h, judge: c, version: b.Version, purse: b.purse(), most: -1}
	if b.MaxTraces != nil {
		l.most = max(0, int64(*b.MaxTraces)-counts[h].asked())
		settled, err := s.store.claims(ctx, t.Org, h) // of an attempt before this one
		if err != nil {
			return Look{}, err
		}
		for _, c := range settled {
			if c.outcome != "" && c.outcome != OutcomeSkipped {
				l.most = max(0, l.most-1)
			}
		}
	}
	var ids []span.TraceID
	var chosen, running int64
	for _, one := range page.Traces {
		if !sampled(b.SamplingKey, b.SampleRate, one.ID) {
			continue
		}
		if chosen++; one.Status == trace.StatusRunning {
			running++
		} else {
			ids = append(ids, one.ID)
		}
	}
	if err := l.run(ctx, staying, ids); err != nil {
		if errors.Is(err, ErrNotFound) {
			return Look{Ended: true}, nil
		}
		return Look{}, err
	}
	return s.filled(ctx, t.Org, b, l, page, chosen, running)
}

// filled counts a step of a back-fill, and ends it if that was the last one.
func (s *Service) filled(ctx context.Context, org principal.OrgID, b Backfill, l *lot, page trace.Listed, chosen, running int64) (Look, error) {
	if l.ended {
		return Look{Ended: true}, s.release(ctx, org, l.holder)
	}
	out := Look{More: page.More}
	end, why := BackfillStatus(""), l.blocked
	switch {
	case l.blocked != nil:
		end = BackfillStopped
	case l.full:
		end, why = BackfillStopped, &Blocked{CodeMaxTraces, fmt.Sprintf("%d traces are judged, and maxTraces allows no more.", *b.MaxTraces), s.now()}
	case !page.More:
		end = BackfillCompleted
	}
	err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		now, err := s.store.lockBackfillTx(ctx, tx, b.ID)
		if err != nil {
			return err
		}
		if now.step != b.step {
			// Another attempt has counted this step, and the claims are for the next one.
			out = Look{More: true}
			return nil
		}
		if end == BackfillStopped {
			l.skipped = nil // the page was not read to its end
		} else {
			l.skipped[ReasonRunning] += running
			if err := s.store.moveBackfillTx(ctx, tx, b, page.Next, int64(len(page.Traces)), chosen, s.now()); err != nil {
				return err
			}
		}
		if err := s.store.countClaimsTx(ctx, tx, l.holder, l.skipped); err != nil {
			return err
		}
		if end == "" {
			return nil
		}
		out.Ended = true
		return s.endTx(ctx, tx, now, end, why)
	})
	if errors.Is(err, ErrBackfillNotFound) {
		return Look{Ended: true}, nil
	}
	return out, err
}

// endTx ends a back-fill that is locked, unless it was cancelled meanwhile. The audit
// log has what callers did, and this is not one of their calls.
func (s *Service) endTx(ctx context.Context, tx postgres.Tx, b Backfill, to BackfillStatus, why *Blocked) error {
	if b.Status != BackfillRunning {
		return nil
	}
	if err := backfillTransitions.Check(ErrBackfillEnded, b.Status, to); err != nil {
		return err
	}
	return s.store.endBackfillTx(ctx, tx, b.ID, to, why, s.now())
}
