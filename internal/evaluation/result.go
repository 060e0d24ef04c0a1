package evaluation

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/score"
)

// ErrNotClient is returned for results of a run that makes its own.
var ErrNotClient = fault.New(fault.Conflict, "not_a_client_run", "Results can only be sent to a run whose target is client.")

// ErrQueued is returned for results that come before the run has begun.
var ErrQueued = fault.New(fault.Conflict, "run_queued", "The run has not begun yet. Send the results again in a moment.").With("retryAfterSeconds", 1)

// Result is an outcome with the item that it is of.
type Result struct {
	score.Outcome
	Item dataset.Item
}

// Results returns a page of a run's results, in the order of items and epochs,
// and how many match. Results of a running run are there as soon as they are
// stored.
func (s *Service) Results(ctx context.Context, org principal.OrgID, evaluation, run int64, f score.Filter) ([]Result, int, error) {
	r, err := s.FindRun(ctx, org, evaluation, run)
	if err != nil || r.Resolved == nil {
		return nil, 0, err
	}
	total, err := s.scores.Count(ctx, r.at(org), f)
	if err != nil {
		return nil, 0, err
	}
	page, err := s.scores.Page(ctx, r.at(org), f)
	if err != nil {
		return nil, 0, err
	}
	out, err := s.withItems(ctx, org, r, page)
	return out, total, err
}

// withItems adds the items to outcomes.
func (s *Service) withItems(ctx context.Context, org principal.OrgID, r Run, page []score.Outcome) ([]Result, error) {
	ids := make([]int64, len(page))
	for i, o := range page {
		ids[i] = o.Item
	}
	items, err := s.datasets.ItemsByID(ctx, org, r.Resolved.Dataset, r.Resolved.Version, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(page))
	for i, o := range page {
		out[i] = Result{Outcome: o, Item: items[o.Item]}
	}
	return out, nil
}

// Sent is a result that a client sends.
type Sent struct {
	Item      int64
	Epoch     int
	Output    jsontext.Value
	ToolCalls jsontext.Value
	// Scores are those that the client computed itself.
	Scores                    map[string]float64
	DurationMS                *float64
	CostUSD                   *float64
	InputTokens, OutputTokens uint32
	ErrorCode, ErrorMessage   string
	Skipped                   bool
	TraceID                   [16]byte
}

// Assess scores what a client sent. What PutTx refuses has no outcomes.
func (s *Service) Assess(ctx context.Context, org principal.OrgID, evaluation, run int64, sent []Sent) ([]score.Outcome, error) {
	r, err := s.FindRun(ctx, org, evaluation, run)
	switch {
	case err != nil || r.Request.Plan.Target.Type != TargetClient:
		return nil, err
	case r.Resolved == nil && r.Status == StatusRunning:
		return nil, ErrQueued
	case r.Resolved == nil:
		return nil, nil
	}
	return s.score(ctx, org, r, sent)
}

// PutTx stores assessed results of a run that waits for them. The same item
// again replaces what it said before. Final says that there are no more.
//
// The run cannot end before the transaction does: what is accepted is in its
// figures.
func (s *Service) PutTx(ctx context.Context, tx postgres.Tx, evaluation, run int64, outcomes []score.Outcome, final bool) error {
	before, err := s.store.lockRunTx(ctx, tx, run)
	switch {
	case err != nil:
		return err
	case before.Evaluation != evaluation:
		return ErrRunNotFound
	case before.Request.Plan.Target.Type != TargetClient:
		return ErrNotClient
	case before.Status != StatusRunning:
		return transitions.In(ErrTransition, before.Status)
	case before.Resolved == nil:
		return ErrQueued
	case before.Phase != PhaseExecuting:
		return transitions.In(ErrTransition, before.Status).With("phase", before.Phase)
	}
	if err := s.scores.Insert(ctx, before.at(tx.Org), outcomes); err != nil {
		return err
	}
	after, at := before, s.now()
	after.Final, after.HeardAt = before.Final || final, &at
	if err := s.store.hearTx(ctx, tx, run, final, at); err != nil || !final {
		return err
	}
	if err := s.auditTx(ctx, tx, "run.final", "run", run, before, after); err != nil {
		return err
	}
	return s.log.PublishTx(ctx, tx, TopicFinal, holder(run), Ticket{Org: tx.Org, Run: run})
}

