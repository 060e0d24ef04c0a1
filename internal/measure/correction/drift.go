package correction

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Anchors is what became of the verdicts on a fixed set of outputs when the judge
// was asked again. The outputs are the same; whatever changed is the judge.
type Anchors struct {
	N            int // anchors
	PassToFail   int
	FailToPass   int
	BaselineFlip float64 // upper limit of how often the judge contradicts itself without any change
	Tolerance    float64 // shift of the pass rate that changes no decision; zero is 0.02
	// Changes are, of each anchor, its verdict now less the mean of its verdicts before.
	// Without them each anchor had one verdict before. A majority of several verdicts is
	// not a verdict like the one now: of a judge that passes an anchor nine times in ten
	// it passes nearly always.
	Changes []float64
	// Alarm is how often a check may say by mistake that the judge changed; zero is what
	// the level leaves.
	Alarm float64
}

// Shift says what the anchors show.
type Shift string

// The answers. A wide interval is unresolved: it does not show that nothing
// changed.
const (
	ShiftNone       Shift = "none"       // the whole interval lies within the tolerance
	ShiftChanged    Shift = "changed"    // none of it does
	ShiftUnresolved Shift = "unresolved" // the rest
)

// Drift compares a judge with what it said before.
type Drift struct {
	FlipRate  stat.Estimate `json:"flip_rate" doc:"Share of anchors with another verdict."`
	FlipsP    *float64      `json:"flips_p" doc:"p-value of so many flips if the judge contradicts itself no more than before; null without anchors."`
	Evidence  *float64      `json:"evidence" doc:"Evidence against the same, as an e-value: products over days stay valid, and 20 is strong; null without anchors."`
	Direction stat.Estimate `json:"direction" doc:"Change of the pass rate on the anchors."`
	P         *float64      `json:"p" doc:"Mid-p value of McNemar's test that flips go both ways alike; null without anchors, or if the judge contradicted itself before."`
	PExact    *float64      `json:"p_exact" doc:"Exact p-value of the same test; null where p is."`
	Shift     Shift         `json:"shift" enum:"none,changed,unresolved" doc:"none if the interval of direction lies within the tolerance, changed if it lies outside, unresolved otherwise."`
	Tolerance float64       `json:"tolerance" doc:"Shift of the pass rate that does not matter."`
}

// defaultTolerance is two points of the pass rate.
const defaultTolerance = 0.02

// CompareAnchors computes whether a judge changed.
func CompareAnchors(a Anchors, o stat.Options) (Drift, error) {
	o, err := o.Checked()
	if err != nil {
		return Drift{}, err
	}
	if a.Tolerance == 0 {
		a.Tolerance = defaultTolerance
	}
	if a.PassToFail < 0 || a.FailToPass < 0 || a.PassToFail+a.FailToPass > a.N || !(a.BaselineFlip > 0 && a.BaselineFlip < 1) || !(a.Tolerance > 0 && a.Tolerance < 1) {
		return Drift{}, malformed("anchors %+v", a)
	}
	d := Drift{Tolerance: a.Tolerance, Shift: ShiftUnresolved}
	flips := a.PassToFail + a.FailToPass
	if d.FlipRate, err = stat.Proportion(flips, a.N, stat.Options{Level: o.Level}); err != nil {
		return Drift{}, err
	}
	d.FlipRate.Source, d.FlipRate.Method = stat.SourceJudge, "flip_rate"
	d.Direction = paired("shift", stat.Fourfold{OnlyB: float64(a.FailToPass), OnlyA: float64(a.PassToFail), None: float64(a.N - flips)}, stat.SourceJudge, o)
	if a.N == 0 {
		return d, nil
	}
	// So many flips or more are so few anchors or fewer that kept their verdict.
	d.FlipsP = ptr(math.Max(1e-16, stat.BinomialCDF(float64(a.N-flips), float64(a.N), 1-a.BaselineFlip)))
	d.Evidence = ptr(Evidence(flips, a.N, a.BaselineFlip))
	sure := d.Direction // at the level at which the judge is accused
	if a.Alarm > 0 && a.Alarm < o.Alpha() {
		strict := o
		strict.Level = 1 - a.Alarm
		sure = paired("shift", stat.Fourfold{OnlyB: float64(a.FailToPass), OnlyA: float64(a.PassToFail), None: float64(a.N - flips)}, stat.SourceJudge, strict)
		sure = a.centred(sure, a.Alarm)
	}
	d.Direction = a.centred(d.Direction, o.Alpha())
	if sure.CI.Level == d.Direction.CI.Level {
		sure = d.Direction
	}
	if !a.noisy() {
		exact, midP := stat.Fourfold{OnlyB: float64(a.FailToPass), OnlyA: float64(a.PassToFail)}.McNemar()
		d.P, d.PExact = &midP, &exact
	}
	lower, upper := *d.Direction.CI.Lower, *d.Direction.CI.Upper
	switch {
	case *sure.CI.Lower > a.Tolerance || *sure.CI.Upper < -a.Tolerance:
		d.Shift = ShiftChanged
	case lower >= -a.Tolerance && upper <= a.Tolerance:
		d.Shift = ShiftNone
	}
	return d, nil
}

