package timeline

import "time"

// Build makes the timeline of records of one trace. Every record is in it exactly
// once. The time now decides whether something can still be waited for.
func Build(records []Record, now time.Time) Timeline {
	g := newGraph(records)
	g.place()
	t := Timeline{Entries: make([]Entry, 0, len(records)), Missing: []string{}}
	at := make([]int, len(g.recs)) // where a record is among the entries
	for n, i := range g.order {
		at[i] = n
		e := describe(&g.recs[i])
		e.Parent = -1
		if p := g.parent[i]; p >= 0 {
			e.Parent = at[p]
			e.Depth = t.Entries[e.Parent].Depth + 1
		}
		e.Action = g.action(i, now)
		t.Entries = append(t.Entries, e)
	}
	t.Missing = append(t.Missing, g.missing()...)
	t.Start, t.End = bounds(t.Entries)
	return t
}

// bounds is from the first to the last time among the entries and their marks.
func bounds(entries []Entry) (start, end time.Time) {
	see := func(at *time.Time) {
		if at == nil || at.IsZero() {
			return
		}
		if start.IsZero() || at.Before(start) {
			start = *at
		}
		if at.After(end) {
			end = *at
		}
	}
	for i := range entries {
		see(&entries[i].At)
		see(entries[i].EndedAt)
		if a := entries[i].Action; a != nil {
			for _, m := range a.Marks {
				see(m.At)
			}
		}
	}
	return start, end
}
