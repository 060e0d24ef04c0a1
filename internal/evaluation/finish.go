package evaluation

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
)

// Outcome is what came out of a run. It is made from the results themselves,
// not from counters.
type Outcome struct {
	Overall *float64           `json:"overall"`
	Metrics map[string]float64 `json:"metrics"`

	Items   int `json:"items"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errored int `json:"errored"`
	Skipped int `json:"skipped"`

	Calls        int64 `json:"calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	CostNanoUSD  int64 `json:"cost_nano_usd"`

	Statistics Statistics `json:"statistics"`
}

// Statistics are the same figures with what is needed to judge them.
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

// conclude ends a run: as completed, or as failed if there is a reason. A run
// that was cancelled stays so. Doing it again changes nothing.
func (s *Service) conclude(ctx context.Context, t Ticket, why *RunError) error {
	r, err := s.store.findRun(ctx, s.db.Org(t.Org), t.Org, t.Run)
	if err != nil {
		return err
	}
	if r.Status == StatusRunning {
		if err := s.store.setPhase(ctx, t.Org, t.Run, PhaseAggregating, s.now()); err != nil {
			return err
		}
	}
	o, err := s.aggregate(ctx, t.Org, r)
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.RunConcluding)
	err = postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		before, err := s.store.lockRunTx(ctx, tx, t.Run)
		if err != nil {
			return err
		}
		if before.Status == StatusRunning {
			to := StatusCompleted
			if why != nil {
				to = StatusFailed
			}
			after, err := s.endTx(ctx, tx, before, to, why)
			if err != nil {
				return err
			}
			if err := s.auditTx(ctx, tx, "run."+string(to), "run", t.Run, before, after); err != nil {
				return err
			}
		}
		return s.store.setOutcomeTx(ctx, tx, t.Run, o, s.now())
	})
	if err == nil {
		failpoint.Hit(failpoint.RunConcluded)
	}
	return err
}

// aggregate computes a run's figures from its results. Some are computed while
// others are read.
func (s *Service) aggregate(ctx context.Context, org principal.OrgID, r Run) (Outcome, error) {
	o := Outcome{Metrics: map[string]float64{}, Statistics: Statistics{Metrics: map[string]stat.Estimate{}, Gates: map[string]stat.Estimate{}}}
	if r.Resolved == nil {
		o.Statistics.Overall, o.Statistics.PassRate = mustMean(nil), mustMean(nil)
		return o, nil
	}
	measures, err := s.measuresOf(r)
	if err != nil {
		return o, err
	}
	done, err := s.mayRead(ctx, r)
	if err != nil {
		return o, err
	}
	defer done()
	found, err := s.readSide(ctx, org, r)
	if err != nil {
		return o, err
	}
	all := found.count
	o.Items, o.Passed, o.Failed, o.Errored, o.Skipped = all.Passed+all.Failed, all.Passed, all.Failed, all.Errored, all.Skipped
	o.Calls, o.InputTokens, o.OutputTokens, o.CostNanoUSD = all.Calls, all.InputTokens, all.OutputTokens, all.CostNanoUSD
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(2) // of a large run, more would not fit in memory
	g.Go(func() error { return o.sumUp(found) })
	estimates, gates := make([]stat.Estimate, len(measures)), make([]stat.Estimate, len(measures))
	for i, m := range measures {
		g.Go(func() error {
			rows, err := s.metricRows(reading, org, found, m.Name)
			if err != nil {
				return err
			}
			if estimates[i], err = estimate(m.Definition, rows); err == nil && m.Kind == metric.Binary {
				gates[i], err = gate(rows)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return o, err
	}
	for i, e := range estimates {
		o.Statistics.Metrics[measures[i].Name] = e
		if measures[i].Kind == metric.Binary {
			o.Statistics.Gates[measures[i].Name] = gates[i]
		}
		if e.Value != nil {
			o.Metrics[measures[i].Name] = *e.Value
		}
	}
	return o, nil
}

// sumUp computes the figures over all metrics.
func (o *Outcome) sumUp(found *side) (err error) {
	unit := stat.Options{Range: stat.Unit(), Source: stat.SourceCode}
	if o.Statistics.PassRate, err = abstaining(stat.PassRate(found.passes, unit)); err != nil {
		return fmt.Errorf("pass rate: %w", err)
	}
	if o.Statistics.Gates[passRate], err = gate(found.passes); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	if o.Statistics.Overall, err = abstaining(stat.Mean(found.overall, unit)); err != nil {
		return fmt.Errorf("overall: %w", err)
	}
	o.Overall = o.Statistics.Overall.Value
	if o.Statistics.Resolution, err = stat.Resolve(o.Statistics.Overall, unit, resolutionTargets(found.run)); err != nil {
		return fmt.Errorf("resolution: %w", err)
	}
	return nil
}

// resolutionTargets are the differences that a reader may want to see.
func resolutionTargets(r Run) []float64 {
	if m := r.Request.Margin; m != nil && *m > 0 {
		return []float64{*m}
	}
	return []float64{0.01, 0.03, 0.05}
}

func mustMean(rows []stat.Row) stat.Estimate {
	e, err := stat.Mean(rows, stat.Options{Range: stat.Unit(), Source: stat.SourceCode})
	if err != nil {
		panic("evaluation: the mean of nothing: " + err.Error())
	}
	return e
}

// estimate sums a metric's scores up in the way that fits its kind.
func estimate(m metric.Definition, rows []stat.Row) (stat.Estimate, error) {
	o := stat.Options{Range: rangeOf(m), Source: stat.SourceCode}
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

// passRate is the name of the rate that every run has.
const passRate = "pass_rate"

// gate sums a rate up in the way that a gate decides by.
func gate(rows []stat.Row) (stat.Estimate, error) {
	return abstaining(stat.PassRate(rows, stat.Options{Range: stat.Unit(), Source: stat.SourceCode, Policy: stat.PolicyGate}))
}

func rangeOf(m metric.Definition) *stat.Range {
	if m.Low == nil || m.High == nil {
		return nil
	}
	return &stat.Range{Lower: *m.Low, Upper: *m.High}
}
