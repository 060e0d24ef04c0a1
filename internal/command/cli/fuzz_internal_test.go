package cli

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzFraction(f *testing.F) {
	for _, text := range []string{"0.02", "2%", "-1", "1e309", "NaN", "%", " 5 % "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var x fraction
		if x.UnmarshalText([]byte(text)) == nil {
			require.False(t, math.IsNaN(float64(x)) || math.IsInf(float64(x), 0))
		} else {
			require.Zero(t, x)
		}
	})
}
