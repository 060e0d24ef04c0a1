package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	exactFlips  = 16   // clusters up to which every pattern of signs is tried
	randomFlips = 9999 // patterns that are drawn otherwise
	fewestFlips = 999  // of very many clusters
	// manyFlips is the number of clusters above which the distribution over all
	// patterns is computed instead of sampled. There its expansion is closer
	// than any affordable sample.
	manyFlips = 2000
)

// signFlip tests whether sums over clusters are as often negative as positive:
// the share of all patterns of signs whose sum is as far from zero. The method
// says whether all patterns were tried, and the seed is empty unless patterns
// were drawn.
func signFlip(sums []float64, s Seed) (p float64, method, seed string) {
	observed := math.Abs(total(sums))
	// Every sum stands with both signs, so their own signs do not matter.
	sizes := make([]float64, 0, len(sums))
	for _, x := range sums {
		if x != 0 {
			sizes = append(sizes, math.Abs(x))
		}
	}
	if sums = sizes; len(sums) == 0 {
		return 1, "sign_flip_exact", ""
	}
	// Sums that differ by rounding alone are the same.
	least := observed - 1e-12*total(sums)
	if len(sums) <= exactFlips {
		f := newFlips(sums)
		far := 0
		for signs := range uint64(1) << len(sums) {
			if math.Abs(f.sum([]uint64{signs})) >= least {
				far++
			}
		}
		return float64(far) / float64(uint64(1)<<len(sums)), "sign_flip_exact", ""
	}
	if len(sums) > manyFlips {
		if p, ok := expandedFlip(sums, observed); ok {
			return p, "sign_flip_expanded", ""
		}
	}
	slices.Sort(sums) // so that the order of the rows does not decide who gets which sign
	random, seed := s.Draws("sign_flip")
	f := newFlips(sums)
	far, drawn := 1, drawnFlips(len(sums))
	signs := make([]uint64, f.words())
	for range drawn {
		fill(signs, random)
		if math.Abs(f.sum(signs)) >= least {
			far++
		}
	}
	return float64(far) / float64(drawn+1), "sign_flip_random", seed
}

// drawnFlips is how many patterns are drawn: fewer for very many clusters,
// where each costs more and the p-value is rarely close.
func drawnFlips(clusters int) int {
	return min(randomFlips, max(fewestFlips, manyFlips*randomFlips/clusters))
}

func fill(words []uint64, random *rand.Rand) {
	for i := range words {
		words[i] = random.Uint64()
	}
}

// flips adds up numbers under patterns of signs, eight numbers at a time.
type flips struct{ tables [][256]float64 }

func newFlips(sums []float64) flips {
	f := flips{make([][256]float64, (len(sums)+7)/8)}
	for i := range f.tables {
		part := sums[i*8 : min(i*8+8, len(sums))]
		for signs := range 256 {
			var s float64
			for bit, x := range part {
				if signs>>bit&1 == 1 {
					s -= x
				} else {
					s += x
				}
			}
			f.tables[i][signs] = s
		}
	}
	return f
}

func (f flips) words() int { return (len(f.tables) + 7) / 8 }

// sum returns the sum of the numbers, those with a bit set taken negative.
func (f flips) sum(signs []uint64) float64 {
	var s float64
	for i := range f.tables {
		s += f.tables[i][byte(signs[i>>3]>>(i&7*8))]
	}
	return s
}

// expandedFlip computes the test from the normal distribution and the first
// term that corrects it, the fourth cumulant; the third is zero, since every
// sum stands with both signs. It declines if a few clusters outweigh the rest.
func expandedFlip(sizes []float64, observed float64) (float64, bool) {
	smallest, largest := extent(sizes)
	squares := SumOf(len(sizes), func(i int) float64 { x := sizes[i] / largest; return x * x })
	fourths := SumOf(len(sizes), func(i int) float64 { x := sizes[i] / largest; return x * x * x * x })
	if squares < 50 { // one cluster has more than a fiftieth of the variance
		return 0, false
	}
	if multiples(sizes, smallest) { // sums move in steps; half a step belongs to each
		observed = math.Max(0, observed-smallest)
	}
	z := observed / largest / math.Sqrt(squares)
	kurtosis := -2 * fourths / (squares * squares)
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return clampP(math.Erfc(z/math.Sqrt2) + 2*kurtosis/24*(z*z*z-3*z)*density), true
}

// multiples reports whether all sizes are multiples of a unit.
func multiples(sizes []float64, unit float64) bool {
	for _, x := range sizes {
		if times := x / unit; times > 1e6 || math.Abs(times-math.Round(times)) > 1e-9*times {
			return false
		}
	}
	return true
}
