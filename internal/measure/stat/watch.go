package stat

import (
	"fmt"
	"math"
)

// minSequence is the number of units from which the central limit theorem
// carries a sequence. Below it only exact sequences are given.
const minSequence = 100

// defaultPlanned is where a sequence is narrowest if nothing is planned.
const defaultPlanned = 1000

// WatchOptions say how to look at a run that is still going on.
type WatchOptions struct {
	Options
	Planned int // items that the run is to have
	// RandomOrder says that the items are executed in a random order and the
	// rows are a completed beginning of it. Nothing else can be extrapolated.
	RandomOrder bool
	// Target is a mean that matters, such as the one that a gate asks for.
	Target *float64
	// Margin is as in CompareOptions.
	Margin float64
}

// Sequence is an estimate at one of many looks, or after a stop that nobody
// planned. It is a type of its own so that no decision that assumes one look at
// the end takes it for an estimate.
type Sequence Estimate

// Progress is what may be said of a run before it ends.
type Progress struct {
	Estimate Sequence  `json:"estimate"`
	StopHint *StopHint `json:"stop_hint"` // nil if nobody asked a question that stopping could answer
}

// StopHint says whether the answer is already in. It may be followed at any
// time without making the interval wrong.
type StopHint struct {
	Stop   bool   `json:"stop"`
	Reason string `json:"reason"`
}

// Watch estimates the mean of a run from the rows that are there. The interval
// holds at every look, so that looking costs nothing. Rows stand in the order
// in which their items were executed.
func Watch(rows []Observation, o WatchOptions) (Progress, error) {
	o, err := o.checked()
	if err != nil {
		return Progress{}, err
	}
	t, err := gather(rows, &o.Options)
	if err != nil {
		return Progress{}, err
	}
	e := o.Estimate("mean")
	s := t.means(o.Options)
	switch {
	case !e.begin(s, o):
	case s.binary() && s.cluster == nil && s.w == nil && s.scored == s.n():
		k := total(s.x)
		lower, upper := betaBinomial(k, float64(s.n()), o.Alpha())
		e.sequence(lower, upper, o.Level, "beta_binomial_cs")
	default:
		e.watch(s, o.Range, o)
	}
	e.describeMissing(t, o.Options)
	return Progress{Sequence(e), o.target(e)}, nil
}

// WatchDifference estimates how a candidate that is still going on differs
// from a finished baseline, on the items that it has done.
func WatchDifference(baseline, candidate []Observation, o WatchOptions) (Progress, error) {
	o, err := o.checked()
	if err != nil {
		return Progress{}, err
	}
	a, err := gather(baseline, &o.Options)
	if err != nil {
		return Progress{}, inputErrorf("baseline: %w", err)
	}
	b, err := gather(candidate, &o.Options)
	if err != nil {
		return Progress{}, inputErrorf("candidate: %w", err)
	}
	// The candidate comes first, since its order is the one that counts.
	m, err := matchItems(b, a, o.Weighted)
	if err != nil {
		return Progress{}, err
	}
	c := CompareOptions{Options: o.Options, Margin: o.Margin}
	e := o.Estimate("paired_difference")
	if len(m.reasons()) > 0 {
		e.Abstain(StatusNotComparable, "the runs are not comparable")
		return Progress{Sequence(e), stopHint(c.verdict(nil))}, nil
	}
	s := m.scored(o.Options).d
	for i := range s.x {
		s.x[i] = -s.x[i]
	}
	if e.begin(s, o) {
		e.watch(s, c.differences(), o)
	}
	if to, of := m.missing(o.Options); to.Rows+of.Rows > 0 {
		e.missing(Missing{Rows: to.Rows + of.Rows, Share: math.Max(to.Share, of.Share), Policy: o.Missing})
	}
	var l limits
	if e.CI != nil {
		l = func(float64) (float64, float64) { return *e.CI.Lower, *e.CI.Upper }
	}
	return Progress{Sequence(e), stopHint(c.verdict(l))}, nil
}

