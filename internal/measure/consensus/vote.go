package consensus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Vote is what one annotator said about an item.
type Vote struct {
	Item      string
	Annotator string
	Label     string
	// Millis is how long it took, in milliseconds; zero if nobody measured it.
	Millis float64
}

// Truth has the labels of items that an expert decided, by item.
type Truth map[string]string

// unknown stands for the label of an item that no expert decided.
const unknown = -1

// votes are votes with numbers for names: items, annotators and labels have the
// numbers of their names in order.
type votes struct {
	labels     []string
	items      []string
	annotators []string
	// The votes of item i are from[i] to from[i+1], in the order of annotators.
	from     []int
	by, said []int32
	truth    []int // the expert's label of each item, or unknown
	// watched annotators are graded by the consensus and have no part in it.
	watched []bool
}

func (v *votes) k() int { return len(v.labels) }

// each visits the votes of an item.
func (v *votes) each(item int, visit func(by, said int32)) {
	for n := v.from[item]; n < v.from[item+1]; n++ {
		visit(v.by[n], v.said[n])
	}
}

// counting visits the votes of an item that have a part in the consensus.
func (v *votes) counting(item int, visit func(by, said int32)) {
	v.each(item, func(by, said int32) {
		if !v.watched[by] {
			visit(by, said)
		}
	})
}

// read numbers the votes. An annotator has one vote about an item; what they said
// when they were asked again is not a vote.
func read(all []Vote, scale agreement.Scale, truth Truth, watched []string) (*votes, error) {
	at, err := scale.Index()
	if err != nil {
		return nil, err
	}
	items, annotators := map[string]int{}, map[string]int{}
	for i, x := range all {
		if x.Item == "" || x.Annotator == "" {
			return nil, malformed("vote %d has no item or no annotator", i)
		}
		if _, ok := at[x.Label]; !ok {
			return nil, malformed("vote %d: label %q is not on the scale", i, x.Label)
		}
		items[x.Item], annotators[x.Annotator] = 0, 0
	}
	v := &votes{labels: scale.Labels, items: number(items), annotators: number(annotators)}
	v.watched = make([]bool, len(v.annotators))
	for _, name := range watched {
		if j, ok := annotators[name]; ok {
			v.watched[j] = true
		}
	}
	type row struct{ item, by, said int32 }
	rows := make([]row, len(all))
	for i, x := range all {
		rows[i] = row{int32(items[x.Item]), int32(annotators[x.Annotator]), int32(at[x.Label])}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.by, b.by)) })
	v.by, v.said, v.from = make([]int32, len(rows)), make([]int32, len(rows)), make([]int, len(v.items)+1)
	for i, r := range rows {
		if i > 0 && rows[i-1].item == r.item && rows[i-1].by == r.by {
			return nil, malformed("annotator %q voted twice on item %q", v.annotators[r.by], v.items[r.item])
		}
		v.by[i], v.said[i] = r.by, r.said
		v.from[r.item+1] = i + 1
	}
	v.truth = make([]int, len(v.items))
	for i := range v.truth {
		v.truth[i] = unknown
	}
	for _, item := range slices.Sorted(maps.Keys(truth)) {
		label, ok := at[truth[item]]
		if !ok {
			return nil, malformed("truth of item %q: label %q is not on the scale", item, truth[item])
		}
		if i, ok := items[item]; ok {
			v.truth[i] = label
		}
	}
	return v, nil
}

// number numbers names in their order, and returns them.
func number(names map[string]int) []string {
	sorted := slices.Sorted(maps.Keys(names))
	for i, name := range sorted {
		names[name] = i
	}
	return sorted
}

// counts returns how many votes each annotator gave.
func (v *votes) counts() []int {
	n := make([]int, len(v.annotators))
	for _, j := range v.by {
		n[j]++
	}
	return n
}

// malformed says what is wrong with an input.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", stat.ErrInput, fmt.Errorf(format, args...))
}
