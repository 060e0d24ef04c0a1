package agreement

import (
	"cmp"
	"math"
	"slices"
)

// ranks returns the mid-rank of each number: what the smaller ones weigh, and
// half of what its equals do.
func ranks(x, w []float64) []float64 {
	order := ordered(x)
	out := make([]float64, len(x))
	var below float64
	for from := 0; from < len(order); {
		to, own := from, 0.0
		for to < len(order) && x[order[to]] == x[order[from]] {
			own += w[order[to]]
			to++
		}
		for _, i := range order[from:to] {
			out[i] = below + own/2
		}
		below += own
		from = to
	}
	return out
}

// ordered returns the places of numbers from the smallest to the largest.
func ordered(x []float64) []int32 {
	order := upTo(len(x))
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(a, b)) })
	return order
}

// tau returns Kendall's tau-b: pairs of items in the same order less those in
// opposite order, among pairs that neither side ties. It sorts, as Knight does,
// instead of comparing all pairs.
func tau(x, y, w []float64) float64 {
	order := upTo(len(x))
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(y[a], y[b]), cmp.Compare(a, b))
	})
	together := func(same func(a, b int32) bool) float64 {
		var pairs, own, squares float64
		for i, at := range order {
			if i > 0 && !same(order[i-1], at) {
				pairs += (own*own - squares) / 2
				own, squares = 0, 0
			}
			own += w[at]
			squares += w[at] * w[at]
		}
		return pairs + (own*own-squares)/2
	}
	all := together(func(int32, int32) bool { return true })
	tiedX := together(func(a, b int32) bool { return x[a] == x[b] })
	tiedBoth := together(func(a, b int32) bool { return x[a] == x[b] && y[a] == y[b] })
	opposite := inversions(order, make([]int32, len(order)), y, w)
	// Sorting by y has left the order that ties in y are counted in.
	tiedY := together(func(a, b int32) bool { return y[a] == y[b] })
	return (all - tiedX - tiedY + tiedBoth - 2*opposite) / math.Sqrt((all-tiedX)*(all-tiedY))
}

// inversions sorts by y and returns what the pairs weigh that were in the
// opposite order.
func inversions(order, spare []int32, y, w []float64) float64 {
	if len(order) < 2 {
		return 0
	}
	middle := len(order) / 2
	sum := inversions(order[:middle], spare[:middle], y, w) + inversions(order[middle:], spare[middle:], y, w)
	var left float64 // what waits in the first half
	for _, i := range order[:middle] {
		left += w[i]
	}
	a, b := order[:middle], order[middle:]
	for n := range spare {
		if len(b) == 0 || len(a) > 0 && y[a[0]] <= y[b[0]] {
			left -= w[a[0]]
			spare[n], a = a[0], a[1:]
		} else {
			sum += left * w[b[0]]
			spare[n], b = b[0], b[1:]
		}
	}
	copy(order, spare)
	return sum
}
