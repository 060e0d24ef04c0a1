package runstat

import (
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Begun is the beginning of a run that was stopped: the first items of its order,
// as far as all of them were answered. Items that happen to be answered first are
// not a fair sample; these are.
type Begun struct {
	place   map[string]int // of an item in the order
	planned int
	random  bool
}

// Begun finds the beginning of a run over items in their order. Random says that
// the order was drawn, and not chosen by whoever answered.
func (r *Rows) Begun(items []int64, random bool) *Begun {
	answered := make(map[string]bool, len(items))
	for i := range r.Passes {
		// All items are answered once before any is answered again.
		if row := &r.Passes[i]; row.Epoch == 0 {
			answered[row.Item] = row.Missing == stat.Present
		}
	}
	b := &Begun{place: map[string]int{}, planned: len(items), random: random}
	for i, id := range items {
		item := strconv.FormatInt(id, 10)
		if random && !answered[item] {
			break
		}
		b.place[item] = i
	}
	return b
}

// Estimate is a figure of the beginning, with an interval that holds however the
// moment of the end was chosen.
func (b *Begun) Estimate(m metric.Definition, rows []stat.Observation) (stat.Estimate, error) {
	begun := slices.DeleteFunc(slices.Clone(rows), func(r stat.Observation) bool { _, ok := b.place[r.Item]; return !ok })
	slices.SortStableFunc(begun, func(x, y stat.Observation) int { return b.place[x.Item] - b.place[y.Item] })
	seen, err := stat.Watch(begun, stat.WatchOptions{
		Options: stat.Options{Range: Range(m), Weighted: weighted(begun)}, Planned: b.planned, RandomOrder: b.random,
	})
	e := stat.Estimate(seen.Estimate)
	e.Warnings = append([]string{"the run was stopped before its end: the figure is that of its beginning"}, e.Warnings...)
	return abstaining(e, err)
}
