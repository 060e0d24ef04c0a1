package evaluation

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/provider"
	"github.com/assayhq/assay/internal/result"
)

// ErrNotClient is returned for results of a run that makes its own.
var ErrNotClient = fault.New(fault.Conflict, "not_a_client_run", "Results can only be sent to a run whose target is client.")

// ErrQueued is returned for results that come before the run has begun.
var ErrQueued = fault.New(fault.Conflict, "run_queued", "The run has not begun yet. Send the results again in a moment.").With("retryAfterSeconds", 1)

// Result is an outcome with the item that it is of.
type Result struct {
	result.Outcome
	Item dataset.Item
}

// Results returns a page of a run's results, in the order of items and epochs.
// Results of a running run are there as soon as they are stored.
func (s *Service) Results(ctx context.Context, org principal.OrgID, evaluation, run int64, f result.Filter) ([]Result, error) {
	r, err := s.FindRun(ctx, org, evaluation, run)
	if err != nil || r.Resolved == nil {
		return nil, err
	}
	page, err := s.results.Page(ctx, r.at(org), f)
	if err != nil || len(page) == 0 {
		return nil, err
	}
	return s.withItems(ctx, org, r, page)
}

// CountResults returns how many results of a run match, on all pages.
func (s *Service) CountResults(ctx context.Context, org principal.OrgID, evaluation, run int64, f result.Filter) (int64, error) {
	r, err := s.FindRun(ctx, org, evaluation, run)
	if err != nil || r.Resolved == nil {
		return 0, err
	}
	n, err := s.results.Count(ctx, r.at(org), f)
	return int64(n), err
}

// withItems adds the items to outcomes.
func (s *Service) withItems(ctx context.Context, org principal.OrgID, r Run, page []result.Outcome) ([]Result, error) {
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
func (s *Service) Assess(ctx context.Context, org principal.OrgID, evaluation, run int64, sent []Sent) ([]result.Outcome, error) {
	r, err := s.FindRun(ctx, org, evaluation, run)
	switch {
	case err != nil || r.Request.Plan.Target.Type != plan.TargetClient:
		return nil, err
	case r.Resolved == nil && r.Status == StatusRunning:
		return nil, ErrQueued
	case r.Resolved == nil:
		return nil, nil
	}
	return s.score(ctx, org, r, sent)
}

// insertTime is how long results may take into the store while their run is
// locked.
const insertTime = 10 * time.Second

// PutTx stores assessed results of a run that waits for them. The same item
// again replaces what it said before. Final says that there are no more.
//
// The run cannot end before the transaction does: what is accepted is in its
// figures. That is why ClickHouse is asked inside of it, against the rule, and
// given little time.
func (s *Service) PutTx(ctx context.Context, tx postgres.Tx, evaluation, run int64, outcomes []result.Outcome, final bool) error {
	before, err := s.store.lockRunTx(ctx, tx, run)
	switch {
	case err != nil:
		return err
	case before.Evaluation != evaluation:
		return ErrRunNotFound
	case before.Request.Plan.Target.Type != plan.TargetClient:
		return ErrNotClient
	case before.Status != StatusRunning:
		return transitions.In(ErrTransition, before.Status)
	case before.Resolved == nil:
		return ErrQueued
	case before.Phase != PhaseExecuting:
		return transitions.In(ErrTransition, before.Status).With("phase", before.Phase)
	}
	inserting, cancel := context.WithTimeout(ctx, insertTime)
	defer cancel()
	if err := s.results.Insert(inserting, before.at(tx.Org), outcomes); err != nil {
		return err
	}
	after, at := before, s.now()
	after.Final, after.HeardAt = before.Final || final, &at
	if err := s.store.noteResultsTx(ctx, tx, run, final, at); err != nil || !final {
		return err
	}
	if err := s.auditTx(ctx, tx, "run.final", "run", run, before, after); err != nil {
		return err
	}
	return s.log.PublishTx(ctx, tx, TopicFinal, holder(run), Ticket{Org: tx.Org, Run: run})
}

// score makes outcomes of what a client sent.
func (s *Service) score(ctx context.Context, org principal.OrgID, r Run, sent []Sent) ([]result.Outcome, error) {
	measures, err := s.measuresOf(r)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(sent))
	last := make(map[result.Key]int, len(sent))
	for i, one := range sent {
		ids[i] = one.Item
		last[result.Key{Item: one.Item, Epoch: one.Epoch}] = i
	}
	items, err := s.datasets.ItemsByID(ctx, org, r.Resolved.Dataset, r.Resolved.Version, ids)
	if err != nil {
		return nil, err
	}
	if items, err = s.drawn(ctx, org, r, items); err != nil {
		return nil, err
	}
	var wrong []fault.Field
	out := make([]result.Outcome, 0, len(sent))
	for i, one := range sent {
		item, ok := items[one.Item]
		faults := faultsOf(r, measures, one, ok, i)
		wrong = append(wrong, faults...)
		// Of a test case that comes twice the last counts.
		if len(faults) == 0 && last[result.Key{Item: one.Item, Epoch: one.Epoch}] == i {
			out = append(out, s.outcomeOf(r, measures, item, one))
		}
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Validation, "invalid_request", "Some of the results cannot be taken; none was.").WithFields(wrong...)
	}
	return out, nil
}

