package erasure

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/tenancy"
)

// Queue is the domain's task queue, under the name that erasures begun by older
// releases know.
const Queue = "tenancy"

// starter starts a workflow under an id; starting it twice is starting it once.
type starter interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
}

// Handlers hand a deleted organization to the erasure workflow.
func Handlers(engine starter) map[string]change.Handler {
	return map[string]change.Handler{tenancy.TopicOrganizationDeleted: func(ctx context.Context, m change.Message) error {
		var d tenancy.Deletion
		if err := json.Unmarshal(m.Payload, &d); err != nil {
			return fmt.Errorf("read deletion: %w", err)
		}
		return engine.Start(ctx, Queue, "organization-erasure:"+d.Org.String(), EraseWorkflow, d)
	}}
}

const (
	// settle is how long other replicas may still know the organization's keys
	// and hold figures of their use, with some room.
	settle = 3 * time.Second
	// stragglers is when the last request that was under way has ended and its
	// figure is written.
	stragglers = time.Minute
)

// EraseWorkflow erases everything an organization has and completes its
// certificate. The data plane goes first: the row that says what is being
// erased is the last to go. Figures of requests that were under way can come
// even later, so that the data plane is looked at once more.
func EraseWorkflow(ctx workflow.Context, d tenancy.Deletion) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 5 * time.Minute},
	})
	if err := workflow.Sleep(ctx, settle); err != nil {
		return err
	}
	var a *Activities
	if err := workflow.ExecuteActivity(ctx, a.EraseEvents, d).Get(ctx, nil); err != nil {
		return err
	}
	if err := workflow.ExecuteActivity(ctx, a.EraseRows, d).Get(ctx, nil); err != nil {
		return err
	}
	if err := workflow.Sleep(ctx, stragglers); err != nil {
		return err
	}
	return workflow.ExecuteActivity(ctx, a.EraseEvents, d).Get(ctx, nil)
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(EraseWorkflow)
	r.RegisterActivity(&Activities{s: s})
}
