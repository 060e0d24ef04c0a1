package tenancy

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/principal"
)

// Queue is the domain's task queue.
const Queue = "tenancy"

// Erasure is an organization that is to be erased.
type Erasure struct {
	Org principal.OrgID `json:"org"`
}

// starter starts a workflow under an id; starting it twice is starting it once.
type starter interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
}

// StartErasure returns the handler that hands a deleted organization to the
// erasure workflow.
func StartErasure(engine starter) change.Handler {
	return func(ctx context.Context, m change.Message) error {
		var e Erasure
		if err := json.Unmarshal(m.Payload, &e); err != nil {
			return fmt.Errorf("read deletion: %w", err)
		}
		return engine.Start(ctx, Queue, "organization-erasure:"+e.Org.String(), EraseWorkflow, e)
	}
}

const (
	// settle is how long other replicas may still know the organization's keys
	// (cacheAge) and hold figures of their use (meterFlush), with some room.
	settle = 3 * time.Second
	// stragglers is when the last request that was under way has ended and its
	// figure is written.
	stragglers = time.Minute
)

// EraseWorkflow erases everything an organization has and completes its
// certificate. The data plane goes first: the row that says what is being
// erased is the last to go. Figures of requests that were under way can come
// even later, so that the data plane is looked at once more.
func EraseWorkflow(ctx workflow.Context, e Erasure) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 5 * time.Minute},
	})
	if err := workflow.Sleep(ctx, settle); err != nil {
		return err
	}
	var a *Activities
	if err := workflow.ExecuteActivity(ctx, a.EraseEvents, e).Get(ctx, nil); err != nil {
		return err
	}
	if err := workflow.ExecuteActivity(ctx, a.EraseRows, e).Get(ctx, nil); err != nil {
		return err
	}
	if err := workflow.Sleep(ctx, stragglers); err != nil {
		return err
	}
	return workflow.ExecuteActivity(ctx, a.EraseEvents, e).Get(ctx, nil)
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(EraseWorkflow)
	r.RegisterActivity(&Activities{s: s})
}
