package figure

import (
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/stat"
)

// Statistics are the figures of a run with what is needed to judge them.
type Statistics struct {
	Overall  stat.Estimate            `json:"overall"`
	PassRate stat.Estimate            `json:"pass_rate"`
	Metrics  map[string]stat.Estimate `json:"metrics"`
	// Gates are the rates once more, with intervals that a gate can decide by:
	// they miss the truth at most as often as they say, however few items there
	// are or failed.
	Gates      map[string]stat.Estimate `json:"gates,omitzero"`
	Resolution *stat.Resolution         `json:"resolution,omitzero"`
}

// passRate is the name of the rate that every run has.
const passRate = "pass_rate"

// SumUp computes the figures over all metrics. Differences are those that a
// reader may want to see.
func (s *Statistics) SumUp(rows *Rows, differences []float64) (err error) {
	unit := stat.Options{Range: stat.Unit(), Source: stat.SourceCode}
	if s.PassRate, err = abstaining(stat.PassRate(rows.Passes, unit)); err != nil {
		return fmt.Errorf("pass rate: %w", err)
	}
	if s.Gates[passRate], err = Gate(rows.Passes); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	if s.Overall, err = abstaining(stat.Mean(rows.Overall, unit)); err != nil {
		return fmt.Errorf("overall: %w", err)
	}
	if s.Resolution, err = stat.Resolve(s.Overall, unit, differences); err != nil {
		return fmt.Errorf("resolution: %w", err)
	}
	return nil
}

// None is the estimate of a run without results.
func None() stat.Estimate {
	e, err := stat.Mean(nil, stat.Options{Range: stat.Unit(), Source: stat.SourceCode})
	if err != nil {
		panic("figure: the mean of nothing: " + err.Error())
	}
	return e
}

// Estimate sums a metric's scores up in the way that fits its kind.
func Estimate(m metric.Definition, rows []stat.Row) (stat.Estimate, error) {
	o := stat.Options{Range: Range(m), Source: stat.SourceCode}
	if m.Kind == metric.Binary {
		return abstaining(stat.PassRate(rows, o))
	}
	return abstaining(stat.Mean(rows, o))
}

// abstaining is an estimate that says why there is none, where scores are such
// as no figure can be made of: a run ends in any case.
func abstaining(e stat.Estimate, err error) (stat.Estimate, error) {
	if errors.Is(err, stat.ErrInput) {
		return stat.Estimate{Status: stat.StatusInsufficient, Warnings: []string{err.Error()}, AlgoVersion: stat.AlgoVersion}, nil
	}
	return e, err
}

// Gate sums a rate up in the way that a gate decides by.
func Gate(rows []stat.Row) (stat.Estimate, error) {
	return abstaining(stat.PassRate(rows, stat.Options{Range: stat.Unit(), Source: stat.SourceCode, Policy: stat.PolicyGate}))
}

// Range is what a metric can score; nil if it is not bounded on both sides.
func Range(m metric.Definition) *stat.Range {
	if m.Low == nil || m.High == nil {
		return nil
	}
	return &stat.Range{Lower: *m.Low, Upper: *m.High}
}
