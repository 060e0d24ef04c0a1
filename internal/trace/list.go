package trace

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// Filter says which traces are meant; a zero field says nothing.
type Filter struct {
	Status         []Status // any of them
	Search         string
	ConversationID string
	UserID         string
	Environment    string
	AgentName      string
	ReleaseID      string
	Tag            string
	HasError       *bool
	// MinDuration is held against traces that have ended.
	MinDuration *time.Duration
	// StartAfter and StartBefore exclude the times themselves.
	StartAfter, StartBefore time.Time
}

// filters reports whether the filter asks for more than a time.
func (f Filter) filters() bool {
	return len(f.narrow()) > 0 || f.having() != ""
}

// Page says which part of a list is meant.
type Page struct {
	Limit, Offset int
	// After is where the page before ended; the zero position is the start.
	After position
}

// Listed is a page of traces.
type Listed struct {
	Traces []Trace
	// Next is where the next page begins; More is false if there is none.
	// A page may be short and have a next one: looking for matches has an end.
	Next position
	More bool
}

// position is a place in the list of traces, which is newest first: the list
// goes on with what is below it.
type position struct {
	start int64 // microseconds since 1970
	id    span.TraceID
}

func (p position) below(q position) bool {
	return p.start < q.start || p.start == q.start && bytes.Compare(p.id[:], q.id[:]) < 0
}

const (
	// maxExamined is how many traces one request looks at for matches, and
	// maxSearching about how long it looks. What comes then is a short page and
	// a cursor.
	maxExamined  = 20_000
	maxSearching = 10 * time.Second
)

// ErrOffset is returned when a filter is so selective that the offset cannot be
// reached.
var ErrOffset = fault.New(fault.Validation, "use_cursor", "offset is too large for this filter: follow next_cursor instead.")

// List returns traces by their start, newest first. Only traces of which
// something has arrived are listed.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter, p Page) (Listed, error) {
	w := s.walk(org, f, p)
	var out Listed
	skip := p.Offset
	for len(out.Traces) <= p.Limit && w.more() {
		// Without a filter what is skipped need not be read.
		if !f.filters() {
			w.skip = skip
		}
		found, skipped, err := w.next(ctx, skip+p.Limit+1-len(out.Traces))
		if err != nil {
			return Listed{}, err
		}
		skip -= skipped
		n := min(skip, len(found))
		skip -= n
		out.Traces = append(out.Traces, found[n:]...)
		enough := w.examined >= maxExamined+p.Offset || s.now().Sub(w.now) > maxSearching
		if enough && w.more() && len(out.Traces) <= p.Limit {
			if skip > 0 {
				return Listed{}, ErrOffset
			}
			out.Next, out.More = w.below, true
			break
		}
	}
	if len(out.Traces) > p.Limit {
		out.Traces = out.Traces[:p.Limit]
		last := out.Traces[p.Limit-1]
		out.Next, out.More = position{start: last.Start.UnixMicro(), id: last.ID}, true
	}
	return out, s.number(ctx, org, out.Traces)
}

// number fills in the numbers of the traces that have one.
func (s *Service) number(ctx context.Context, org principal.OrgID, traces []Trace) error {
	if len(traces) == 0 {
		return nil
	}
	ids := make([]span.TraceID, len(traces))
	for i, t := range traces {
		ids[i] = t.ID
	}
	refs, err := s.store.refs(ctx, org, ids)
	for i := range traces {
		traces[i].Ref = refs[ids[i]]
	}
	return err
}

// Count returns how many traces match.
func (s *Service) Count(ctx context.Context, org principal.OrgID, f Filter) (int64, error) {
	now := s.now()
	w := f.window(now)
	if w.low > w.high {
		return 0, nil
	}
	return s.store.total(ctx, totalQuery{org: org, filter: f, in: w, idle: idleSince(now)})
}

// window is the time in which the traces that are meant start.
func (f Filter) window(now time.Time) window {
	w := window{low: span.Earliest, high: now.UnixMicro() + ahead}
	if !f.StartAfter.IsZero() {
		w.low = max(w.low, f.StartAfter.UnixMicro()+1)
	}
	if !f.StartBefore.IsZero() {
		w.high = min(w.high, f.StartBefore.UnixMicro()-1)
	}
	return w
}

