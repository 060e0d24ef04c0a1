package dataset

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
const Queue = "dataset"

// starter starts a workflow under an id; starting it twice is starting it once.
type starter interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
}

// Handlers hand a deletion to the purge workflow, which keeps the dataset for a
// while longer.
func Handlers(engine starter, keep time.Duration) map[string]change.Handler {
	return map[string]change.Handler{TopicDeleted: func(ctx context.Context, m change.Message) error {
		var p Purge
		if err := json.Unmarshal(m.Payload, &p); err != nil {
			return fmt.Errorf("read deletion: %w", err)
		}
		p.NotBefore = p.NotBefore.Add(keep)
		return engine.Start(ctx, Queue, fmt.Sprintf("dataset-purge:%s:%d", p.Org, p.DatasetID), PurgeWorkflow, p)
	}}
}

// PurgeWorkflow waits until a deleted dataset's time is over and removes it for
// good, a batch of items at a time.
func PurgeWorkflow(ctx workflow.Context, p Purge) error {
	if wait := p.NotBefore.Sub(workflow.Now(ctx)); wait > 0 {
		if err := workflow.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	var a *Activities
	return workflow.ExecuteActivity(ctx, a.Purge, p).Get(ctx, nil)
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(PurgeWorkflow)
	r.RegisterActivity(&Activities{store: s.store})
}
