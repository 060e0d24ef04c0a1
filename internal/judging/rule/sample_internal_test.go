package rule

import (
	"crypto/rand"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/telemetry/span"
)

// The places are those that the documentation's formula gives anywhere:
// printf 'live\n%s' <id> | sha256sum, its first 16 digits divided by 2^64.
func TestAPlaceIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]float64{
		"00000000000000000000000000000001": 0.9353850955061322,
		"0af7651916cd43dd8448eb211c80319c": 0.6918374149294115,
	} {
		trace, ok := span.ParseTraceID(id)
		require.True(t, ok)
		require.InDelta(t, want, place("live", trace), 1e-15, id)
	}
}

func TestTheSampledShareIsTheRateAndRatesAreNested(t *testing.T) {
	t.Parallel()
	const n = 20_000
	rates := []float64{0.001, 0.01, 0.05, 0.3, 0.9}
	got := make([]int, len(rates))
	both := 0
	for range n {
		var id span.TraceID
		_, _ = rand.Read(id[:])
		within := false
		for i, rate := range rates {
			in := sampled("live", rate, id)
			require.False(t, within && !in, "a higher rate leaves out what a lower one chose")
			if within = in; in {
				got[i]++
			}
		}
		require.True(t, sampled("live", 1, id), "a rate of 1 chooses every trace")
		if sampled("live", 0.3, id) && sampled("other", 0.3, id) {
			both++
		}
	}
	// Five standard errors: a fair choice fails once in a million runs.
	within := func(rate float64, k int) {
		require.InDelta(t, rate*n, k, 5*math.Sqrt(n*rate*(1-rate)), "rate %v", rate)
	}
	for i, rate := range rates {
		within(rate, got[i])
	}
	within(0.09, both) // two keys choose independently
}