// walk goes through the traces of an organization from the newest to the
// oldest. Each step covers all positions from below down to the next below: a
// trace whose start lies there is found, for it has a row in the minute of its
// start; one that merely goes on there is found where it starts.
type walk struct {
	store    store
	org      principal.OrgID
	filter   Filter
	now      time.Time
	all      window // what the filter allows
	below    position
	steps    []int64 // how far back each attempt looks
	done     bool
	look     int // how many traces the next step of a filter looks at
	examined int
	skip     int // traces that need not be read
}

// Windows of time that are looked at one after the other: what is wanted is
// mostly new, and a look at a window costs more the longer it is.
var (
	plainWindows    = []time.Duration{24 * time.Hour, 30 * 24 * time.Hour}
	filteredWindows = []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 400 * 24 * time.Hour}
)

func (s *Service) walk(org principal.OrgID, f Filter, p Page) *walk {
	w := &walk{store: s.store, org: org, filter: f, now: s.now()}
	w.all = f.window(w.now)
	w.below = position{start: w.all.high + 1}
	if p.After != (position{}) && p.After.below(w.below) {
		w.below = p.After
	}
	from := min(w.below.start, w.now.UnixMicro())
	windows := plainWindows
	if len(f.narrow()) > 0 {
		windows = filteredWindows
	}
	for _, d := range windows {
		w.steps = append(w.steps, from-d.Microseconds())
	}
	return w
}

// more reports whether there is anything left to look at.
func (w *walk) more() bool { return !w.done && w.below.start >= w.all.low }

