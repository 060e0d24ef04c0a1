package client

import (
	"cmp"
	"context"
	"slices"
	"time"
)

const (
	// interval is how often a tail asks while its key has requests to spare.
	interval = time.Second
	// window is how long after its start a trace may first be seen and still be
	// shown: it covers long traces, late exporters and applications whose clock
	// is behind. The server, too, waits half an hour before a silent trace reads
	// as closed. The minute is for the sweep itself.
	window = 31 * time.Minute
	// A look reads the newest traces; a sweep reads the whole window, and with
	// it what arrived late. Long sweeps are further apart.
	lookPage, sweepPage = 100, 1000
	sweepEvery          = 10 * time.Second
	sweepPause          = 5 * time.Second // per page of the last sweep
	// maxPages bounds a sweep; what lies below its last page is not looked at.
	maxPages = 30
	// maxSeen bounds the memory: about a hundred bytes each.
	maxSeen = 500_000
	// maxBackoff is the longest that a tail waits for a server that is away.
	maxBackoff = 30 * time.Second
	// lookups is how many running traces that left the window are looked up
	// after a sweep.
	lookups = 5
	// skewNoise is what a Date header of whole seconds may differ by when both
	// clocks are right.
	skewNoise = 2 * time.Second
)

// Tail follows the traces of an organization as they arrive.
//
// A trace that is running when it is first seen is shown then, and again when
// it has ended; any other trace is shown once. No trace is left out that can be
// read, and matches the filter, within half an hour of its start, whatever the
// clocks of this machine and of the applications say, and however long the
// server was away; only a sweep of more than 30 pages, or 30,000 traces, is
// cut, and that is said.
type Tail struct {
	Client *Client
	// Filter narrows what is shown. Its times and its paging are the tail's.
	Filter Query
	// Since shows also the traces that began so long before the tail.
	Since time.Duration
	Now   func() time.Time
	// Show gets every trace to be shown; an error of it ends the tail.
	Show func(Trace) error
	// Say gets what happens beside: a server that is away, a limit that is near.
	Say func(string)
}

