package chunk

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
)

// answer executes units until there are none. Calls are made with a context of
// their own, which ends before the work does.
func (e *execution) answer(ctx, asking context.Context, work <-chan job, done chan<- result.Outcome) error {
	width := e.Width
	if !e.Plan.Paid() {
		width = min(width, runtime.GOMAXPROCS(0))
	}
	g, ctx := errgroup.WithContext(ctx)
	for range width {
		g.Go(func() error {
			for j := range work {
				if err := e.unit(ctx, asking, j, done); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// ended reports whether the run cannot go on.
func (e *execution) ended() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.BudgetUSD; b != nil && e.stop == nil && float64(e.spent+e.paid) >= *b*1e9 {
		e.stop = &provider.Unusable{
			Code: CodeBudgetExceeded, Message: fmt.Sprintf("The run has cost US$ %.4f of its budget of US$ %.4f. Results so far are kept.", float64(e.spent+e.paid)/1e9, *b),
		}
	}
	return e.stop != nil || e.isOver()
}

// unit executes one unit, unless the run cannot go on.
func (e *execution) unit(ctx, asking context.Context, j job, done chan<- result.Outcome) error {
	if e.ended() {
		return nil
	}
	began := e.Clock()
	if e.rescored[j.Key] {
		o, err := e.rescore(ctx, asking, j)
		if errors.Is(err, errLeaving) {
			return nil
		}
		if err != nil {
			return err
		}
		return e.finish(ctx, began, o, done)
	}
	if e.suspects.GaveUp(j.name()) {
		return e.finish(ctx, began, e.failed(j, errDeadly), done)
	}
	a, tries, err := e.try(asking, j)
	var f *provider.Failure
	definite := errors.As(err, &f) && asking.Err() == nil
	switch {
	case err != nil && !definite && e.isOver():
		return nil // there is no answer to keep, and none is asked for any more
	case err != nil && f == nil:
		return err
	}
	if f != nil && f.Stop {
		e.halt(f)
		return nil // it has no outcome: a run that goes on later would try it again
	}
	o, err := e.answered(j, a, tries)
	switch {
	case err != nil:
		return err
	case f != nil:
		e.fail(&o, f)
	default:
		err := e.scored(ctx, asking, j, a, &o)
		if errors.Is(err, errLeaving) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return e.finish(ctx, began, o, done)
}

// halt ends the run with what it has.
func (e *execution) halt(f *provider.Failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop == nil {
		e.stop = &provider.Unusable{Code: f.StopCode(), Message: f.Message}
	}
}

// score has an answer scored by those who are asked. It is paid: whatever they do, it
// is kept, unless it is this worker that ends. Then the next one asks all of them, which
// is what errLeaving says.
func (e *execution) score(asking context.Context, by scoring.Scorers, j job, a provider.Answer) (map[string]metric.Score, uint64, error) {
	scores, cost, err := by.Score(asking, e.Run.ID, j.content, j.Epoch, a)
	var f *provider.Failure
	switch {
	case errors.As(err, &f) && asking.Err() == nil:
		e.halt(f)
	case err != nil && e.isLeaving():
		return nil, cost, errLeaving
	case err != nil && !e.isOver():
		return nil, cost, err
	}
	return scores, cost, nil
}

// finish counts an outcome and hands it on to be stored.
func (e *execution) finish(ctx context.Context, began time.Time, o result.Outcome, done chan<- result.Outcome) error {
	e.mu.Lock()
	e.busy += e.Clock().Sub(began)
	e.fresh++
	e.paid += int64(e.own(o.Brief()))
	e.mu.Unlock()
	select {
	case done <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try asks the target until it answers, or will not.
func (e *execution) try(ctx context.Context, j job) (provider.Answer, []provider.Attempt, error) {
	return e.pace.Ask(ctx, func(ctx context.Context) (provider.Answer, error) {
		return e.target.Ask(ctx, e.Run.ID, j.content, j.Epoch)
	}, func(f *provider.Failure) { e.note(ctx, f) })
}

// note says once in the run's notes that a target has trouble.
func (e *execution) note(ctx context.Context, f *provider.Failure) {
	e.mu.Lock()
	seen := e.noted[f.Code]
	e.noted[f.Code] = true
	e.mu.Unlock()
	if !seen {
		// A note that is lost loses nothing else.
		_ = e.Progress.PutNote(ctx, e.Run.Org, e.Run.ID, "target/"+f.Code, progress.Note{At: e.Now(), Level: "warning", Message: f.Message + " It is tried again."})
	}
}
