package evaluation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/schema"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrTooCostly is returned for results that take more work to score than one
// request may.
var ErrTooCostly = fault.New(fault.Validation, "too_costly", "Scoring these results takes more work than one request may. None was stored: send fewer results in a request.")

// ErrLate is returned when storing results took so long that the run may have
// been added up without them.
var ErrLate = fault.New(fault.Unavailable, "results_late", "Storing the results took too long. Send them again.").With("retryAfterSeconds", 1)

// How long results may take into ClickHouse, and how long their run waits until
// they are accepted.
const (
	insertTime = 10 * time.Second
	postTime   = 20 * time.Second
)

// Posted is results of a client that are stored and not yet accepted. Their run is
// not added up before they are, or their time is over.
type Posted struct {
	evaluation, run int64
	until           time.Time
}

// takes says why a run does not take so many results now. A run that makes its own
// hears in this way that all of their scores were sent.
func (r Run) takes(sent int) error {
	switch {
	case r.Request.Plan.Target.Type != scoring.TargetClient && (sent > 0 || !r.Request.Plan.AwaitsScores()):
		return ErrNotClient
	case r.Status != StatusRunning:
		return transitions.In(ErrTransition, r.Status)
	case r.Phase != PhaseExecuting:
		return transitions.In(ErrTransition, r.Status).With("phase", r.Phase)
	}
	return nil
}

// Post scores what a client sent and stores it, for PutTx to accept. The same item
// again replaces what it said before. All this happens outside of transactions:
// scoring is work, and ClickHouse may take its time.
func (s *Service) Post(ctx context.Context, org principal.OrgID, evaluation, run int64, sent []scoring.Sent) (Posted, error) {
	p := Posted{evaluation: evaluation, run: run}
	r, err := s.FindRun(ctx, org, evaluation, run)
	if err != nil {
		return p, err
	}
	if r.Status == StatusRunning && r.Resolved == nil && r.Request.Plan.Target.Type == scoring.TargetClient {
		if err := s.beginning.Acquire(ctx, 1); err != nil { // it has the ids of all items in memory
			return p, fmt.Errorf("wait to begin: %w", err)
		}
		r, err = s.begin(ctx, Ticket{Org: org, Run: run}) // whoever comes first
		s.beginning.Release(1)
		if why := stopOf(err); why != nil {
			return p, fault.New(fault.Conflict, why.Code, why.Message)
		}
		if err != nil {
			return p, err
		}
	}
	if err := r.takes(len(sent)); err != nil {
		return p, err
	}
	outcomes, err := s.score(ctx, org, r, sent)
	if err != nil {
		return p, err
	}
	if err := s.announce(ctx, org, &p); err != nil {
		return p, err
	}
	inserting, cancel := context.WithTimeout(ctx, insertTime)
	defer cancel()
	return p, s.results.Insert(inserting, r.at(org), outcomes)
}

// announce makes a run wait until what is posted is accepted.
func (s *Service) announce(ctx context.Context, org principal.OrgID, p *Posted) (err error) {
	var ok bool
	if p.until, ok, err = s.store.beginPosting(ctx, org, p.run, postTime); err != nil {
		return err
	}
	if !ok {
		return transitions.In(ErrTransition, StatusRunning).With("phase", PhaseAggregating) // it has ended, or is about to
	}
	return nil
}

// PutTx accepts stored results. Final says that there are no more.
func (s *Service) PutTx(ctx context.Context, tx postgres.Tx, p Posted, final bool) error {
	before, err := s.store.lockRunTx(ctx, tx, p.run)
	if err != nil {
		return err
	}
	final = final && before.Status == StatusRunning
	after, at := before, s.now()
	after.Final, after.HeardAt = before.Final || final, &at
	ok, err := s.store.endPostingTx(ctx, tx, p.run, p.until, final, at)
	if err != nil {
		return err
	}
	if !ok {
		return ErrLate
	}
	if !final {
		return nil
	}
	if err := change.RecordTx(ctx, s.log, tx, eventRunFinal, p.run, &before, &after); err != nil {
		return err
	}
	return s.log.PublishTx(ctx, tx, TopicFinal, holder(p.run), Ticket{Org: tx.Org, Run: p.run})
}

// closeResults takes no more results of a client's run, and waits until those that it
// takes are there.
func (s *Service) closeResults(ctx context.Context, t Ticket, r Run) error {
	if r.Phase == PhaseExecuting {
		if err := s.store.beginScoring(ctx, t.Org, t.Run, s.now()); err != nil {
			return err
		}
	}
	return s.awaitPosted(ctx, t)
}

// awaitPosted waits until every result that a client's run has announced is stored
// or late. A run that is not executing any more announces none.
func (s *Service) awaitPosted(ctx context.Context, t Ticket) error {
	const look = 100 * time.Millisecond
	for {
		posting, err := s.store.posting(ctx, t.Org, t.Run)
		if err != nil || !posting {
			return err
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// score makes outcomes of what a client sent. It reads some items at a time, and
// stops when the caller is gone or has spent what one request may.
func (s *Service) score(ctx context.Context, org principal.OrgID, r Run, sent []scoring.Sent) ([]result.Outcome, error) {
	measures, err := s.measuresOf(r)
	if err != nil {
		return nil, err
	}
	var ids []int64
	of := make(map[int64][]int, len(sent)) // the places of an item's results
	last := make(map[result.Key]int, len(sent))
	for i, one := range sent {
		if of[one.Item] == nil {
			ids = append(ids, one.Item)
		}
		of[one.Item] = append(of[one.Item], i)
		last[result.Key{Item: one.Item, Epoch: one.Epoch}] = i
	}
	drawn, err := s.drawn(ctx, org, r, ids)
	if err != nil {
		return nil, err
	}
	work := schema.NewAllowance()
	wrong := make([][]fault.Field, len(sent))
	out := make([]result.Outcome, 0, len(sent))
	for len(ids) > 0 {
		items, read, err := s.datasets.ItemsByID(ctx, org, r.Resolved.Dataset, r.Resolved.Version, ids)
		if err != nil {
			return nil, err
		}
		err = admission.From(ctx).Work(ctx, func(pause func() error) error {
			for _, id := range ids[:read] {
				item, known := items[id]
				for _, i := range of[id] {
					wrong[i] = sent[i].Faults(measures, r.Request.Repetitions, known && drawn[id], i)
					// Of a test case that comes twice the last counts.
					if len(wrong[i]) > 0 || last[result.Key{Item: id, Epoch: sent[i].Epoch}] != i {
						continue
					}
					o, err := sent[i].Outcome(pause, r.Request.Plan.PassRule, measures, item, r.Request.ClusterKey, &work)
					if err != nil {
						return fmt.Errorf("score result %d: %w", i, err)
					}
					// A result that comes alone has the scores that it can have.
					if work.Short() && len(sent) > 1 {
						return ErrTooCostly
					}
					out = append(out, o)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		ids = ids[read:]
	}
	if all := slices.Concat(wrong...); len(all) > 0 {
		return nil, fault.New(fault.Validation, "invalid_request", "Some of the results cannot be taken; none was.").WithFields(all...)
	}
	return out, nil
}
