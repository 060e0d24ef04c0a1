package spandb

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Page says which part of a list is meant.
type Page struct {
	Limit, Offset int
	// After is where the page before ended; the zero position is the start.
	After Position
}

// Walk goes through the traces of an organization from the newest to the
// oldest. Each step covers all positions from below down to the next below: a
// trace whose start lies there is found, for it has a row in the minute of its
// start; one that merely goes on there is found where it starts.
type Walk struct {
	store    DB
	org      principal.OrgID
	filter   Filter
	Now      time.Time
	all      Window // what the filter allows
	Below    Position
	steps    []int64 // how far back each attempt looks
	done     bool
	look     int // how many traces the next step of a filter looks at
	Examined int
	Skip     int // traces that need not be read
}

// Windows of time that are looked at one after the other: what is wanted is
// mostly new, and a look at a window costs more the longer it is.
var (
	plainWindows    = []time.Duration{24 * time.Hour, 30 * 24 * time.Hour}
	filteredWindows = []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 400 * 24 * time.Hour}
)

// Walk begins after the page before.
func (s DB) Walk(org principal.OrgID, f Filter, p Page, now time.Time) *Walk {
	w := &Walk{store: s, org: org, filter: f, Now: now}
	w.all = f.window(w.Now)
	w.Below = Position{Start: w.all.High + 1}
	if p.After != (Position{}) && p.After.Compare(w.Below) < 0 {
		w.Below = p.After
	}
	from := min(w.Below.Start, w.Now.UnixMicro())
	windows := plainWindows
	if len(f.narrow()) > 0 {
		windows = filteredWindows
	}
	for _, d := range windows {
		w.steps = append(w.steps, from-d.Microseconds())
	}
	return w
}

// More reports whether there is anything left to look at.
func (w *Walk) More() bool { return !w.done && w.Below.Start >= w.all.Low }

// Next looks at the next traces and returns those that match, newest first,
// about want of them if there are as many. skipped of them are left out.
func (w *Walk) Next(ctx context.Context, want int) (found []Trace, skipped int, err error) {
	// Some of what is found starts elsewhere and does not count.
	look := want + want/8 + 8
	if w.filter.Filters() {
		look = max(2*look, w.look)
		w.look = 4 * look
	}
	from := w.Below
	candidates, to, err := w.candidates(ctx, min(look, MaxSummaries/2))
	if err != nil {
		return nil, 0, err
	}
	w.Below = to
	w.Examined += len(candidates)
	if len(candidates) == 0 {
		return nil, 0, nil
	}
	// What is skipped need not be read, and what is read is read while its
	// bounds are still asked for.
	var all Scope
	guess := SummaryQuery{Org: w.org, Filter: w.filter, idle: idleSince(w.Now)}
	if w.Skip == 0 {
		guess.Of = guessed(candidates)
	}
	var early []Summary
	err = Together(ctx, func(ctx context.Context) (err error) {
		all, err = w.store.Bounds(ctx, w.org, ids(candidates))
		return err
	}, func(ctx context.Context) (err error) {
		early, err = w.store.Summaries(ctx, guess)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	in := slices.DeleteFunc(all, func(b Bounds) bool {
		at := b.Position()
		return at.Compare(from) >= 0 || at.Compare(to) < 0 || b.First < w.all.Low
	})
	slices.SortFunc(in, newestFirst)
	if w.Skip > 0 {
		skipped = min(w.Skip, len(in))
		in = in[skipped:]
	}
	found, err = w.read(ctx, in, guess.Of, early)
	return found, skipped, err
}

// guessed is where the traces are if they are as short as most.
func guessed(candidates []candidate) Scope {
	out := make(Scope, len(candidates))
	for i, c := range candidates {
		first := c.at / minute * minute
		out[i] = Bounds{ID: c.id, First: first, last: first + 2*minute - 1}
	}
	return out
}

// covers reports whether all of a trace is in the scope's part of it.
func (b Bounds) covers(whole Bounds) bool {
	return b.First/minute <= whole.First/minute && whole.last/minute <= b.last/minute
}

func newestFirst(a, b Bounds) int {
	return cmp.Or(cmp.Compare(b.First, a.First), bytes.Compare(b.ID[:], a.ID[:]))
}

// read returns the traces of the scope that match, in its order. early is what
// was found where the traces were guessed to be.
func (w *Walk) read(ctx context.Context, in, guess Scope, early []Summary) ([]Trace, error) {
	settled := make(map[span.TraceID]bool, len(guess))
	guesses := make(map[span.TraceID]Bounds, len(guess))
	for _, b := range guess {
		guesses[b.ID] = b
	}
	var rest Scope
	for _, b := range in {
		if g, ok := guesses[b.ID]; ok && g.covers(b) {
			settled[b.ID] = true
		} else {
			rest = append(rest, b)
		}
	}
	found, err := w.store.Summaries(ctx, SummaryQuery{Org: w.org, Of: rest, Filter: w.filter, idle: idleSince(w.Now)})
	if err != nil {
		return nil, err
	}
	byID := make(map[span.TraceID]*Summary, len(in))
	for i := range early {
		if settled[early[i].ID] {
			byID[early[i].ID] = &early[i]
		}
	}
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	out := make([]Trace, 0, len(byID))
	for _, b := range in {
		if m, ok := byID[b.ID]; ok {
			out = append(out, m.Trace(w.Now, b))
		}
	}
	return out, nil
}

// candidates returns about enough traces of which a span starts below the
// walk's position, each once, and the position down to which there are no
// others.
func (w *Walk) candidates(ctx context.Context, enough int) (found []candidate, to Position, err error) {
	q := candidatesQuery{org: w.org, filter: w.filter, idle: idleSince(w.Now), limit: 2 * enough}
	q.in = Window{Low: w.low() / minute * minute, High: w.Below.Start} // a minute is looked at whole
	if w.Below.ID == (span.TraceID{}) {
		q.in.High-- // nothing starts at the position and is below it
	}
	rows, err := w.store.candidates(ctx, q, micros)
	if err != nil {
		return nil, Position{}, err
	}
	n := wholeMinutes(rows, enough, len(rows) == q.limit)
	switch {
	case n == len(rows): // also if there are none
		w.done = q.in.Low <= w.all.Low
		return unique(rows), Position{Start: q.in.Low}, nil
	case n > 0:
		return unique(rows[:n]), Position{Start: rows[n].at + minute}, nil
	}
	// The newest minute has more than was read: it is sorted out by the server.
	q.in.Low, q.limit = rows[0].at, enough
	rows, err = w.store.candidates(ctx, minuteQuery{candidatesQuery: q, below: w.Below}, 1)
	if err != nil {
		return nil, Position{}, err
	}
	if len(rows) < q.limit {
		return unique(rows), Position{Start: q.in.Low}, nil
	}
	last := rows[len(rows)-1]
	return unique(rows), Position{Start: last.at, ID: last.id}, nil
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
func (w *Walk) low() int64 {
	for _, step := range w.steps {
		if step < w.Below.Start-minute {
			return max(step, w.all.Low)
		}
	}
	return w.all.Low
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

// Count returns how many traces match.
func (s DB) Count(ctx context.Context, org principal.OrgID, f Filter, now time.Time) (int64, error) {
	w := f.window(now)
	if w.Low > w.High {
		return 0, nil
	}
	return s.total(ctx, totalQuery{org: org, filter: f, in: w, idle: idleSince(now)})
}
