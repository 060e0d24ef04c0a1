package bench_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

func TestRatio(t *testing.T) {
	t.Parallel()

	t.Run("the interval leaves out as many values as tables say", func(t *testing.T) {
		t.Parallel()
		for n, outside := range map[int]int{5: 0, 6: 0, 8: 0, 9: 1, 12: 2, 15: 3, 20: 5, 25: 7, 50: 17, 100: 39} {
			var r bench.Rounds
			for i := range n {
				r = append(r, []float64{float64(i), 1})
			}
			got := r.Ratio(0, 1)
			require.Equal(t, bench.Ratio{
				Median: float64(n-1) / 2, Low: float64(outside), High: float64(n - 1 - outside), Rounds: n,
			}, got)
		}
	})

	t.Run("the interval covers the median of a skewed noise 95 times in 100", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(1, 2))
		const runs = 4000
		covered := 0
		for range runs {
			var r bench.Rounds
			for range 15 {
				r = append(r, []float64{random.ExpFloat64(), 1})
			}
			got := r.Ratio(0, 1)
			if got.Low <= 0.6931 && 0.6931 <= got.High {
				covered++
			}
		}
		require.InDelta(t, 0.965, float64(covered)/runs, 0.015)
	})
}

func TestRun(t *testing.T) {
	t.Parallel()
	var order string
	side := func(name string, measure float64) bench.Side {
		return func() (float64, error) { order += name; return measure, nil }
	}

	rounds, err := bench.Run(3, 9, func(r bench.Rounds) bool { return len(r) == 4 }, side("a", 1), side("b", 2))

	require.NoError(t, err)
	require.Equal(t, "abbaabba", order, "the order is turned round by round")
	require.Equal(t, bench.Rounds{{1, 2}, {1, 2}, {1, 2}, {1, 2}}, rounds)
}
