package provider

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

// How many calls a process makes at once with one key.
const (
	startWidth = 32
	maxWidth   = 512 // the most that one run may ask for
	// maxWidths is how many keys are remembered while they are not in use.
	maxWidths = 10_000
)

// widths are those of all keys that the process asks with.
type widths struct {
	clock func() time.Time
	mu    sync.Mutex
	all   map[keyOf]*width
}

// keyOf names a provider key.
type keyOf struct {
	org principal.OrgID
	id  int64
}

// of is the width of a key, the same for everybody who asks with it.
func (w *widths) of(k keyOf) *width {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.all[k]; one != nil {
		return one
	}
	if len(w.all) >= maxWidths {
		for name, one := range w.all {
			if one.idle() {
				delete(w.all, name)
			}
		}
	}
	one := newWidth(w.clock)
	w.all[k] = one
	return one
}

// width decides how many calls are made at once with one key, by what the provider
// says to them. It doubles with each round of calls until the provider is
// overloaded for the first time; from then on each round that goes well adds one,
// and an overload takes half. While the provider asks for time, nobody calls.
//
// Callers that wait take turns, so that a run of a million items does not keep a
// single question waiting for its end. How often a question is repeated is the
// business of Pace.
type width struct {
	clock func() time.Time

	mu     sync.Mutex
	limit  float64
	eager  bool // no overload so far
	busy   int
	until  time.Time // no call begins before
	round  int       // counts overloads: a call that began before one says nothing new
	lines  []*line   // callers with somebody waiting; the first is next
	waking bool      // a timer is set for until
}

// line is those who wait for one caller.
type line struct {
	caller  any
	waiting []*waiter
}

type waiter struct{ ready chan struct{} }

func newWidth(clock func() time.Time) *width {
	return &width{clock: clock, limit: startWidth, eager: true}
}

// verdict is what a call says about the provider.
type verdict int

const (
	served     verdict = iota // it answered
	overloaded                // it wants fewer calls
	unclear                   // it failed for another reason, or the caller left
)

// enter waits for the turn of a caller, until ctx ends or stop is closed. The call
// it returns must be left.
func (w *width) enter(ctx context.Context, caller any, stop <-chan struct{}) (round int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	w.mu.Lock()
	if len(w.lines) == 0 && w.free() {
		w.busy++
		defer w.mu.Unlock()
		return w.round, nil
	}
	one := &waiter{make(chan struct{})}
	w.queue(caller, one)
	w.wake()
	w.mu.Unlock()
	select {
	case <-one.ready:
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.round, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-stop:
		err = ErrStopped
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.unqueue(caller, one) { // its turn came at the same moment
		w.busy--
		w.admit()
	}
	return 0, err
}

// leave ends a call. Wait is what the provider asks for.
func (w *width) leave(round int, v verdict, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	crowded := w.busy >= int(w.limit)
	w.busy--
	switch {
	case v == served && crowded && round == w.round:
		step := 1 / w.limit
		if w.eager {
			step = 1
		}
		w.limit = min(w.limit+step, maxWidth)
	case v == overloaded && round == w.round:
		w.limit, w.eager = max(1, w.limit/2), false
		w.round++
	}
	if v == overloaded && wait > 0 {
		if until := w.clock().Add(min(wait, maxAsked)); until.After(w.until) {
			w.until = until
		}
	}
	w.admit()
}

func (w *width) free() bool { return w.busy < int(w.limit) && !w.clock().Before(w.until) }

// admit gives turns while there are any.
func (w *width) admit() {
	for len(w.lines) > 0 && w.free() {
		l := w.lines[0]
		w.busy++
		close(l.waiting[0].ready)
		l.waiting = l.waiting[1:]
		w.lines = w.lines[1:]
		if len(l.waiting) > 0 {
			w.lines = append(w.lines, l)
		}
	}
	w.wake()
}

// wake sets a timer if those who wait would otherwise never get a turn: calls that
// end admit others, but while the provider asks for time there may be none.
func (w *width) wake() {
	pause := w.until.Sub(w.clock())
	if w.waking || len(w.lines) == 0 || pause <= 0 {
		return
	}
	w.waking = true
	time.AfterFunc(pause, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waking = false
		w.admit()
	})
}

func (w *width) queue(caller any, one *waiter) {
	for _, l := range w.lines {
		if l.caller == caller {
			l.waiting = append(l.waiting, one)
			return
		}
	}
	w.lines = append(w.lines, &line{caller, []*waiter{one}})
}

// unqueue reports whether somebody was still waiting.
func (w *width) unqueue(caller any, one *waiter) bool {
	for i, l := range w.lines {
		if at := slices.Index(l.waiting, one); l.caller == caller && at >= 0 {
			if l.waiting = slices.Delete(l.waiting, at, at+1); len(l.waiting) == 0 {
				w.lines = slices.Delete(w.lines, i, i+1)
			}
			return true
		}
	}
	return false
}

func (w *width) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy == 0 && len(w.lines) == 0 && !w.clock().Before(w.until)
}

// stopped carries the stop of a Pace to whoever waits for a turn below it.
type stopped struct{}

func withStop(ctx context.Context, stop <-chan struct{}) context.Context {
	return context.WithValue(ctx, stopped{}, stop)
}

func stopOf(ctx context.Context) <-chan struct{} {
	stop, _ := ctx.Value(stopped{}).(<-chan struct{})
	return stop
}
