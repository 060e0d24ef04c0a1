package requirement

import "github.com/assayhq/assay/internal/measure/stat"

// Difference is what a claim is decided on, at both levels: how a figure differs
// from the baseline.
type Difference struct{ Alone, Together stat.Comparison }

// DecideClaim compares a claim with a difference, which is nil if neither run has
// the figure. More missing scores of the baseline than the fraction maxMissing
// leave it open.
func (r Requirement) DecideClaim(f *Difference, maxMissing float64) Decision {
	out := Decision{Requirement: r, Verdict: Inconclusive}
	if f == nil {
		out.Reason = ReasonNoFigure
		return out
	}
	c := f.Alone
	d := c.Difference
	out.Estimate, out.Together, out.Margin = &d, f.Together.Difference.CI, c.Verdict.Margin
	switch {
	case !c.Comparable:
		out.Reason = ReasonIncomparable
		return out
	case c.Descriptive:
		out.Reason = ReasonDescriptive
		return out
	case d.Value == nil || d.CI == nil || d.CI.Lower == nil || d.CI.Upper == nil:
		out.Reason = ReasonNoInterval
		return out
	}
	// What the candidate lacks counts against it. What the baseline lacks would
	// lower the bar.
	if m := c.Baseline.Missing; m != nil && m.Share > maxMissing {
		out.Reason = ReasonMissing
		return out
	}
	switch {
	case r.Claim.shown(c.Verdict):
		out.Verdict, out.Reason = Pass, ReasonShown
	case r.Claim.refuted(f.Together):
		out.Verdict, out.Reason = Fail, ReasonRefuted
	default:
		out.Reason = ReasonInside
	}
	return out
}

func (c Claim) shown(v stat.Verdict) bool {
	return c == ClaimBetter && v.Superiority == stat.SuperiorityBetter ||
		c == ClaimNonInferior && v.NonInferiority == stat.NonInferiorityShown ||
		c == ClaimEquivalent && v.Equivalence == stat.EquivalenceShown
}

func (c Claim) refuted(at stat.Comparison) bool {
	v := at.Verdict
	switch c {
	case ClaimBetter:
		return v.Superiority == stat.SuperiorityWorse
	case ClaimNonInferior, ClaimEquivalent:
		lower, upper := ends(at.Difference.CI)
		if v.LowerIsBetter {
			lower, upper = -upper, -lower
		}
		return v.Margin != nil && (upper < -*v.Margin || c == ClaimEquivalent && lower > *v.Margin)
	}
	return false
}
