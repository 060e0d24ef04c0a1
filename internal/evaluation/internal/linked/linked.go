// Package linked completes the results of a run from the traces of their answers:
// cost, tokens and tool calls that an answer does not name, and scores that somebody
// gave to the trace.
package linked

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/result"
	"github.com/assayhq/assay/internal/score"
	"github.com/assayhq/assay/internal/span"
	"github.com/assayhq/assay/internal/trace"
)

const (
	pageSize = 500 // results at a time
	// sampleSize is how many traces are looked at to see whether all have come.
	sampleSize = 200
	// lookAgain is how often that is looked at.
	lookAgain = 250 * time.Millisecond
)

// Join is what completes the results of one run.
type Join struct {
	Results  *result.Service
	Traces   *trace.Service
	Scores   *score.Service
	Datasets *dataset.Service

	Org      principal.OrgID
	Run      result.Run
	Dataset  int64 // whose items the run is about,
	Version  int   // and in which version
	Rule     plan.PassRule
	Measures []plan.Measure
	// Wait is how long traces may take to come.
	Wait time.Duration
}

// Do completes every result that has a trace. Doing it again changes nothing,
// unless more has arrived.
func (j Join) Do(ctx context.Context) error {
	if err := j.await(ctx); err != nil {
		return err
	}
	f := result.Filter{Linked: true, Limit: pageSize}
	for more := true; more; {
		page, left, err := j.Results.Page(ctx, j.Run, f)
		if err != nil {
			return err
		}
		if more = left && len(page) > 0; more {
			f.After = page[len(page)-1].Key
		}
		if err := j.complete(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the traces of a sample have come and ended, or for as long as
// they may take.
func (j Join) await(ctx context.Context) error {
	if j.Wait <= 0 {
		return nil
	}
	sample, _, err := j.Results.Page(ctx, j.Run, result.Filter{Linked: true, Limit: sampleSize})
	if err != nil {
		return err
	}
	left := traceIDs(sample)
	late := time.NewTimer(j.Wait)
	defer late.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for len(left) > 0 {
		ended := map[span.TraceID]bool{}
		if err := j.Traces.Linked(ctx, j.Org, left, func(l trace.Linked) { ended[l.ID] = l.Ended }); err != nil {
			return err
		}
		rest := left[:0]
		for _, id := range left {
			if !ended[id] {
				rest = append(rest, id)
			}
		}
		if left = rest; len(left) == 0 {
			return nil
		}
		select {
		case <-again.C:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func traceIDs(page []result.Outcome) (ids []span.TraceID) {
	for i := range page {
		ids = append(ids, page[i].Trace)
	}
	return ids
}

// complete stores what traces say about the results of a page.
func (j Join) complete(ctx context.Context, page []result.Outcome) error {
	if len(page) == 0 {
		return nil
	}
	ids := traceIDs(page)
	found := map[span.TraceID]trace.Linked{}
	if err := j.Traces.Linked(ctx, j.Org, ids, func(l trace.Linked) { found[l.ID] = l }); err != nil {
		return err
	}
	given, err := j.given(ctx, ids)
	if err != nil {
		return err
	}
	var fuller []result.Outcome
	for i := range page {
		o := page[i]
		id := span.TraceID(o.Trace)
		if more := fill(&o, found[id]); more || len(given[id]) > 0 {
			fuller = append(fuller, o)
		}
	}
	if fuller, err = j.assess(ctx, fuller, given); err != nil || len(fuller) == 0 {
		return err
	}
	return j.Results.Insert(ctx, j.Run, fuller)
}

// fill adds to an outcome what it does not know itself, and reports whether that is
// anything.
func fill(o *result.Outcome, l trace.Linked) bool {
	if o.ErrorCode != "" && !o.Brief().Answered || o.Status == result.StatusSkipped {
		return false
	}
	more := false
	if o.CostNanoUSD == nil && l.Cost.Known {
		o.CostNanoUSD, more = &l.Cost.NanoUSD, true
	}
	if o.InputTokens == 0 && o.OutputTokens == 0 && l.Usage.InputTokens+l.Usage.OutputTokens > 0 {
		o.InputTokens, o.OutputTokens, more = capped(l.Usage.InputTokens), capped(l.Usage.OutputTokens), true
	}
	if o.ToolCalls == nil && l.ToolCalls != nil {
		o.ToolCalls, more = l.ToolCalls, true
	}
	return more
}

func capped(n uint64) uint32 { return uint32(min(n, 1<<32-1)) }

// given are the scores of traces and their spans that metrics of the run wait for,
// the newest of each.
func (j Join) given(ctx context.Context, ids []span.TraceID) (map[span.TraceID]map[string]metric.Score, error) {
	of := map[string]string{} // the metric by what feedback is kept under
	for _, name := range plan.Awaited(j.Measures) {
		of[trace.FeedbackMetric(name)] = name
	}
	if len(of) == 0 {
		return nil, nil
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	all := map[span.TraceID]map[string]metric.Score{}
	scores, err := j.Scores.List(ctx, j.Org, score.Filter{Kinds: []score.Kind{score.KindTrace, score.KindSpan}, IDs: texts, Metrics: slices.Collect(maps.Keys(of))}, maxScores)
	for _, s := range scores {
		id, ok := span.ParseTraceID(s.Subject.ID)
		if !ok || s.Value == nil {
			continue
		}
		if all[id] == nil {
			all[id] = map[string]metric.Score{}
		}
		name := of[s.Metric]
		if _, newer := all[id][name]; !newer {
			all[id][name] = plan.FromTrace(j.Measures, name, *s.Value, s.Comment)
		}
	}
	return all, err
}

// maxScores is how many scores of the traces of a page are read, newest first.
const maxScores = 50_000

// assess scores outcomes anew.
func (j Join) assess(ctx context.Context, all []result.Outcome, given map[span.TraceID]map[string]metric.Score) (scored []result.Outcome, err error) {
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
				return nil, fmt.Errorf("item %d is lost", o.Item)
			}
			err := admission.From(ctx).Work(ctx, func(pause func() error) error {
				return j.assessOne(ctx, pause, &o, item, given[span.TraceID(o.Trace)])
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
func (j Join) assessOne(ctx context.Context, pause func() error, o *result.Outcome, item dataset.Item, given map[string]metric.Score) (err error) {
	before := *o
	defer func() {
		if p := recover(); p != nil {
			slog.ErrorContext(ctx, "scoring panicked", "run_id", j.Run.ID, "item_id", o.Item, "panic", p, "stack", string(debug.Stack()))
			*o, err = before, nil
		}
	}()
	return plan.Reassess(pause, o, j.Rule, j.Measures, item, given)
}
