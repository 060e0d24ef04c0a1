package agreement

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Population says what the items of a sample stand for.
type Population string

// The populations. Labels whose probability nobody knows speak about the items
// that have them, and about no others.
const (
	PopulationSampled  Population = "sampled"             // items were drawn, each with the same probability
	PopulationWeighted Population = "weighted"            // items were drawn with known probabilities that differ
	PopulationSelected Population = "selected_items_only" // nobody knows how items were chosen
)

// tally is how many raters of an item chose a value.
type tally struct{ value, raters int32 }

// pattern is what the raters of an item said, whoever said it. Tallies are in
// the order of the values.
type pattern struct {
	tallies []tally
	raters  int32
}

// mass is a part of a unit: items with a pattern, and what they weigh.
type mass struct {
	pattern int32
	weight  float64
}

// unit is an independent unit with its parts, and how many units are like it.
type unit struct {
	parts []mass
	count int
}

// sample is rated items, gathered such that their order is gone.
type sample struct {
	values   int // how many values a rating can have
	patterns []pattern
	// chance are the patterns that two items rated at random could have.
	chance   []int32
	units    []unit // distinct, in an order of their own
	clusters int
	items    int
	plain    bool      // each item is its own cluster, and all weigh the same
	mass     []float64 // what the items of each pattern weigh, in items
}

// row is an item before it is gathered.
type row struct {
	cluster     string // empty: on its own
	pattern     int32
	probability float64 // zero if nobody knows
}

// chosen keeps the rows that may be described together, and says what they stand
// for. Rows of unknown probability are left out if others have one.
func chosen(rows []row) (kept []row, p Population, purposive int, err error) {
	known, first, equal := 0, 0.0, true
	for i, r := range rows {
		if !(r.probability >= 0 && r.probability <= 1) {
			return nil, "", 0, malformed("pair %d: probability %v must lie between 0 and 1", i, r.probability)
		}
		if r.probability > 0 {
			known++
			if first == 0 {
				first = r.probability
			}
			equal = equal && r.probability == first
		}
	}
	switch {
	case known == 0:
		return rows, PopulationSelected, 0, nil
	case known == len(rows) && equal:
		return rows, PopulationSampled, 0, nil
	}
	kept = make([]row, 0, known)
	for _, r := range rows {
		if r.probability > 0 {
			kept = append(kept, r)
		}
	}
	if equal {
		return kept, PopulationSampled, len(rows) - known, nil
	}
	return kept, PopulationWeighted, len(rows) - known, nil
}

// weights returns what each row counts for; their mean is one.
func weights(rows []row, p Population) []float64 {
	if p != PopulationWeighted {
		return nil
	}
	all := stat.SumOf(len(rows), func(i int) float64 { return 1 / rows[i].probability })
	w := make([]float64, len(rows))
	for i, r := range rows {
		w[i] = float64(len(rows)) / (r.probability * all)
	}
	return w
}

// gather makes a sample of rows. The patterns, the values and what chance could
// give are set by whoever knows them.
func (s *sample) gather(rows []row, w []float64) {
	s.items, s.plain = len(rows), w == nil
	s.mass = make([]float64, len(s.patterns))
	of := make([]int32, len(rows)) // the cluster of each row
	named := map[string]int32{}
	for i, r := range rows {
		n, ok := int32(0), false
		if r.cluster != "" {
			n, ok = named[r.cluster]
		}
		if !ok {
			n = int32(s.clusters)
			s.clusters++
			if r.cluster != "" {
				named[r.cluster] = n
			}
		}
		of[i] = n
	}
	s.plain = s.plain && s.clusters == len(rows)
	if s.plain {
		counts := make([]int, len(s.patterns))
		for _, r := range rows {
			counts[r.pattern]++
		}
		for p, n := range counts {
			if n > 0 {
				s.units = append(s.units, unit{[]mass{{int32(p), 1}}, n})
			}
			s.mass[p] = float64(n)
		}
		return
	}
	s.join(rows, w, of)
}

// join brings the rows of each cluster together, and clusters that are alike.
func (s *sample) join(rows []row, w []float64, of []int32) {
	sizes := make([]int32, s.clusters+1)
	for _, c := range of {
		sizes[c+1]++
	}
	for c := range s.clusters {
		sizes[c+1] += sizes[c]
	}
	ends, all := slices.Clone(sizes), make([]mass, len(rows))
	for i, r := range rows {
		m := mass{r.pattern, 1}
		if w != nil {
			m.weight = w[i]
		}
		all[ends[of[i]]] = m
		ends[of[i]]++
	}
	type keyed struct {
		key string
		unit
	}
	var units []keyed
	seen := map[string]int{}
	for c := range s.clusters {
		own := all[sizes[c]:sizes[c+1]]
		slices.SortFunc(own, func(a, b mass) int {
			return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.weight, b.weight))
		})
		key := make([]byte, 0, 12*len(own))
		for _, m := range own {
			key = binary.BigEndian.AppendUint32(key, uint32(m.pattern))
			key = binary.BigEndian.AppendUint64(key, math.Float64bits(m.weight))
		}
		n, ok := seen[string(key)]
		if !ok {
			n = len(units)
			seen[string(key)] = n
			units = append(units, keyed{string(key), unit{parts: own}})
		}
		units[n].count++
	}
	slices.SortFunc(units, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	packed := make([]mass, 0, len(rows))
	for _, u := range units {
		from := len(packed)
		packed = append(packed, u.parts...)
		s.units = append(s.units, unit{packed[from:], u.count})
		for _, m := range u.parts {
			s.mass[m.pattern] += float64(u.count) * m.weight
		}
	}
}

// size is how much a cluster weighs on average, in items.
func (s *sample) size() float64 { return float64(s.items) / float64(s.clusters) }

// pairs returns the patterns of two ratings over k values: that of a and b is at
// a*k+b.
func pairs(k int) []pattern {
	all := make([]pattern, 0, k*k)
	for a := range int32(k) {
		for b := range int32(k) {
			p := pattern{[]tally{{min(a, b), 1}, {max(a, b), 1}}, 2}
			if a == b {
				p.tallies = []tally{{a, 2}}
			}
			all = append(all, p)
		}
	}
	return all
}

// upTo returns 0, 1 and so on, n of them.
func upTo(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// itemName numbers items such that their names are in the order of the numbers.
func itemName(i int) string { return fmt.Sprintf("%09d", i) }
