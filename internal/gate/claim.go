package gate

import "github.com/assayhq/assay/internal/stat"

// DecideClaim compares a claim with how a figure differs from the baseline; c is
// nil if neither run has the figure. More missing scores than the fraction
// maxMissing leave it open.
func (r Requirement) DecideClaim(c *stat.Comparison, maxMissing float64) Decision {
	out := Decision{Requirement: r, Verdict: Inconclusive}
	if c == nil {
		out.Reason = ReasonNoFigure
		return out
	}
	d := c.Difference
	out.Estimate = &d
	switch {
	case !c.Comparable:
		out.Reason = ReasonIncomparable
		return out
	case d.Value == nil || d.CI == nil || d.CI.Lower == nil || d.CI.Upper == nil:
		out.Reason = ReasonNoInterval
		return out
	case r.Claim.NeedsMargin() && (c.Verdict.NonInferiority == "" || c.Verdict.Margin == nil):
		out.Reason = ReasonNoRange
		return out
	}
	for _, e := range []stat.Estimate{c.Candidate, d} {
		if m := e.Missing; m != nil && m.Share > maxMissing {
			out.Reason, out.Missing = ReasonMissing, m
			return out
		}
	}
	out.Verdict, out.Reason = r.Claim.decide(c.Verdict, *d.CI.Lower, *d.CI.Upper)
	return out
}

// decide reads the answer to a claim from the verdict of a comparison and the
// interval of the difference.
func (c Claim) decide(v stat.Verdict, lower, upper float64) (Verdict, Reason) {
	switch {
	case c == ClaimBetter && v.Superiority == stat.SuperiorityBetter,
		c == ClaimNonInferior && v.NonInferiority == stat.NonInferiorityShown,
		c == ClaimEquivalent && v.Equivalence == stat.EquivalenceShown:
		return Pass, ReasonShown
	case c == ClaimBetter && v.Superiority == stat.SuperiorityWorse,
		c == ClaimNonInferior && v.NonInferiority == stat.NonInferiorityRefuted,
		c == ClaimEquivalent && (lower > *v.Margin || upper < -*v.Margin):
		return Fail, ReasonRefuted
	}
	return Inconclusive, ReasonInside
}
