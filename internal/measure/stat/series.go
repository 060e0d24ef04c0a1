package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// RunSpread estimates how much a figure varies from one run to the next under
// equal conditions: the standard deviation of the runs' values, with the interval
// that holds for normal variation.
func RunSpread(values []float64, level float64) (Estimate, error) {
	o, err := Options{Level: level}.Checked()
	if err != nil {
		return Estimate{}, err
	}
	for i, v := range values {
		if finite(v) == nil || math.Abs(v) > maxScore {
			return Estimate{}, inputErrorf("value %d is no number", i)
		}
	}
	e := o.Estimate("standard_deviation")
	e.N, e.Items, e.Clusters, e.NEff = len(values), len(values), len(values), float64(len(values))
	if len(values) < 2 {
		e.Abstain(StatusInsufficient, "fewer than two runs")
		return e, nil
	}
	n := float64(len(values))
	mean := total(values) / n
	df := n - 1
	variance := SumOf(len(values), func(i int) float64 { return (values[i] - mean) * (values[i] - mean) }) / df
	e.Value, e.DF = ptr(math.Sqrt(variance)), &df
	if variance == 0 {
		e.Abstain(StatusDegenerate, noVariation)
		return e, nil
	}
	chi := func(p float64) float64 { return 2 * mathext.GammaIncRegInv(df/2, p) }
	e.Between(math.Sqrt(variance*df/chi(1-o.Alpha()/2)), math.Sqrt(variance*df/chi(o.Alpha()/2)), o.Level, "chi_squared")
	e.Assume("values vary normally from run to run")
	e.few()
	return e, nil
}
