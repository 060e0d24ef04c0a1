package correction

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// ErrorRates is how a judge did where people's verdicts are known: how many of
// the failed items it failed, and how many of the passed ones it passed.
type ErrorRates struct {
	Failed, FailedRight int
	Passed, PassedRight int
}

// What error rates need: labels of each kind, and a judge that tells the kinds
// apart.
const (
	minOfKind = 10
	fewOfKind = 30
	minYouden = 0.1
)

// RoganGladen estimates the share that people would pass, of n items of which the
// judge passed some, from error rates that were measured on other items. It
// assumes that the judge errs as often on these; where some of these items have
// labels, Correct assumes less and says more.
func RoganGladen(passed, n int, rates ErrorRates, o stat.Options) (stat.Estimate, error) {
	o, err := o.Checked()
	if err != nil {
		return stat.Estimate{}, err
	}
	if passed < 0 || n < passed || !rates.sound() {
		return stat.Estimate{}, malformed("%d of %d passed, with error rates %+v", passed, n, rates)
	}
	e := o.Estimate("rogan_gladen")
	e.Source, e.N, e.Items, e.Clusters, e.NEff = stat.SourceHybrid, n, n, n, float64(n)
	e.Assume("the judge errs as often on these items as on those with labels")
	switch {
	case n == 0:
		e.Abstain(stat.StatusInsufficient, "no scores")
		return e, nil
	case min(rates.Failed, rates.Passed) < minOfKind:
		e.Abstain(stat.StatusInsufficient, "fewer than 10 labels of one kind")
		return e, nil
	case rates.youdenLimit(o) <= minYouden:
		e.Abstain(stat.StatusNotIdentified, "the judge hardly tells passes from failures")
		e.Between(0, 1, o.Level, "none")
		return e, nil
	}
	p := float64(passed) / float64(n)
	q0, q1 := rates.specificity(), rates.sensitivity()
	youden := q0 + q1 - 1
	value := (p + q0 - 1) / youden
	r := newRegular(float64(passed), float64(n), rates, stat.NormalCritical(o.Alpha()))
	lower, upper := clamp(r.centre+r.shift-r.half(), 0, 1), clamp(r.centre+r.shift+r.half(), 0, 1)
	if lower == upper {
		e.Abstain(stat.StatusNotIdentified, "the judge's error rates do not fit these items")
		e.Between(0, 1, o.Level, "none")
		return e, nil
	}
	variance := p*(1-p)/float64(n) + (1-value)*(1-value)*q0*(1-q0)/float64(rates.Failed) + value*value*q1*(1-q1)/float64(rates.Passed)
	if variance > 0 {
		e.SE = ptr(math.Sqrt(variance) / youden)
	}
	if value < 0 || value > 1 {
		e.Warn("the judge's error rates do not fit these items")
	}
	e.Value = ptr(clamp(value, 0, 1))
	e.Between(lower, upper, o.Level, "lang_reiczigel")
	if min(rates.Failed, rates.Passed) < fewOfKind {
		e.Weaken("fewer than 30 labels of one kind")
	}
	return e, nil
}

func (r ErrorRates) sound() bool {
	return r.FailedRight >= 0 && r.FailedRight <= r.Failed && r.PassedRight >= 0 && r.PassedRight <= r.Passed
}

func (r ErrorRates) specificity() float64 { return float64(r.FailedRight) / float64(r.Failed) }

func (r ErrorRates) sensitivity() float64 { return float64(r.PassedRight) / float64(r.Passed) }

// youdenLimit is the lower limit of how much better than chance the judge is: the
// limits of both rates, joined.
func (r ErrorRates) youdenLimit(o stat.Options) float64 {
	z := stat.NormalCritical(o.Alpha())
	q0, q1 := r.specificity(), r.sensitivity()
	l0, _ := stat.Wilson(q0, float64(r.Failed), z)
	l1, _ := stat.Wilson(q1, float64(r.Passed), z)
	return q0 + q1 - 1 - math.Hypot(q0-l0, q1-l1)
}

// regular is Lang and Reiczigel's interval, which adds cases to each of the three
// rates and moves the centre.
type regular struct{ centre, shift, se, z float64 }

func newRegular(k, n float64, rates ErrorRates, z float64) regular {
	size, m0, m1 := n+z*z, float64(rates.Failed+2), float64(rates.Passed+2)
	p := (k + z*z/2) / size
	q0, q1 := float64(rates.FailedRight+1)/m0, float64(rates.PassedRight+1)/m1
	youden := q0 + q1 - 1
	r := regular{centre: (p + q0 - 1) / youden, z: z}
	v0, v1 := q0*(1-q0)/m0, q1*(1-q1)/m1
	r.shift = 2 * z * z * (r.centre*v1 - (1-r.centre)*v0)
	r.se = math.Sqrt(p*(1-p)/size+(1-r.centre)*(1-r.centre)*v0+r.centre*r.centre*v1) / youden
	return r
}

func (r regular) half() float64 { return r.z * r.se }

// SplitLabels returns how many of a number of labels to spend on items that people
// pass, for the most precise correction: Neyman's split.
func SplitLabels(labels int, passRate, specificity, sensitivity float64) (passed float64, err error) {
	for _, x := range []float64{passRate, specificity, sensitivity} {
		if !(x >= 0 && x <= 1) {
			return 0, malformed("rate %v must lie between 0 and 1", x)
		}
	}
	a := passRate * math.Sqrt(sensitivity*(1-sensitivity))
	b := (1 - passRate) * math.Sqrt(specificity*(1-specificity))
	if a+b == 0 {
		return float64(labels) / 2, nil
	}
	return float64(labels) * a / (a + b), nil
}
