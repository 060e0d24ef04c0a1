package correction

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Worst is an estimate over units with a score, extended to units without one: each of
// them counts as the worst score, so that whoever does not answer does not win by it.
// The interval grows by what is not known about the share of such units.
func Worst(e stat.Estimate, scored, missing int, worst, level float64) stat.Estimate {
	if missing <= 0 {
		return e
	}
	all := float64(scored + missing)
	e.Missing = &stat.Missing{Rows: missing, Share: float64(missing) / all, Policy: stat.MissingFail}
	if scored <= 0 || e.Value == nil {
		return e
	}
	share := float64(scored) / all
	value := *e.Value
	e.Value = ptr(worst + share*(value-worst))
	if e.CI == nil || e.CI.Lower == nil || e.CI.Upper == nil {
		return e
	}
	least, most := stat.Wilson(share, all, stat.NormalCritical(1-level))
	ci := *e.CI
	// Two sources of error that have nothing to do with each other.
	away := func(ofMean, ofShare float64) float64 { return math.Hypot(share*ofMean, ofShare*(value-worst)) }
	ci.Lower = ptr(math.Max(worst, *e.Value-away(value-*ci.Lower, share-least)))
	ci.Upper = ptr(*e.Value + away(*ci.Upper-value, most-share))
	e.CI, e.SE, e.DF = &ci, nil, nil
	return e
}
