package gate

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/stat"
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
	ReasonNoRange      Reason = "no_range"
	ReasonMissing      Reason = "missing_scores"
	ReasonIncomparable Reason = "not_comparable"
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
	// Missing is the missing scores that left the requirement open.
	Missing *stat.Missing
	// Need is what would decide a threshold that is left open.
	Need Need
}

// Run is what thresholds are decided on.
type Run struct {
	PassRate, Overall stat.Estimate
	Metrics           map[string]stat.Estimate
	// Strict has, by figure, estimates with intervals that are exact or
	// conservative. They are preferred.
	Strict map[string]stat.Estimate
	// Items are all items of the run, Errored those without any score.
	Items, Errored int
}

// figure returns the estimate that a threshold is decided on.
func (r Run) figure(name string) (stat.Estimate, bool) {
	e, ok := r.Metrics[name]
	switch name {
	case PassRate:
		e, ok = r.PassRate, true
	case Overall:
		e, ok = r.Overall, true
	}
	if strict, exists := r.Strict[name]; ok && exists {
		e = strict
	}
	return e, ok
}

// decidable are the statuses of estimates whose intervals have their level.
var decidable = []stat.Status{stat.StatusOK, stat.StatusFragile, stat.StatusDegenerate}

// Skip leaves a requirement undecided because there is no run to check.
func (r Requirement) Skip() Decision {
	return Decision{Requirement: r, Verdict: Inconclusive, Reason: ReasonNotChecked}
}

// Decide compares a threshold with a figure of a run. The whole interval must
// meet it to pass, and miss it to fail. More missing scores than the fraction
// maxMissing leave it open.
func (r Requirement) Decide(run Run, maxMissing float64) Decision {
	out := Decision{Requirement: r, Verdict: Inconclusive}
	e, ok := run.figure(r.Figure)
	if !ok {
		out.Reason = ReasonNoFigure
		return out
	}
	out.Estimate = &e
	if e.CI == nil || e.Value == nil || e.CI.Lower == nil || e.CI.Upper == nil || !slices.Contains(decidable, e.Status) {
		out.Reason = ReasonNoInterval
		return out
	}
	missing := e.Missing
	if r.Figure != PassRate { // an item without a score did not pass
		missing = run.missing(missing)
	}
	if missing != nil && missing.Share > maxMissing {
		out.Reason, out.Missing = ReasonMissing, missing
		return out
	}
	lower, upper := *e.CI.Lower, *e.CI.Upper
	var pass, fail bool
	switch r.Operator {
	case ">=":
		pass, fail = lower >= r.Threshold, upper < r.Threshold
	case ">":
		pass, fail = lower > r.Threshold, upper <= r.Threshold
	case "<=":
		pass, fail = upper <= r.Threshold, lower > r.Threshold
	case "<":
		pass, fail = upper < r.Threshold, lower >= r.Threshold
	}
	switch {
	case pass:
		out.Verdict, out.Reason = Pass, ReasonShown
	case fail:
		out.Verdict, out.Reason = Fail, ReasonRefuted
	default:
		out.Reason, out.Need = ReasonInside, need(e, r.Threshold)
	}
	return out
}

// missing counts at least the items that produced no score: no metric has
// theirs.
func (r Run) missing(m *stat.Missing) *stat.Missing {
	if r.Items == 0 || m != nil && m.Rows >= r.Errored {
		return m
	}
	return &stat.Missing{Rows: r.Errored, Share: float64(r.Errored) / float64(r.Items)}
}

// Need is what would decide a threshold if the figure is truly what was seen.
type Need struct {
	// Items is the total number of items that decide it in four of five runs;
	// zero if TooClose or if about twice as many would do.
	Items    int
	TooClose bool // no reasonable number of items decides it
}

// Quantiles of the normal distribution: an end of a 95 % interval, and a power
// of 80 %.
const (
	z95 = 1.959964
	z80 = 0.841621
)

// mostItems is a number of items beyond which nobody would measure.
const mostItems = 1e7

func need(e stat.Estimate, bar float64) Need {
	se := (*e.CI.Upper - *e.CI.Lower) / 2 / z95
	if e.SE != nil && *e.SE > 0 {
		se = *e.SE
	}
	apart := math.Abs(*e.Value - bar)
	ratio := (z95 + z80) * se / apart
	have := Size(e)
	n := math.Ceil(float64(have) * ratio * ratio)
	switch {
	case apart > 0 && n <= float64(have):
		return Need{}
	case apart > 0 && n < mostItems:
		return Need{Items: int(n)}
	}
	return Need{TooClose: true}
}

// Size is the number of items that an estimate is from.
func Size(e stat.Estimate) int {
	if e.Items > 0 {
		return e.Items
	}
	return e.N
}

// Sum is the verdict on all requirements together: failed if any failed, else
// inconclusive if any is.
func Sum(all []Decision) (verdict Verdict, failed, open int) {
	for _, d := range all {
		switch d.Verdict {
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