// score makes outcomes of what a client sent.
func (s *Service) score(ctx context.Context, org principal.OrgID, r Run, sent []Sent) ([]score.Outcome, error) {
	measures, err := s.measuresOf(r)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(sent))
	for i, one := range sent {
		ids[i] = one.Item
	}
	items, err := s.datasets.ItemsByID(ctx, org, r.Resolved.Dataset, r.Resolved.Version, ids)
	if err != nil {
		return nil, err
	}
	if items, err = s.drawn(ctx, org, r, items); err != nil {
		return nil, err
	}
	out := make([]score.Outcome, len(sent))
	for i, one := range sent {
		item, ok := items[one.Item]
		if !ok {
			return nil, fault.Invalid("body", fmt.Sprintf("/results/%d/testCaseId", i), "unknown_reference", "names no item of the run: "+strconv.FormatInt(one.Item, 10))
		}
		if one.Epoch >= r.Request.Repetitions {
			return nil, fault.Invalid("body", fmt.Sprintf("/results/%d/epoch", i), "max", fmt.Sprintf("must be below the run's repetitions, %d", r.Request.Repetitions))
		}
		if err := inRange(measures, one.Scores, i); err != nil {
			return nil, err
		}
		out[i] = s.outcomeOf(r, measures, item, one)
	}
	return out, nil
}

// drawn is those of some items that are in the run's sample.
func (s *Service) drawn(ctx context.Context, org principal.OrgID, r Run, items map[int64]dataset.Item) (map[int64]dataset.Item, error) {
	if r.Request.SampleSize == 0 || len(items) == 0 {
		return items, nil
	}
	ids, err := s.store.items(ctx, org, r.ID, 0, r.Resolved.Items)
	if err != nil {
		return nil, err
	}
	kept := make(map[int64]dataset.Item, len(items))
	for _, id := range ids {
		if item, ok := items[id]; ok {
			kept[id] = item
		}
	}
	return kept, nil
}

// inRange refuses scores that a metric cannot give.
func inRange(measures []measure, scores map[string]float64, index int) error {
	for _, m := range measures {
		v, ok := scores[m.Name]
		if ok && (math.IsNaN(v) || m.Low != nil && v < *m.Low || m.High != nil && v > *m.High) {
			return fault.Invalid("body", fmt.Sprintf("/results/%d/scores/%s", index, pointer(m.Name)), "max", "is outside the range of the metric")
		}
	}
	return nil
}

func (s *Service) outcomeOf(r Run, measures []measure, item dataset.Item, one Sent) score.Outcome {
	o := score.Outcome{
		Key: score.Key{Item: one.Item, Epoch: one.Epoch}, Cluster: cluster(item, r.Request.ClusterKey), Weight: item.Weight,
		Output: one.Output, ToolCalls: one.ToolCalls, Trace: one.TraceID, InputTokens: one.InputTokens, OutputTokens: one.OutputTokens,
	}
	copy(o.Content[:], item.Digest[:])
	a := answer{output: one.Output, usage: llm.Usage{Input: one.InputTokens, Output: one.OutputTokens}}
	if one.ToolCalls.Kind() == '[' {
		a.tools = toolCalls(one.ToolCalls)
	}
	if one.DurationMS != nil {
		took := millis(*one.DurationMS)
		a.took, o.Duration = &took, &took
	}
	if one.CostUSD != nil {
		nano := nanoUSD(*one.CostUSD)
		a.cost, o.CostNanoUSD = &nano, &nano
	}
	switch {
	case one.Skipped:
		o.Status, o.Scores = score.StatusSkipped, unscored(measures)
	case one.ErrorCode != "" || one.ErrorMessage != "":
		o.Status, o.ErrorCode, o.ErrorMessage, o.Scores = score.StatusErrored, one.ErrorCode, one.ErrorMessage, unscored(measures)
	default:
		assess(&o, r.Request.Plan.PassRule, measures, caseOf(item, a), one.Scores)
	}
	return o
}

// unscored says of every metric that it was not computed, in place of what it
// may have said of a result that is replaced.
func unscored(measures []measure) []score.Score {
	all := make([]score.Score, len(measures))
	for i, m := range measures {
		all[i] = score.Score{Metric: m.Name, Reason: string(metric.ReasonNotComputed)}
	}
	return all
}
