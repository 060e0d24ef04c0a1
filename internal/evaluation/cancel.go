package evaluation

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

// lastAnswers is how long calls that are under way when a run is cancelled may
// still take. A provider charges for them in any case, so their answers are
// kept; but whoever cancels wants an end.
const lastAnswers = 10 * time.Second

// look finds out what others did to the run: whether it was cancelled, and what
// its other chunks have cost. The engine tells a chunk of a cancellation much
// later than its row does.
func (e *chunk) look(ctx context.Context) error {
	running, spent, err := e.store.look(ctx, e.org, e.run, e.index)
	if err != nil {
		return err
	}
	if !running {
		e.cancel.Do(func() { close(e.cancelled) })
		return nil
	}
	e.mu.Lock()
	e.spent = spent
	e.mu.Unlock()
	return nil
}

func (e *chunk) isCancelled() bool {
	select {
	case <-e.cancelled:
		return true
	default:
		return false
	}
}

// outlive is a context that does not end with the engine's if the run was
// cancelled: what is answered has to be stored. If the run goes on, it is this
// worker that ends: all work stops, and another worker gets the chunk.
func (e *chunk) outlive(engine context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(engine))
	forget := context.AfterFunc(engine, func() {
		limit, cancel := context.WithTimeout(ctx, lastAnswers)
		defer cancel()
		if err := e.look(limit); err != nil || !e.isCancelled() {
			stop()
		}
	})
	return ctx, func() { forget(); stop() }
}

// asking is the context of calls. It ends a while after the run is cancelled.
func (e *chunk) asking(ctx context.Context) (context.Context, func()) {
	asking, hangUp := context.WithCancel(ctx)
	go func() {
		select {
		case <-asking.Done():
		case <-e.cancelled:
			late := time.AfterFunc(lastAnswers, hangUp)
			<-asking.Done()
			late.Stop()
		}
	}()
	return asking, hangUp
}

// cancelPage is how many runs CancelAll looks up at once.
const cancelPage = 100

// CancelAll ends every run of an organization that is under way and returns how
// many there were. It is for whoever stops all work of an organization, and may
// be called again: each run is ended in a transaction of its own.
func (s *Service) CancelAll(ctx context.Context, org principal.OrgID) (ended int64, err error) {
	for {
		runs, err := s.store.allRunning(ctx, s.db.Org(org), org, cancelPage)
		if err != nil {
			return ended, err
		}
		for _, id := range runs {
			err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
				before, err := s.store.lockRunTx(ctx, tx, id)
				if err != nil {
					return err
				}
				if before.Status != StatusRunning {
					return nil
				}
				_, err = s.cancelTx(ctx, tx, before)
				return err
			})
			if err != nil && !errors.Is(err, ErrRunNotFound) {
				return ended, err
			}
			ended++
		}
		if len(runs) < cancelPage {
			return ended, nil
		}
	}
}

// cancelTx ends a run that is locked and running.
func (s *Service) cancelTx(ctx context.Context, tx postgres.Tx, before Run) (Run, error) {
	after, err := s.endTx(ctx, tx, before, StatusCancelled, nil)
	if err != nil {
		return Run{}, err
	}
	if err := s.log.PublishTx(ctx, tx, TopicCancelled, "run/"+strconv.FormatInt(before.ID, 10), Ticket{Org: tx.Org, Run: before.ID}); err != nil {
		return Run{}, err
	}
	return after, s.auditTx(ctx, tx, "run.cancelled", "run", before.ID, before, after)
}
