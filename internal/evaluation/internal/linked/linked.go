// Package linked adds to the results of a run what the traces of their answers say:
// cost, tokens and tool calls that an answer does not name, what the answer did to the
// world, and scores that somebody gave to the trace.
package linked

import (
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

const (
	// MaxUnits is how many results a run may have for its traces to be read: more
	// would take longer than the end of a run may.
	MaxUnits = 200_000

	lookBatch = 500 // traces that are looked for at once
	readBatch = 50  // traces that are read at once
	// What is stored at once.
	flushCount = 2000
	flushBytes = 8 << 20
	// LastItems is how many items that were executed last show whether all traces
	// have come.
	LastItems = 200
	lookAgain = 250 * time.Millisecond
)

// Effects says what traces did to the world. One that did nothing is not in the map.
type Effects func(context.Context, principal.OrgID, []span.TraceID) (map[span.TraceID]metric.Effects, error)

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
	Rule     scoring.PassRule
	Measures []scoring.Measure
	Effects  Effects
	// Wait is how long the traces of the last items may take to come.
	Wait time.Duration
	Last []int64
}

// Do completes every result that has an answer and a trace of its own. Doing it again
// changes nothing, unless more has arrived.
func (j Join) Do(ctx context.Context) error {
	all, err := j.traced(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	if err := j.await(ctx, all); err != nil {
		return err
	}
	var ready []result.Outcome
	size := 0
	for some := range slices.Chunk(all, lookBatch) {
		some, k, err := j.known(ctx, some)
		if err != nil {
			return err
		}
		for few := range slices.Chunk(some, readBatch) {
			done, err := j.complete(ctx, few, k)
			if err != nil {
				return err
			}
			for i := range done {
				size += len(done[i].Output) + len(done[i].ToolCalls)
			}
			ready = append(ready, done...)
			if len(ready) < flushCount && size < flushBytes {
				continue
			}
			if err := j.Results.Insert(ctx, j.Run, ready); err != nil {
				return err
			}
			ready, size = nil, 0
		}
	}
	if len(ready) == 0 {
		return nil
	}
	return j.Results.Insert(ctx, j.Run, ready)
}

// traced are the results with a trace of their own. A trace that several results
// name says about none of them what it cost.
func (j Join) traced(ctx context.Context) ([]result.Traced, error) {
	all, err := j.Results.Traced(ctx, j.Run)
	if err != nil {
		return nil, err
	}
	named := make(map[span.TraceID]int, len(all))
	for _, t := range all {
		named[t.Trace]++
	}
	return slices.DeleteFunc(all, func(t result.Traced) bool { return named[t.Trace] > 1 || !t.Answered }), nil
}

// await waits until the traces of the last items have come and ended, and what they did is
// verified if a metric asks for that, or for as long as they may take.
func (j Join) await(ctx context.Context, all []result.Traced) error {
	if j.Wait <= 0 {
		return nil
	}
	var left []span.TraceID
	for _, t := range all {
		if slices.Contains(j.Last, t.Item) {
			left = append(left, t.Trace)
		}
	}
	late := time.NewTimer(j.Wait)
	defer late.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		ended := map[span.TraceID]bool{}
		if err := j.Traces.Linked(ctx, j.Org, left, func(l trace.Linked) { ended[l.ID] = l.Ended }); err != nil {
			return err
		}
		effects, err := j.effects(ctx, left)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(id span.TraceID) bool { return ended[id] && effects[id].Open == 0 })
		if len(left) == 0 {
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
}

// scores are those of traces by the metrics of the run.
type scores map[span.TraceID]map[string]metric.Score

// known is what is known about traces besides their spans.
type known struct {
	scores  scores
	effects map[span.TraceID]*metric.Effects
}

// known are those of the results whose traces have arrived, have scores, or did something to
// the world. A trace that has arrived and of which the ledger has nothing did nothing.
func (j Join) known(ctx context.Context, some []result.Traced) ([]result.Traced, known, error) {
	ids := make([]span.TraceID, len(some))
	for i, t := range some {
		ids[i] = t.Trace
	}
	// First: a trace that arrives while the rest is read has not arrived, rather than done nothing.
	arrived, err := j.Traces.Arrived(ctx, j.Org, ids)
	if err != nil {
		return nil, known{}, err
	}
	given, err := j.given(ctx, ids)
	if err != nil {
		return nil, known{}, err
	}
	effects, err := j.effects(ctx, ids)
	if err != nil {
		return nil, known{}, err
	}
	k, is := known{given, map[span.TraceID]*metric.Effects{}}, make(map[span.TraceID]bool, len(arrived))
	for _, id := range arrived {
		is[id] = true
	}
	some = slices.DeleteFunc(slices.Clone(some), func(t result.Traced) bool {
		e, did := effects[t.Trace]
		if effects != nil && (did || is[t.Trace]) {
			k.effects[t.Trace] = &e
		}
		return !is[t.Trace] && given[t.Trace] == nil && !did
	})
	return some, k, nil
}

// effects are what traces did to the world; nil if no metric of the run asks for it.
func (j Join) effects(ctx context.Context, ids []span.TraceID) (map[span.TraceID]metric.Effects, error) {
	if !slices.ContainsFunc(j.Measures, func(m scoring.Measure) bool { return slices.Contains(m.Needs, metric.NeedEffects) }) {
		return nil, nil
	}
	return j.Effects(ctx, j.Org, ids)
}

// given are the scores of traces and their spans that metrics of the run wait for,
// the newest of each.
func (j Join) given(ctx context.Context, ids []span.TraceID) (scores, error) {
	of := map[string]string{} // the metric by what feedback is kept under
	var kept []string
	for _, name := range scoring.Awaited(j.Measures) {
		of[trace.FeedbackMetric(name)] = name
		kept = append(kept, trace.FeedbackMetric(name))
	}
	if len(of) == 0 {
		return nil, nil
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	found, err := j.Scores.List(ctx, j.Org, score.Filter{Kinds: []score.Kind{score.KindTrace, score.KindSpan}, IDs: texts, Metrics: kept}, maxScores)
	all := scores{}
	for _, s := range found {
		id, ok := span.ParseTraceID(s.Subject.ID)
		if !ok || s.Value == nil {
			continue
		}
		if all[id] == nil {
			all[id] = map[string]metric.Score{}
		}
		name := of[s.Metric]
		if _, newer := all[id][name]; !newer {
			all[id][name] = scoring.FromTrace(j.Measures, name, *s.Value, s.Comment)
		}
	}
	return all, err
}

// maxScores is how many scores of the traces of a batch are read, newest first.
const maxScores = 50_000
