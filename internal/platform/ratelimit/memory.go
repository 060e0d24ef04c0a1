package ratelimit

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

// shards is how many locks there are: enough that all cores of a large machine
// rarely meet.
const shards = 64

// Memory counts in this process.
//
// A log takes 16 bytes an admitted request, up to 160 kB a key for an exact
// limit and 58 kB for a higher one. A key that is idle for a window is
// forgotten, which changes no answer.
//
// All of it is bounded by about 115 MB: 64 MiB for logs (MaxEntries) and at
// most 131,072 keys (MaxKeys) of about 350 bytes. If the logs reach their bound,
// a full one drops every second entry in place of growing: it still never
// admits too much, but counts a dropped request until the next one leaves. If
// there are more keys, the one that was idle longest is forgotten; the promise
// holds for the MaxKeys latest.
type Memory struct {
	span   span
	clock  func() time.Time
	start  time.Time
	epoch  int64 // start, in nanoseconds since 1970, so that steps begin where Redis's do
	most   int   // keys in one shard
	seed   maphash.Seed
	budget budget
	shards [shards]shard
}

// shard is a part of the keys. The used ones form a ring around lru: lru.next
// was used last.
type shard struct {
	mu     sync.Mutex
	number int
	keys   map[string]*node
	lru    node
	last   int64
	_      [64]byte // neighbours do not share a cache line
}

type node struct {
	ring       ring
	key        string
	used       int64
	next, prev *node
}

// NewMemory returns a limiter for windows of the given length.
func NewMemory(window time.Duration, o Options) *Memory {
	o = o.filled()
	m := &Memory{
		span: newSpan(window), clock: o.Clock, start: o.Clock(),
		most: max(1, o.MaxKeys/shards), seed: maphash.MakeSeed(),
	}
	m.epoch = m.start.UnixNano()
	m.budget.left.Store(int64(o.MaxEntries))
	for i := range m.shards {
		s := &m.shards[i]
		s.number, s.keys = i, map[string]*node{}
		s.lru.next, s.lru.prev = &s.lru, &s.lru
	}
	return m
}

// Take implements Limiter. It neither waits nor fails, except for ErrCost.
func (m *Memory) Take(_ context.Context, key string, limit, cost int) (Decision, error) {
	o, err := m.take(key, limit, cost)
	return o.decision(limit), err
}

func (m *Memory) take(key string, limit, cost int) (outcome, error) {
	if cost < 0 {
		return outcome{}, ErrCost
	}
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	n := m.find(s, key)
	return n.ring.take(s.last, m.span, bounded(limit), int64(cost), &m.budget), nil
}

// TakeAll implements Limiter.
func (m *Memory) TakeAll(_ context.Context, wants ...Want) ([]Decision, error) {
	held := make([]*shard, 0, len(wants))
	for _, w := range wants {
		if w.Cost < 0 {
			return nil, ErrCost
		}
		held = append(held, m.shard(w.Key))
	}
	// Always in the same order, so that no two wait for each other.
	slices.SortFunc(held, func(a, b *shard) int { return cmp.Compare(a.number, b.number) })
	for _, s := range slices.Compact(held) {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	rings, outcomes, allowed := make([]*ring, len(wants)), make([]outcome, len(wants)), true
	for i, w := range wants {
		s := m.shard(w.Key)
		rings[i] = &m.find(s, w.Key).ring
		outcomes[i] = rings[i].weigh(s.last, m.span, bounded(w.Limit), int64(w.Cost), &m.budget)
		allowed = allowed && outcomes[i].allowed
	}
	out := make([]Decision, len(wants))
	for i, w := range wants {
		if allowed {
			rings[i].count(&outcomes[i], m.span, bounded(w.Limit), int64(w.Cost), &m.budget)
		}
		out[i] = outcomes[i].decision(w.Limit)
	}
	return out, nil
}

func (m *Memory) shard(key string) *shard { return &m.shards[maphash.String(m.seed, key)%shards] }

func bounded(limit int) int64 { return min(max(int64(limit), 0), MaxLimit) }

// find returns the key's node and forgets idle ones: two at most, so that no
// request pays for many, and more go than come.
func (m *Memory) find(s *shard, key string) *node {
	// The difference of two readings of time.Now is free of steps of the wall
	// clock. A clock that does step back stands still until it has caught up:
	// what has left a window is not known any more.
	s.last = max(s.last, m.epoch+int64(m.clock().Sub(m.start)))
	n, ok := s.keys[key]
	if !ok {
		n = &node{key: key}
		s.keys[key] = n
	} else {
		n.next.prev, n.prev.next = n.prev, n.next
	}
	n.used = s.last
	n.next, n.prev = s.lru.next, &s.lru
	n.next.prev, s.lru.next = n, n
	for range 2 {
		old := s.lru.prev
		idle := s.last-old.used >= m.span.length+m.span.step
		if old == n || !idle && len(s.keys) <= m.most {
			break
		}
		old.prev.next, old.next.prev = &s.lru, old.prev
		delete(s.keys, old.key)
		m.budget.spend(-max(0, len(old.ring.buf)-firstRoom))
	}
	return n
}
