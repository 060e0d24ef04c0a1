package trace

import (
	"runtime"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
)

// What a sender sees while a process holds as much telemetry as it may.
var (
	ErrShare = fault.New(fault.RateLimited, "telemetry_share", "This organization has as much telemetry under way as its share of this process allows. Send it again in a moment.").
			With("retryAfterSeconds", 1)
	ErrFull = fault.New(fault.Unavailable, "telemetry_full", "This process holds as much telemetry as it may. Send it again in a moment.").
		With("retryAfterSeconds", 1)
)

// inflight bounds the bytes of telemetry that a process holds between reading
// a request and answering it. An organization has at most half of them, so
// that one that floods leaves room for the others.
//
// A byte takes up to six in memory: itself, its copy in the columns of a block,
// the form in which a block is deferred, and what the garbage collector has not
// found yet of those that were before it.
type inflight struct {
	limit, share int

	mu         sync.Mutex
	total      int
	orgs       map[principal.OrgID]int
	collecting bool
}

func newInflight(limit int) *inflight {
	return &inflight{limit: limit, share: limit / 2, orgs: map[principal.OrgID]int{}}
}

// take asks for room for n more bytes.
func (f *inflight) take(org principal.OrgID, n int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.total+n > f.limit:
		f.collect()
		return ErrFull
	case f.orgs[org]+n > f.share:
		f.collect()
		return ErrShare
	}
	f.total += n
	f.orgs[org] += n
	return nil
}

// collect frees what is not used any more, once a second while requests are
// refused. The garbage collector by itself lets memory double first, and what
// telemetry takes it is quick to look through.
func (f *inflight) collect() {
	if f.collecting {
		return
	}
	f.collecting = true
	go func() {
		runtime.GC()
		time.Sleep(time.Second)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.collecting = false
	}()
}

// give returns room.
func (f *inflight) give(org principal.OrgID, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total -= n
	if f.orgs[org] -= n; f.orgs[org] <= 0 {
		delete(f.orgs, org)
	}
}
