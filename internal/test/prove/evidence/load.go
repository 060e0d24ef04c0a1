package evidence

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// manners are how senders behave; each but the first two is one of how many batches.
type manners struct {
	orgs, senders int
	twice         int // sent again when it is acknowledged
	together      int // sent twice at the same time
	impatient     int // given up soon, and sent again
	look          int // read back at once
	// anew gives events another id when they are sent again, as no sender may.
	anew bool
	pace time.Duration // between two batches of a sender
}

// load is senders with what they know.
type load struct {
	manners
	calls
	ledger
	s    *system
	orgs []rig.Organization

	cancel context.CancelFunc
	done   sync.WaitGroup
	// epoch is raised to make every sender prove itself once more; reached is the last
	// epoch in which each did.
	epoch   atomic.Int32
	reached []atomic.Int32

	unanswered, refused, looks atomic.Int64

	mu    sync.Mutex
	begun []int // batches that each sender has begun
	last  int   // how many batches each sender sends, once that is settled
	// wrong are answers that no sender should see, and how often they came.
	wrong map[string]int
}

func (s *system) newLoad(ctx context.Context, m manners) (*load, error) {
	orgs, err := s.organizations(ctx, m.orgs)
	if err != nil {
		return nil, err
	}
	return &load{
		s: s, manners: m, calls: calls{m.senders}, orgs: orgs, ledger: ledger{entries: map[place]*entry{}},
		reached: make([]atomic.Int32, m.orgs*m.senders), begun: make([]int, m.orgs*m.senders), wrong: map[string]int{}, cancel: func() {},
	}, nil
}

// begin sets all senders to work.
func (l *load) begin(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	for org := range l.orgs {
		for n := range l.manners.senders {
			s := &sender{load: l, org: org, number: n, index: org*l.manners.senders + n}
			s.rand = rand.New(rand.NewPCG(l.s.Seed, uint64(s.index)))
			l.done.Go(func() {
				if err := s.run(ctx); err != nil && ctx.Err() == nil {
					l.complain(fmt.Sprintf("sender %d: %v", s.index, err))
					l.cancel()
				}
			})
		}
	}
}

// ahead is how many batches a sender may be before the last one of its organization: a
// request and its reply come at about the same time, now one first and now the other.
const ahead = 2

// goOn waits until it is a sender's turn to send its next batch, and tells whether it has
// one.
func (l *load) goOn(ctx context.Context, s *sender, batch int) (bool, error) {
	for {
		begins, over := l.turn(s, batch)
		if begins || over {
			return !over, nil
		}
		if err := rig.Sleep(ctx, 5*time.Millisecond); err != nil {
			return false, err
		}
	}
}

// turn tells whether a sender begins a batch, and whether it has sent all.
func (l *load) turn(s *sender, batch int) (begins, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last > 0 && batch >= l.last {
		return false, true
	}
	others := l.begun[s.org*l.manners.senders:][:l.manners.senders]
	if batch > slices.Min(others)+ahead {
		return false, false
	}
	l.begun[s.index] = batch + 1
	return true, false
}

// finish lets every sender send as many batches as the furthest has begun, so that no
// request is without its reply.
func (l *load) finish() error {
	l.mu.Lock()
	l.last = slices.Max(l.begun)
	l.mu.Unlock()
	l.done.Wait()
	l.cancel()
	return l.complaint()
}

// stop ends the load before its time.
func (l *load) stop() {
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
	return errors.Join(errs...)
}

// settle waits until every sender has had a batch acknowledged that it began to send
// after now.
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

// grow waits until so many events are acknowledged, as long as there are more all the
// time.
func (l *load) grow(ctx context.Context, events int) error {
	for seen := l.size(); seen < events; seen = l.size() {
		if err := l.await(ctx, "more events are acknowledged", func() bool { return l.size() > seen }); err != nil {
			return err
		}
	}
	return nil
}

// await waits until something has become true.
func (l *load) await(ctx context.Context, what string, done func() bool) error {
	for limit := time.Now().Add(rig.Patience); !done(); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.s.Server.Exited():
			return fmt.Errorf("waiting until %s: %w", what, l.s.Server.Ended())
		case <-time.After(10 * time.Millisecond):
		}
		if err := l.complaint(); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("waiting until %s, which did not come in %s", what, rig.Patience)
		}
	}
	return nil
}
