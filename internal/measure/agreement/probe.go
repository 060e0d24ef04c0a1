package agreement

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Position is what a judge of pairs does when the two answers change places.
type Position struct {
	FlipRate stat.Estimate `json:"flip_rate" doc:"Share of pairs on which the judge picked the same place both times."`
	Index    stat.Estimate `json:"index" doc:"Share that picked the first place both times, less the share that picked the second."`
	P        *float64      `json:"p" doc:"Mid-p value of McNemar's test that no place is preferred; null without pairs."`
	PExact   *float64      `json:"p_exact"`
}

// PositionBias computes what a judge's preference for a place is, of n pairs that
// it saw in both orders: so many times it picked the first place both times, and
// so many times the second.
func PositionBias(first, second, n int, o stat.Options) (Position, error) {
	o, err := o.Checked()
	if err != nil {
		return Position{}, err
	}
	if first < 0 || second < 0 || first+second > n {
		return Position{}, malformed("%d and %d of %d pairs", first, second, n)
	}
	var p Position
	if p.FlipRate, err = stat.Proportion(first+second, n, stat.Options{Level: o.Level}); err != nil {
		return Position{}, err
	}
	p.FlipRate.Method, p.FlipRate.Source = "flip_rate", stat.SourceJudge
	p.Index = o.Estimate("position_index")
	p.Index.Source, p.Index.N, p.Index.Items, p.Index.Clusters, p.Index.NEff = stat.SourceJudge, n, n, n, float64(n)
	if n == 0 {
		p.Index.Abstain(stat.StatusInsufficient, "no pairs")
		return p, nil
	}
	f := stat.Fourfold{OnlyB: float64(first), OnlyA: float64(second), None: float64(n - first - second)}
	p.Index.Value = ptr(float64(first-second) / float64(n))
	lower, upper := f.Tango(o.Alpha())
	p.Index.Between(lower, upper, o.Level, "tango")
	if n < 10 {
		p.Index.Weaken("fewer than 10 independent units")
	}
	exact, midP := f.McNemar()
	p.P, p.PExact = &midP, &exact
	return p, nil
}

// SelfPreference estimates by how much a judge favours outputs of its own family:
// the mean of judge minus human on them, less the same mean on others.
func SelfPreference(own, others []stat.Observation, o stat.Options) (stat.Comparison, error) {
	return stat.Compare(others, own, stat.CompareOptions{Options: o, Unpaired: true})
}

// LengthSlope estimates how much a judge's error, judge minus human, changes with
// a standard deviation of the logarithm of the length. It is an association:
// long answers may differ in other ways as well. The error of the slope does not
// assume that all errors vary alike.
func LengthSlope(length, errors []float64, o stat.Options) (stat.Estimate, error) {
	o, err := o.Checked()
	if err != nil {
		return stat.Estimate{}, err
	}
	if len(length) != len(errors) {
		return stat.Estimate{}, malformed("%d lengths and %d errors", len(length), len(errors))
	}
	n := len(length)
	e := o.Estimate("length_slope")
	e.Source, e.N, e.Items, e.Clusters, e.NEff = stat.SourceHybrid, n, n, n, float64(n)
	for i := range length {
		for _, x := range []float64{length[i], errors[i]} {
			if math.IsNaN(x) || math.Abs(x) > maxValue {
				return stat.Estimate{}, malformed("pair %d: %v cannot be compared", i, x)
			}
		}
	}
	if n < 3 {
		e.Abstain(stat.StatusInsufficient, "fewer than three outputs")
		return e, nil
	}
	size := float64(n)
	mx := stat.SumOf(n, func(i int) float64 { return length[i] }) / size
	my := stat.SumOf(n, func(i int) float64 { return errors[i] }) / size
	xx := stat.SumOf(n, func(i int) float64 { return (length[i] - mx) * (length[i] - mx) })
	if unlessRounding(xx/size, largest(length)) == 0 {
		e.Abstain(stat.StatusUndefined, "all outputs have the same length")
		return e, nil
	}
	slope := stat.SumOf(n, func(i int) float64 { return (length[i] - mx) * (errors[i] - my) }) / xx
	e.Value = &slope
	decides := false // one output that the line must pass through
	variance := stat.SumOf(n, func(i int) float64 {
		d := length[i] - mx
		rest := errors[i] - my - slope*d
		leverage := 1/size + d*d/xx
		if leverage >= 1-1e-12 {
			decides = true
			return 0
		}
		x := d * rest / (xx * (1 - leverage))
		return x * x
	})
	if decides {
		e.Abstain(stat.StatusNotIdentified, "a single output decides the slope")
		return e, nil
	}
	if unlessRounding(variance*xx, largest(errors)) == 0 {
		e.Abstain(stat.StatusDegenerate, "the errors follow the length without exception")
		return e, nil
	}
	e.SE, e.DF = ptr(math.Sqrt(variance)), ptr(size-2)
	half := stat.TCritical(o.Alpha(), *e.DF) * *e.SE
	e.Between(slope-half, slope+half, o.Level, "hc3_t")
	e.Assume("an association, not an effect of length")
	if n < 10 {
		e.Weaken("fewer than 10 independent units")
	}
	return e, nil
}