// Run follows until ctx ends, which is no error. It ends with an error if the
// server refuses for good: the key is wrong, or the filter.
func (t Tail) Run(ctx context.Context) error {
	f := &follower{Tail: t, began: t.Now(), seen: map[string]*seen{}}
	for {
		wait, err := f.round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// follower is a tail under way. Its times are on the server's clock.
type follower struct {
	Tail
	skew   time.Duration // the server's clock less ours
	met    bool          // the server has answered once
	primed bool          // what was there before the tail is known
	began  time.Time
	swept  time.Time // when the last sweep that reached its end began
	due    time.Time // when the next sweep is due
	// lookupDue is when running traces that left the window are due.
	lookupDue time.Time
	seen      map[string]*seen

	asked   int // requests of this round
	quota   Quota
	slowed  time.Duration // the last pace that was said
	away    string        // why the server is away; empty if it is not
	backoff time.Duration
	cut     bool // it was said that sweeps are cut
	// deferred is since when telemetry waits, as far as it was said.
	deferred time.Time
}

// seen is a trace that was met before.
type seen struct {
	start time.Time
	met   time.Time // when it was last in an answer
	ended bool
}

// round asks once and returns how long to wait before the next time.
func (f *follower) round(ctx context.Context) (time.Duration, error) {
	f.asked = 0
	if err := f.look(ctx); ctx.Err() != nil {
		return 0, nil
	} else if err != nil {
		return f.wait(err)
	}
	if f.away != "" {
		f.Say(f.Client.base + " is reachable again.")
	}
	f.away, f.backoff = "", 0
	return f.pace(), nil
}

func (f *follower) now() time.Time { return f.Now().Add(f.skew) }

// ask makes one request and listens to what the answer says beside.
func (f *follower) ask(ctx context.Context, q Query) (Page, error) {
	sent := f.now()
	page, a, err := f.Client.Traces(ctx, q)
	f.asked++
	if !a.At.IsZero() {
		f.hear(a.At, sent, f.now())
	}
	if err == nil {
		f.met, f.quota = true, a.Quota
		f.sayDeferred(page.DeferredSince)
	}
	return page, err
}

// hear sets our clock after the server's, which wrote at between two moments
// of ours if both clocks are right.
func (f *follower) hear(at, sent, received time.Time) {
	var ahead time.Duration
	switch {
	case at.Before(sent.Add(-skewNoise)):
		ahead = at.Sub(sent)
	case at.After(received.Add(skewNoise)):
		ahead = at.Sub(received)
	}
	f.skew += ahead
	if !f.met {
		f.began = f.began.Add(ahead)
	}
}

// look reads the newest traces, or the whole window if that is due, and shows
// what is new. What was read before an error is shown all the same.
func (f *follower) look(ctx context.Context) error {
	if !f.met { // ask for nothing, to learn the server's clock
		q := f.Filter
		q.StartAfter, q.Limit = f.now(), 1
		if _, err := f.ask(ctx, q); err != nil {
			return err
		}
	}
	news, err := f.read(ctx)
	slices.SortStableFunc(news, func(a, b Trace) int { return a.Moment().Compare(b.Moment()) })
	for _, t := range news {
		if err := f.Show(t); err != nil {
			return &showError{err}
		}
	}
	return err
}

// read returns what is new in the window.
func (f *follower) read(ctx context.Context) (news []Trace, err error) {
	now := f.now()
	sweep := !f.primed || !now.Before(f.due)
	q := f.Filter
	q.StartAfter, q.Limit = f.from(), lookPage
	if sweep {
		q.Limit = sweepPage
	}
	for pages := 1; ; pages++ {
		page, err := f.ask(ctx, q)
		if err != nil {
			return news, err
		}
		if after := f.now(); after.Before(now) {
			now = after // this machine's clock was ahead, and the answer says so
		}
		fresh := 0
		for _, t := range page.Traces {
			isNew, show := f.learn(t, now)
			if isNew {
				fresh++
			}
			if show {
				news = append(news, t)
			}
		}
		switch {
		case page.Next == "":
			f.finish(now, pages)
			if now.Before(f.lookupDue) {
				return news, nil
			}
			f.lookupDue = now.Add(sweepEvery)
			more, err := f.lookup(ctx, now)
			return append(news, more...), err
		case pages == maxPages:
			f.finish(now, pages)
			f.sayCut()
			return news, nil
		case !sweep && fresh == 0:
			return news, nil // what lies below is for the next sweep
		}
		q.Cursor, q.Limit = page.Next, sweepPage
	}
}

// from is where the window begins. It moves with the sweeps and not with the
// clock, so that nothing is lost while the server or this machine is away.
func (f *follower) from() time.Time {
	if !f.primed {
		return f.began.Add(-max(window, f.Since))
	}
	return f.swept.Add(-window)
}

// learn remembers a trace, and reports whether something about it is new and
// whether to show it. What was there before the tail is not shown.
func (f *follower) learn(t Trace, now time.Time) (isNew, show bool) {
	ended := t.Status != StatusRunning
	s, known := f.seen[t.ID]
	if !known {
		s = &seen{}
		f.seen[t.ID] = s
	}
	isNew = !known || ended && !s.ended
	arrived := f.primed || !t.StartTime.Before(f.began.Add(-f.Since)) || !t.CreatedAt.Before(f.began)
	s.start, s.met, s.ended = t.StartTime, now, s.ended || ended
	return isNew, isNew && (known || arrived)
}

// finish ends a round that read the whole window, and forgets the traces that
// were in none for as long again: a late span can move the start of a trace.
func (f *follower) finish(now time.Time, pages int) {
	f.primed, f.swept = true, now
	f.due = now.Add(max(sweepEvery, time.Duration(pages)*sweepPause))
	for id, s := range f.seen {
		if s.ended && s.met.Before(now.Add(-window)) {
			delete(f.seen, id)
		}
	}
	if len(f.seen) > maxSeen {
		f.shrink()
	}
}

// shrink forgets the older half. No sweep reaches so far down.
func (f *follower) shrink() {
	starts := make([]time.Time, 0, len(f.seen))
	for _, s := range f.seen {
		starts = append(starts, s.start)
	}
	slices.SortFunc(starts, time.Time.Compare)
	for id, s := range f.seen {
		if s.start.Before(starts[len(starts)/2]) {
			delete(f.seen, id)
		}
	}
}

// sayCut says, once, that a round did not reach the end of its window.
func (f *follower) sayCut() {
	if !f.cut {
		f.cut = true
		f.Say("There are more traces than tail can read at once: some late ones may be missing. Add a filter, such as --environment or --errors.")
	}
}

// sayDeferred says when telemetry begins to wait, and when it no longer does.
func (f *follower) sayDeferred(since time.Time) {
	switch {
	case since.IsZero() == f.deferred.IsZero():
		return
	case since.IsZero():
		f.Say("Telemetry is readable again.")
	default:
		f.Say("Telemetry that arrived since " + since.Format(time.TimeOnly) + " UTC may be missing: it is stored safely, and shown when ClickHouse takes it.")
	}
	f.deferred = since
}

// lookup asks for running traces that have left the window, a few at a time,
// those first that were not met for longest. One that is not found is
// forgotten: it was deleted, or the filter does not take it any more.
func (f *follower) lookup(ctx context.Context, now time.Time) (news []Trace, err error) {
	var ids []string
	for id, s := range f.seen {
		if !s.ended && s.met.Before(now) && s.start.Before(f.from()) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(f.seen[a].met.Compare(f.seen[b].met), cmp.Compare(a, b))
	})
	for _, id := range ids[:min(len(ids), lookups)] {
		q := f.Filter
		q.StartAfter, q.StartBefore, q.Limit = f.seen[id].start.Add(-time.Second), f.seen[id].start.Add(time.Second), sweepPage
		page, err := f.ask(ctx, q)
		if err != nil {
			return news, err
		}
		i := slices.IndexFunc(page.Traces, func(t Trace) bool { return t.ID == id })
		if i < 0 {
			delete(f.seen, id)
			continue
		}
		if _, show := f.learn(page.Traces[i], now); show {
			news = append(news, page.Traces[i])
		}
	}
	return news, nil
}

// Moment is when what a trace shows happened: its end, or its start while it
// is running.
func (t Trace) Moment() time.Time {
	if t.Status == StatusRunning || t.EndTime == nil {
		return t.StartTime
	}
	return *t.EndTime
}
