package stat

import (
	"math"
	"slices"
)

// maxScore is the largest score that can be averaged: its square is still a
// number.
const maxScore = 1e100

// entry is one item of a table.
type entry struct {
	row    int32 // the first one, which has the item's names and weight
	scored int32 // scores, also those that stand for missing ones
	lost   int32 // missing scores
	mean   float64
	within float64 // squared distances of the scores from their mean, summed
}

// table is a run's rows, gathered by item in the order of their first
// appearance.
type table struct {
	rows      []Observation
	items     []entry
	byItem    map[string]int32 // built when it is needed
	missing   int              // rows without a score
	unfit     int              // rows that cannot have one, beside them
	total     int              // rows
	filled    bool             // missing scores count as the worst
	clustered bool             // some item names a cluster
	version   string           // of whoever made the scores
	seen      bool             // there is a score
	repeats   bool             // some item has more than one score
}

// gather checks observations and brings the repetitions of each item together. It
// adds who made the scores to the options, which tell the estimates.
func gather(rows []Observation, o *Options) (*table, error) {
	t := &table{rows: rows, total: len(rows), filled: o.Missing == MissingFail, items: make([]entry, 0, len(rows))}
	of := make([]int32, len(rows)) // the item of each row
	for i := range rows {
		r := &rows[i]
		if err := t.check(r, i, o); err != nil {
			return nil, err
		}
		n := t.find(i, of)
		if n < 0 {
			n = int32(len(t.items))
			if t.byItem != nil {
				t.byItem[r.Item] = n
			}
			t.items = append(t.items, entry{row: int32(i)})
		} else if err := sameItem(&rows[t.items[n].row], r, o.Weighted); err != nil {
			return nil, err
		}
		of[i] = n
		e := &t.items[n]
		t.clustered = t.clustered || r.Cluster != ""
		switch {
		case r.Missing == CauseItem:
			t.unfit++
		case r.Missing != Present:
			e.lost++
			t.missing++
		}
		if t.counts(r) {
			e.scored++
			e.mean = t.score(r, *o) // stands if it remains the only one
			t.repeats = t.repeats || e.scored > 1
		}
	}
	t.average(of, *o)
	return t, nil
}

// find returns the item of a row if an earlier row has it, else -1. As long as
// rows come sorted by item no index is needed.
func (t *table) find(row int, of []int32) int32 {
	item := t.rows[row].Item
	if row == 0 {
		return -1
	}
	if t.byItem == nil {
		switch last := t.rows[row-1].Item; {
		case item == last:
			return of[row-1]
		case item > last:
			return -1
		}
	}
	if n, ok := t.index()[item]; ok {
		return n
	}
	return -1
}

// index returns the items by their names.
func (t *table) index() map[string]int32 {
	if t.byItem == nil {
		t.byItem = make(map[string]int32, len(t.rows))
		for i, e := range t.items {
			t.byItem[t.rows[e.row].Item] = int32(i)
		}
	}
	return t.byItem
}

// check refuses what is not an observation, and scores that two versions of their
// maker gave: their mean would be that of neither.
func (t *table) check(r *Observation, i int, o *Options) error {
	if err := checkRow(r, i, *o); err != nil || r.Missing != Present {
		return err
	}
	if t.seen && r.Version != t.version {
		return inputErrorf("row %d: the score was made by version %q and others by version %q", i, r.Version, t.version)
	}
	t.seen, t.version, o.source = true, r.Version, o.source.And(r.Source)
	return nil
}

func checkRow(r *Observation, i int, o Options) error {
	switch {
	case !r.Missing.known():
		return inputErrorf("row %d: a score cannot be missing because of %q", i, r.Missing)
	case !r.Source.known():
		return inputErrorf("row %d: %q is not a source of scores", i, r.Source)
	case r.Item == "":
		return inputErrorf("row %d has no item", i)
	case o.Weighted && !(r.Weight >= 0 && r.Weight <= maxScore):
		return inputErrorf("row %d: weight %v must be a number of at least 0", i, r.Weight)
	case r.Missing != Present:
		return nil
	case math.IsNaN(r.Score) || math.Abs(r.Score) > maxScore:
		return inputErrorf("row %d: score %v cannot be averaged", i, r.Score)
	case o.Range != nil && (r.Score < o.Range.Lower || r.Score > o.Range.Upper):
		return inputErrorf("row %d: score %v lies outside the range from %v to %v", i, r.Score, o.Range.Lower, o.Range.Upper)
	}
	return nil
}