// next looks at the next traces and returns those that match, newest first,
// about want of them if there are as many. skipped of them are left out.
func (w *walk) next(ctx context.Context, want int) (found []Trace, skipped int, err error) {
	// Some of what is found starts elsewhere and does not count.
	look := want + want/8 + 8
	if w.filter.filters() {
		look = max(2*look, w.look)
		w.look = 4 * look
	}
	from := w.below
	candidates, to, err := w.candidates(ctx, min(look, maxSummaries/2))
	if err != nil {
		return nil, 0, err
	}
	w.below = to
	w.examined += len(candidates)
	if len(candidates) == 0 {
		return nil, 0, nil
	}
	// What is skipped need not be read, and what is read is read while its
	// bounds are still asked for.
	var all scope
	guess := summaryQuery{org: w.org, filter: w.filter, idle: idleSince(w.now)}
	if w.skip == 0 {
		guess.of = guessed(candidates)
	}
	var early []summary
	err = together(ctx, func(ctx context.Context) (err error) {
		all, err = w.store.bounds(ctx, w.org, ids(candidates))
		return err
	}, func(ctx context.Context) (err error) {
		early, err = w.store.summaries(ctx, guess)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	in := slices.DeleteFunc(all, func(b bounds) bool {
		at := position{start: b.first, id: b.id}
		return !at.below(from) || at.below(to) || b.first < w.all.low
	})
	slices.SortFunc(in, newestFirst)
	if w.skip > 0 {
		skipped = min(w.skip, len(in))
		in = in[skipped:]
	}
	found, err = w.read(ctx, in, guess.of, early)
	return found, skipped, err
}

// guessed is where the traces are if they are as short as most.
func guessed(candidates []candidate) scope {
	out := make(scope, len(candidates))
	for i, c := range candidates {
		first := c.at / minute * minute
		out[i] = bounds{id: c.id, first: first, last: first + 2*minute - 1}
	}
	return out
}

// covers reports whether all of a trace is in the scope's part of it.
func (b bounds) covers(whole bounds) bool {
	return b.first/minute <= whole.first/minute && whole.last/minute <= b.last/minute
}

func newestFirst(a, b bounds) int {
	return cmp.Or(cmp.Compare(b.first, a.first), bytes.Compare(b.id[:], a.id[:]))
}

// read returns the traces of the scope that match, in its order. early is what
// was found where the traces were guessed to be.
func (w *walk) read(ctx context.Context, in, guess scope, early []summary) ([]Trace, error) {
	settled := make(map[span.TraceID]bool, len(guess))
	guesses := make(map[span.TraceID]bounds, len(guess))
	for _, b := range guess {
		guesses[b.id] = b
	}
	var rest scope
	for _, b := range in {
		if g, ok := guesses[b.id]; ok && g.covers(b) {
			settled[b.id] = true
		} else {
			rest = append(rest, b)
		}
	}
	found, err := w.store.summaries(ctx, summaryQuery{org: w.org, of: rest, filter: w.filter, idle: idleSince(w.now)})
	if err != nil {
		return nil, err
	}
	byID := make(map[span.TraceID]*summary, len(in))
	for i := range early {
		if settled[early[i].id] {
			byID[early[i].id] = &early[i]
		}
	}
	for i := range found {
		byID[found[i].id] = &found[i]
	}
	out := make([]Trace, 0, len(byID))
	for _, b := range in {
		if m, ok := byID[b.id]; ok {
			out = append(out, m.trace(w.now, b))
		}
	}
	return out, nil
}

// candidates returns about enough traces of which a span starts below the
// walk's position, each once, and the position down to which there are no
// others.
func (w *walk) candidates(ctx context.Context, enough int) (found []candidate, to position, err error) {
	q := candidatesQuery{org: w.org, filter: w.filter, idle: idleSince(w.now), limit: 2 * enough}
	q.in = window{low: w.low() / minute * minute, high: w.below.start} // a minute is looked at whole
	if w.below.id == (span.TraceID{}) {
		q.in.high-- // nothing starts at the position and is below it
	}
	rows, err := w.store.candidates(ctx, q, micros)
	if err != nil {
		return nil, position{}, err
	}
	n := wholeMinutes(rows, enough, len(rows) == q.limit)
	switch {
	case n == len(rows): // also if there are none
		w.done = q.in.low <= w.all.low
		return unique(rows), position{start: q.in.low}, nil
	case n > 0:
		return unique(rows[:n]), position{start: rows[n].at + minute}, nil
	}
	// The newest minute has more than was read: it is sorted out by the server.
	q.in.low, q.limit = rows[0].at, enough
	rows, err = w.store.candidates(ctx, minuteQuery{candidatesQuery: q, below: w.below}, 1)
	if err != nil {
		return nil, position{}, err
	}
	if len(rows) < q.limit {
		return unique(rows), position{start: q.in.low}, nil
	}
	last := rows[len(rows)-1]
	return unique(rows), position{start: last.at, id: last.id}, nil
}

// wholeMinutes returns how many of the rows make whole minutes with enough
// traces, or all whole minutes if there are fewer. The last minute may be cut.
func wholeMinutes(rows []candidate, enough int, cut bool) (n int) {
	for end := 0; end <= len(rows); end++ {
		if end > 0 && end < len(rows) && rows[end].at == rows[end-1].at || end == len(rows) && cut {
			continue
		}
		if n = end; n >= enough && len(unique(rows[:n])) >= enough {
			break
		}
	}
	return n
}

// low is how far back the next look reaches.
func (w *walk) low() int64 {
	for _, step := range w.steps {
		if step < w.below.start-minute {
			return max(step, w.all.low)
		}
	}
	return w.all.low
}

// unique keeps each trace once, where it was found earliest.
func unique(rows []candidate) []candidate {
	at := make(map[span.TraceID]int, len(rows))
	var out []candidate
	for _, r := range rows {
		i, ok := at[r.id]
		if !ok {
			at[r.id] = len(out)
			out = append(out, r)
			continue
		}
		out[i].at = min(out[i].at, r.at)
	}
	return out
}

func ids(candidates []candidate) []span.TraceID {
	out := make([]span.TraceID, len(candidates))
	for i, c := range candidates {
		out[i] = c.id
	}
	return out
}

// together runs what does not depend on each other at the same time.
func together(ctx context.Context, work ...func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, do := range work {
		g.Go(func() error { return do(ctx) })
	}
	return g.Wait()
}
