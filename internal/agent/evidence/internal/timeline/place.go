package timeline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// place gives every record its parent, and the tree its order.
func (g *graph) place() {
	g.placeSteps()
	for _, i := range g.of(calls) {
		g.parent[i] = g.home(i)
	}
	g.placeLedger()
	g.link()
	g.turn()
	g.measure()
	g.placeDecided()
	g.placeRest()
	g.causes()
	g.arrange()
	// What follows has causes and causes nothing else in the tree, so that it can go
	// below the last of its causes. A kind may be about the kinds before it.
	for _, k := range []kind.Name{explanations, failures, cases, events} {
		for _, i := range g.of(k) {
			g.parent[i] = g.home(i)
			if list := g.subjects(i); len(list) > 0 {
				g.parent[i] = slices.MaxFunc(list, func(a, b int) int { return cmp.Compare(g.pos[a], g.pos[b]) })
			}
		}
		g.arrange()
	}
}

// placeSteps puts steps below their parents.
func (g *graph) placeSteps() {
	list := g.of(steps)
	for _, i := range list {
		r := &g.recs[i]
		g.parent[i] = first(g.ref(i, kind.FieldParentStepRunID, steps), g.step(r.Parent))
		named := r.Values.ParentStepRunID() > 0 || strings.Trim(r.Parent, "0") != ""
		if named && g.parent[i] == root {
			g.lostParents++
		}
	}
	g.open(list)
}

// placeLedger puts entries of the ledger below the calls that caused them, and an entry
// without one below the entry that it undoes or the step that it belongs to.
func (g *graph) placeLedger() {
	claimed := map[int]int{}
	for _, c := range g.of(calls) {
		var said struct { // calls have no field for it: it is among what else was sent, as it was spelled
			Effects []int64 `json:"side_effect_ledger_ids,case:ignore"`
		}
		_ = json.Unmarshal(g.recs[c].Values[kind.FieldAttributes], &said) // it names none
		for _, id := range said.Effects {
			if l := g.find(ledger, id); l != root {
				claimed[l] = c
			}
		}
	}
	list := g.of(ledger)
	for _, i := range list {
		g.caller[i] = g.call(i)
		if c, ok := claimed[i]; ok && g.ref(i, kind.FieldToolInvocationEvidenceID, calls) == root {
			g.caller[i] = c
		}
		g.parent[i] = first(g.caller[i], g.ref(i, kind.FieldCompensatesID, ledger), g.home(i))
	}
	g.open(list)
}

// open opens circles of parents at their earliest record, so that what is left is a
// tree.
func (g *graph) open(list []int) {
	met := make([]int, len(g.recs)) // in which walk, from 1
	for walk, i := range list {
		for i != root && met[i] == 0 {
			met[i] = walk + 1
			i = g.parent[i]
		}
		if i == root || met[i] != walk+1 {
			continue
		}
		earliest := i
		for k := g.parent[i]; k != i; k = g.parent[k] {
			earliest = min(earliest, k)
		}
		g.parent[earliest] = root
		g.circles++
	}
}

// placeDecided puts the decisions and approvals that hang together where everything
// that they are about is below or follows: directly before it in the usual case of one
// call.
func (g *graph) placeDecided() {
	groups := g.groups()
	for _, group := range groups {
		place, found := root, false
		for _, i := range group {
			for _, a := range g.about[i] {
				s := g.above(a)
				if found {
					s = g.meet(place, s)
				}
				place, found = s, true
			}
		}
		for _, i := range group {
			if !found {
				place = first(place, g.home(i))
			}
		}
		for _, i := range group {
			g.parent[i] = place
		}
	}
}

// groups are the decisions and approvals that hang together.
func (g *graph) groups() [][]int {
	lead := map[int]int{}
	var leader func(i int) int
	leader = func(i int) int {
		if l, ok := lead[i]; ok && l != i {
			lead[i] = leader(l)
			return lead[i]
		}
		return i
	}
	join := func(a, b int) {
		a, b = leader(a), leader(b)
		lead[max(a, b)] = min(a, b)
	}
	for a, d := range g.asked {
		join(a, d)
	}
	for a, list := range g.used {
		for _, d := range list {
			join(a, d)
		}
	}
	byLeader := map[int][]int{}
	var order []int
	for i := range g.recs {
		if k := g.recs[i].Kind; k == decisions || k == approvals {
			l := leader(i)
			if byLeader[l] == nil {
				order = append(order, l)
			}
			byLeader[l] = append(byLeader[l], i)
		}
	}
	out := make([][]int, len(order))
	for n, l := range order {
		out[n] = byLeader[l]
	}
	return out
}

// placeRest puts what has no rule of its own with the step that it belongs to.
func (g *graph) placeRest() {
	for i := range g.recs {
		switch g.recs[i].Kind {
		case steps, calls, ledger, decisions, approvals, explanations, failures, cases, events:
		default:
			g.parent[i] = g.home(i)
		}
	}
}

// above is the step that a record is below, or root.
func (g *graph) above(i int) int {
	for i = g.parent[i]; i != root && g.recs[i].Kind != steps; i = g.parent[i] {
	}
	return i
}

// meet is the lowest record that both are or are below, or root.
func (g *graph) meet(a, b int) int {
	for a != b {
		switch {
		case a == root || b == root:
			return root
		case g.depth[a] >= g.depth[b]:
			a = g.parent[a]
		default:
			b = g.parent[b]
		}
	}
	return a
}

// measure finds how deep each record is.
func (g *graph) measure() {
	known := make([]bool, len(g.recs))
	for i := range g.recs {
		var path []int
		for k := i; k != root && !known[k]; k = g.parent[k] {
			path = append(path, k)
		}
		for _, k := range slices.Backward(path) {
			g.depth[k] = 0
			if p := g.parent[k]; p != root {
				g.depth[k] = g.depth[p] + 1
			}
			known[k] = true
		}
	}
}
