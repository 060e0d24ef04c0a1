package chunk

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// idBlock is how many numbers for verdicts are taken at once.
const idBlock = 500

// prepareJudges makes the judges of the plan scorers, each in the version that the
// run has from its start.
func (e *execution) prepareJudges(ctx context.Context) error {
	for _, j := range e.Plan.Judged {
		ready, err := e.Judges.Version(ctx, e.Run.Org, j.Judge, j.Version, e.newPace(), func(f *provider.Failure) { e.note(ctx, f) })
		if err != nil {
			return err
		}
		e.scorers[j.Metric] = e.judged(ready)
	}
	return nil
}

// judged has a judge score answers. Its verdicts are stored before the outcomes that
// they belong to.
func (e *execution) judged(by *judge.Judge) scoring.Scorer {
	return func(ctx context.Context, run int64, i dataset.Item, epoch int, a provider.Answer) (metric.Score, uint64, error) {
		c := judge.CaseOf(i, a.Output)
		c.ToolCalls = a.ToolsJSON
		v, err := by.Ask(ctx, c, fmt.Sprintf("assay-judge-%d-%d-%d-%d", by.ID(), run, i.ID, epoch))
		var cost uint64
		if v.CostNanoUSD != nil {
			cost = *v.CostNanoUSD
		}
		if err != nil {
			return metric.Missing(metric.ReasonServiceFailed, "The judge was not asked to the end."), cost, err
		}
		id, err := e.verdictID(ctx)
		if err != nil {
			return metric.Score{}, cost, err
		}
		r := by.Result(id, score.RunItem(run, i.ID, epoch), v)
		r.Prompt, r.Dataset, r.DatasetVersion, r.Split, r.Cluster, r.At = by.Prompt(c), e.Dataset, e.Version, i.Split, scoring.Cluster(i, e.ClusterKey), e.Now()
		r.By = principal.Actor{Type: principal.ActorSystem}
		e.mu.Lock()
		key := result.Key{Item: i.ID, Epoch: epoch}
		e.verdicts[key] = append(e.verdicts[key], r)
		e.mu.Unlock()
		return v.Metric(), cost, nil
	}
}

// verdictID is a number for a verdict.
func (e *execution) verdictID(ctx context.Context) (int64, error) {
	e.numbering.Lock()
	defer e.numbering.Unlock()
	if len(e.numbers) == 0 {
		var err error
		if e.numbers, err = e.Judges.IDs(ctx, e.Run.Org, min(idBlock, len(e.Units)*len(e.Plan.Judged))); err != nil {
			return 0, err
		}
	}
	id := e.numbers[0]
	e.numbers = e.numbers[1:]
	return id, nil
}

// inheritVerdicts copies the verdicts that outcomes of the run that is resumed rest on.
// Figures of judges are made from the verdicts of a run. Outcomes that are completed get
// verdicts of their own.
func (e *execution) inheritVerdicts(ctx context.Context, copied []result.Brief) error {
	if len(e.Plan.Judged) == 0 {
		return nil
	}
	var parts []string
	for _, b := range copied {
		if !e.rescored[b.Key] {
			parts = append(parts, score.RunItem(e.Run.ID, b.Item, b.Epoch).Part)
		}
	}
	return e.Judges.Copy(ctx, e.Run.Org, e.Resumed.ID, e.Run.ID, parts)
}

// keepVerdicts stores the verdicts that outcomes rest on.
func (e *execution) keepVerdicts(ctx context.Context, ready []result.Outcome) error {
	if len(e.Plan.Judged) == 0 {
		return nil
	}
	var all []judge.Result
	e.mu.Lock()
	for i := range ready {
		all = append(all, e.verdicts[ready[i].Key]...)
	}
	e.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	if err := e.Judges.Insert(ctx, e.Run.Org, all); err != nil {
		return err
	}
	e.mu.Lock()
	for i := range ready {
		delete(e.verdicts, ready[i].Key)
	}
	e.mu.Unlock()
	return nil
}
