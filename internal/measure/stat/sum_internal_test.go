package stat

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Both ways of adding give the exact sum, rounded once.
func TestSumIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		xs := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(-1, 1),
			rapid.Float64Range(-1e200, 1e200),
			rapid.Float64Range(-1e-300, 1e-300),
			rapid.SampledFrom([]float64{0, 1, -1, 5e-324, -5e-324, 1e100, -1e100, 1 << 53, 0.5, 1e16, -1e16}),
		), 0, 300).Draw(r, "xs")
		exact := new(big.Float).SetPrec(4000)
		var short sum
		var long longSum
		for _, x := range xs {
			exact.Add(exact, big.NewFloat(x))
			short.add(x)
			long.add(x)
		}
		want, _ := exact.Float64()
		require.Equal(r, want, short.total()) //nolint:testifylint // to the last digit
		require.Equal(r, want, long.total())  //nolint:testifylint // to the last digit
		require.Equal(r, want, total(xs))     //nolint:testifylint // to the last digit
	})
}

func TestLongSumCarries(t *testing.T) {
	t.Parallel()
	var up, down longSum
	for range 300_000 {
		up.add(math.Nextafter(2, 0))
		down.add(-math.Nextafter(2, 0))
	}
	require.InEpsilon(t, 6e5, up.total(), 1e-15)
	require.InEpsilon(t, -6e5, down.total(), 1e-15)
}
