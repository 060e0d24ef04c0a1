package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawn is the quantile of randomly weighted means with one more unit at zero,
// found by drawing.
func drawn(x []float64, alpha float64) float64 {
	r := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, 200_000)
	for i := range means {
		sum, weight := 0.0, r.ExpFloat64()
		for _, v := range x {
			w := r.ExpFloat64()
			sum, weight = sum+w*v, weight+w
		}
		means[i] = sum / weight
	}
	slices.Sort(means)
	return SortedQuantile(means, alpha)
}

func TestTheLimitIsThatOfRandomWeights(t *testing.T) {
	t.Parallel()
	for name, x := range map[string][]float64{
		"two":      {0.3, 0.9},
		"five":     {0.2, 0.5, 0.9, 1, 1},
		"few low":  append(slices.Repeat([]float64{1}, 47), 0.31, 0.31, 0.5),
		"spread":   {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9},
		"two ways": {0, 0, 0.4, 0.4, 1, 1, 1, 1},
	} {
		s := sample{x: x, g: len(x)}
		l := s.bounded(*Unit())
		for _, alpha := range []float64{0.05, 0.2} {
			lower, upper := l(alpha)
			require.InDelta(t, drawn(x, alpha/2), lower, 0.006, name)
			turned := make([]float64, len(x))
			for i := range x {
				turned[i] = 1 - x[i]
			}
			require.InDelta(t, 1-drawn(turned, alpha/2), upper, 0.006, name)
		}
	}
}

func TestLimitsOfRatesAreExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 20, 60} {
		for passed := range n + 1 {
			x := append(slices.Repeat([]float64{1}, passed), slices.Repeat([]float64{0}, n-passed)...)
			lower, upper := (sample{x: x, g: n}).bounded(*Unit())(0.05)
			wantLower, wantUpper := clopperPearson(float64(passed), float64(n), 0.05)
			require.InDelta(t, wantLower, lower, 1e-9, "%d of %d", passed, n)
			require.InDelta(t, wantUpper, upper, 1e-9, "%d of %d", passed, n)
		}
	}
}

func TestLimitsOfManyScoresAreStudents(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 20_000)
	for i := range x {
		x[i] = r.Float64()
	}
	s := sample{x: x, g: len(x)}
	mean := s.mean()
	se := s.spread(mean).clustered
	lower, upper := s.bounded(*Unit())(0.05)
	l, u := tLimits(mean, math.Sqrt(se), float64(len(x)-1))(0.05)
	require.InEpsilon(t, u-l, upper-lower, 0.02)
	require.InDelta(t, (l+u)/2, (lower+upper)/2, 1e-4)

	shuffled := slices.Clone(x)
	r.Shuffle(len(x), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	again, _ := (sample{x: shuffled, g: len(x)}).bounded(*Unit())(0.05)
	require.Equal(t, lower, again, "the order of rows changes no digit") //nolint:testifylint // to the last digit
}
