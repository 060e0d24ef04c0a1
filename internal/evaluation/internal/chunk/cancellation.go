package chunk

import (
	"context"
	"errors"
	"time"
)

// lastAnswers is how long calls that are under way when a run is cancelled, or when
// the worker is to stop, may still take. A provider charges for them in any case, so
// their answers are kept; but whoever cancels wants an end.
const (
	lastAnswers    = 10 * time.Second
	leavingAnswers = 15 * time.Second // a worker has 20
)

// look finds out what others did to the run: whether it was cancelled, and what
// its other chunks have cost. The engine tells a chunk of a cancellation much
// later than its row does.
func (e *execution) look(ctx context.Context) error {
	running, spent, err := e.Look(ctx)
	if err != nil {
		return err
	}
	if !running {
		e.finishWith(errEnded)
		return nil
	}
	e.mu.Lock()
	e.spent = spent
	e.mu.Unlock()
	return nil
}

// finishWith lets nothing more begin.
func (e *execution) finishWith(why error) {
	e.end.Do(func() {
		e.why = why
		if errors.Is(why, errEnded) {
			close(e.cancelled)
		}
		close(e.over)
	})
}

func (e *execution) isOver() bool {
	select {
	case <-e.over:
		return true
	default:
		return false
	}
}

// isLeaving reports whether the rest is for another worker.
func (e *execution) isLeaving() bool { return e.isOver() && errors.Is(e.why, errLeaving) }

// outlive is a context that does not end with the engine's if the chunk is about to
// end by itself: what is answered has to be stored. Otherwise all work stops, and
// another worker gets the chunk.
func (e *execution) outlive(engine context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(engine))
	forget := context.AfterFunc(engine, func() {
		limit, cancel := context.WithTimeout(ctx, lastAnswers)
		defer cancel()
		if err := e.look(limit); err != nil || !e.isOver() {
			stop()
		}
	})
	return ctx, func() { forget(); stop() }
}

// asking is the context of calls. It ends a while after the last one was begun.
func (e *execution) asking(ctx context.Context) (context.Context, func()) {
	asking, hangUp := context.WithCancel(ctx)
	go func() {
		select {
		case <-asking.Done():
		case <-e.over:
			patience := lastAnswers
			if e.isLeaving() {
				patience = leavingAnswers
			}
			late := time.AfterFunc(patience, hangUp)
			<-asking.Done()
			late.Stop()
		}
	}()
	return asking, hangUp
}
