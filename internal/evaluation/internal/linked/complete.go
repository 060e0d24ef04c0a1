package linked

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// complete reads results and returns those that their traces say more about.
func (j Join) complete(ctx context.Context, some []result.Traced, k known) ([]result.Outcome, error) {
	if len(some) == 0 {
		return nil, nil
	}
	wanted := make(map[result.Key]bool, len(some))
	var ids []span.TraceID
	f := result.Filter{Limit: result.PageBytes} // bytes end a page first
	for _, t := range some {
		wanted[t.Key] = true
		ids = append(ids, t.Trace)
		f.Items = append(f.Items, t.Item)
	}
	found := map[span.TraceID]trace.Linked{}
	if err := j.Traces.Linked(ctx, j.Org, ids, func(l trace.Linked) { found[l.ID] = l }); err != nil {
		return nil, err
	}
	var fuller []result.Outcome
	for more := true; more; {
		page, left, err := j.Results.Page(ctx, j.Run, f)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			if wanted[o.Key] && (fill(&o, found[o.Trace]) || k.scores[o.Trace] != nil || k.effects[o.Trace] != nil) {
				fuller = append(fuller, o)
			}
		}
		if more = left && len(page) > 0; more {
			f.After = page[len(page)-1].Key
		}
	}
	return j.assess(ctx, fuller, k)
}

// fill adds to an outcome what it does not know itself, and reports whether that is
// anything.
func fill(o *result.Outcome, l trace.Linked) bool {
	more := false
	if o.CostNanoUSD == nil && l.Cost.Known {
		o.CostNanoUSD, more = &l.Cost.NanoUSD, true
	}
	if o.InputTokens == 0 && o.OutputTokens == 0 && l.Usage.InputTokens+l.Usage.OutputTokens > 0 {
		o.InputTokens, o.OutputTokens, more = capped(l.Usage.InputTokens), capped(l.Usage.OutputTokens), true
	}
	// Attempts that failed are in the same trace: they cost, but their calls are not
	// those of the answer.
	if o.ToolCalls == nil && l.ToolCalls != nil && o.Calls <= 1 {
		o.ToolCalls, more = l.ToolCalls, true
	}
	return more
}

func capped(n uint64) uint32 { return uint32(min(n, 1<<32-1)) }

// assess scores outcomes anew.
func (j Join) assess(ctx context.Context, all []result.Outcome, k known) (scored []result.Outcome, err error) {
	for len(all) > 0 {
		ids := make([]int64, len(all))
		for i := range all {
			ids[i] = all[i].Item
		}
		items, read, err := j.Datasets.ItemsByID(ctx, j.Org, j.Dataset, j.Version, ids)
		if err != nil {
			return nil, err
		}
		for _, o := range all[:read] {
			item, ok := items[o.Item]
			if !ok {
				return nil, fmt.Errorf("version %d of dataset %d has lost item %d", j.Version, j.Dataset, o.Item)
			}
			err := admission.From(ctx).Work(ctx, func(pause func() error) error {
				return j.assessOne(ctx, pause, &o, item, k)
			})
			if err != nil {
				return nil, err
			}
			scored = append(scored, o)
		}
		all = all[read:]
	}
	return scored, nil
}

// assessOne scores an outcome. One whose scoring panics keeps the scores that it has.
func (j Join) assessOne(ctx context.Context, pause func() error, o *result.Outcome, item dataset.Item, k known) (err error) {
	before := *o
	defer func() {
		if p := recover(); p != nil {
			slog.ErrorContext(ctx, "scoring panicked", "run_id", j.Run.ID, "item_id", o.Item, "panic", p, "stack", string(debug.Stack()))
			*o, err = before, nil
		}
	}()
	return scoring.Reassess(pause, o, j.Rule, j.Measures, item, k.effects[o.Trace], k.scores[o.Trace])
}
