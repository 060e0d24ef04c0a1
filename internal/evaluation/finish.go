package evaluation

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/linked"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
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

	Statistics runstat.Statistics `json:"statistics"`
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
	if r.Request.Plan.Target.Type == scoring.TargetClient || r.Request.Plan.AwaitsScores() {
		if err := s.awaitPosted(ctx, t); err != nil {
			return err
		}
	}
	if r.Resolved != nil && r.Request.Plan.Target.Traced() && r.Resolved.Units <= linked.MaxUnits {
		if err := s.joinTraces(ctx, t.Org, r); err != nil {
			return err
		}
	}
	o, err := s.aggregate(ctx, t.Org, r, why != nil || r.Status == StatusCancelled)
	if err != nil {
		return err
	}
	failpoint.Hit(RunConcluding)
	err = postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		before, err := s.store.lockRunTx(ctx, tx, t.Run)
		if err != nil {
			return err
		}
		if before.Status == StatusRunning {
			to, happened := StatusCompleted, EventRunCompleted
			if why != nil {
				to, happened = StatusFailed, eventRunFailed
			}
			after, err := s.endTx(ctx, tx, before, to, why)
			if err != nil {
				return err
			}
			if err := change.RecordTx(ctx, s.log, tx, happened, t.Run, &before, &after); err != nil {
				return err
			}
		}
		return s.store.setOutcomeTx(ctx, tx, t.Run, o, s.now())
	})
	if err == nil {
		failpoint.Hit(RunConcluded)
	}
	return err
}

// joinTraces adds to results what the traces of their answers say.
func (s *Service) joinTraces(ctx context.Context, org principal.OrgID, r Run) error {
	measures, err := s.measuresOf(r)
	if err != nil {
		return err
	}
	j := linked.Join{
		Datasets: s.datasets, Dataset: r.Resolved.Dataset, Version: r.Resolved.Version, Results: s.results, Traces: s.traces, Scores: s.scores, Org: org, Run: r.at(org), Rule: r.Request.Plan.PassRule, Measures: measures, Effects: s.effects,
	}
	if r.Status == StatusRunning { // whoever cancels wants an end
		j.Wait = time.Duration(r.Request.Plan.Target.TraceWaitMS) * time.Millisecond
	}
	if j.Last, err = s.store.items(ctx, org, r.ID, max(0, r.Resolved.Items-linked.LastItems), r.Resolved.Items); err != nil {
		return err
	}
	return j.Do(ctx)
}

// aggregate computes a run's figures from its results. Some are computed while
// others are read. Stopped says that the run did not come to its end.
func (s *Service) aggregate(ctx context.Context, org principal.OrgID, r Run, stopped bool) (Outcome, error) {
	o := Outcome{Metrics: map[string]float64{}, Statistics: runstat.Statistics{Metrics: map[string]stat.Estimate{}, Gates: map[string]stat.Estimate{}, Corrected: map[string]correction.Corrected{}}}
	if r.Resolved == nil {
		o.Statistics.Overall, o.Statistics.PassRate = runstat.None(), runstat.None()
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
	var begun *runstat.Begun
	if stopped && all.Done < r.Resolved.Units {
		items, err := s.store.items(ctx, org, r.ID, 0, r.Resolved.Items)
		if err != nil {
			return o, err
		}
		begun = found.Begun(items, r.Request.Plan.Target.Type != scoring.TargetClient)
	}
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(2) // of a large run, more would not fit in memory
	g.Go(func() error { return o.Statistics.SumUp(found.Rows, begun, runstat.Resolvable(r.Request.Margin)) })
	estimates, gates := make([]stat.Estimate, len(measures)), make([]stat.Estimate, len(measures))
	for i, m := range measures {
		g.Go(func() error {
			rows, err := s.metricRows(reading, org, found, m.Name)
			if err != nil {
				return err
			}
			if begun != nil {
				estimates[i], err = begun.Estimate(m.Definition, rows)
			} else if estimates[i], err = runstat.Estimate(m.Definition, rows); err == nil {
				gates[i], err = runstat.Gate(m.Definition, rows, requirement.Level, runstat.At{Below: m.Better == metric.Lower})
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
	o.Overall = o.Statistics.Overall.Value
	for i, e := range estimates {
		o.Statistics.Metrics[measures[i].Name] = e
		if begun == nil && runstat.Range(measures[i].Definition) != nil {
			o.Statistics.Gates[measures[i].Name] = gates[i]
		}
		if e.Value != nil {
			o.Metrics[measures[i].Name] = *e.Value
		}
	}
	if len(r.Request.Plan.Judged) == 0 || begun != nil {
		return o, nil
	}
	by, err := s.corrected(ctx, org, r)
	if err != nil {
		return o, err
	}
	o.correct(by)
	return o, nil
}
