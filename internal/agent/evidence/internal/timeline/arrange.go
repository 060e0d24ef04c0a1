package timeline

import (
	"container/heap"
	"slices"
)

// arrange puts the tree into the order in which it is written.
func (g *graph) arrange() {
	g.measure()
	kids := make(map[int][]int, len(g.recs))
	for i := range g.recs {
		kids[g.parent[i]] = append(kids[g.parent[i]], i)
	}
	edges := g.lift()
	g.order = g.order[:0]
	todo := []int{}
	push := func(parent int) {
		for _, k := range slices.Backward(sortKids(kids[parent], edges[parent])) {
			todo = append(todo, k)
		}
	}
	for push(root); len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		g.pos[i] = len(g.order)
		g.order = append(g.order, i)
		push(i)
	}
}

// lift turns causes and effects anywhere in the tree into an order of the neighbours
// that they are or are below, by parent.
func (g *graph) lift() map[int][][2]int {
	out := map[int][][2]int{}
	for _, e := range g.before {
		a, b := e[0], e[1]
		for g.depth[a] > g.depth[b] {
			a = g.parent[a]
		}
		for g.depth[b] > g.depth[a] {
			b = g.parent[b]
		}
		for a != b && g.parent[a] != g.parent[b] {
			a, b = g.parent[a], g.parent[b]
		}
		if a != b { // else one is above the other
			out[g.parent[a]] = append(out[g.parent[a]], [2]int{a, b})
		}
	}
	return out
}

// sortKids orders neighbours, given earliest first: causes before effects, then the
// earliest that is possible.
func sortKids(kids []int, edges [][2]int) []int {
	if len(edges) == 0 {
		return kids
	}
	circle := circles(kids, edges)
	waits := map[int]int{}
	next := map[int][]int{}
	for _, e := range edges {
		if circle[e[0]] != circle[e[1]] {
			waits[e[1]]++
			next[e[0]] = append(next[e[0]], e[1])
		}
	}
	ready := &earliest{}
	for _, k := range kids {
		if waits[k] == 0 {
			heap.Push(ready, k)
		}
	}
	out := make([]int, 0, len(kids))
	for ready.Len() > 0 {
		k := heap.Pop(ready).(int)
		out = append(out, k)
		for _, n := range next[k] {
			if waits[n]--; waits[n] == 0 {
				heap.Push(ready, n)
			}
		}
	}
	return out
}

// circles gives neighbours the same number that are causes of each other, directly or
// not. It walks the edges, and then walks them backwards in the order of leaving.
func circles(kids []int, edges [][2]int) map[int]int {
	next, last := map[int][]int{}, map[int][]int{}
	for _, e := range edges {
		next[e[0]] = append(next[e[0]], e[1])
		last[e[1]] = append(last[e[1]], e[0])
	}
	var left []int
	met := map[int]bool{}
	var walk func(k int, along map[int][]int, leave func(int))
	walk = func(k int, along map[int][]int, leave func(int)) {
		met[k] = true
		for _, n := range along[k] {
			if !met[n] {
				walk(n, along, leave)
			}
		}
		leave(k)
	}
	for _, k := range kids {
		if !met[k] {
			walk(k, next, func(k int) { left = append(left, k) })
		}
	}
	number := map[int]int{}
	clear(met)
	for n, k := range slices.Backward(left) {
		if !met[k] {
			walk(k, last, func(k int) { number[k] = n })
		}
	}
	return number
}

// earliest is a heap of records.
type earliest []int

func (h earliest) Len() int           { return len(h) }
func (h earliest) Less(i, j int) bool { return h[i] < h[j] }
func (h earliest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a record.
func (h *earliest) Push(x any) { *h = append(*h, x.(int)) }

// Pop takes the last record.
func (h *earliest) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
