package stat

import (
	"cmp"
	"math"
	"slices"
)

// Means of bounded scores.
//
// Student's interval forgets what it has not seen: a run whose scores are nearly
// all perfect has next to no spread, and its interval ends just below the top,
// however many failures are yet to come. Here one more unit is added to the data,
// at the end of the range that the limit points to, and all units are weighed
// anew at random, each as likely as the other. The limit is where the weighted
// mean lies with the probability that it may miss.
//
// This is Gaffke's limit. Of scores of 0 and 1 it is Clopper and Pearson's, of
// scores that do not vary it is the bound of zero failures, and with many units
// it is Student's.

// mass is units that are alike: how much their scores and their weights add up
// to, and how many they are.
type mass struct{ sum, weight, n float64 }

// bounded returns the limits of the mean of a sample whose scores lie in a range.
// It needs two clusters.
func (s sample) bounded(r Range) limits {
	lower := s.masses(r.Lower, r.width())
	upper := s.masses(r.Upper, -r.width())
	return func(alpha float64) (float64, float64) {
		return r.Lower + r.width()*lower.limit(alpha/2), r.Upper - r.width()*upper.limit(alpha/2)
	}
}

// masses are the clusters of a sample, by their sums of (x-origin)/width. They
// are in an order of their own, so that the order of rows changes no digit.
type masses []mass

func (s sample) masses(origin, width float64) masses {
	sums, weights := s.sums(origin), s.weights()
	all := make(masses, len(sums))
	for i := range sums {
		all[i] = mass{math.Max(0, sums[i]/width), weights[i], 1}
	}
	slices.SortFunc(all, func(a, b mass) int { return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.weight, b.weight)) })
	kept := all[:0]
	for _, m := range all {
		if n := len(kept); n > 0 && kept[n-1].sum == m.sum && kept[n-1].weight == m.weight {
			kept[n-1].n++
		} else {
			kept = append(kept, m)
		}
	}
	return kept
}

// limit is the lower limit of the mean, which is missed with probability alpha.
// The unit that is added is at zero and weighs as much as the others do on
// average.
func (m masses) limit(alpha float64) float64 {
	var sum, weight, n float64
	for _, u := range m {
		sum, weight, n = sum+u.n*u.sum, weight+u.n*u.weight, n+u.n
	}
	if sum == 0 {
		return 0
	}
	if exact, ok := m.exact(alpha, n); ok {
		return exact
	}
	all := append(masses{{0, weight / n, 1}}, m...)
	tail := tails{at: make([]float64, len(all)), of: all}
	return falsePosition(func(t float64) float64 { return tail.below(t) - alpha }, 0, sum/weight)
}

// exact is the limit if each unit is at zero or at one other place, and all weigh
// the same.
func (m masses) exact(alpha, n float64) (float64, bool) {
	last := m[len(m)-1]
	if len(m) > 2 || len(m) == 2 && (m[0].sum != 0 || m[0].weight != last.weight) {
		return 0, false
	}
	return last.sum / last.weight * BetaQuantile(alpha, last.n, n-last.n+1), true
}

// tails computes chances of randomly weighted means.
type tails struct {
	of masses
	at []float64 // how far each unit is from the mean in question
	s  float64   // where the last search ended
}

// below is the chance that the weighted mean is t or less, when each weight is
// multiplied by an independent exponential variable: the chance that the sum of
// (sum - t*weight) times these is not positive. It is Lugannani and Rice's
// approximation, which has at least two digits from a handful of units on.
func (q *tails) below(t float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for i, u := range q.of {
		q.at[i] = u.sum - t*u.weight
		low, high = math.Min(low, q.at[i]), math.Max(high, q.at[i])
	}
	switch {
	case low >= 0:
		return 0
	case high <= 0:
		return 1
	}
	s := q.saddle(1/low, 1/high)
	var k, spread, second, third float64
	for i, u := range q.of {
		a := q.at[i]
		b := a / (1 - a*s)
		k -= u.n * math.Log1p(-a*s)
		spread += u.n * b * b
		second += u.n * a * a
		third += 2 * u.n * a * a * a
	}
	w, v := math.Copysign(math.Sqrt(math.Max(0, -2*k)), s), s*math.Sqrt(spread)
	if math.Abs(w) < 1e-4 { // at the mean the formula is zero divided by zero
		return 0.5 + third/(6*math.Sqrt(2*math.Pi)*second*math.Sqrt(second))
	}
	density := math.Exp(-w*w/2) / math.Sqrt(2*math.Pi)
	return clamp(NormalCDF(w)+density*(1/w-1/v), 0, 1)
}

// saddle is where the derivative of the cumulants is zero. It rises from minus
// to plus infinity between the two ends.
func (q *tails) saddle(low, high float64) float64 {
	s := q.s
	if s <= low || s >= high {
		s = 0
	}
	for range 100 {
		var slope, curve float64
		for i, u := range q.of {
			b := q.at[i] / (1 - q.at[i]*s)
			slope += u.n * b
			curve += u.n * b * b
		}
		if slope > 0 {
			high = s
		} else {
			low = s
		}
		next := s - slope/curve
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if math.Abs(next-s) <= 1e-12*math.Abs(next) || next == s {
			break
		}
		s = next
	}
	q.s = s
	return s
}

// falsePosition returns where a rising function crosses zero between low, where
// it is negative, and high, where it is positive. It asks less often than bisect.
func falsePosition(f func(float64) float64, low, high float64) float64 {
	below, above := f(low), f(high)
	if above <= 0 {
		return high
	}
	side := 0
	for range 200 {
		middle := (low*above - high*below) / (above - below)
		if !(middle > low && middle < high) || high-low <= 1e-15*high {
			break
		}
		switch y := f(middle); {
		case y == 0:
			return middle
		case y > 0:
			if high-middle <= 1e-14*high && side > 0 {
				return middle
			}
			high, above = middle, y
			if side > 0 {
				below /= 2 // Illinois: the end that stays counts for less
			}
			side = 1
		default:
			if middle-low <= 1e-14*high && side < 0 {
				return middle
			}
			low, below = middle, y
			if side < 0 {
				above /= 2
			}
			side = -1
		}
	}
	return low + (high-low)/2
}
