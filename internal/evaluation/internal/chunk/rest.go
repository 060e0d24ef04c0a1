package chunk

import (
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/metric"
)

// left is the units without an outcome, and those whose outcome is to be completed;
// the others are counted. Where units cost nothing all are left: to do them again is
// quicker than to look for them, unless each is done with care, or somebody may have
// scored those that are done. What a client did not send is not left to anybody.
func (e *execution) left(ctx context.Context) ([]result.Key, error) {
	if !e.Plan.Paid() && !e.Plan.AwaitsScores() && e.suspects == nil {
		return e.Units, nil
	}
	wanted := make(map[result.Key]bool, len(e.Units))
	items := make([]int64, 0, len(e.Units))
	for _, u := range e.Units {
		wanted[u] = true
		items = append(items, u.Item)
	}
	done, err := e.Results.Done(ctx, e.Run, items)
	if err != nil {
		return nil, err
	}
	if err := e.inherit(ctx, items, done); err != nil {
		return nil, err
	}
	for _, b := range done {
		if e.rescored[b.Key] {
			continue // it counts when it is completed
		}
		if wanted[b.Key] {
			delete(wanted, b.Key)
			b.CostNanoUSD = e.own(b)
			e.count.Add(b)
		}
	}
	e.paid = e.count.CostNanoUSD
	return slices.DeleteFunc(slices.Clone(e.Units), func(u result.Key) bool { return !wanted[u] || e.sent() && !e.rescored[u] }), nil
}

// sent reports whether a client sent the answers. They are only scored here.
func (e *execution) sent() bool { return e.Plan.Target.Type == scoring.TargetClient }

// shared reports whether others score the outcomes meanwhile. Those that a client sent
// are all there, with all scores that were sent, before anybody is asked about them.
func (e *execution) shared() bool { return e.Plan.AwaitsScores() && !e.sent() }

// inherit finds out what others paid for the outcomes that are there: those of a client,
// and those that were copied from the run that this one resumes. It also finds out which
// outcomes are to be completed: those that lack scores because nobody was asked yet, and
// copied ones that lack them because somebody failed to make them.
func (e *execution) inherit(ctx context.Context, items []int64, done []result.Brief) error {
	if e.Resumed == nil && !e.sent() {
		return nil
	}
	e.given, e.rescored = make(map[result.Key]uint64, len(done)), map[result.Key]bool{}
	if e.sent() {
		for _, b := range done {
			e.given[b.Key] = b.CostNanoUSD - b.ScoringNanoUSD
		}
		if err := e.complete(ctx, items, metric.ReasonNotAsked, done); err != nil {
			return err
		}
	}
	if e.Resumed == nil {
		return nil
	}
	before, err := e.Results.Done(ctx, *e.Resumed, items)
	if err != nil {
		return err
	}
	answered := make(map[result.Key]uint64, len(before))
	for _, b := range before {
		if b.Answered {
			answered[b.Key] = b.CostNanoUSD
		}
	}
	copied := slices.DeleteFunc(slices.Clone(done), func(b result.Brief) bool { _, ok := answered[b.Key]; return !ok || !b.Answered })
	for _, b := range copied {
		e.given[b.Key] = answered[b.Key]
	}
	if err := e.complete(ctx, items, metric.ReasonServiceFailed, copied); err != nil {
		return err
	}
	return e.inheritVerdicts(ctx, copied)
}

// complete has those of some outcomes completed that lack a score for a reason.
func (e *execution) complete(ctx context.Context, items []int64, why metric.Reason, some []result.Brief) error {
	if len(e.scorers) == 0 {
		return nil
	}
	lacking, err := e.Results.Missing(ctx, e.Run, items, slices.Sorted(maps.Keys(e.scorers)), string(why))
	if err != nil {
		return err
	}
	may := make(map[result.Key]bool, len(some))
	for _, b := range some {
		may[b.Key] = true
	}
	for _, k := range lacking {
		if may[k] {
			e.rescored[k] = true
		}
	}
	return nil
}

// own is what the run itself paid for an outcome.
func (e *execution) own(b result.Brief) uint64 {
	return b.CostNanoUSD - min(b.CostNanoUSD, e.given[b.Key])
}
