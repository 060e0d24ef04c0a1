package stat

import (
	"math"
	"slices"
)

// fewClusters is the number of independent units below which an interval is
// valid but moves much from one sample to the next.
const fewClusters = 10

// Why an estimate abstains, as readers see it.
const (
	noScores    = "no scores"
	oneUnit     = "one independent unit"
	noVariation = "no variation was observed"
)

// limits returns the ends of an interval that misses alpha.
type limits func(alpha float64) (lower, upper float64)

func ptr[T any](v T) *T { return &v }

// finite returns a pointer to x, or nil if x is no number that JSON can carry.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Warn adds a warning once.
func (e *Estimate) Warn(text string) {
	if !slices.Contains(e.Warnings, text) {
		e.Warnings = append(e.Warnings, text)
	}
}

// Weaken lowers an estimate that is otherwise sound, and says why.
func (e *Estimate) Weaken(text string) {
	if e.Status == StatusOK {
		e.Status = StatusFragile
	}
	e.Warn(text)
}

// Abstain gives up the interval, and says why.
func (e *Estimate) Abstain(s Status, text string) {
	e.Status, e.CI, e.SE = s, nil, nil
	e.Warn(text)
}

// Assume notes what the interval rests on.
func (e *Estimate) Assume(text string) { e.Assumptions = append(e.Assumptions, text) }

// few weakens an estimate from few independent units.
func (e *Estimate) few() {
	if e.Clusters < fewClusters {
		e.Weaken("fewer than 10 independent units")
	}
}

// Between sets the interval. It holds the value, also where rounding would
// leave it just outside.
func (e *Estimate) Between(lower, upper, level float64, method string) {
	if e.Value != nil {
		lower, upper = math.Min(lower, *e.Value), math.Max(upper, *e.Value)
	}
	e.CI = &Interval{Lower: finite(lower), Upper: finite(upper), Level: level, Kind: KindConfidence, Method: method}
}

// within clips the ends of an interval to a range, if there is one.
func (r *Range) within(l limits) limits {
	if r == nil {
		return l
	}
	return func(alpha float64) (float64, float64) {
		lower, upper := l(alpha)
		return clamp(lower, r.Lower, r.Upper), clamp(upper, r.Lower, r.Upper)
	}
}

// oneSided keeps the wanted end of an interval.
func (o Options) oneSided(ci *Interval) {
	switch {
	case ci == nil:
	case o.Side == SideLower:
		ci.Upper = nil
	case o.Side == SideUpper:
		ci.Lower = nil
	}
}
