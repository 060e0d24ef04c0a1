package scoring

import (
	"cmp"
	"slices"
)

// Shuffle puts items in a random order. An item's place among others depends on
// themselves and the seed alone, so that adding one to a dataset does not draw all
// others anew.
func Shuffle(items []int64, seed int64) {
	from := mix(uint64(seed))
	slices.SortFunc(items, func(a, b int64) int {
		return cmp.Or(cmp.Compare(mix(from^uint64(a)), mix(from^uint64(b))), cmp.Compare(a, b))
	})
}

// mix scatters a number over all numbers (the last step of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
