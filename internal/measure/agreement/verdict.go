package agreement

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Outcome is what a comparison with a bar comes to.
type Outcome string

// The outcomes. Whatever the interval does not settle is insufficient data: it
// is neither aligned nor misaligned.
const (
	OutcomeAligned      Outcome = "aligned"
	OutcomeMisaligned   Outcome = "misaligned"
	OutcomeInsufficient Outcome = "insufficient_data"
)

// Verdict says whether a judge agrees well enough with people.
type Verdict struct {
	Outcome Outcome `json:"outcome" enum:"aligned,misaligned,insufficient_data" doc:"aligned: the whole interval reaches the bar; misaligned: none of it does."`
	On      Measure `json:"on" doc:"What was compared with the bar."`
	Bar     float64 `json:"bar" doc:"What agreement has to reach."`
	// MoreLabels would settle the matter if agreement stayed what it is.
	MoreLabels *int      `json:"more_labels" doc:"Further labels that would probably settle it, if agreement stays as it is; null if it is settled or cannot be said."`
	Reason     stat.Note `json:"reason" nullable:"true" doc:"Why the matter is not settled; null if it is."`
	Band       Band      `json:"band" nullable:"true" enum:"poor,slight,fair,moderate,substantial,almost_perfect" doc:"Landis and Koch's word for the lower limit, which agreement is unlikely to be below; null without an interval."`
}

// Band is a word for a strength of agreement.
type Band string

// MarshalJSON writes the word, or null.
func (b Band) MarshalJSON() ([]byte, error) { return stat.Note(b).MarshalJSON() }

// UnmarshalJSON reads a word, or null.
func (b *Band) UnmarshalJSON(text []byte) error { return (*stat.Note)(b).UnmarshalJSON(text) }

// Landis and Koch's bands.
const (
	BandPoor        Band = "poor"
	BandSlight      Band = "slight"
	BandFair        Band = "fair"
	BandModerate    Band = "moderate"
	BandSubstantial Band = "substantial"
	BandPerfect     Band = "almost_perfect"
)

// BandOf returns the word for the lower limit of a coefficient; the value itself
// may be luck. Without an interval there is none.
func BandOf(e stat.Estimate) Band {
	if e.CI == nil || e.CI.Lower == nil {
		return ""
	}
	switch lower := *e.CI.Lower; {
	case lower < 0:
		return BandPoor
	case lower < 0.2:
		return BandSlight
	case lower < 0.4:
		return BandFair
	case lower < 0.6:
		return BandModerate
	case lower < 0.8:
		return BandSubstantial
	}
	return BandPerfect
}

// mostLabels is the largest number of labels that is worth naming. What needs
// more is too close to the bar to be settled by labels.
const mostLabels = 1_000_000

// Decide compares an estimate with a bar that it has to reach.
func Decide(e stat.Estimate, on Measure, bar float64) Verdict {
	v := Verdict{Outcome: OutcomeInsufficient, On: on, Bar: bar, Band: BandOf(e)}
	if e.CI == nil || e.CI.Lower == nil || e.CI.Upper == nil {
		v.Reason = "there is no interval"
		if len(e.Warnings) > 0 {
			v.Reason = stat.Note(e.Warnings[0])
		}
		if e.Clusters < minUnits {
			v.MoreLabels = ptr(minUnits - e.Clusters)
		}
		return v
	}
	switch {
	case *e.CI.Lower >= bar:
		v.Outcome = OutcomeAligned
		return v
	case *e.CI.Upper < bar:
		v.Outcome = OutcomeMisaligned
		return v
	}
	v.Reason = "the interval holds the bar"
	if e.Value == nil {
		return v
	}
	away, half := *e.Value-bar, *e.Value-*e.CI.Lower
	if away < 0 {
		half = *e.CI.Upper - *e.Value
	}
	// The interval shrinks with the square root of the items.
	ratio := half / math.Abs(away)
	if n := float64(e.N) * (ratio*ratio - 1); n <= mostLabels {
		v.MoreLabels = ptr(max(1, int(math.Ceil(n))))
	}
	return v
}

// decide compares the measure that the options name with their bar.
func (a *Alignment) decide(scale Scale, o AlignmentOptions) (Verdict, error) {
	bar := o.Bar
	if bar == 0 {
		bar = defaultBar
	}
	if !(bar > -1 && bar <= 1) {
		return Verdict{}, malformed("bar %v must lie between -1 and 1", bar)
	}
	var e stat.Estimate
	on := o.On
	switch on {
	case "", MeasureKappa:
		on, e = MeasureKappa, a.Kappa.Nominal
		if a.Kappa.Quadratic != nil && scale.Ordered {
			e = a.Kappa.Quadratic.Estimate
		}
	case MeasureAC1:
		e = a.AC1
	case MeasureAlpha:
		e = a.Alpha
	case MeasureAccuracy:
		e = a.Accuracy
	case MeasureBalanced:
		e = a.Balanced
	case MeasureMCC:
		e = a.MCC
	default:
		return Verdict{}, malformed("measure %q cannot be compared with a bar", o.On)
	}
	return Decide(e, on, bar), nil
}
