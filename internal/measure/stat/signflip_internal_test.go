package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// For many clusters the p-value is computed instead of sampled: it must be
// where a large sample would put it, for scores that move in steps as well.
func TestSignFlipOfManyClusters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		score func() float64
	}{
		{"passes", func() float64 { return float64(random.IntN(3) - 1) }},
		{"steps", func() float64 { return float64(random.IntN(9)-4) / 4 }},
		{"skewed", func() float64 { return math.Exp(0.5*random.NormFloat64()) - math.Exp(0.125) }},
	} {
		for _, shift := range []float64{0, 0.03} {
			sums := make([]float64, 8000)
			for i := range sums {
				sums[i] = c.score()
				if random.Float64() < shift {
					sums[i]++
				}
			}
			got, method, seed := signFlip(sums, Seed{})
			require.Equal(t, "sign_flip_expanded", method)
			require.Empty(t, seed)
			const flipped = 8000
			far, observed := 0, math.Abs(total(sums))
			f := newFlips(sums)
			signs := make([]uint64, f.words())
			for range flipped {
				fill(signs, random)
				if math.Abs(f.sum(signs)) >= observed-1e-9 {
					far++
				}
			}
			p := float64(far) / flipped
			se := math.Sqrt(math.Max(p, 1.0/flipped) * (1 - p) / flipped)
			require.InDelta(t, p, got, 4*se+1e-4, "%s, shifted by %v", c.name, shift)
		}
	}
}

func TestSignFlip(t *testing.T) {
	t.Parallel()
	t.Run("no difference at all is no evidence", func(t *testing.T) {
		t.Parallel()
		p, _, _ := signFlip(make([]float64, 50), Seed{})
		require.InDelta(t, 1, p, 0)
	})
	t.Run("drawn patterns depend on the seed and on nothing else", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(3, 4))
		sums := make([]float64, 40)
		for i := range sums {
			sums[i] = random.NormFloat64() + 0.3
		}
		p, method, seed := signFlip(sums, Seed{Organization: "o", Resource: "1|2"})
		require.Equal(t, "sign_flip_random", method)
		require.Len(t, seed, 32)
		random.Shuffle(len(sums), func(i, j int) { sums[i], sums[j] = sums[j], sums[i] })
		again, _, _ := signFlip(sums, Seed{Organization: "o", Resource: "1|2"})
		require.InDelta(t, p, again, 0)
		_, _, other := signFlip(sums, Seed{Organization: "o", Resource: "1|3"})
		require.NotEqual(t, seed, other)
	})
	t.Run("a sample never says zero", func(t *testing.T) {
		t.Parallel()
		sums := make([]float64, 60)
		for i := range sums {
			sums[i] = 1 + float64(i)/100
		}
		p, _, _ := signFlip(sums, Seed{})
		require.InDelta(t, 1e-4, p, 1e-12)
	})
	t.Run("one cluster that outweighs the rest is sampled", func(t *testing.T) {
		t.Parallel()
		sums := make([]float64, 3000)
		for i := range sums {
			sums[i] = 0.001
		}
		sums[7] = 100
		_, method, _ := signFlip(sums, Seed{})
		require.Equal(t, "sign_flip_random", method)
	})
}
