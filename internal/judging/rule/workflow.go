package rule

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
)

// Queue is the domain's task queue.
const Queue = "rule"

// starter starts a workflow under an id; starting it twice is starting it once.
type starter interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
}

// Handlers hand the domain's promises to the workflow engine.
func Handlers(e starter) map[string]change.Handler {
	return map[string]change.Handler{
		TopicActivated: func(ctx context.Context, m change.Message) error {
			var t Ticket
			if err := json.Unmarshal(m.Payload, &t); err != nil {
				return fmt.Errorf("read ticket: %w", err)
			}
			return e.Start(ctx, Queue, t.WorkflowID(), FollowWorkflow, t)
		},
		TopicBackfill: func(ctx context.Context, m change.Message) error {
			var t BackfillTicket
			if err := json.Unmarshal(m.Payload, &t); err != nil {
				return fmt.Errorf("read ticket: %w", err)
			}
			return e.Start(ctx, Queue, t.WorkflowID(), BackfillWorkflow, t)
		},
	}
}

// FollowWorkflow looks for new traces again and again, until the rule is paused or
// deleted. What it remembers lies in the rule's cursor.
func FollowWorkflow(ctx workflow.Context, t Ticket) error {
	var a *Activities
	return steps(ctx, t.Org, func(ctx workflow.Context) workflow.Future { return workflow.ExecuteActivity(ctx, a.LookForTraces, t) }, FollowWorkflow, t)
}

// BackfillWorkflow has page after page of traces judged, until there is none left or
// the back-fill is stopped or cancelled.
func BackfillWorkflow(ctx workflow.Context, t BackfillTicket) error {
	var a *Activities
	return steps(ctx, t.Org, func(ctx workflow.Context) workflow.Future { return workflow.ExecuteActivity(ctx, a.FillPage, t) }, BackfillWorkflow, t)
}

// Step is what a step of a workflow says about the next one.
type Step struct {
	Ended bool
	// Wait is how long the next step has time.
	Wait time.Duration
}

// steps makes steps until one says that it was the last.
func steps(ctx workflow.Context, org principal.OrgID, step func(workflow.Context) workflow.Future, self, input any) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 6 * time.Hour, // models that are slow, limited, or both
		HeartbeatTimeout:    20 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Priority:            temporal.Priority{FairnessKey: org.String()},
	})
	for {
		var done Step
		if err := step(ctx).Get(ctx, &done); err != nil {
			return err
		}
		if done.Ended {
			return nil
		}
		if done.Wait > 0 {
			if err := workflow.Sleep(ctx, done.Wait); err != nil {
				return err
			}
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, self, input)
		}
	}
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(FollowWorkflow)
	r.RegisterWorkflow(BackfillWorkflow)
	r.RegisterActivity(&Activities{s})
}
