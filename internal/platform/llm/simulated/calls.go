package simulated

import (
	"cmp"
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Calls is what a provider was asked.
type Calls struct {
	Total       int64            `json:"total"`
	Paid        int64            `json:"paid"` // calls that a real provider charges for: it began to answer
	InFlight    int64            `json:"in_flight"`
	MaxInFlight int64            `json:"max_in_flight"`
	Status      map[string]int64 `json:"status"` // none is under "none": a hang, a lost connection
	Faults      map[Fault]int64  `json:"faults"`

	Prompts         Repeats `json:"prompts"` // the same words to the same model
	IdempotencyKeys Repeats `json:"idempotency_keys"`
	Traces          Repeats `json:"traces"` // the same traceparent
}

// Repeats is how often the same was asked.
type Repeats struct {
	Distinct  int64 `json:"distinct"`
	Repeated  int64 `json:"repeated"`   // of these, asked more than once
	Most      int64 `json:"most"`       // calls of the one asked most often
	MostPaid  int64 `json:"most_paid"`  // paid calls of the one paid most often
	ExtraPaid int64 `json:"extra_paid"` // paid calls beyond one each: money spent twice
	Forgotten int64 `json:"forgotten"`  // calls that came when memory was full; they are in none of these
}

// Tally is one thing that was asked, and how often.
type Tally struct {
	Name  string `json:"name"`
	Calls uint32 `json:"calls"`
	Paid  uint32 `json:"paid"`
}

// book counts calls.
type book struct {
	total, paid   atomic.Uint64
	inFlight, top atomic.Int64
	status        [600]atomic.Int64
	faults        map[Fault]*atomic.Int64

	prompts, keys, traces *ledger
}

func newBook(remember int) *book {
	if remember == 0 {
		remember = DefaultRemember
	}
	b := &book{faults: map[Fault]*atomic.Int64{}}
	for f := range misbehaviours {
		b.faults[f] = new(atomic.Int64)
	}
	b.prompts, b.keys, b.traces = newLedger(remember), newLedger(remember), newLedger(remember)
	return b
}

// enter counts a call in flight and returns the function that ends it.
func (b *book) enter() func() {
	b.total.Add(1)
	n := b.inFlight.Add(1)
	for top := b.top.Load(); n > top && !b.top.CompareAndSwap(top, n); top = b.top.Load() {
	}
	return func() { b.inFlight.Add(-1) }
}

// attempt counts a call of a prompt and says which it is, from 1.
func (b *book) attempt(p *prompt) uint32 { return b.prompts.add(p.name(), 1, 0) }

// end records how a call went. A status of 0 is no answer.
func (b *book) end(p *prompt, h http.Header, status int, f Fault, paid bool) {
	b.status[status].Add(1)
	if f != "" {
		b.faults[f].Add(1)
	}
	var n uint32
	if paid {
		n = 1
		b.paid.Add(1)
		b.prompts.add(p.name(), 0, 1)
	}
	if key := h.Get("Idempotency-Key"); key != "" {
		b.keys.add(key, 1, n)
	}
	if parent := h.Get("Traceparent"); parent != "" {
		b.traces.add(parent, 1, n)
	}
}

func (b *book) count() Calls {
	c := Calls{
		Total: int64(b.total.Load()), Paid: int64(b.paid.Load()), InFlight: b.inFlight.Load(), MaxInFlight: b.top.Load(),
		Status: map[string]int64{}, Faults: map[Fault]int64{},
		Prompts: b.prompts.repeats(), IdempotencyKeys: b.keys.repeats(), Traces: b.traces.repeats(),
	}
	for status := range b.status {
		if n := b.status[status].Load(); n > 0 && status > 0 {
			c.Status[strconv.Itoa(status)] = n
		} else if n > 0 {
			c.Status["none"] = n
		}
	}
	for f, counter := range b.faults {
		if n := counter.Load(); n > 0 {
			c.Faults[f] = n
		}
	}
	return c
}

func (b *book) forget() {
	b.total.Store(0)
	b.paid.Store(0)
	b.top.Store(b.inFlight.Load())
	for i := range b.status {
		b.status[i].Store(0)
	}
	for _, counter := range b.faults {
		counter.Store(0)
	}
	for _, l := range []*ledger{b.prompts, b.keys, b.traces} {
		l.forget()
	}
}

// ledger counts calls by a name. It is in shards so that calls of many names
// do not wait for each other.
type ledger struct {
	limit     int
	size      atomic.Int64
	forgotten atomic.Int64
	seed      maphash.Seed // of the shards; no answer depends on it
	shards    [64]struct {
		sync.Mutex
		names map[string]tally
	}
}

type tally struct{ calls, paid uint32 }

func newLedger(limit int) *ledger { return &ledger{limit: limit, seed: maphash.MakeSeed()} }

// add counts for a name and returns how many calls it has now; one that does
// not fit has one.
func (l *ledger) add(name string, calls, paid uint32) uint32 {
	if l.limit < 0 {
		return 1
	}
	s := &l.shards[maphash.String(l.seed, name)%uint64(len(l.shards))]
	s.Lock()
	defer s.Unlock()
	t, known := s.names[name]
	if !known {
		if l.size.Add(1) > int64(l.limit) {
			l.size.Add(-1)
			l.forgotten.Add(int64(calls))
			return 1
		}
		if s.names == nil {
			s.names = map[string]tally{}
		}
	}
	t.calls += calls
	t.paid += paid
	s.names[name] = t
	return t.calls
}

func (l *ledger) each(do func(name string, t tally)) {
	for i := range l.shards {
		s := &l.shards[i]
		s.Lock()
		for name, t := range s.names {
			do(name, t)
		}
		s.Unlock()
	}
}

func (l *ledger) repeats() Repeats {
	r := Repeats{Forgotten: l.forgotten.Load()}
	l.each(func(_ string, t tally) {
		r.Distinct++
		if t.calls > 1 {
			r.Repeated++
		}
		r.Most, r.MostPaid = max(r.Most, int64(t.calls)), max(r.MostPaid, int64(t.paid))
		r.ExtraPaid += max(0, int64(t.paid)-1)
	})
	return r
}

// list returns the names with at least so many calls, most calls first.
func (l *ledger) list(least uint32, limit int) []Tally {
	out := []Tally{}
	l.each(func(name string, t tally) {
		if t.calls >= least {
			out = append(out, Tally{name, t.calls, t.paid})
		}
	})
	slices.SortFunc(out, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.Paid, a.Paid), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(limit, len(out))]
}

func (l *ledger) forget() {
	for i := range l.shards {
		s := &l.shards[i]
		s.Lock()
		l.size.Add(-int64(len(s.names)))
		s.names = nil
		s.Unlock()
	}
	l.forgotten.Store(0)
}
