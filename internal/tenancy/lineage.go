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

// Lineage says where some keys come from, also those that are revoked by now. Whoever makes a
// key sees it.
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

// behind are a key and all that it was made with or that it replaced.
func (l Lineage) behind(key int64) map[int64]bool {
	seen := map[int64]bool{}
	for next := []int64{key}; len(next) > 0; next = next[1:] {
		k := next[0]
		if o, known := l[k]; known && !seen[k] {
			seen[k] = true
			next = append(next, o.madeWith, o.succeeds)
		}
	}
	return seen
}
