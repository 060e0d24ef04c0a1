package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Span is one span of a trace.
type Span struct {
	ID, Parent string // Parent is empty for a root
	Name       string
	Type       string // model_call, tool_call, …; may be empty
	Model      string
	Tool       string
	Start      time.Time
	End        time.Time // the zero time while the span is open
	Failed     bool
	Message    string // why it failed
	Tokens     Tokens
	Cost       *float64
	Input      jsontext.Value
	Output     jsontext.Value
}

// node is a span in its place.
type node struct {
	*Span
	kids []*node
	// note says why the span is not where its parent says it should be.
	note string
}

// arrange returns the roots of the spans, each with its children in the order
// of their start. Every span is in the result exactly once: one whose parent is
// not there comes below the first root, and a circle of parents is opened at
// its earliest span.
func arrange(spans []Span) []*node {
	nodes := make([]*node, len(spans))
	byID := make(map[string]*node, len(spans))
	for i := range spans {
		nodes[i] = &node{Span: &spans[i]}
		if _, taken := byID[spans[i].ID]; !taken {
			byID[spans[i].ID] = nodes[i]
		}
	}
	slices.SortStableFunc(nodes, func(a, b *node) int { return a.Start.Compare(b.Start) })
	var roots, lost []*node
	for _, n := range nodes {
		parent, found := byID[n.Parent]
		switch {
		case strings.Trim(n.Parent, "0") == "":
			roots = append(roots, n)
		case !found:
			n.note = "parent " + oneLine(n.Parent) + " is missing"
			lost = append(lost, n)
		case parent == n:
			n.note = "parent is the span itself"
			lost = append(lost, n)
		default:
			parent.kids = append(parent.kids, n)
		}
	}
	reached := make(map[*node]bool, len(nodes))
	for _, n := range slices.Concat(roots, lost) {
		reach(n, reached)
	}
	for _, n := range nodes {
		if reached[n] {
			continue
		}
		n := earliestOfCircle(n, byID)
		parent := byID[n.Parent]
		parent.kids = slices.DeleteFunc(parent.kids, func(k *node) bool { return k == n })
		n.note = "parents form a cycle"
		lost = append(lost, n)
		reach(n, reached)
	}
	if len(roots) == 0 {
		slices.SortStableFunc(lost, func(a, b *node) int { return a.Start.Compare(b.Start) })
		return lost
	}
	roots[0].kids = append(roots[0].kids, lost...)
	slices.SortStableFunc(roots[0].kids, func(a, b *node) int { return a.Start.Compare(b.Start) })
	return roots
}

// earliestOfCircle returns the span that starts first in the circle that the
// parents of n end in.
func earliestOfCircle(n *node, byID map[string]*node) *node {
	met := map[*node]bool{}
	for ; !met[n]; n = byID[n.Parent] {
		met[n] = true
	}
	earliest := n
	for k := byID[n.Parent]; k != n; k = byID[k.Parent] {
		if k.Start.Before(earliest.Start) {
			earliest = k
		}
	}
	return earliest
}

// reach notes a span and everything below it.
func reach(n *node, reached map[*node]bool) {
	todo := []*node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !reached[n] {
			reached[n] = true
			todo = append(todo, n.kids...)
		}
	}
}
