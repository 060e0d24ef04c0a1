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

// settle is how long other replicas may still know the organization's keys, with
// some room.
const settle = 3 * time.Second

// EraseWorkflow erases everything an organization has and completes its
// certificate: it looks again and again, with a pause that outlasts whatever was
// under way, until a look finds nothing. Another look after the certificate is
// for a process that was suspended meanwhile.
func EraseWorkflow(ctx workflow.Context, d tenancy.Deletion) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 24 * time.Hour, // rewriting the parts of a large organization
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 5 * time.Minute},
	})
	if workflow.GetVersion(ctx, "looks", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return eraseInSteps(ctx, d)
	}
	if err := workflow.Sleep(ctx, settle); err != nil {
		return err
	}
	var a *Activities
	look := Look{Deletion: d}
	for {
		var looked Looked
		if err := workflow.ExecuteActivity(ctx, a.Erase, look).Get(ctx, &looked); err != nil {
			return err
		}
		if err := workflow.Sleep(ctx, looked.Settle); err != nil {
			return err
		}
		if looked.Completed {
			break
		}
		look.Last = true
	}
	return workflow.ExecuteActivity(ctx, a.Erase, Look{Deletion: d}).Get(ctx, nil)
}

// eraseInSteps goes on with what an older release began.
func eraseInSteps(ctx workflow.Context, d tenancy.Deletion) error {
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
	if err := workflow.Sleep(ctx, time.Minute); err != nil {
		return err
	}
	return workflow.ExecuteActivity(ctx, a.EraseEvents, d).Get(ctx, nil)
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(EraseWorkflow)
	r.RegisterWorkflow(PurgeWorkflow)
	r.RegisterActivity(&Activities{s: s})
}
