package chunk

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/evaluation/internal/suspect"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/admission"
)

// answered is the outcome of a unit that a target was asked about, not yet scored.
func (e *execution) answered(j job, a provider.Answer, tries []provider.Attempt) (o result.Outcome, err error) {
	o = e.unscored(j)
	o.Output, o.ToolCalls, o.Trace, o.Duration, o.CostNanoUSD = a.Output, a.ToolsJSON, a.Trace, a.Took, a.CostNanoUSD
	o.InputTokens, o.OutputTokens, o.Calls = a.Usage.Input, a.Usage.Output, a.Calls
	if len(tries) > 0 {
		if o.Attempts, err = json.Marshal(tries, json.Deterministic(true)); err != nil {
			return o, fmt.Errorf("encode attempts: %w", err)
		}
	}
	return o, nil
}

// scored scores an answer. A unit that makes that panic has errored.
func (e *execution) scored(ctx, asking context.Context, j job, a provider.Answer, o *result.Outcome) error {
	scores, cost, err := e.score(asking, e.scorers, j, a)
	if err != nil {
		return err
	}
	o.ScoringNanoUSD += cost
	panicked, err := e.assess(ctx, j, o, func(pause func() error) error {
		return scoring.Assess(pause, o, e.Plan.PassRule, e.Measures, scoring.CaseOf(j.content, a), scores)
	})
	if panicked {
		e.fail(o, errPanic)
	}
	return err
}

// rescore completes the outcome of a unit whose answer is kept: those whose scores it
// lacks are asked, the target is not. Where others score it meanwhile it is stored at
// once, and their scores stay. An outcome that makes scoring panic, or that killed its
// workers, is as it was.
func (e *execution) rescore(ctx, asking context.Context, j job) (result.Outcome, error) {
	kept, err := e.Results.Find(ctx, e.Run, j.Key)
	if err != nil || e.suspects.GaveUp(j.name()) {
		return kept, err
	}
	scores, cost, err := e.score(asking, e.scorers.Lacking(&kept), j, scoring.AnswerOf(&kept))
	if err != nil {
		return kept, err
	}
	complete := func(o *result.Outcome) error {
		_, err := e.assess(ctx, j, o, func(pause func() error) error {
			return scoring.Reassess(pause, o, e.Plan.PassRule, e.Measures, j.content, nil, scores)
		})
		o.ScoringNanoUSD = kept.ScoringNanoUSD + cost
		return err
	}
	if !e.shared() {
		o := kept
		err := complete(&o)
		return o, err
	}
	if err := e.keepVerdicts(ctx, []result.Outcome{kept}); err != nil {
		return kept, err
	}
	return e.Results.Amend(ctx, e.Run, j.Key, complete)
}

// assess lets metrics score an outcome, whatever it takes. One that makes them panic
// is as it was.
func (e *execution) assess(ctx context.Context, j job, o *result.Outcome, score func(pause func() error) error) (panicked bool, err error) {
	before := *o
	// A turn is not held while waiting for the list, so the list is asked first.
	err = e.suspects.With(ctx, j.name(), func() error {
		return admission.From(ctx).Work(ctx, func(pause func() error) (err error) {
			defer func() {
				if p := recover(); p != nil {
					slog.ErrorContext(ctx, "scoring panicked", "run_id", e.Run.ID, "item_id", j.Item, "panic", p, "stack", string(debug.Stack()))
					*o, panicked, err = before, true, nil
				}
			}()
			return score(pause)
		})
	})
	return panicked, err
}

// errPanic is the end of an item whose scoring panics.
var errPanic = &provider.Failure{Code: "internal", Message: "The item's scores could not be computed because of a fault in Assay. The fault is in the log of the worker."}

// errDeadly is the end of an item that takes its workers with it.
var errDeadly = &provider.Failure{
	Code: "worker_died", Message: fmt.Sprintf("%d workers died while they scored this item, so it is not tried again. It may need more memory than a worker has: make the item or the answer smaller.", suspect.MaxDeaths),
}

// failed is the outcome of a unit that is not executed.
func (e *execution) failed(j job, f *provider.Failure) result.Outcome {
	o := e.unscored(j)
	e.fail(&o, f)
	return o
}

// unscored is what is known of a unit before it is executed.
func (e *execution) unscored(j job) result.Outcome {
	o := result.Outcome{Key: j.Key, Cluster: scoring.Cluster(j.content, e.ClusterKey), Weight: j.content.Weight}
	copy(o.Content[:], j.content.Digest[:])
	return o
}

// fail makes an outcome an error. What an attempt before this one may have stored
// is replaced whole.
func (e *execution) fail(o *result.Outcome, f *provider.Failure) {
	o.Status, o.ErrorCode, o.ErrorMessage, o.Scores = result.StatusErrored, f.Code, f.Message, scoring.Unscored(e.Measures)
}
