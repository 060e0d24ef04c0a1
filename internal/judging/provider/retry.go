package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// How often and when a question is repeated.
const (
	maxTries = 6
	maxPause = 30 * time.Second // between two attempts, unless the other side asks for more
	maxAsked = 2 * time.Minute  // what the other side may ask for
	maxDown  = 10               // questions in a row that nobody was there to answer
)

// ErrStopped is returned when a Pace was stopped before there was an answer.
var ErrStopped = errors.New("asking was stopped")

// Pace repeats questions that fail for the moment. All that is asked through
// one Pace waits while the other side asks for time.
type Pace struct {
	clock func() time.Time
	stop  <-chan struct{}
	mu    sync.Mutex
	until time.Time // nothing is asked before
	down  int       // questions in a row that nobody was there to answer
}

// NewPace makes a pace. When stop is closed, waiting ends and nothing is
// repeated.
func NewPace(clock func() time.Time, stop <-chan struct{}) *Pace {
	return &Pace{clock: clock, stop: stop}
}

// Attempt is an attempt that failed, as readers see it.
type Attempt struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Ask asks until there is an answer, there will be none, or it was asked often
// enough. It returns the attempts that failed before, and calls failed after
// each of them. The answer's calls, usage and cost are those of all attempts.
func (p *Pace) Ask(ctx context.Context, ask func(context.Context) (Answer, error), failed func(*Failure)) (a Answer, before []Attempt, err error) {
	var total Answer
	ctx = withStop(ctx, p.stop)
	for n := 1; ; n++ {
		if err := p.wait(ctx); err != nil {
			return a, before, err
		}
		a, err = ask(ctx)
		total.add(a)
		a.Calls, a.CostNanoUSD, a.Usage = total.Calls, total.CostNanoUSD, total.Usage
		var f *Failure
		if err == nil || !errors.As(err, &f) || !f.Retry || n == maxTries {
			return a, before, p.breaks(err, f)
		}
		if p.isStopped() {
			return a, before, ErrStopped
		}
		before = append(before, Attempt{f.Code, f.Message})
		failed(f)
		if f.Wait > 0 {
			p.hold(min(f.Wait, maxAsked))
			continue
		}
		pause := min(500*time.Millisecond<<(n-1), maxPause)
		pause = pause/2 + rand.N(pause/2+1) //nolint:gosec // spreads retries, decides nothing
		if err := p.pause(ctx, pause); err != nil {
			return a, before, err
		}
	}
}

// breaks turns one failure too many into the end of all asking: whoever asks a
// target that is down would have errors in the place of results.
func (p *Pace) breaks(err error, f *Failure) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f == nil || !f.Down {
		p.down = 0
		return err
	}
	if p.down++; p.down < maxDown {
		return err
	}
	return &Failure{Code: f.Code, Message: fmt.Sprintf("%s It did not answer %d items in a row, each asked %d times, so no more are asked. Results so far are kept.", f.Message, p.down, maxTries), Stop: true}
}

func (p *Pace) isStopped() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// hold keeps everybody from asking for a while.
func (p *Pace) hold(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.clock().Add(d); until.After(p.until) {
		p.until = until
	}
}

// wait waits while everybody is held.
func (p *Pace) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		pause := p.until.Sub(p.clock())
		p.mu.Unlock()
		if pause <= 0 {
			return ctx.Err()
		}
		if err := p.pause(ctx, pause); err != nil {
			return err
		}
	}
}

// pause waits, unless asking is stopped meanwhile.
func (p *Pace) pause(ctx context.Context, d time.Duration) error { return pause(ctx, d, p.stop) }

func pause(ctx context.Context, d time.Duration, stop <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-stop:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}
