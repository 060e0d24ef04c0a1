package timeline

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// root is the parent of what is below nothing.
const root = -1

// graph is the records with what is known about how they hang together. Records are
// named by their index, and the lower one is the earlier one.
type graph struct {
	recs  []Record
	kinds map[kind.Name][]int
	ids   map[int64]int
	spans map[string]int   // steps by their span
	tries map[string][]int // calls by invocation id, in the order of their attempts
	from  map[int64][]int  // records by the event that they were made from

	parent []int
	depth  []int
	// before are pairs of a cause and its effect that are not parent and child.
	before [][2]int
	order  []int // the records as they are written
	pos    []int // where in order a record is

	caller []int // the call that a ledger entry belongs to, or root
	// about are the calls, and the ledger entries without one, that a decision or an
	// approval is about.
	about map[int][]int
	// asked is the decision that asked for an approval, and used are the decisions
	// that it was presented to.
	asked map[int]int
	used  map[int][]int

	// The same links from their other end: what was decided about a subject, the
	// approvals of a decision, the effects of a call, and the failures of anything.
	decides, leads, caused, fails map[int][]int

	lostParents int // steps whose parent is not recorded
	circles     int // circles of parents that were opened
}

func newGraph(records []Record) *graph {
	g := &graph{
		recs: slices.Clone(records), kinds: map[kind.Name][]int{}, ids: map[int64]int{}, spans: map[string]int{}, tries: map[string][]int{}, from: map[int64][]int{},
		about: map[int][]int{}, asked: map[int]int{}, used: map[int][]int{},
		decides: map[int][]int{}, leads: map[int][]int{}, caused: map[int][]int{}, fails: map[int][]int{},
	}
	for i := range g.recs {
		g.recs[i].At = g.recs[i].At.UTC()
	}
	slices.SortStableFunc(g.recs, compare)
	n := len(g.recs)
	g.parent, g.depth, g.caller, g.pos = make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	for i := range g.recs {
		g.parent[i], g.caller[i] = root, root
		g.index(i)
	}
	for _, list := range g.tries {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Compare(g.recs[a].Values.Attempt(), g.recs[b].Values.Attempt())
		})
	}
	return g
}

// index makes a record findable. Of two with the same id or span the earlier one is
// found, and a step that was recorded rather than one that was read from its span.
func (g *graph) index(i int) {
	r := &g.recs[i]
	g.kinds[r.Kind] = append(g.kinds[r.Kind], i)
	if _, taken := g.ids[r.ID]; r.ID > 0 && !taken {
		g.ids[r.ID] = i
	}
	if id := r.Values.RawEventID(); id > 0 && r.Kind != events {
		g.from[id] = append(g.from[id], i)
	}
	switch r.Kind {
	case steps:
		if old, taken := g.spans[r.Span]; r.Span != "" && (!taken || g.recs[old].ID == 0 && r.ID > 0) {
			g.spans[r.Span] = i
		}
	case calls:
		if id := r.Values.InvocationID(); id != "" {
			g.tries[id] = append(g.tries[id], i)
		}
	}
}

// compare orders records by time, then by id. What remains makes the order the same
// for any input.
func compare(a, b Record) int {
	return cmp.Or(
		a.At.Compare(b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Span, b.Span), cmp.Compare(a.Parent, b.Parent), compareValues(a.Values, b.Values),
	)
}

func compareValues(a, b kind.Values) int {
	names := slices.Sorted(maps.Keys(a))
	if c := slices.Compare(names, slices.Sorted(maps.Keys(b))); c != 0 {
		return c
	}
	for _, name := range names {
		if c := bytes.Compare(a[name], b[name]); c != 0 {
			return c
		}
	}
	return 0
}

// of lists the records of a kind.
func (g *graph) of(k kind.Name) []int { return g.kinds[k] }

// find is the record of a kind with an id, or root.
func (g *graph) find(k kind.Name, id int64) int {
	if i, ok := g.ids[id]; ok && g.recs[i].Kind == k {
		return i
	}
	return root
}

// ref is the record of a kind that a field names, or root.
func (g *graph) ref(i int, field string, k kind.Name) int {
	if j := g.find(k, g.recs[i].Values.Integer(field)); j != i {
		return j
	}
	return root
}

// step is the step with a span, or root.
func (g *graph) step(span string) int {
	if s, ok := g.spans[span]; ok && strings.Trim(span, "0") != "" {
		return s
	}
	return root
}

// home is the step that a record other than a step belongs to, or root.
func (g *graph) home(i int) int {
	r := &g.recs[i]
	return first(g.ref(i, kind.FieldPrimitiveStepRunID, steps), g.step(r.Span), g.step(r.Parent))
}

// first is the first that is not root.
func first(list ...int) int {
	for _, i := range list {
		if i != root {
			return i
		}
	}
	return root
}

// attempts are the calls that a record names by invocation id, in the order of their
// attempts. Ids of invocations are the runtime's own, so the runtime must be the same
// one where both say which it was.
func (g *graph) attempts(i int) (list []int) {
	v := g.recs[i].Values
	id, runtime := v.InvocationID(), v.RuntimeKey()
	if id == "" {
		return nil
	}
	for _, c := range g.tries[id] {
		other := g.recs[c].Values.RuntimeKey()
		if runtime == "" || other == "" || runtime == other {
			list = append(list, c)
		}
	}
	return list
}

// call is the call that an effect of it names, or root. Of several attempts it is the
// last one that had begun.
func (g *graph) call(i int) int {
	if c := g.ref(i, kind.FieldToolInvocationEvidenceID, calls); c != root {
		return c
	}
	found := root
	for _, c := range g.attempts(i) {
		if found == root || !g.recs[c].At.After(g.recs[i].At) {
			found = c
		}
	}
	return found
}

// still are the calls that a decision or approval names by invocation id: all attempts
// but those that another one had followed by then.
func (g *graph) still(i int) []int {
	list := g.attempts(i)
	for len(list) > 1 && !g.recs[i].At.Before(g.recs[list[1]].At) {
		list = list[1:]
	}
	return list
}

// insert adds to a list what it does not have.
func insert(list []int, more ...int) []int {
	for _, i := range more {
		if i != root && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	return list
}
