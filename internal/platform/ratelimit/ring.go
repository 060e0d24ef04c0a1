package ratelimit

import (
	"sort"
	"sync/atomic"
)

const (
	entryBytes = 16
	firstRoom  = 8 // entries that every key has; they are outside of the budget
)

// entry says that, at the given time, the units ever admitted came to sum.
// Since sums are running totals, an entry can be left out of a log: its units
// then count as if they came with the next entry, which is later.
type entry struct{ at, sum int64 }

// ring is the log of one key: its entries in a window, oldest first, times
// strictly rising. Whoever holds the lock of its shard may use it.
type ring struct {
	buf     []entry
	head, n int
	base    int64 // the sum before the oldest entry
}

func (r *ring) get(i int) *entry {
	i += r.head
	if i >= len(r.buf) {
		i -= len(r.buf)
	}
	return &r.buf[i]
}

func (r *ring) total() int64 {
	if r.n == 0 {
		return r.base
	}
	return r.get(r.n - 1).sum
}

// take decides one request at now, which never falls between calls, and counts
// it if it is admitted.
func (r *ring) take(now int64, s span, limit, cost int64, b *budget) outcome {
	o := r.weigh(now, s, limit, cost, b)
	if o.allowed {
		r.count(&o, s, limit, cost, b)
	}
	return o
}

// count counts a request that was weighed.
func (r *ring) count(o *outcome, s span, limit, cost int64, b *budget) {
	if cost == 0 {
		return
	}
	o.used += cost
	r.add(s.stamp(o.at, limit), cost, s.entries(limit), b)
	o.reset = r.get(0).at + s.length - o.at
}

// weigh decides one request and counts nothing.
func (r *ring) weigh(now int64, s span, limit, cost int64, b *budget) outcome {
	r.expire(now-s.length, b)
	used := r.total() - r.base
	o := outcome{allowed: cost <= limit-used, used: used, at: now}
	if r.n > 0 {
		o.reset = r.get(0).at + s.length - now
	}
	switch {
	case o.allowed:
	case cost > limit:
		o.retry = s.length
	default:
		// The request fits when the units up to this sum have left.
		gone := r.base + used + cost - limit
		i := sort.Search(r.n, func(i int) bool { return r.get(i).sum >= gone })
		o.retry = r.get(i).at + s.length - now
	}
	return o
}

// expire drops the entries up to and including the time.
func (r *ring) expire(until int64, b *budget) {
	for r.n > 0 && r.get(0).at <= until {
		r.base = r.get(0).sum
		r.n--
		if r.head++; r.head == len(r.buf) {
			r.head = 0
		}
	}
	if r.n == 0 {
		r.base, r.head = 0, 0
	}
	if len(r.buf) > 8*firstRoom && r.n < len(r.buf)/8 {
		r.resize(len(r.buf)/4, b)
	}
}

// add records units. A stamp before the newest entry is one that was kept by
// its step before the limit fell; the newest entry takes the units.
func (r *ring) add(stamp, cost int64, most int, b *budget) {
	sum := r.total() + cost
	if r.n > 0 {
		if last := r.get(r.n - 1); stamp <= last.at {
			last.sum = sum
			return
		}
	}
	if r.n == len(r.buf) {
		r.grow(most, b)
	}
	r.n++
	*r.get(r.n - 1) = entry{stamp, sum}
}

// grow makes room for one entry: more memory, or if the budget is spent, half
// of the entries.
func (r *ring) grow(most int, b *budget) {
	room := max(2*len(r.buf), firstRoom)
	if most > r.n {
		room = min(room, max(most, firstRoom))
	}
	if r.resize(room, b) {
		return
	}
	kept := 0
	for i := (r.n - 1) % 2; i < r.n; i += 2 {
		*r.get(kept) = *r.get(i)
		kept++
	}
	r.n = kept
}

// resize moves the log to a buffer of the given room, or reports that the
// budget does not allow it.
func (r *ring) resize(room int, b *budget) bool {
	if !b.spend(max(0, room-firstRoom) - max(0, len(r.buf)-firstRoom)) {
		return false
	}
	buf := make([]entry, room)
	for i := range r.n {
		buf[i] = *r.get(i)
	}
	r.buf, r.head = buf, 0
	return true
}

// budget is how many more entries all logs together may have.
type budget struct{ left atomic.Int64 }

// spend takes entries from the budget, or gives them back if n is negative.
func (b *budget) spend(n int) bool {
	if b.left.Add(int64(-n)) >= 0 || n <= 0 {
		return true
	}
	b.left.Add(int64(n))
	return false
}
