package ingest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

type loadOptions struct {
	senders int
	// sample is how many batches a sender sends for each one that it reads back
	// as soon as it is acknowledged, beside the first one after every fault.
	sample int
	// ahead is how far the clock of every sixteenth batch runs before ours.
	ahead time.Duration
	// pace is the pause between two batches of a sender.
	pace time.Duration
}

// load is a number of senders with their oracles.
type load struct {
	loadOptions
	s       *system
	salt    uint64
	oracles []*oracle
	cancel  context.CancelFunc
	done    sync.WaitGroup

	// epoch is raised to make every sender prove itself once more; reached is
	// the last epoch in which each did.
	epoch   atomic.Int32
	reached []atomic.Int32
	// during is the number of the fault that is at work.
	during atomic.Int32
	// closedSince is since when nothing can be kept, in nanoseconds since 1970;
	// an acknowledgement of what was sent later is a lie.
	closedSince atomic.Int64

	spans, spansDeferred      atomic.Int64
	looks, late               atomic.Int64
	refused, unadvised, lying atomic.Int64

	mu    sync.Mutex
	wrong map[string]int // answers that no sender should see
}

func newLoad(s *system, o loadOptions) *load {
	return &load{
		loadOptions: o, s: s, salt: rand.Uint64() | 1, wrong: map[string]int{},
		reached: make([]atomic.Int32, o.senders), cancel: func() {},
	}
}

func (l *load) acked() int64    { return l.spans.Load() + l.spansDeferred.Load() }
func (l *load) deferred() int64 { return l.spansDeferred.Load() }

func (l *load) begin(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	for i := range l.senders {
		s, err := l.newSender(i)
		if err != nil {
			l.complain(err.Error())
			return
		}
		l.done.Go(func() { s.run(ctx) })
	}
}

// newSender opens the next oracle. Senders that have to be served before a
// fault is over have an index of zero or more. It is called by one goroutine.
func (l *load) newSender(index int) (*sender, error) {
	o, err := newOracle(filepath.Join(l.s.State, fmt.Sprintf("oracle-%x-%d", l.salt, len(l.oracles))))
	if err != nil {
		return nil, err
	}
	l.oracles = append(l.oracles, o)
	id := uint16(len(l.oracles) - 1)
	return &sender{load: l, oracle: o, id: id, index: index, org: l.orgOf(id)}, nil
}

// orgOf is the organization that a sender belongs to.
func (l *load) orgOf(sender uint16) rig.Organization { return l.s.orgs[int(sender)%len(l.s.orgs)] }

// end stops the senders; each sees the batch through that it is at.
func (l *load) end() {
	l.cancel()
	l.done.Wait()
}

func (l *load) complain(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong[what]++
}

// complaint is what senders saw that they should not have.
func (l *load) complaint() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for what, n := range l.wrong {
		errs = append(errs, fmt.Errorf("senders saw %d times: %s", n, what))
	}
	if n := l.unadvised.Load(); n > 0 {
		errs = append(errs, fmt.Errorf("%d of %d refusals had no Retry-After", n, l.refused.Load()))
	}
	if n := l.lying.Load(); n > 0 {
		errs = append(errs, fmt.Errorf("%d spans were acknowledged while nothing could keep them", n))
	}
	return errors.Join(errs...)
}

// settle waits until every sender has had a batch acknowledged that it began
// to send after now, was not deferred, and could be read back at once.
func (l *load) settle(ctx context.Context) error {
	epoch := l.epoch.Add(1)
	return l.await(ctx, "every sender is served", func() bool {
		for i := range l.reached {
			if l.reached[i].Load() < epoch {
				return false
			}
		}
		return true
	})
}

// await waits until something has become true.
func (l *load) await(ctx context.Context, what string, done func() bool) error {
	for limit := time.Now().Add(patience); !done(); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.s.Server.Exited():
			return fmt.Errorf("waiting until %s: %w", what, l.s.Server.Ended())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(limit) {
			return errors.Join(fmt.Errorf("waiting until %s, which did not come in %s", what, patience), l.complaint())
		}
	}
	return nil
}

// grow waits until so many spans are acknowledged, as long as there are more
// all the time.
func (l *load) grow(ctx context.Context, spans int64) error {
	for seen := l.acked(); seen < spans; seen = l.acked() {
		if err := l.await(ctx, "more spans are acknowledged", func() bool { return l.acked() > seen }); err != nil {
			return err
		}
	}
	return nil
}
