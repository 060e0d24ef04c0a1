package rule

import (
	"context"
	"errors"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// Sizes of one step.
const (
	pageArrivals = trace.MaxMatching // arrivals that are read at once
	lotTraces    = 200               // sampled traces that are judged before the step is counted
)

// Look is what a look for new traces found.
type Look struct {
	Ended bool // the rule is not active any more
	More  bool // there is more to look at now
}

// look has the sampled ones of the traces judged that arrived since the last look.
//
// Arrivals are read in order behind a time until which all of them can be read, twice:
// soon after they came, for traces that have ended, and again when a trace that has
// not ended is quiet for so long that it counts as closed. A trace to which more comes
// moves on and is found again, so none is lost; the results say which were judged.
func (s *Service) look(ctx, staying context.Context, t Ticket) (Look, error) {
	h := holder{rule: t.Rule, activation: t.Activation}
	r, err := s.store.find(ctx, s.db.Org(t.Org), t.Org, t.Rule)
	if errors.Is(err, ErrNotFound) || err == nil && (r.Status != StatusActive || r.activation != t.Activation) {
		return Look{Ended: true}, s.release(ctx, t.Org, h)
	}
	if err != nil {
		return Look{}, err
	}
	o, err := s.tenancy.Organization(ctx, t.Org)
	if err != nil || o.Status == tenancy.StatusSuspended {
		return Look{}, err
	}
	found, to, more, err := s.arrived(ctx, t.Org, r)
	if err != nil {
		return Look{}, err
	}
	c, err := s.judges.Find(ctx, t.Org, r.Config)
	if err != nil {
		return Look{}, err
	}
	l := &lot{Service: s, org: t.Org, holder: h, judge: c, version: c.Current.Number, purse: r.purse(s.clock()), most: -1}
	if err := l.run(ctx, staying, found); err != nil {
		if errors.Is(err, ErrNotFound) {
			return Look{Ended: true}, nil
		}
		return Look{}, err
	}
	if l.ended {
		return Look{Ended: true}, s.release(ctx, t.Org, h)
	}
	delete(l.skipped, ReasonAlreadyJudged) // a trace to which something late came
	if to.blocked = l.blocked; l.blocked != nil {
		n, err := s.unsettled(ctx, t.Org, l.holder)
		if err != nil {
			return Look{}, err
		}
		l.skipped[l.blocked.Code] += n
	}
	err = postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		// If another attempt has counted this step, the claims are for the next one.
		moved, err := s.store.moveCursorTx(ctx, tx, r.ID, r.cursor, to, len(found) > 0)
		if err != nil || !moved {
			return err
		}
		return s.store.countClaimsTx(ctx, tx, l.holder, l.skipped)
	})
	return Look{More: more}, err
}

// last is after all arrivals of a time.
func last(at int64) trace.Arrival {
	a := trace.Arrival{At: at}
	for i := range a.ID {
		a.ID[i] = 0xff
	}
	return a
}

// arrived finds the traces that a rule is to have judged now, and how far it has then
// read. More says that there is more to read.
func (s *Service) arrived(ctx context.Context, org principal.OrgID, r Rule) (ids []span.TraceID, to cursor, more bool, err error) {
	until := s.traces.ArrivedBy(s.cfg.Settle)
	to = r.cursor
	take := func(at *trace.Arrival, until int64, closed bool) error {
		if until <= at.At {
			return nil
		}
		found, err := s.traces.Arrivals(ctx, org, *at, time.UnixMilli(until).UTC(), pageArrivals)
		if err != nil {
			return err
		}
		next, cut := last(until), len(found) == pageArrivals
		var chosen []span.TraceID
		for i, a := range found {
			if !sampled(r.SamplingKey, r.SampleRate, a.ID) {
				continue
			}
			if chosen = append(chosen, a.ID); len(chosen) == lotTraces {
				found, cut = found[:i+1], true
				break
			}
		}
		if cut {
			next, more = found[len(found)-1], true
		}
		*at = next
		if len(chosen) == 0 {
			return nil
		}
		matching, err := s.traces.Matching(ctx, org, r.Filter, chosen)
		if err != nil {
			return err
		}
		for _, t := range matching {
			if t.Status != trace.StatusRunning && t.AutoClosed == closed {
				ids = append(ids, t.ID)
			}
		}
		return nil
	}
	if err := take(&to.ended, until.UnixMilli(), false); err != nil {
		return nil, to, false, err
	}
	err = take(&to.idle, until.Add(-trace.IdleLimit).UnixMilli(), true)
	return ids, to, more, err
}

// unsettled is how many claims of a holder have no outcome.
func (s *Service) unsettled(ctx context.Context, org principal.OrgID, h holder) (n int64, err error) {
	all, err := s.store.claims(ctx, org, h)
	for _, c := range all {
		if c.outcome == "" {
			n++
		}
	}
	return n, err
}

// release counts what became of a holder's traces, and lets its claims go when the
// results can be read: whoever claims the traces next has to find them.
func (s *Service) release(ctx context.Context, org principal.OrgID, h holder) error {
	all, err := s.store.claims(ctx, org, h)
	if err != nil {
		return err
	}
	if err := s.stored(ctx, org, all); err != nil {
		return err
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error { return s.store.countClaimsTx(ctx, tx, h, nil) })
}
