package runs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// load starts runs without pause and holds each against what was asked for.
type load struct {
	s      *system
	seed   uint64
	pace   time.Duration // between two runs
	stop   atomic.Bool
	number atomic.Int64
	done   sync.WaitGroup

	mu      sync.Mutex
	all     []*journey
	ended   int
	verdict verdict
	wrong   []error // what ended a journey
}

func newLoad(s *system, seed uint64) *load { return &load{s: s, seed: seed} }

// begin keeps so many runs under way.
func (l *load) begin(ctx context.Context, width int) {
	for range width {
		l.done.Go(func() {
			for !l.stop.Load() && rig.Sleep(ctx, l.pace) == nil {
				l.start(ctx, l.plan(int(l.number.Add(1))))()
			}
		})
	}
}

// start notes a run and returns what sees it through.
func (l *load) start(ctx context.Context, j *journey) (see func()) {
	l.mu.Lock()
	l.all = append(l.all, j)
	l.mu.Unlock()
	return func() {
		err := j.travel(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ended++
		j.over.Store(true)
		if err != nil && ctx.Err() == nil {
			l.wrong = append(l.wrong, fmt.Errorf("run %d (%s, id %s): %w", j.number, j.kind, j.run, err))
		}
	}
}

// end lets every run come to its end and starts no more.
func (l *load) end() {
	l.stop.Store(true)
	l.done.Wait()
}

// plan says what a run is to be.
func (l *load) plan(n int) *journey {
	r := rand.New(rand.NewPCG(l.seed, uint64(n)))
	j := &journey{
		load: l, number: n, org: l.s.orgs[n/2%len(l.s.orgs)], items: 40 + r.IntN(81), repetitions: 1, concurrency: 2 + r.IntN(3),
		at: r.Float64() / 2, cancelled: make(chan struct{}),
	}
	switch n % 12 {
	case 0, 6:
		j.kind = kindModel
	case 3, 10:
		j.kind, j.repetitions = kindModel, 2
	case 1:
		j.kind = kindApplication
	case 5:
		j.kind, j.repetitions = kindApplication, 2
	case 2:
		j.kind, j.repetitions = kindRecorded, 2
	case 8:
		j.kind = kindRecorded
	case 4:
		j.kind, j.cancel = kindModel, "executing"
	case 11:
		j.kind, j.cancel = kindApplication, "executing"
	case 7:
		j.kind, j.cancel = kindHanging, "hanging"
	case 9:
		j.kind, j.budget = kindPaid, price*float64(j.items)/3
	}
	return j
}

// lively waits until targets were asked some more: a fault has to meet runs.
func (l *load) lively(ctx context.Context) error {
	goal := l.s.targets.oracle.Total() + 15
	for limit := time.Now().Add(patience); l.s.targets.oracle.Total() < goal; {
		if err := rig.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return errors.Join(errors.New("nothing is asked any more"), l.complaint())
		}
	}
	return l.complaint()
}

// grow waits until so many runs have come to an end.
func (l *load) grow(ctx context.Context, runs int) error {
	for limit := time.Now().Add(10 * patience); ; {
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

// under lists the runs that are under way.
func (l *load) under() (list []*journey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.all {
		if !j.over.Load() {
			list = append(list, j)
		}
	}
	return list
}

func (l *load) complaint() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.wrong...)
}
