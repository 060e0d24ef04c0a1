package rule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// lot is some traces that a holder has judged together.
type lot struct {
	*Service
	org     principal.OrgID
	holder  holder
	judge   judge.Config
	version int
	purse   provider.Purse
	// most is how many traces are handed to the judge; below zero is all.
	most int64

	mu      sync.Mutex
	skipped map[string]int64 // that have no claim
	blocked *Blocked
	full    bool // more than the most would have been judged
	ended   bool // the holder was paused, cancelled or deleted meanwhile
}

// errEnded ends a lot whose holder is not to go on.
var errEnded = errors.New("the rule or back-fill has ended")

// run has the traces judged: those that no other holder has judged at the moment,
// and that the version has not judged before. A trace that was begun by an attempt
// before this one is finished. What cannot be judged because the judge cannot be
// asked at all is left, and blocked says why. When staying ends, what is under way is
// kept, and the next attempt finishes the lot.
func (l *lot) run(ctx, staying context.Context, ids []span.TraceID) error {
	l.skipped = map[string]int64{}
	open, err := l.claimed(ctx, ids)
	if err != nil {
		return err
	}
	if l.most >= 0 && int64(len(open)) > l.most {
		open, l.full = open[:l.most], true
	}
	if len(open) == 0 {
		return nil
	}
	if l.judge.Status != judge.StatusActive {
		l.block(ReasonNotActive, fmt.Sprintf("The judge %q is %s. Set its status to active.", l.judge.Key, l.judge.Status))
		return nil
	}
	asking, stop := context.WithCancel(staying)
	defer stop()
	by, err := l.judges.Version(ctx, l.org, l.judge.ID, l.version, provider.NewPace(l.clock, asking.Done()), func(*provider.Failure) {}, l.purse)
	var unusable *provider.Unusable
	if errors.As(err, &unusable) {
		l.block(unusable.Code, unusable.Message)
		return nil
	}
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(l.cfg.Width)
	for _, id := range open {
		g.Go(func() error {
			if asking.Err() != nil {
				return nil
			}
			// A call that was made is waited for: it is paid.
			err := l.one(ctx, by, id)
			if errors.Is(err, provider.ErrStopped) { // while it waited to ask again
				return nil
			}
			if err != nil || l.blockedNow() {
				stop()
			}
			return err
		})
	}
	err = g.Wait()
	if errors.Is(err, errEnded) {
		l.ended = true
		return nil
	}
	if err == nil {
		err = context.Cause(staying)
	}
	return err
}

func (l *lot) block(code, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blocked == nil {
		l.blocked = &Blocked{code, message, l.now()}
	}
}

func (l *lot) blockedNow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blocked != nil
}

// claimed claims the traces and returns those that are to be judged now.
func (l *lot) claimed(ctx context.Context, ids []span.TraceID) (open []span.TraceID, err error) {
	before, err := l.store.claims(ctx, l.org, l.holder)
	if err != nil {
		return nil, err
	}
	if err := l.stored(ctx, l.org, before); err != nil {
		return nil, err
	}
	own := make(map[span.TraceID]claim, len(before))
	for _, c := range before {
		if c.config == l.judge.ID && c.version == l.version {
			own[c.trace] = c
		}
	}
	var wanted, look []span.TraceID
	for _, id := range ids {
		if _, ok := own[id]; !ok {
			wanted = append(wanted, id)
		}
	}
	got, err := l.store.claim(ctx, l.org, l.holder, l.judge.ID, l.version, wanted, l.now())
	if err != nil {
		return nil, err
	}
	l.skip(ReasonAlreadyJudged, len(wanted)-len(got))
	for id := range own {
		look = append(look, id)
	}
	for _, id := range wanted { // in the order that was asked for
		if got[id] {
			look = append(look, id)
		}
	}
	// Only now, when no other can begin, is it certain who has judged them.
	found, err := l.judges.Judged(ctx, l.org, l.judge, l.version, look)
	if err != nil {
		return nil, err
	}
	for _, id := range look {
		c, ours := own[id]
		r, judged := found[id]
		switch {
		case ours && c.outcome != "":
		case ours && judged && !r.At.Before(c.at):
			// An attempt before this one has judged it and could not say so.
			if err := l.recordOutcome(ctx, of(r)); err != nil {
				return nil, err
			}
		case judged && (r.Status != judge.VerdictFailed || l.holder.backfill == 0):
			// Late spans bring a trace back any number of times; only a back-fill, which
			// somebody starts, asks again about one whose verdict failed.
			if err := l.recordOutcome(ctx, settled{l.judge.ID, l.version, id, OutcomeSkipped, ReasonAlreadyJudged, 0}); err != nil {
				return nil, err
			}
		default:
			open = append(open, id)
		}
	}
	return open, nil
}

func (l *lot) skip(reason string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skipped[reason] += int64(n)
}

// of is what a result says became of its trace.
func of(r judge.Result) settled {
	out := settled{config: r.Config, version: r.Version, outcome: OutcomeJudged}
	out.trace, _ = span.ParseTraceID(r.Subject.ID)
	switch r.Status {
	case judge.VerdictAbstained:
		out.outcome, out.reason = OutcomeAbstained, r.Code
	case judge.VerdictFailed:
		out.outcome, out.reason = OutcomeFailed, r.Code
	}
	if r.CostNanoUSD != nil {
		out.cost = int64(min(*r.CostNanoUSD, 1<<62))
	}
	return out
}

func (l *lot) recordOutcome(ctx context.Context, o settled) error {
	return l.store.recordOutcome(ctx, l.db.Org(l.org), l.org, l.holder, o)
}

// one has one trace judged. The result is recorded together with the claim's
// outcome, and can be read when one returns.
func (l *lot) one(ctx context.Context, by *judge.Judge, id span.TraceID) error {
	goes, err := l.store.holds(ctx, l.org, l.holder)
	if err != nil {
		return err
	}
	if !goes {
		return errEnded
	}
	// A verdict is as old as what was read: if the trace is deleted during the call, the
	// verdict counts as from before the deletion and is removed with it.
	at := l.now()
	t, err := l.traces.Find(ctx, l.org, id)
	if gone(t, err) {
		return l.recordOutcome(ctx, settled{l.judge.ID, l.version, id, OutcomeSkipped, ReasonGone, 0})
	}
	if err != nil {
		return err
	}
	c := judge.Case{Input: t.Input, Output: t.Output}
	v, err := by.Ask(ctx, c, fmt.Sprintf("assay-rule-%d-%d-%s", l.judge.ID, l.version, id))
	var stop *provider.Failure
	if errors.As(err, &stop) {
		l.block(stop.StopCode(), stop.Message)
		return nil
	}
	if err != nil {
		return err
	}
	numbers, err := l.judges.IDs(ctx, l.org, 1)
	if err != nil {
		return err
	}
	r := by.Result(numbers[0], score.Trace(id), v)
	r.Prompt, r.By, r.At = by.Prompt(c), principal.Actor{Type: principal.ActorSystem}, at
	// The call is paid; what it said is kept even if the work is ended meanwhile.
	kept := context.WithoutCancel(ctx)
	err = postgres.InTx(kept, l.db, l.org, func(tx postgres.Tx) error {
		if err := l.judges.RecordTx(kept, tx, r); err != nil {
			return err
		}
		return l.store.recordOutcome(kept, tx, l.org, l.holder, of(r))
	})
	if err != nil {
		return err
	}
	for pause := 100 * time.Millisecond; !l.judges.Keep(ctx, l.org, r); pause = min(2*pause, 10*time.Second) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}
