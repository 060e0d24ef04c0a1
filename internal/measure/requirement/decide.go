package requirement

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Verdict is the answer of a gate.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "PASS"
	Fail         Verdict = "FAIL"
	Inconclusive Verdict = "INCONCLUSIVE"
)

// Reason is why a requirement has its verdict.
type Reason string

// The reasons. Inside means that the interval contains the threshold or leaves
// the claim open.
const (
	ReasonShown        Reason = "shown"
	ReasonRefuted      Reason = "refuted"
	ReasonInside       Reason = "inside"
	ReasonNoFigure     Reason = "no_figure"
	ReasonNoInterval   Reason = "no_interval"
	ReasonStale        Reason = "stale" // whatever made the figure has changed since
	ReasonMissing      Reason = "missing_scores"
	ReasonIncomparable Reason = "not_comparable"
	ReasonDescriptive  Reason = "descriptive"
	ReasonNoBaseline   Reason = "no_baseline"
	ReasonNotChecked   Reason = "not_checked"
)

// Decision is the verdict on one requirement.
type Decision struct {
	Requirement
	Verdict Verdict
	Reason  Reason
	// Estimate is what was decided on: the figure of the run or its difference
	// from the baseline. It is nil if there is none.
	Estimate *stat.Estimate
	// Together is the interval at the level at which all requirements hold
	// together, which a failure is read from.
	Together *stat.Interval
	// Margin is the largest difference that does not matter, in units of the figure;
	// nil if the requirement has none.
	Margin *float64
	// Reach is how far from the threshold the truth has to be for four of five runs
	// like this one to decide it; zero for claims, and infinite if nobody can tell.
	Reach float64
}

// Level is the level of the intervals that requirements pass on: a value that
// truly misses a threshold passes in one of forty runs, and a loss of a margin is
// ruled out by mistake in one of twenty.
const Level = 0.95

// Together is the level of the intervals that fail a gate of so many
// requirements. All of them must pass, so each may be judged by itself; but one
// that fails is enough, and of many that hold one would soon fail by chance.
func Together(requirements int) float64 { return stat.SimultaneousLevel(Level, requirements) }

// Figure is what a threshold is decided on, at both levels.
type Figure struct{ Alone, Together stat.Estimate }

// decidable are the statuses of estimates whose intervals have their level.
var decidable = []stat.Status{stat.StatusOK, stat.StatusFragile, stat.StatusDegenerate}

// Skip leaves a requirement undecided.
func (r Requirement) Skip(why Reason) Decision {
	return Decision{Requirement: r, Verdict: Inconclusive, Reason: why}
}

// Decide compares a threshold with a figure, which is nil if the run has none. The
// whole interval must meet it to pass, and miss it to fail. More missing scores
// that were left out than the fraction maxMissing leave it open.
func (r Requirement) Decide(f *Figure, maxMissing float64) Decision {
	out := Decision{Requirement: r, Verdict: Inconclusive}
	if f == nil {
		out.Reason = ReasonNoFigure
		return out
	}
	e := f.Alone
	out.Estimate, out.Together = &e, f.Together.CI
	if e.Status == stat.StatusStale {
		out.Reason = ReasonStale
		return out
	}
	if e.CI == nil || e.CI.Kind == stat.KindSequence || e.Value == nil || !slices.Contains(decidable, e.Status) {
		out.Reason = ReasonNoInterval
		return out
	}
	if m := left(e.Missing); m != nil && m.Share > maxMissing {
		out.Reason = ReasonMissing
		return out
	}
	lower, upper := ends(e.CI)
	least, most := ends(f.Together.CI)
	var pass, fail bool
	switch r.Operator {
	case ">=":
		pass, fail = lower >= r.Threshold, most < r.Threshold
	case ">":
		pass, fail = lower > r.Threshold, most <= r.Threshold
	case "<=":
		pass, fail = upper <= r.Threshold, least > r.Threshold
	case "<":
		pass, fail = upper < r.Threshold, least >= r.Threshold
	}
	switch {
	case pass:
		out.Verdict, out.Reason = Pass, ReasonShown
	case fail:
		out.Verdict, out.Reason = Fail, ReasonRefuted
	default:
		out.Reason, out.Reach = ReasonInside, reach(e)
	}
	return out
}

// ends are those of an interval, which may be open.
func ends(ci *stat.Interval) (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	if ci != nil && ci.Lower != nil {
		lower = *ci.Lower
	}
	if ci != nil && ci.Upper != nil {
		upper = *ci.Upper
	}
	return lower, upper
}

// left are the missing scores that were left out; those that count as the worst
// score are in the figure.
func left(m *stat.Missing) *stat.Missing {
	if m != nil && m.Policy == stat.MissingFail {
		return nil
	}
	return m
}

// Quantiles of the normal distribution: an end of a 95 % interval, and a power
// of 80 %.
const (
	z95 = 1.959964
	z80 = 0.841621
)

// reach is how far from a threshold the truth has to be for four of five runs like
// this one to decide it. What was seen plays no part: a figure that happens to be
// far from the threshold is no reason to expect that it stays so.
func reach(e stat.Estimate) float64 {
	if e.SE != nil && *e.SE > 0 {
		return (z95 + z80) * *e.SE
	}
	lower, upper := ends(e.CI)
	return (z95 + z80) * (upper - lower) / 2 / z95
}

// Sum is the verdict on all requirements together: failed if any failed, else
// inconclusive if any is.
func Sum(all []Verdict) (verdict Verdict, failed, open int) {
	for _, v := range all {
		switch v {
		case Fail:
			failed++
		case Inconclusive:
			open++
		}
	}
	switch {
	case failed > 0:
		return Fail, failed, open
	case open > 0:
		return Inconclusive, failed, open
	}
	return Pass, failed, open
}
