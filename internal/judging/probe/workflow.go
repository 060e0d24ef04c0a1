package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
)

// Queue is the domain's task queue.
const Queue = "judge-probe"

// engine starts and cancels workflows. Each may be done twice.
type engine interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
	Cancel(ctx context.Context, id string) error
}

// Handlers hand the domain's promises to the workflow engine.
func (s *Service) Handlers(e engine) map[string]change.Handler {
	read := func(do func(context.Context, Ticket) error) change.Handler {
		return func(ctx context.Context, m change.Message) error {
			var t Ticket
			if err := json.Unmarshal(m.Payload, &t); err != nil {
				return fmt.Errorf("read ticket: %w", err)
			}
			return do(ctx, t)
		}
	}
	return map[string]change.Handler{
		TopicStarted: read(func(ctx context.Context, t Ticket) error {
			return e.Start(ctx, Queue, t.WorkflowID(), AskWorkflow, t)
		}),
		TopicCancelled: read(func(ctx context.Context, t Ticket) error { return e.Cancel(ctx, t.WorkflowID()) }),
	}
}

// stretch is how many units an activity asks for: a few minutes of a slow model.
const stretch = 100

// AskWorkflow executes a probe: it begins, asks for one stretch of verdicts after
// the other, and is concluded, also when it is cancelled.
func AskWorkflow(ctx workflow.Context, t Ticket) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour, // models that are slow, limited, or both
		HeartbeatTimeout:    20 * time.Second,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Priority:            temporal.Priority{FairnessKey: t.Org.String()},
	})
	b, err := judged(ctx, t)
	cancelled := ctx.Err() != nil
	switch {
	case err != nil && !cancelled:
		return err
	case err != nil:
		// A stretch of a cancelled probe ends in any way: its worker may be gone, and
		// the engine gives it to no other.
		err = ctx.Err()
	}
	if cancelled { // calls that were under way are paid and kept, so the report is to have them
		ctx, _ = workflow.NewDisconnectedContext(ctx)
	}
	var a *Activities
	if failed := workflow.ExecuteActivity(ctx, a.ConcludeProbe, Conclusion{t, b.Stop, cancelled}).Get(ctx, nil); failed != nil {
		return failed
	}
	return err
}

// judged begins a probe and asks for its verdicts.
func judged(ctx workflow.Context, t Ticket) (b Begun, err error) {
	var a *Activities
	if err := workflow.ExecuteActivity(ctx, a.BeginProbe, t).Get(ctx, &b); err != nil {
		return b, err
	}
	for from := 0; from < b.Units && !b.Ended && b.Stop == nil; from += stretch {
		var d Done
		if err := workflow.ExecuteActivity(ctx, a.JudgeStretch, Stretch{t, from, from + stretch}).Get(ctx, &d); err != nil {
			return b, err
		}
		b.Ended, b.Stop = d.Ended, d.Stop
	}
	return b, nil
}

// Register puts the domain's workflow and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(AskWorkflow)
	r.RegisterActivity(&Activities{s})
}
