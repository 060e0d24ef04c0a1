package otlp

import (
	"context"
	"sync"

	"github.com/assayhq/assay/internal/core/principal"
)

// The library reads a message of an RPC whole before anyone learns its length,
// so it cannot be paid for first. Instead few are read at once: mostReceives in
// the process, and for an organization as many as it leaves free, so that those
// which send slowly leave room for the others. Those that have to wait are held back
// by the flow control of their connections.
const mostReceives = 32

// receives counts the messages that are being read.
type receives struct {
	mu    sync.Mutex
	all   int
	orgs  map[principal.OrgID]int
	ended chan struct{} // closed when one has been read
}

// enter waits until another message of the organization may be read. It must
// leave if it returns nil.
func (r *receives) enter(ctx context.Context, org principal.OrgID) error {
	for {
		ended, ok := r.try(org)
		if ok {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *receives) try(org principal.OrgID) (ended <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held, free := r.orgs[org], mostReceives-r.all
	if free == 0 || held > 0 && held+1 > free-1 {
		return r.ended, false
	}
	if r.orgs == nil {
		r.orgs, r.ended = map[principal.OrgID]int{}, make(chan struct{})
	}
	r.all++
	r.orgs[org]++
	return nil, true
}

func (r *receives) leave(org principal.OrgID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.orgs[org]--; r.orgs[org] == 0 {
		delete(r.orgs, org)
	}
	close(r.ended)
	r.ended = make(chan struct{})
}
