package chunk

import (
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/platform/failpoint"
)

// When outcomes are stored.
const (
	flushUnits = 2000        // so many at once,
	flushBytes = 8 << 20     // or so many bytes of output,
	flushEvery = time.Second // or after so long
)

// keep stores outcomes, many at once but none much later than it came, until
// there are no more.
func (e *execution) keep(ctx context.Context, done <-chan result.Outcome) error {
	late := time.NewTicker(flushEvery)
	defer late.Stop()
	var ready []result.Outcome
	bytes := 0
	for {
		due := false
		select {
		case o, more := <-done:
			if !more {
				return e.flush(ctx, ready)
			}
			ready = append(ready, o)
			bytes += len(o.Output) + len(o.ToolCalls)
			due = len(ready) >= flushUnits || bytes >= flushBytes
		case <-late.C:
			if due = len(ready) > 0; !due {
				if err := e.look(ctx); err != nil {
					return err
				}
			}
		}
		if due {
			if err := e.flush(ctx, ready); err != nil {
				return err
			}
			ready, bytes = ready[:0], 0
		}
	}
}

// flush stores outcomes, then says how far the chunk is. An outcome counts when
// it can be read.
func (e *execution) flush(ctx context.Context, ready []result.Outcome) error {
	failpoint.Hit(Answered)
	if err := e.keepVerdicts(ctx, ready); err != nil {
		return err
	}
	failpoint.Hit(Judged)
	if err := e.Results.Insert(ctx, e.Run, e.unstored(ready)); err != nil {
		return err
	}
	failpoint.Hit(Stored)
	e.mu.Lock()
	for i := range ready {
		b := ready[i].Brief()
		b.CostNanoUSD = e.own(b)
		e.count.Add(b)
	}
	count := e.count
	e.mu.Unlock()
	if err := e.Progress.PutChunk(ctx, e.Run.Org, e.Run.ID, e.Index, count, e.Now()); err != nil {
		return err
	}
	failpoint.Hit(Counted)
	e.Beat()
	return e.look(ctx)
}

// unstored are the outcomes without those that were completed and stored at once.
func (e *execution) unstored(ready []result.Outcome) []result.Outcome {
	if len(e.rescored) == 0 || !e.shared() {
		return ready
	}
	return slices.DeleteFunc(slices.Clone(ready), func(o result.Outcome) bool { return e.rescored[o.Key] })
}
