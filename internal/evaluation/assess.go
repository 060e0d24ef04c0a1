package evaluation

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/assayhq/assay/internal/evaluation/internal/suspect"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/provider"
	"github.com/assayhq/assay/internal/result"
)

// outcome scores what a target said. A unit that makes that panic has errored.
func (e *chunk) outcome(ctx context.Context, j job, a provider.Answer, f *provider.Failure, tries []provider.Attempt, scores map[string]metric.Score) (o result.Outcome, err error) {
	o = e.unscored(j)
	o.Output, o.ToolCalls, o.Trace, o.Duration, o.CostNanoUSD = a.Output, a.ToolsJSON, a.Trace, a.Took, a.CostNanoUSD
	o.InputTokens, o.OutputTokens, o.Calls = a.Usage.Input, a.Usage.Output, a.Calls
	if len(tries) > 0 {
		o.Attempts = encode(tries)
	}
	if f != nil {
		e.fail(&o, f)
		return o, nil
	}
	// Who holds a turn waits for nobody, so the list is asked first.
	err = e.suspects.With(ctx, j.String(), func() error {
		return admission.From(ctx).Work(ctx, func(pause func() error) error { return e.assess(ctx, pause, j, a, scores, &o) })
	})
	return o, err
}

// assess scores an outcome, whatever it takes.
func (e *chunk) assess(ctx context.Context, pause func() error, j job, a provider.Answer, scores map[string]metric.Score, o *result.Outcome) (err error) {
	unscored := *o
	defer func() {
		if p := recover(); p != nil {
			slog.ErrorContext(ctx, "scoring panicked", "run_id", e.run.ID, "item_id", j.item, "panic", p, "stack", string(debug.Stack()))
			*o, err = unscored, nil
			e.fail(o, errPanic)
		}
	}()
	return plan.Assess(pause, o, e.run.Request.Plan.PassRule, e.measures, plan.CaseOf(j.content, a), scores)
}

// errPanic is the end of an item whose scoring panics.
var errPanic = &provider.Failure{Code: "internal", Message: "The item's scores could not be computed because of a fault in Assay. The fault is in the log of the worker."}

// errDeadly is the end of an item that takes its workers with it.
var errDeadly = &provider.Failure{
	Code: "worker_died", Message: fmt.Sprintf("%d workers died while they scored this item, so it is not tried again. It may need more memory than a worker has: make the item or the answer smaller.", suspect.MaxDeaths),
}

// failed is the outcome of a unit that is not executed.
func (e *chunk) failed(j job, f *provider.Failure) result.Outcome {
	o := e.unscored(j)
	e.fail(&o, f)
	return o
}

// unscored is what is known of a unit before it is executed.
func (e *chunk) unscored(j job) result.Outcome {
	o := result.Outcome{Key: result.Key{Item: j.item, Epoch: j.epoch}, Cluster: plan.Cluster(j.content, e.run.Request.ClusterKey), Weight: j.content.Weight}
	copy(o.Content[:], j.content.Digest[:])
	return o
}

// fail makes an outcome an error. What an attempt before this one may have stored
// is replaced whole.
func (e *chunk) fail(o *result.Outcome, f *provider.Failure) {
	o.Status, o.ErrorCode, o.ErrorMessage, o.Scores = result.StatusErrored, f.Code, f.Message, plan.Unscored(e.measures)
}
