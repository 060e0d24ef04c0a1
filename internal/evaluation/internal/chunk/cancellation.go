package chunk

import (
	"context"
	"time"
)

// lastAnswers is how long calls that are under way when a run is cancelled may
// still take. A provider charges for them in any case, so their answers are
// kept; but whoever cancels wants an end.
const lastAnswers = 10 * time.Second

// look finds out what others did to the run: whether it was cancelled, and what
// its other chunks have cost. The engine tells a chunk of a cancellation much
// later than its row does.
func (e *execution) look(ctx context.Context) error {
	running, spent, err := e.Look(ctx)
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

func (e *execution) isCancelled() bool {
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
func (e *execution) outlive(engine context.Context) (context.Context, func()) {
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
func (e *execution) asking(ctx context.Context) (context.Context, func()) {
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