// sameItem checks that two rows of an item agree on what the item is.
func sameItem(a, b *Observation, weighted bool) error {
	switch {
	case a.Cluster != b.Cluster:
		return inputErrorf("item %q is in two clusters, %q and %q", a.Item, a.Cluster, b.Cluster)
	case a.Content != b.Content:
		return inputErrorf("item %q has two contents", a.Item)
	case weighted && a.Weight != b.Weight:
		return inputErrorf("item %q has two weights, %v and %v", a.Item, a.Weight, b.Weight)
	}
	return nil
}

// counts reports whether a row has a score, or one that stands for it.
func (t *table) counts(r *Observation) bool {
	return r.Missing == Present || t.filled && r.Missing != CauseItem
}

func (t *table) score(r *Observation, o Options) float64 {
	if r.Missing != Present {
		return o.worst()
	}
	return r.Score
}

// worst is the score that stands for a missing one.
func (o Options) worst() float64 {
	if o.LowerIsBetter {
		return o.Range.Upper
	}
	return o.Range.Lower
}

// average computes the means of items with several scores. Those with one have
// theirs already.
func (t *table) average(of []int32, o Options) {
	if len(t.items) == t.total {
		return
	}
	// Scores by item: those of item i end where those of i+1 begin.
	ends := make([]int32, len(t.items)+1)
	for i, e := range t.items {
		ends[i+1] = ends[i] + e.scored
	}
	scores := make([]float64, ends[len(t.items)])
	next := slices.Clone(ends)
	for i := range t.rows {
		if r := &t.rows[i]; t.counts(r) {
			scores[next[of[i]]] = t.score(r, o)
			next[of[i]]++
		}
	}
	var s sum
	for i := range t.items {
		e := &t.items[i]
		if e.scored < 2 {
			continue
		}
		own := scores[ends[i]:ends[i+1]]
		if low, high := extent(own); low == high {
			continue // alike, and the mean is any of them
		}
		s.reset()
		for _, x := range own {
			s.add(x)
		}
		e.mean = s.total() / float64(e.scored)
		s.reset()
		for _, x := range own {
			s.add((x - e.mean) * (x - e.mean))
		}
		e.within = s.total()
	}
}

// sample is what estimators work on: one number for each item that has one,
// with its weight and its cluster.
type sample struct {
	x       []float64
	w       []float64 // nil if all count alike
	cluster []int32   // nil if every item is its own cluster
	members [][]int32 // the items of each cluster; nil as well
	g       int       // how many clusters
	scored  int       // how many scores the numbers come from
	lost    int       // how many are missing beside them
}

// sample takes the items for which value returns a number.
func (t *table) sample(o Options, value func(i int) (float64, bool)) sample {
	s := sample{x: make([]float64, 0, len(t.items))}
	named := map[string]int32{}
	if t.clustered {
		s.cluster = make([]int32, 0, len(t.items))
	}
	for i := range t.items {
		r := &t.rows[t.items[i].row]
		if o.Weighted && r.Weight == 0 {
			continue
		}
		x, ok := value(i)
		if !ok {
			continue
		}
		s.x = append(s.x, x)
		s.scored += int(t.items[i].scored)
		s.lost += int(t.items[i].lost)
		if o.Weighted {
			s.w = append(s.w, r.Weight)
		}
		if !t.clustered {
			continue
		}
		n, ok := int32(0), false
		if r.Cluster != "" {
			n, ok = named[r.Cluster]
		}
		if !ok {
			n = int32(s.g)
			s.g++
			if r.Cluster != "" {
				named[r.Cluster] = n
			}
		}
		s.cluster = append(s.cluster, n)
	}
	scale(s.w)
	if !t.clustered || s.g == len(s.x) {
		s.cluster, s.g = nil, len(s.x)
		return s
	}
	s.members = lists(s.cluster, s.g)
	return s
}

// means returns the sample of the items' means.
func (t *table) means(o Options) sample {
	return t.sample(o, func(i int) (float64, bool) { return t.items[i].mean, t.items[i].scored > 0 })
}
