package stat

import (
	"math"
	"slices"
)

// negligible is a spread that rounding alone can cause, relative to the
// numbers that were spread.
const negligible = 1e-13

func (s sample) n() int { return len(s.x) }

func (s sample) weight(i int) float64 {
	if s.w == nil {
		return 1
	}
	return s.w[i]
}

// constant reports whether all numbers are the same.
func (s sample) constant() bool {
	if len(s.x) == 0 {
		return false
	}
	low, high := extent(s.x)
	return low == high
}

// binary reports whether all numbers are 0 or 1.
func (s sample) binary() bool {
	return !slices.ContainsFunc(s.x, func(x float64) bool { return x != 0 && x != 1 })
}

// mean returns the weighted mean of at least one number.
func (s sample) mean() float64 {
	low, high := extent(s.x)
	mean := total(s.x) / float64(len(s.x))
	if s.w != nil {
		mean = SumOf(len(s.x), func(i int) float64 { return s.w[i] * s.x[i] }) / total(s.w)
	}
	return clamp(mean, low, high)
}

// spread is how a sample varies about its mean.
type spread struct {
	clustered float64 // squared standard error of the mean over clusters
	naive     float64 // the same if every item were its own cluster
	kish      float64 // items that would say as much, were their weights equal
}

// spread needs two clusters.
func (s sample) spread(mean float64) spread {
	weights := float64(len(s.x))
	out := spread{kish: weights}
	if s.w != nil {
		weights = total(s.w)
		out.kish = weights * weights / SumOf(len(s.w), func(i int) float64 { return s.w[i] * s.w[i] })
	}
	n, g := float64(len(s.x)), float64(s.g)
	squares := SumOf(len(s.x), func(i int) float64 {
		d := s.weight(i) * (s.x[i] - mean)
		return d * d
	})
	out.naive = n / (n - 1) * squares / (weights * weights)
	out.clustered = out.naive
	if s.cluster != nil {
		sums := s.sums(mean)
		squares := SumOf(len(sums), func(i int) float64 { return sums[i] * sums[i] })
		out.clustered = g / (g - 1) * squares / (weights * weights)
	}
	if math.Sqrt(out.clustered) <= negligible*largest(s.x) {
		out.clustered = 0
	}
	return out
}

// sums returns the weighted sums of x-mean over each cluster.
func (s sample) sums(mean float64) []float64 {
	sums := make([]float64, s.g)
	if s.cluster == nil {
		for i, x := range s.x {
			sums[i] = s.weight(i) * (x - mean)
		}
		return sums
	}
	var own sum
	for c, members := range s.members {
		own.reset()
		for _, i := range members {
			own.add(s.weight(int(i)) * (s.x[i] - mean))
		}
		sums[c] = own.total()
	}
	return sums
}

// lists returns the items of each cluster.
func lists(cluster []int32, clusters int) [][]int32 {
	sizes := make([]int32, clusters)
	for _, c := range cluster {
		sizes[c]++
	}
	all := make([]int32, len(cluster))
	lists := make([][]int32, clusters)
	from := int32(0)
	for c, size := range sizes {
		lists[c] = all[from : from : from+size]
		from += size
	}
	for i, c := range cluster {
		lists[c] = append(lists[c], int32(i))
	}
	return lists
}

func (s sample) clusterOf(i int) int32 {
	if s.cluster == nil {
		return int32(i)
	}
	return s.cluster[i]
}

// weights returns the summed weights of each cluster.
func (s sample) weights() []float64 {
	sums := make([]float64, s.g)
	if s.cluster == nil {
		for i := range sums {
			sums[i] = s.weight(i)
		}
		return sums
	}
	var own sum
	for c, members := range s.members {
		own.reset()
		for _, i := range members {
			own.add(s.weight(int(i)))
		}
		sums[c] = own.total()
	}
	return sums
}

// scale brings weights near one, by a power of two, so that their squares
// neither overflow nor vanish. Only their ratios matter.
func scale(weights []float64) {
	if len(weights) == 0 {
		return
	}
	_, exponent := math.Frexp(slices.Max(weights))
	for i := range weights {
		weights[i] = math.Ldexp(weights[i], -exponent)
	}
}
