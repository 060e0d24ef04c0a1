package provider

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
)

// tills are the allowances of a process, one for each purse.
type tills struct {
	service *Service
	mu      sync.Mutex
	all     map[purse]*till
	closed  bool // no timer is set any more
}

// of is the till of a purse, the same for everybody who pays from it.
func (ts *tills) of(org principal.OrgID, p Purse, now time.Time) *till {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.find(org, p, now)
}

// paid counts what a call has cost. A till that is dropped meanwhile would count it where
// nobody looks.
func (ts *tills) paid(org principal.OrgID, p Purse, now time.Time, nano int64) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.find(org, p, now).paid(nano)
}

// find is called under mu, and so is what must not happen to a till that is dropped.
func (ts *tills) find(org principal.OrgID, p Purse, now time.Time) *till {
	name := purse{org, p.Kind, p.ID, period(p.Kind, now)}
	t := ts.all[name]
	if t == nil {
		t = &till{service: ts.service, purse: name, words: p.Name, holder: uuid.NewString(), one: make(chan struct{}, 1), limit: limitOf(p.CapNanoUSD)}
		ts.all[name] = t
	}
	return t
}

// tell lets the tills know caps that were read just now.
func (ts *tills) tell(org principal.OrgID, of []Purse, now time.Time) {
	for _, p := range of {
		t := ts.of(org, p, now)
		t.mu.Lock()
		t.limit = limitOf(p.CapNanoUSD)
		t.mu.Unlock()
	}
}

func limitOf(nano *uint64) *int64 {
	if nano == nil {
		return nil
	}
	n := int64(min(*nano, 1<<62))
	return &n
}

func (ts *tills) list() []*till {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.Collect(maps.Values(ts.all))
}

func (ts *tills) close() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.closed = true
}

func (ts *tills) isClosed() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.closed
}

// forget drops the tills of an organization that is gone.
func (ts *tills) forget(org principal.OrgID) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	maps.DeleteFunc(ts.all, func(p purse, _ *till) bool { return p.org == org })
}

// drop forgets a till with which there is nothing left to do.
func (ts *tills) drop(t *till) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.all[t.purse] == t && t.idle() {
		delete(ts.all, t.purse)
	}
}

// till is what one process holds of one purse.
type till struct {
	service *Service
	purse   purse
	words   string
	holder  string
	one     chan struct{} // held by whoever speaks with the database

	mu    sync.Mutex
	limit *int64    // the cap, as it was read last; nil sets none
	left  int64     // of the allowance; below zero if the last calls cost more
	used  int64     // what is not written down yet
	until time.Time // the allowance is good before
	timer bool      // one is set that settles
}

// before waits for an allowance that has something left, and refuses if all that the
// cap allows is spent. While the rest is held by other processes it waits for what
// they give back, at most holdFor.
func (t *till) before(ctx context.Context) error {
	if t.open() {
		return nil
	}
	if err := t.lock(ctx); err != nil {
		return err
	}
	defer t.unlock()
	if t.open() {
		return nil // whoever came first has got one
	}
	for {
		l, got, err := t.exchange(ctx, true)
		if err != nil {
			return err
		}
		// Calls that ended meanwhile may have used it up at once; the next caller
		// settles them.
		if got > 0 || t.open() {
			return nil
		}
		if l.spent >= t.cap() {
			return t.reached(l)
		}
		if err := pause(ctx, heldPause, stopOf(ctx)); err != nil {
			return err
		}
	}
}

// heldPause is how soon a process looks again for what others give back.
const heldPause = 200 * time.Millisecond

func (t *till) reached(l ledger) error {
	when := ""
	if monthly(t.purse.kind) {
		when = " this month"
	}
	return &Failure{Code: CodeSpendCap, Stop: true, Message: fmt.Sprintf(
		"The spend cap of %s is reached: US$ %.4f of US$ %.4f are spent%s.", t.words, float64(l.spent)/1e9, float64(t.cap())/1e9, when)}
}

func (t *till) open() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The time of a settlement is kept free, so that nobody spends an allowance
	// that has gone back.
	return t.limit == nil || t.left > 0 && t.service.clock().Before(t.until.Add(-2*settleEvery))
}

func (t *till) cap() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit == nil {
		return 0
	}
	return *t.limit
}

// idle reports whether everything is written down.
func (t *till) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used == 0
}

func (t *till) paid(nano int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used += nano
	t.left -= nano
	t.arm()
}

// arm has the till settled soon. It is called under mu.
func (t *till) arm() {
	if t.timer {
		return
	}
	t.timer = true
	time.AfterFunc(settleEvery, t.tick)
}

// tick settles, and takes a new allowance if there was anything to settle. A till
// that was not used is closed.
func (t *till) tick() {
	if t.service.tills.isClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*settleEvery)
	defer cancel()
	t.mu.Lock()
	t.timer = false
	inUse := t.used > 0
	t.mu.Unlock()
	if err := t.settle(ctx, inUse); err != nil {
		slog.WarnContext(ctx, "spending is not written down yet", "org_id", t.purse.org, "kind", t.purse.kind, "error", err)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.arm()
		return
	}
	if !inUse {
		t.service.tills.drop(t)
	}
}

// settle writes down what was spent, and takes a new allowance or gives the old one
// back.
func (t *till) settle(ctx context.Context, again bool) error {
	if err := t.lock(ctx); err != nil {
		return err
	}
	defer t.unlock()
	_, _, err := t.exchange(ctx, again)
	return err
}

// exchange tells the database what was spent, and takes an allowance if there is a
// cap. The caller holds the lock of the till.
func (t *till) exchange(ctx context.Context, take bool) (l ledger, got int64, err error) {
	limit, err := t.newestCap(ctx)
	if err != nil {
		return l, 0, err
	}
	take = take && limit != nil
	t.mu.Lock()
	used, holds := t.used, !t.until.IsZero()
	t.limit = limit
	t.mu.Unlock()
	if used == 0 && !holds && !take {
		return l, 0, nil
	}
	now := t.service.clock()
	l, err = t.service.store.changeSpend(ctx, t.purse, func(l *ledger) {
		l.settle(now, t.holder, used)
		if got = 0; take {
			got = l.take(now, t.holder, *limit)
		}
	})
	if err != nil {
		return l, 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used -= used
	t.left, t.until = got-t.used, time.Time{} // what was paid meanwhile is part of the new one
	if got > 0 {
		t.until = now.Add(holdFor)
	}
	if got > 0 || t.used > 0 {
		t.arm()
	}
	return l, got, nil
}

// newestCap reads the cap of an organization or a key anew, so that a change of it
// is heeded by every process within seconds. Any other cap is its caller's.
func (t *till) newestCap(ctx context.Context) (*int64, error) {
	switch t.purse.kind {
	case purseOrganization:
		o, err := t.service.tenancy.Organization(ctx, t.purse.org)
		return limitOf(organizationPurse(o.Settings.ModelSpendCapUSD).CapNanoUSD), err
	case purseKey:
		id, err := strconv.ParseInt(t.purse.id, 10, 64)
		if err != nil {
			return nil, err
		}
		nano, err := t.service.store.keyCap(ctx, t.purse.org, id)
		return limitOf(nano), err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limit, nil
}

func (t *till) lock(ctx context.Context) error {
	select {
	case t.one <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *till) unlock() { <-t.one }
