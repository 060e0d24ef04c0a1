package runstat

import (
	"errors"
	"fmt"
	"slices"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Statistics are the figures of a run with what is needed to judge them.
type Statistics struct {
	Overall  stat.Estimate            `json:"overall" doc:"Overall score."`
	PassRate stat.Estimate            `json:"pass_rate" doc:"Share of items that passed."`
	Metrics  map[string]stat.Estimate `json:"metrics" doc:"Mean score by metric."`
	// Gates are the figures with a range once more, as a gate decides by them: a
	// missing score counts as the worst one.
	Gates map[string]stat.Estimate `json:"gates" doc:"The figures with a range once more, as gates decide by them: a missing score counts as the worst one. Empty for a run that was stopped."`
	// Corrected are the means of judges with what people make of them.
	Corrected  map[string]correction.Corrected `json:"corrected" doc:"Means of judges by metric: what people would give, estimated from their labels, and what the judge gives. The first is also what metrics and gates have. Empty without judges."`
	Repeated   []Repeated                      `json:"repeated" doc:"What several trials of an item come to, for 2, 4, 8 and so on up to the number of repetitions; empty without repetitions."`
	Resolution *stat.Resolution                `json:"resolution" doc:"The smallest difference that this many items can show; null if the data do not give it."`
}

// Resolvable are the differences that a reader may want to see: the margin of the
// run, or usual ones.
func Resolvable(margin *float64) []float64 {
	if margin != nil && *margin > 0 {
		return []float64{*margin}
	}
	return []float64{0.01, 0.03, 0.05}
}

// SumUp computes the figures over all metrics. Differences are those that a
// reader may want to see. Of a run that was stopped they are those of its
// beginning: nobody knows why it was stopped just then, so their intervals hold at
// whatever moment that was, and no gate decides by them.
func (s *Statistics) SumUp(rows *Rows, begun *Begun, differences []float64) (err error) {
	if begun != nil {
		if s.Overall, err = begun.Estimate(Overall(), rows.Overall); err == nil {
			s.PassRate, err = begun.Estimate(PassRate(), rows.Passes)
		}
		return err
	}
	unit := stat.Options{Range: stat.Unit(), Weighted: weighted(rows.Passes)}
	if s.PassRate, err = abstaining(stat.PassRate(rows.Passes, unit)); err != nil {
		return fmt.Errorf("pass rate: %w", err)
	}
	if s.Gates[requirement.PassRate], err = Gate(PassRate(), rows.Passes, requirement.Level, At{}); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	if s.Gates[requirement.Overall], err = Gate(Overall(), rows.Overall, requirement.Level, At{}); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	if s.Overall, err = abstaining(stat.Mean(rows.Overall, unit)); err != nil {
		return fmt.Errorf("overall: %w", err)
	}
	if s.Repeated, err = repeated(rows); err != nil {
		return err
	}
	if s.Resolution, err = stat.Resolve(s.Overall, unit, differences); err != nil {
		return fmt.Errorf("resolution: %w", err)
	}
	return nil
}

// None is the estimate of a run without results.
func None() stat.Estimate {
	e, err := stat.Mean(nil, stat.Options{Range: stat.Unit()})
	if err != nil {
		panic("figure: the mean of nothing: " + err.Error())
	}
	return e
}

// Estimate sums a metric's scores up in the way that fits its kind.
func Estimate(m metric.Definition, rows []stat.Observation) (stat.Estimate, error) {
	o := stat.Options{Range: Range(m), Weighted: weighted(rows)}
	if m.Kind == metric.Binary {
		return abstaining(stat.PassRate(rows, o))
	}
	return abstaining(stat.Mean(rows, o))
}

// abstaining is an estimate that says why there is none, where scores are such
// as no figure can be made of: a run ends in any case.
func abstaining(e stat.Estimate, err error) (stat.Estimate, error) {
	if errors.Is(err, stat.ErrInput) {
		return stat.Estimate{Status: stat.StatusInsufficient, Source: stat.SourceCode, Estimand: stat.EstimandPopulation, Warnings: []string{err.Error()}, AlgoVersion: stat.AlgoVersion}, nil
	}
	return e, err
}

// At is what a gate asks about a figure; the zero value is its mean, which is to be
// high.
type At struct {
	// Quantile asks for one, such as 0.95, instead of the mean.
	Quantile float64
	// Below says that the figure is to be low, so that the highest score is the
	// worst.
	Below bool
}

// Gate sums a figure's scores up in the way that a gate decides by. A missing
// score counts as the worst one; only the mean of a figure without a range has no
// worst score, and leaves it out.
func Gate(m metric.Definition, rows []stat.Observation, level float64, at At) (stat.Estimate, error) {
	o := stat.Options{Level: level, Range: Range(m), LowerIsBetter: at.Below, Weighted: weighted(rows)}
	if o.Range != nil {
		o.Policy, o.Missing = stat.PolicyGate, stat.MissingFail
	}
	switch {
	case at.Quantile > 0:
		return abstaining(quantile(rows, at.Quantile, o))
	case m.Kind == metric.Binary:
		return abstaining(stat.PassRate(rows, o))
	}
	return abstaining(stat.Mean(rows, o))
}

// Gated is a figure at both levels that a gate of so many requirements decides by.
func Gated(m metric.Definition, rows []stat.Observation, requirements int, at At) (*requirement.Figure, error) {
	var f requirement.Figure
	var err error
	if f.Alone, err = Gate(m, rows, requirement.Level, at); err != nil {
		return nil, err
	}
	if f.Together = f.Alone; requirements > 1 {
		f.Together, err = Gate(m, rows, requirement.Together(requirements), at)
	}
	return &f, err
}

// beyond stands for a score that is worse than every other.
const beyond = 1e100

// quantile ranks missing scores as the worst, also where no number is the worst:
// an answer that never came took longer than all others.
func quantile(rows []stat.Observation, q float64, o stat.Options) (stat.Estimate, error) {
	heavy := o.Weighted
	o.Weighted = false
	worst := -beyond
	if o.LowerIsBetter {
		worst = beyond
	}
	lost := 0
	if o.Range == nil {
		rows = slices.Clone(rows)
		for i := range rows {
			if r := &rows[i]; r.Missing != stat.Present && r.Missing != stat.CauseItem {
				r.Missing, r.Score = stat.Present, worst
				lost++
			}
		}
	}
	e, err := stat.Quantile(rows, q, o)
	if err != nil {
		return e, err
	}
	if lost > 0 {
		e.Missing = &stat.Missing{Rows: lost, Share: float64(lost) / float64(len(rows)), Policy: stat.MissingFail}
	}
	if heavy {
		e.Warnings = append(e.Warnings, "weights of items do not count in a quantile")
	}
	if e.Value != nil && *e.Value == worst {
		e.Value, e.CI, e.Status = nil, nil, stat.StatusInsufficient
		e.Warnings = append(e.Warnings, "so many scores are missing that the quantile is one of them")
	}
	if e.CI != nil {
		for _, end := range []**float64{&e.CI.Lower, &e.CI.Upper} {
			if *end != nil && **end == worst {
				*end = nil
			}
		}
	}
	return e, nil
}

// Overall is what the overall score measures.
func Overall() metric.Definition { return unit(requirement.Overall, metric.Numeric) }

// PassRate is what the rate of passed items measures.
func PassRate() metric.Definition { return unit(requirement.PassRate, metric.Binary) }

func unit(name string, kind metric.Kind) metric.Definition {
	one := 1.0
	return metric.Definition{Name: name, Kind: kind, Low: new(float64), High: &one, Better: metric.Higher}
}

// weighted reports whether some item counts for more than another.
func weighted(rows []stat.Observation) bool {
	return slices.ContainsFunc(rows, func(r stat.Observation) bool { return r.Weight != rows[0].Weight })
}

// Range is what a metric can score; nil if it is not bounded on both sides.
func Range(m metric.Definition) *stat.Range {
	if m.Low == nil || m.High == nil {
		return nil
	}
	return &stat.Range{Lower: *m.Low, Upper: *m.High}
}

// SoFar is a pass rate of items in random order while there are more to come. Its
// interval holds however often one looks.
func SoFar(passed, n int) (*stat.Estimate, error) {
	interval, err := stat.BetaBinomialSequence(passed, n, 0.95)
	if err != nil {
		return nil, err
	}
	rate := float64(passed) / float64(n)
	return &stat.Estimate{
		Value: &rate, CI: &interval, N: n, Items: n, Clusters: n, NEff: float64(n), Status: stat.StatusOK, Source: stat.SourceCode,
		Estimand: stat.EstimandPopulation, Method: interval.Method, AlgoVersion: stat.AlgoVersion,
	}, nil
}
