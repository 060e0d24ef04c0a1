// Package admission bounds what the tenants of a process use of it at one time:
// bytes and processor time. Every request and every activity has an account of
// its organization, and draws from it before it decodes, matches, renders,
// scores or sorts. An organization that asks for much leaves room for the
// others; one that asks for little is not kept waiting by it.
package admission

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// What a caller sees whose request does not fit.
var (
	ErrShare = fault.New(fault.RateLimited, "organization_busy", "This organization has as much work in progress as its share of this process allows. Send the request again in a moment.").
			With("retryAfterSeconds", 1)
	ErrFull = fault.New(fault.Unavailable, "process_busy", "This process has as much work in progress as it can take. Send the request again in a moment.").
		With("retryAfterSeconds", 1)
)

// Config says how much a process takes on.
type Config struct {
	Bytes      int `setting:"bytes" default:"268435456" help:"Maximum bytes of requests and of run items in progress per process. A byte can take six in memory. Above it, requests get 429 or 503 with Retry-After."`
	Processors int `setting:"processors" default:"0" help:"Maximum number of processor-heavy tasks in progress per process, such as scoring or decoding a large body. 0 uses all processors but one."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	switch {
	case c.Bytes < smallestBudget:
		return fmt.Errorf("bytes is %d: give %d or more, twice the largest request", c.Bytes, smallestBudget)
	case c.Processors < 0:
		return fmt.Errorf("processors is %d: give a positive number, or 0 for all processors but one", c.Processors)
	}
	return nil
}

// smallestBudget is twice the largest body, so that one organization can send
// it.
const smallestBudget = 64 << 20

// Budget is what one process has to give.
type Budget struct {
	limit int
	turns *Turns // fewer than processors, so that what is quick needs none

	mu         sync.Mutex
	total      int
	orgs       map[principal.OrgID]int
	freed      chan struct{} // closed when bytes are given back; nil if nobody waits
	collecting bool
}

// New makes the budget of a process.
func New(cfg Config) *Budget {
	slots := cfg.Processors
	if slots == 0 {
		slots = max(1, runtime.GOMAXPROCS(0)-1)
	}
	return &Budget{limit: cfg.Bytes, orgs: map[principal.OrgID]int{}, turns: newTurns(slots)}
}

// take asks for room for n more bytes. An organization may have as much as it
// leaves free: alone it has half of the budget, with one other like it a third.
// So there is always room for one that has nothing yet.
func (b *Budget) take(org principal.OrgID, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	used := b.orgs[org]
	if used+n > b.limit-b.total-n {
		b.collect()
		if used == 0 {
			refused(full)
			return ErrFull
		}
		refused(share)
		return ErrShare
	}
	b.total += n
	b.orgs[org] = used + n
	return nil
}

// give returns room.
func (b *Budget) give(org principal.OrgID, n int) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total -= n
	if b.orgs[org] -= n; b.orgs[org] <= 0 {
		delete(b.orgs, org)
	}
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// wait asks for room until there is some, or patience ends.
func (b *Budget) wait(ctx context.Context, org principal.OrgID, n int, patience time.Duration) error {
	if n > b.limit/2 {
		return ErrShare // however long it waits
	}
	if b.take(org, n) == nil { // mostly there is room, and nothing to wait with is made
		return nil
	}
	late, stop := alarm(patience)
	defer stop()
	for {
		b.mu.Lock()
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		freed := b.freed
		b.mu.Unlock()
		err := b.take(org, n)
		if err == nil {
			return nil
		}
		select {
		case <-freed:
		case <-late:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// collect frees memory that is not used any more, once a second while requests
// are refused. The garbage collector by itself lets memory double first.
func (b *Budget) collect() {
	if b.collecting {
		return
	}
	b.collecting = true
	go func() {
		runtime.GC()
		time.Sleep(time.Second)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.collecting = false
	}()
}
