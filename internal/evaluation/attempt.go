package evaluation

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// stopCode is the run's word for what stopped it.
func stopCode(code string) string {
	switch code {
	case "unauthorized", "exhausted":
		return CodeProviderKeyMissing
	default:
		return CodeTargetUnreachable
	}
}

// tried is an attempt that failed, as readers see it.
type tried struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// try asks the target until it answers, will not, or was asked often enough.
func (e *chunk) try(ctx context.Context, j job) (a answer, before []tried, err error) {
	var total answer
	for n := 1; ; n++ {
		if err := e.wait(ctx); err != nil {
			return a, before, err
		}
		a, err = e.target.ask(ctx, e.run, j.content, j.epoch)
		total = spend(total, a)
		a.calls, a.cost, a.usage = total.calls, total.cost, total.usage
		var f *failure
		if err == nil || !errors.As(err, &f) || !f.again || n == maxTries {
			return a, before, err
		}
		if e.isCancelled() {
			return a, before, errEnded
		}
		before = append(before, tried{f.code, f.message})
		e.note(ctx, f)
		pause := min(500*time.Millisecond<<(n-1), maxPause)
		pause = pause/2 + rand.N(pause/2+1) //nolint:gosec // spreads retries, decides nothing
		if f.wait > 0 {
			pause = min(f.wait, maxAsked)
			e.mu.Lock()
			e.pauseTo = later(e.pauseTo, e.clock().Add(pause))
			e.mu.Unlock()
			continue
		}
		if err := e.pause(ctx, pause); err != nil {
			return a, before, err
		}
	}
}

// pause waits, unless the run is cancelled meanwhile.
func (e *chunk) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-e.cancelled:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spend adds up what attempts cost, for each of them is paid.
func spend(total, a answer) answer {
	total.calls += a.calls
	total.usage.Input += a.usage.Input
	total.usage.Output += a.usage.Output
	if a.cost != nil {
		sum := *a.cost
		if total.cost != nil {
			sum += *total.cost
		}
		total.cost = &sum
	}
	return total
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// wait holds back while a target asked everybody to.
func (e *chunk) wait(ctx context.Context) error {
	for {
		e.mu.Lock()
		pause := e.pauseTo.Sub(e.clock())
		e.mu.Unlock()
		if pause <= 0 {
			return ctx.Err()
		}
		if err := e.pause(ctx, pause); err != nil {
			return err
		}
	}
}

// note says once in the run's notes that a target has trouble.
func (e *chunk) note(ctx context.Context, f *failure) {
	e.mu.Lock()
	seen := e.noted[f.code]
	e.noted[f.code] = true
	e.mu.Unlock()
	if !seen {
		// A note that is lost loses nothing else.
		_ = e.store.putNote(ctx, e.org, e.run.ID, "target/"+f.code, Note{At: e.now(), Level: "warning", Message: f.message + " It is tried again."})
	}
}
