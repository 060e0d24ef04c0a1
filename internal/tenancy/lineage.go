package tenancy

import (
	"slices"

	"github.com/google/uuid"
)

// origin is where a key comes from.
type origin struct {
	madeWith int64 // the key that it was made with; zero for those that the operator made
	succeeds int64 // the key that it replaced, if it was rotated
	owner    *uuid.UUID
	creator  *uuid.UUID
}

// Lineage says where some keys come from, also those that are revoked by now. Whoever
// makes a key sees it, so that two keys of one origin may be in one hand.
type Lineage map[int64]origin

// People are those who may hold a key: its owner, who made it, and who may hold the keys
// that it was made with or that it replaced.
func (l Lineage) People(key int64) (all []uuid.UUID) {
	for k := range l.behind(key) {
		for _, p := range []*uuid.UUID{l[k].owner, l[k].creator} {
			if p != nil && !slices.Contains(all, *p) {
				all = append(all, *p)
			}
		}
	}
	slices.SortFunc(all, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return all
}

// OneHand reports whether a machine that asks with one key may also hold another, with
// which somebody approves: the latter was made with the former, or a service key made both.
//
// Three kinds of makers are let pass. Whether people who make keys for their agents and for
// their colleagues count as the agent is a setting of the organization. A service that only
// gives people their keys, which they make those of their agents with, has to be trusted to
// say who they are. And the first keys of an organization belong to its operator: everything
// comes from them.
func (l Lineage) OneHand(asks, approves int64) bool {
	machines, former := l.machines(asks), l.former(asks)
	for k := range l.behind(approves) {
		if former[k] || machines[k] && !l.first(k) {
			return true
		}
	}
	return false
}

// behind are a key and all that it was made with or that it replaced.
func (l Lineage) behind(key int64) map[int64]bool {
	return l.climb(key, func(origin) bool { return true })
}

// machines are the service keys that a key comes from without a person in between.
func (l Lineage) machines(key int64) map[int64]bool {
	return l.climb(key, func(o origin) bool { return o.owner == nil })
}

// climb goes from a key to those that it was made with or that it replaced, as long as they
// are wanted.
func (l Lineage) climb(key int64, wanted func(origin) bool) map[int64]bool {
	seen := map[int64]bool{}
	for next := []int64{key}; len(next) > 0; next = next[1:] {
		k := next[0]
		if o, known := l[k]; !known || seen[k] || !wanted(o) {
			continue
		}
		seen[k] = true
		next = append(next, l[k].madeWith, l[k].succeeds)
	}
	return seen
}

// former are a key and those that it replaced.
func (l Lineage) former(key int64) map[int64]bool {
	seen := map[int64]bool{}
	for k := key; k != 0 && !seen[k]; k = l[k].succeeds {
		seen[k] = true
	}
	return seen
}

// first reports whether a key, or the one that it replaced, was made by the operator and
// not with another key.
func (l Lineage) first(key int64) bool {
	for k := range l.former(key) {
		if o := l[k]; o.succeeds == 0 && o.madeWith == 0 && o.creator == nil {
			return true
		}
	}
	return false
}
