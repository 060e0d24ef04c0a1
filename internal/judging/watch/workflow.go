package watch

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
const Queue = "watch"

// Topics of the domain's promises.
const (
	TopicStarted = "judge_watch.started"
	TopicDue     = "judge_watch.due"
)

// signalDue wakes a watch that has something to do now.
const signalDue = "due"

// Ticket names a watch.
type Ticket struct {
	Org   principal.OrgID `json:"org"`
	Watch int64           `json:"watch"`
}

// WorkflowID is the id of a watch's workflow, so that a watch has one.
func (t Ticket) WorkflowID() string { return fmt.Sprintf("judge-watch:%s:%d", t.Org, t.Watch) }

// engine starts and wakes workflows. Each may be done twice.
type engine interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
	Signal(ctx context.Context, id, signal string) error
}

// Handlers hand the domain's promises to the workflow engine.
func Handlers(e engine) map[string]change.Handler {
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
			return e.Start(ctx, Queue, t.WorkflowID(), LookWorkflow, t)
		}),
		TopicDue: read(func(ctx context.Context, t Ticket) error { return e.Signal(ctx, t.WorkflowID(), signalDue) }),
	}
}

// perHistory is how many steps a workflow takes before it begins a new history.
const perHistory = 100

// LookWorkflow takes the steps of a watch when they are due, until the watch ends.
func LookWorkflow(ctx workflow.Context, t Ticket) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 3 * time.Hour,
		Priority:            temporal.Priority{FairnessKey: t.Org.String()},
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 5 * time.Minute},
	})
	var a *Activities
	due := workflow.GetSignalChannel(ctx, signalDue)
	for range perHistory {
		var next Next
		if err := workflow.ExecuteActivity(ctx, a.Step, t).Get(ctx, &next); err != nil {
			return err
		}
		if next.Ended {
			return nil
		}
		if next.More {
			continue
		}
		timed, cancel := workflow.WithCancel(ctx)
		s := workflow.NewSelector(ctx)
		s.AddFuture(workflow.NewTimer(timed, max(next.Wait, time.Second)), func(workflow.Future) {})
		s.AddReceive(due, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil) })
		s.Select(ctx)
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, LookWorkflow, t)
}

// Register puts the domain's workflow and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(LookWorkflow)
	r.RegisterActivity(&Activities{s})
}
