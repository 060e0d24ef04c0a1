package trace

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProportionsKeepTheirWireValues compares what is sent with Wilson's formula
// as it is written in books, for few spans and for many.
func TestProportionsKeepTheirWireValues(t *testing.T) {
	t.Parallel()
	book := func(k, n uint64) (low, high float64) {
		const z = 1.959963984540054
		size, p := float64(n), float64(k)/float64(n)
		centre, half := p+z*z/(2*size), z*math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
		return max(0, (centre-half)/(1+z*z/size)), min(1, (centre+half)/(1+z*z/size))
	}
	for _, n := range []uint64{1, 2, 3, 7, 20, 199, 200, 10_007, 1 << 40} {
		for _, k := range []uint64{0, 1, n / 3, n / 2, n - 1, n} {
			low, high := book(k, n)
			got := proportion(k, n)
			require.Equal(t, []float64{rounded(low), rounded(high)}, []float64{rounded(got.Low), rounded(got.High)}, "%d of %d", k, n)
		}
	}
}

// TestWilson compares with values from the literature: Newcombe (1998), table
// I, method 3.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n      uint64
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {20, 20, 0.8389, 1}} {
		p := proportion(c.k, c.n)
		require.InDelta(t, c.low, p.Low, 0.00006)
		require.InDelta(t, c.high, p.High, 0.00006)
		require.InDelta(t, float64(c.k)/float64(c.n), p.Value, 1e-12)
	}
}
