package stat

import "math"

// Shares of missing scores above which leaving them out is worth a warning,
// and above which it makes the estimate fragile.
const (
	someMissing = 0.01
	muchMissing = 0.05
)

// describeMissing tells what is missing in an estimate of a mean.
func (e *Estimate) describeMissing(t *table, o Options) {
	if t.missing == 0 && t.unfit == 0 {
		return
	}
	m := Missing{Rows: t.missing, Policy: o.Missing, Unfit: t.unfit}
	if t.missing > 0 {
		m.Share = float64(t.missing) / float64(t.total-t.unfit)
	}
	if o.Range != nil && t.missing > 0 {
		m.Lower, m.Upper = t.worst(o, o.Range.Lower), t.worst(o, o.Range.Upper)
	}
	e.missing(m)
}

// lacks notes what is missing on one side of a comparison, if anything is.
func (e *Estimate) lacks(m Missing) {
	if m.Rows > 0 {
		e.missing(m)
	}
}

// missing notes what is missing, and warns if much was left out.
func (e *Estimate) missing(m Missing) {
	e.Missing = &m
	switch {
	case m.Policy != MissingExclude:
	case m.Share > muchMissing:
		e.Weaken("more than 5 % of the scores are missing and were left out")
	case m.Share > someMissing:
		e.Warn("more than 1 % of the scores are missing and were left out")
	}
}

// stretch widens the interval over that of another estimate, which knows what
// the missing scores could have been.
func (e *Estimate) stretch(other Estimate) {
	if e.CI == nil || other.CI == nil {
		return
	}
	*e.CI.Lower = math.Min(*e.CI.Lower, *other.CI.Lower)
	*e.CI.Upper = math.Max(*e.CI.Upper, *other.CI.Upper)
	e.Warn("the interval covers whatever the missing scores could have been")
}

// worst returns the mean had every missing score been the given one.
func (t *table) worst(o Options, score float64) *float64 {
	s := t.filledWith(o, score)
	if s.n() == 0 {
		return nil
	}
	return ptr(s.mean())
}

// filledWith returns the items' means had every missing score been the given
// one.
func (t *table) filledWith(o Options, score float64) sample {
	return t.sample(o, func(i int) (float64, bool) { return t.items[i].filledWith(t, o, score), t.items[i].fit() })
}

// fit reports whether the item has a score, or could have had one.
func (e entry) fit() bool { return e.scored+e.lost > 0 }

func (e entry) filledWith(t *table, o Options, score float64) float64 {
	if e.lost == 0 {
		return e.mean
	}
	sum, scored := e.mean*float64(e.scored), float64(e.scored)
	if t.filled { // the worst score is in the mean, and comes out again
		sum -= float64(e.lost) * o.worst()
		scored -= float64(e.lost)
	}
	mean := (sum + float64(e.lost)*score) / (scored + float64(e.lost))
	return clamp(mean, o.Range.Lower, o.Range.Upper)
}
