package judge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// load has cases judged without pause and holds each against what it must be.
type load struct {
	s      *system
	seed   uint64
	pace   time.Duration // between two cases, or runs, of one kind
	stop   atomic.Bool
	number atomic.Uint64
	done   sync.WaitGroup

	mu      sync.Mutex
	runs    []*journey
	singles []*single
	ended   int
	verdict verdict
	wrong   []error // what ended a journey
}

func newLoad(s *system, seed uint64) *load {
	l := &load{s: s, seed: seed % 1_000_000}
	l.number.Store(l.seed * 1000) // names of cases are never used twice
	return l
}

// begin keeps so many runs under way, and half as many single requests.
func (l *load) begin(ctx context.Context, width int) {
	for range width {
		l.done.Go(func() {
			for !l.stop.Load() && rig.Sleep(ctx, l.pace) == nil {
				l.travel(ctx, l.plan())
			}
		})
	}
	for range (width + 1) / 2 {
		l.done.Go(func() {
			for !l.stop.Load() && rig.Sleep(ctx, l.pace) == nil {
				l.ask(ctx)
			}
		})
	}
}

// plan notes a run.
func (l *load) plan() *journey {
	n := l.number.Add(1)
	j := &journey{load: l, number: n, org: l.s.orgs[n%uint64(len(l.s.orgs))], concurrency: 2 + int(n%3), client: n/2%2 == 0}
	for i := range 32 + int(n%33) {
		j.units = append(j.units, newUnit(ofRuns, n, i))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, j)
	return j
}

// travel sees a run through.
func (l *load) travel(ctx context.Context, j *journey) {
	err := j.travel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended++
	if err != nil && ctx.Err() == nil {
		l.wrong = append(l.wrong, fmt.Errorf("run %d (id %s): %w", j.number, j.run, err))
	}
}

// ask judges a case by a single request.
func (l *load) ask(ctx context.Context) {
	n := l.number.Add(1)
	one := &single{load: l, org: l.s.orgs[n%uint64(len(l.s.orgs))], unit: newUnit(ofSingles, n, int(n))}
	err := one.ask(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		l.wrong = append(l.wrong, fmt.Errorf("%s: %w", one.name, err))
		l.stop.Store(true) // the same would go wrong again at once
		return
	}
	l.singles = append(l.singles, one)
}

// end lets everything come to its end and starts no more.
func (l *load) end() {
	l.stop.Store(true)
	l.done.Wait()
}

// lively waits until the provider was asked some more: a fault has to meet calls.
func (l *load) lively(ctx context.Context) error {
	goal := l.s.provider.oracle.Total() + 15
	for limit := time.Now().Add(rig.Patience); l.s.provider.oracle.Total() < goal; {
		if err := errors.Join(rig.Sleep(ctx, 20*time.Millisecond), l.complaint()); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return errors.New("nothing is asked any more")
		}
	}
	return nil
}

// grow waits until so many runs have come to an end.
func (l *load) grow(ctx context.Context, runs int) error {
	for limit := time.Now().Add(10 * rig.Patience); ; {
		l.mu.Lock()
		ended := l.ended
		l.mu.Unlock()
		if ended >= runs {
			return l.complaint()
		}
		if err := errors.Join(rig.Sleep(ctx, 100*time.Millisecond), l.complaint()); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("only %d of %d runs have ended", ended, runs)
		}
	}
}

func (l *load) complaint() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.wrong...)
}

// count changes the verdict.
func (l *load) count(edit func(*verdict)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	edit(&l.verdict)
}