// noisy reports whether the judge contradicted itself before.
func (a Anchors) noisy() bool {
	for _, x := range a.Changes {
		if x != math.Trunc(x) {
			return true
		}
	}
	return false
}

// centred moves an interval of the shift, which was made from flips, to the mean change.
// It is as wide as the changes ask for, and at least as wide as the flips do: changes
// that are all alike leave room for what was not seen.
func (a Anchors) centred(e stat.Estimate, alpha float64) stat.Estimate {
	if !a.noisy() {
		return e
	}
	n := float64(len(a.Changes))
	mean := total(a.Changes) / n
	variance := sum(a.Changes, func(x float64) float64 { return (x - mean) * (x - mean) }) / math.Max(1, n-1)
	half := stat.TCritical(alpha, math.Max(1, n-1)) * math.Sqrt(variance/n)
	below, above := math.Max(half, *e.Value-*e.CI.Lower), math.Max(half, *e.CI.Upper-*e.Value)
	e.Value = ptr(mean)
	e.Between(math.Max(-1, mean-below), math.Min(1, mean+above), 1-alpha, "paired_t")
	return e
}

// Evidence is an e-value against the claim that something happens with at most a
// probability, after it happened k times in n. If the claim holds, the product of
// such values over any number of days exceeds 20 in at most one case of twenty,
// however often one looks.
func Evidence(k, n int, most float64) float64 {
	var sum, count float64
	for _, times := range []float64{1.5, 2, 3, 5, 10} {
		if p := most * times; p < 1 {
			sum += math.Exp(float64(k)*math.Log(p/most) + float64(n-k)*(math.Log1p(-p)-math.Log1p(-most)))
			count++
		}
	}
	if count == 0 {
		return 1
	}
	return math.Min(sum/count, mostEvidence)
}

// mostEvidence is beyond every use, and still a number.
const mostEvidence = 1e12

// Correctness is how often a judge was right about anchors with labels, before and
// now: on so many both times, now alone, before alone, and never.
type Correctness struct{ Both, Now, Before, Never int }

// Change is a difference with the test that there is none.
type Change struct {
	Difference stat.Estimate `json:"difference" doc:"Share of right verdicts now minus the share before."`
	P          *float64      `json:"p" doc:"Mid-p value of McNemar's test; null without anchors."`
}

// CompareCorrectness estimates by how much the share of right verdicts changed.
func CompareCorrectness(c Correctness, o stat.Options) (Change, error) {
	o, err := o.Checked()
	if err != nil {
		return Change{}, err
	}
	if min(c.Both, c.Now, c.Before, c.Never) < 0 {
		return Change{}, malformed("counts %+v", c)
	}
	f := stat.Fourfold{Both: float64(c.Both), OnlyB: float64(c.Now), OnlyA: float64(c.Before), None: float64(c.Never)}
	out := Change{Difference: paired("correctness_change", f, stat.SourceHybrid, o)}
	if out.Difference.N > 0 {
		_, midP := f.McNemar()
		out.P = &midP
	}
	return out, nil
}

// paired estimates the difference of two paired shares.
func paired(method string, f stat.Fourfold, source stat.Source, o stat.Options) stat.Estimate {
	e := o.Estimate(method)
	n := f.Both + f.OnlyA + f.OnlyB + f.None
	e.Source, e.N, e.Items, e.Clusters, e.NEff = source, int(n), int(n), int(n), n
	if n == 0 {
		e.Abstain(stat.StatusInsufficient, "no anchors")
		return e
	}
	e.Value = ptr((f.OnlyB - f.OnlyA) / n)
	lower, upper := f.Tango(o.Alpha())
	e.Between(lower, upper, o.Level, "tango")
	if n < 10 {
		e.Weaken("fewer than 10 independent units")
	}
	return e
}
