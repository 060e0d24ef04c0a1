package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// BetaBinomialSequence returns the interval of a pass rate that holds at every
// moment, however often and for whatever reason one looks. The trials are
// independent and come in an order that does not depend on their outcome.
func BetaBinomialSequence(passed, n int, level float64) (Interval, error) {
	switch {
	case passed < 0 || n < passed || n == 0:
		return Interval{}, inputErrorf("%d of %d passed", passed, n)
	case !(level >= minLevel && level <= maxLevel):
		return Interval{}, inputErrorf("level %v must lie between %v and %v", level, minLevel, maxLevel)
	}
	lower, upper := betaBinomial(float64(passed), float64(n), 1-level)
	return Interval{Lower: &lower, Upper: &upper, Level: level, Kind: KindSequence, Method: "beta_binomial_cs"}, nil
}

// betaBinomial returns the rates against which a bet mixed over Beta(½,½) has
// not yet won 1/alpha.
func betaBinomial(k, n, alpha float64) (lower, upper float64) {
	won := mathext.Lbeta(k+0.5, n-k+0.5) - mathext.Lbeta(0.5, 0.5) + math.Log(alpha)
	excess := func(p float64) float64 {
		e := won
		if k > 0 {
			e -= k * math.Log(p)
		}
		if k < n {
			e -= (n - k) * math.Log1p(-p)
		}
		return e
	}
	lower, upper = 0, 1
	if k > 0 {
		lower = bisect(excess, 0, k/n)
	}
	if k < n {
		upper = bisect(excess, k/n, 1)
	}
	return lower, upper
}

// bets are the stakes of a bet on bounded scores, each fixed before the score
// that it is on.
type bets struct{ x, stakes []float64 }

// newBets places bets on scores between 0 and 1, in the order in which they
// came, such as to win 1/alpha soon if the mean is not the one bet against.
func newBets(x []float64, alpha float64) bets {
	b := bets{x, make([]float64, len(x))}
	sum, squares := 0.5, 0.25 // as if a half had been seen, with the largest variance
	variance := 0.25
	for i, v := range x {
		t := float64(i + 1)
		b.stakes[i] = math.Sqrt(2 * math.Log(1/alpha) / (t * math.Log1p(t) * variance))
		sum += v
		mean := sum / (t + 1)
		squares += (v - mean) * (v - mean)
		variance = squares / (t + 1)
	}
	return b
}

// logCapital returns the logarithm of what the bet that the mean is above m,
// or below it, has won. No stake risks more than half of the capital.
func (b bets) logCapital(m float64, above bool) float64 {
	var sum float64
	for i, x := range b.x {
		if above {
			sum += math.Log1p(math.Min(b.stakes[i], 0.5/m) * (x - m))
		} else {
			sum += math.Log1p(-math.Min(b.stakes[i], 0.5/(1-m)) * (x - m))
		}
	}
	return sum
}

// limit returns the mean at which the bet has just won 1/alpha: the lower
// limit if it was on a mean above, else the upper one.
func (b bets) limit(alpha float64, above bool) float64 {
	excess := func(m float64) float64 { return b.logCapital(m, above) - math.Log(1/alpha) }
	const edge = 1e-12
	switch {
	case above && excess(edge) < 0:
		return 0
	case !above && excess(1-edge) < 0:
		return 1
	}
	return bisect(excess, edge, 1-edge)
}

// betting returns the interval of the mean of scores between 0 and 1 that
// holds at every moment.
func betting(x []float64, alpha float64) (lower, upper float64) {
	b := newBets(x, alpha/2)
	return b.limit(alpha/2, true), b.limit(alpha/2, false)
}

// sequenceMultiplier is what takes the place of z in an interval that holds at
// every moment, in units of the information at which it is to be narrowest.
func sequenceMultiplier(x, alpha float64) float64 {
	return math.Sqrt((1 + 1/x) * (math.Log1p(x) + 2*math.Log(1/alpha)))
}

// sequenceScale returns the number of observations that counts as one, for an
// interval that is narrowest at the planned number.
func sequenceScale(planned, alpha float64) float64 {
	c := 2 * math.Log(1/alpha)
	return planned / (c + math.Log1p(c))
}