func (o WatchOptions) checked() (WatchOptions, error) {
	var err error
	if o.Options, err = o.Options.Checked(); err != nil {
		return o, err
	}
	switch {
	case o.Method != MethodDefault || o.Estimand != EstimandPopulation || o.Missing == MissingBounds:
		return o, inputErrorf("a run that is going on has no choice of method, estimand or bounds")
	case o.Planned < 0:
		return o, inputErrorf("%d items are planned", o.Planned)
	case !(o.Margin >= 0 && o.Margin <= maxScore):
		return o, inputErrorf("margin %v must be a number of at least 0", o.Margin)
	case o.Target != nil && finite(*o.Target) == nil:
		return o, inputErrorf("target %v is not a number", *o.Target)
	}
	if o.Planned == 0 {
		o.Planned = defaultPlanned
	}
	return o, nil
}

// begin fills in what does not depend on the kind of sequence. It returns
// false if there is none.
func (e *Estimate) begin(s sample, o WatchOptions) bool {
	e.N, e.Items, e.Clusters, e.NEff = s.n(), s.n(), s.g, float64(s.g)
	if s.n() == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return false
	}
	e.Value = ptr(s.mean())
	if !o.RandomOrder {
		e.Weaken("the items are not executed in a random order: what is done says nothing certain about what is not")
		return false
	}
	e.Assume("items are executed in a random order")
	return true
}

// watch gives the sequence of a mean.
func (e *Estimate) watch(s sample, r *Range, o WatchOptions) {
	plain := s.cluster == nil && s.w == nil
	var v spread
	if s.g > 1 {
		v = s.spread(*e.Value)
	}
	switch {
	case s.g >= minSequence && v.clustered > 0:
		se := math.Sqrt(v.clustered)
		e.SE = &se
		half := sequenceMultiplier(float64(s.g)/sequenceScale(o.planned(s), o.Alpha()), o.Alpha()) * se
		lower, upper := *e.Value-half, *e.Value+half
		if r != nil {
			lower, upper = clamp(lower, r.Lower, r.Upper), clamp(upper, r.Lower, r.Upper)
		}
		e.sequence(lower, upper, o.Level, "asymptotic_cs")
	case r != nil && plain:
		x := make([]float64, s.n())
		for i := range x {
			x[i] = clamp((s.x[i]-r.Lower)/r.width(), 0, 1)
		}
		lower, upper := betting(x, o.Alpha())
		e.sequence(r.Lower+lower*r.width(), r.Lower+upper*r.width(), o.Level, "betting_cs")
	default:
		e.Abstain(StatusInsufficient, "no interval for fewer than 100 units that are weighted, clustered or without a range")
	}
}

// planned is the number of units that the run is to have.
func (o WatchOptions) planned(s sample) float64 {
	return float64(o.Planned) * float64(s.g) / float64(s.n())
}

func (e *Estimate) sequence(lower, upper, level float64, method string) {
	e.Between(lower, upper, level, method)
	e.CI.Kind = KindSequence
}

// target says whether the sequence has cleared the target.
func (o WatchOptions) target(e Estimate) *StopHint {
	if o.Target == nil {
		return nil
	}
	switch {
	case e.CI == nil:
		return &StopHint{false, "there is no interval yet"}
	case *e.CI.Lower > *o.Target:
		return &StopHint{true, fmt.Sprintf("the mean is above %v", *o.Target)}
	case *e.CI.Upper < *o.Target:
		return &StopHint{true, fmt.Sprintf("the mean is below %v", *o.Target)}
	}
	return &StopHint{false, fmt.Sprintf("the mean may lie on either side of %v", *o.Target)}
}

// stopHint says whether a sequence of a difference has answered anything.
func stopHint(v Verdict) *StopHint {
	switch {
	case v.Equivalence == EquivalenceShown:
		return &StopHint{true, "the runs differ by less than the margin"}
	case v.Superiority == SuperiorityBetter:
		return &StopHint{true, "the candidate is better"}
	case v.NonInferiority == NonInferiorityRefuted:
		return &StopHint{true, "the candidate is worse by more than the margin"}
	case v.Superiority == SuperiorityWorse:
		return &StopHint{true, "the candidate is worse"}
	case v.NonInferiority == NonInferiorityShown:
		return &StopHint{true, "the candidate is not worse by more than the margin"}
	}
	return &StopHint{false, "the difference is not resolved yet"}
}
