package deferred

import (
	"sync"
	"time"
)

// A block that is refused MaxRefusals times, for RefusedFor at least, goes to
// quarantine, where it is tried every ReviewEvery.
const (
	MaxRefusals = 3
	RefusedFor  = 10 * time.Minute
	ReviewEvery = time.Hour
)

// Refusals remember which blocks ClickHouse refuses although it takes others.
type Refusals struct {
	mu       sync.Mutex
	of       map[string]refusal
	taken    time.Time // when ClickHouse last took a block
	reviewed time.Time
}

type refusal struct {
	since time.Time
	times int
}

// mostRefusals bounds the memory of blocks that other processes have stored.
const mostRefusals = 10_000

// Add notes a refusal and reports whether the block is to go to quarantine.
func (r *Refusals) Add(key string, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || len(r.of) >= mostRefusals {
		r.of = map[string]refusal{}
	}
	one, known := r.of[key]
	if !known {
		one.since = at
	}
	one.times++
	r.of[key] = one
	return one.times >= MaxRefusals && at.Sub(one.since) >= RefusedFor && r.taken.After(one.since)
}

// Stored notes that ClickHouse took a block.
func (r *Refusals) Stored(key string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, key)
	r.taken = at
}

// Forget drops what is known of a block.
func (r *Refusals) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, key)
}

// Due reports whether a review is due, and begins one.
func (r *Refusals) Due(at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reviewed.IsZero() && at.Sub(r.reviewed) < ReviewEvery {
		return false
	}
	r.reviewed = at
	return true
}
