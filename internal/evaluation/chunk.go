package evaluation

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/chunk"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
)

// executeChunk executes the units from one number up to another, those that
// have no outcome yet. When it returns without an error every unit has one,
// unless stop says why the run cannot go on. Of a client's run it scores the results
// that were sent; no more are taken then.
//
// Died says that the worker of the attempt before is gone, and that what killed it
// may be a unit. Leaving is closed when this one is to stop.
func (s *Service) executeChunk(ctx context.Context, c ChunkInput, died bool, beat func(), leaving <-chan struct{}) (ChunkDone, error) {
	run, err := s.store.findRun(ctx, s.db.Org(c.Org), c.Org, c.Run)
	if err != nil || run.Status != StatusRunning || run.Resolved == nil {
		return ChunkDone{Ended: true}, err
	}
	if active, err := s.tenancy.Active(ctx, c.Org); err != nil || !active {
		return ChunkDone{Stop: &RunError{CodeSuspended, "The organization is not active. Results so far are kept."}}, err
	}
	if run.Request.Plan.Target.Type == scoring.TargetClient {
		if err := s.closeResults(ctx, c.Ticket, run); err != nil {
			return ChunkDone{}, err
		}
	}
	w := chunk.Work{
		Run: run.at(c.Org), Plan: run.Request.Plan, Dataset: run.Resolved.Dataset, Version: run.Resolved.Version, ClusterKey: run.Request.ClusterKey,
		BudgetUSD: run.Request.BudgetUSD, Index: c.Index, Width: c.Width, Died: died,
	}
	if w.Measures, err = s.measuresOf(run); err != nil {
		return ChunkDone{}, err
	}
	if w.Resumed, err = s.resumed(ctx, c.Org, run); err != nil {
		return ChunkDone{}, err
	}
	if w.Units, err = s.units(ctx, c.Org, run, c.From, c.To); err != nil {
		return ChunkDone{}, err
	}
	done, err := chunk.Execute(ctx, chunk.Parts{
		Results: s.results, Progress: s.progress, Datasets: s.datasets, Provider: s.provider, Judges: s.judges, Now: s.now, Clock: s.clock, Beat: beat, Leaving: leaving,
		Look: func(ctx context.Context) (bool, int64, error) { return s.store.look(ctx, c.Org, run, c.Index) },
	}, w)
	return ChunkDone{Ended: done.Ended, Stop: (*RunError)(done.Stop), Units: done.Units, UnitMicros: done.UnitMicros}, err
}

// measuresOf finds the metrics of a run's plan, all of which were there when it
// began.
func (s *Service) measuresOf(r Run) ([]scoring.Measure, error) {
	all, missing, err := r.Request.Plan.Measures(s.metrics)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("run %d: %s", r.ID, missing[0].Message)
	}
	return all, err
}

// units reads a stretch of a run's units: all items in the run's order, then all
// of them again for the next repetition.
func (s *Service) units(ctx context.Context, org principal.OrgID, r Run, from, to int) ([]result.Key, error) {
	var all []result.Key
	for from < to {
		epoch, first := from/r.Resolved.Items, from%r.Resolved.Items
		n := min(to-from, r.Resolved.Items-first)
		ids, err := s.store.items(ctx, org, r.ID, first, first+n)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			all = append(all, result.Key{Item: id, Epoch: epoch})
		}
		from += n
	}
	return all, nil
}