// faultsOf says what is wrong with the i-th result that was sent.
func faultsOf(r Run, measures []plan.Measure, one Sent, known bool, i int) (all []fault.Field) {
	const scores = jsontext.Pointer("scores")
	add := func(path jsontext.Pointer, code, message string) {
		all = append(all, fault.Field{In: "body", Path: fmt.Sprintf("/results/%d/%s", i, path), Code: code, Message: message})
	}
	if !known {
		add("testCaseId", "unknown_reference", "names no item of the run: "+strconv.FormatInt(one.Item, 10))
	}
	if one.Epoch >= r.Request.Repetitions {
		add("epoch", "max", fmt.Sprintf("must be below the run's repetitions, %d", r.Request.Repetitions))
	}
	for _, m := range measures {
		v, ok := one.Scores[m.Name]
		switch {
		case !ok:
		case math.IsNaN(v) || math.Abs(v) > plan.MaxScore || m.Low != nil && v < *m.Low || m.High != nil && v > *m.High:
			add(scores.AppendToken(m.Name), "max", "is outside the range of the metric")
		case m.Kind == metric.Binary && v != 0 && v != 1:
			add(scores.AppendToken(m.Name), "enum", "must be 0 or 1: the metric passes or fails")
		}
	}
	return all
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

func (s *Service) outcomeOf(r Run, measures []plan.Measure, item dataset.Item, one Sent) result.Outcome {
	o := result.Outcome{
		Key: result.Key{Item: one.Item, Epoch: one.Epoch}, Cluster: plan.Cluster(item, r.Request.ClusterKey), Weight: item.Weight,
		Output: one.Output, ToolCalls: one.ToolCalls, Trace: one.TraceID, InputTokens: one.InputTokens, OutputTokens: one.OutputTokens,
	}
	copy(o.Content[:], item.Digest[:])
	a := provider.Answer{Output: one.Output, Usage: llm.Usage{Input: one.InputTokens, Output: one.OutputTokens}}
	if one.ToolCalls.Kind() == '[' {
		a.Tools = provider.ToolCalls(one.ToolCalls)
	}
	if one.DurationMS != nil {
		took := millis(*one.DurationMS)
		a.Took, o.Duration = &took, &took
	}
	if one.CostUSD != nil {
		nano := provider.NanoUSD(*one.CostUSD)
		a.CostNanoUSD, o.CostNanoUSD = &nano, &nano
	}
	switch {
	case one.Skipped:
		o.Status, o.Scores = result.StatusSkipped, plan.Unscored(measures)
	case one.ErrorCode != "" || one.ErrorMessage != "":
		o.Status, o.ErrorCode, o.ErrorMessage, o.Scores = result.StatusErrored, one.ErrorCode, one.ErrorMessage, plan.Unscored(measures)
	default:
		plan.Assess(&o, r.Request.Plan.PassRule, measures, plan.CaseOf(item, a), one.Scores)
	}
	return o
}
