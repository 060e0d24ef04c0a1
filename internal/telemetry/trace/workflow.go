package trace

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
const Queue = "trace"

// starter starts a workflow under an id; starting it twice is starting it once.
type starter interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
}

// Handlers hand a deletion to its workflow.
func Handlers(engine starter) map[string]change.Handler {
	return map[string]change.Handler{TopicDeleted: func(ctx context.Context, m change.Message) error {
		var d Deletion
		if err := json.Unmarshal(m.Payload, &d); err != nil {
			return fmt.Errorf("read deletion: %w", err)
		}
		return engine.Start(ctx, Queue, fmt.Sprintf("trace-delete:%s:%d", d.Org, d.ID), DeleteTraceWorkflow, d)
	}}
}

// DeleteTraceWorkflow removes a deleted trace for good: first what is stored,
// then, when every write that was under way has ended, what came in meanwhile or
// is still deferred. It ends when nothing is left on the disks.
func DeleteTraceWorkflow(ctx workflow.Context, d Deletion) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 6 * time.Hour,
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 5 * time.Minute},
	})
	var a *Activities
	if err := workflow.ExecuteActivity(ctx, a.PurgeTrace, d).Get(ctx, nil); err != nil {
		return err
	}
	if wait := d.Settled.Sub(workflow.Now(ctx)); wait > 0 {
		if err := workflow.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	return workflow.ExecuteActivity(ctx, a.FinishDeletion, d).Get(ctx, nil)
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(DeleteTraceWorkflow)
	r.RegisterActivity(&Activities{store: s.store, scores: s.scores, now: s.now})
}
