package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// minP is the smallest p-value that is told; below it only "less than" is
// known.
const minP = 1e-16

// power is the chance with which a planned study finds what is there.
const power = 0.8

// NormalQuantile returns the point below which a standard normal variable
// falls with probability p.
func NormalQuantile(p float64) float64 {
	if p > 0.5 { // the lower tail keeps its digits
		return -distuv.UnitNormal.Quantile(1 - p)
	}
	return distuv.UnitNormal.Quantile(p)
}

// NormalCDF returns the chance that a standard normal variable is at most z.
func NormalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalCritical returns z such that both tails beyond it hold alpha together.
func NormalCritical(alpha float64) float64 { return -distuv.UnitNormal.Quantile(alpha / 2) }

// tQuantile returns Student's quantile. From ten thousand degrees of freedom it
// is expanded about the normal one, which then keeps more digits.
func tQuantile(p, df float64) float64 {
	if df < 1e4 {
		return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
	}
	z := NormalQuantile(p)
	zz := z * z
	return z * (1 + (zz+1)/(4*df) + ((5*zz+16)*zz+3)/(96*df*df) + (((3*zz+19)*zz+17)*zz-15)/(384*df*df*df))
}

// TCritical returns t such that both tails beyond it hold alpha together.
func TCritical(alpha, df float64) float64 { return -tQuantile(alpha/2, df) }

// TTest returns the two-sided p-value of a t statistic.
func TTest(t, df float64) float64 {
	if tt := t * t; tt < df { // of x and 1-x the smaller keeps its digits
		if p := 1 - mathext.RegIncBeta(0.5, df/2, tt/(df+tt)); p > 0.1 {
			return p
		}
	}
	return clampP(mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)))
}

// BetaQuantile returns the quantile of a beta variable; a parameter of zero
// puts everything on one end.
func BetaQuantile(p, a, b float64) float64 {
	switch {
	case a <= 0:
		return 0
	case b <= 0:
		return 1
	}
	return mathext.InvRegIncBeta(a, b, p)
}

// BinomialCDF returns the chance of at most k successes in n.
func BinomialCDF(k, n, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(n-k, k+1, 1-p)
}

// binomialPMF returns the chance of exactly k successes in n.
func binomialPMF(k, n, p float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return math.Exp(a - b - c + k*math.Log(p) + (n-k)*math.Log1p(-p))
}

func clampP(p float64) float64 { return math.Min(1, math.Max(minP, p)) }

// clamp returns x, moved to the nearest end if it lies outside.
func clamp(x, low, high float64) float64 { return math.Min(high, math.Max(low, x)) }

// bisect returns where a function crosses zero between low and high, to the
// last digit. It is negative at low and positive at high, or the reverse.
func bisect(f func(float64) float64, low, high float64) float64 {
	rising := f(high) > 0
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if (f(middle) > 0) == rising {
			high = middle
		} else {
			low = middle
		}
	}
	return low + (high-low)/2
}

// SortedQuantile returns the quantile of sorted numbers, interpolated as Hyndman
// and Fan's seventh definition does.
func SortedQuantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(math.Floor(at))
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := at - float64(below)
	return sorted[below] + float64(part*(sorted[below+1]-sorted[below]))
}
