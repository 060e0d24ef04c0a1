package stat

// verdict holds an interval against zero and the margin. Non-inferiority and
// equivalence are one-sided questions and take the interval that misses twice
// as much.
func (o CompareOptions) verdict(l limits) Verdict {
	v := Verdict{Superiority: SuperiorityUnresolved, Level: o.Level, LowerIsBetter: o.LowerIsBetter}
	if o.Margin > 0 {
		v.NonInferiority, v.Equivalence, v.Margin = NonInferiorityUnresolved, EquivalenceNotShown, &o.Margin
	}
	if l == nil {
		return v
	}
	lower, upper := o.oriented(l(o.Alpha()))
	switch {
	case lower > 0:
		v.Superiority = SuperiorityBetter
	case upper < 0:
		v.Superiority = SuperiorityWorse
	}
	if o.Margin <= 0 {
		return v
	}
	lower, upper = o.oriented(l(2 * o.Alpha()))
	switch {
	case lower > -o.Margin:
		v.NonInferiority = NonInferiorityShown
	case upper < -o.Margin:
		v.NonInferiority = NonInferiorityRefuted
	}
	if lower > -o.Margin && upper < o.Margin {
		v.Equivalence = EquivalenceShown
	}
	return v
}

// Decide is the verdict that the interval of a difference allows, which limits gives for
// any error probability. Without limits nothing is decided.
func (o CompareOptions) Decide(limits func(alpha float64) (lower, upper float64)) Verdict {
	return o.verdict(limits)
}

// oriented turns an interval so that larger is better.
func (o CompareOptions) oriented(lower, upper float64) (float64, float64) {
	if o.LowerIsBetter {
		return -upper, -lower
	}
	return lower, upper
}

// Outcome is the verdict in one word. A difference that is shown to be smaller
// than the margin leaves things unchanged, whichever way it points.
func (v Verdict) Outcome() Outcome {
	switch {
	case v.Equivalence == EquivalenceShown:
		return OutcomeUnchanged
	case v.Superiority == SuperiorityBetter:
		return OutcomeImproved
	case v.Superiority == SuperiorityWorse:
		return OutcomeRegressed
	}
	return OutcomeInconclusive
}
