package annotation

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Queue is the domain's task queue.
const Queue = "annotation"

// TopicDeleted is published when a task is deleted.
const TopicDeleted = "annotation_task.deleted"

// KindPurge is the kind of the workflow that removes deleted tasks.
const KindPurge = "annotation-purge"

// purgeBatch is how many items are removed at once. Each can have 256 KiB and ten
// answers; a batch takes some tens of milliseconds and holds its locks no longer.
const purgeBatch = 500

// Purge is a deleted task that is to be removed for good.
type Purge struct {
	Org  principal.OrgID `json:"org"`
	Task int64           `json:"task"`
}

// starter starts a workflow under an id; starting it twice is starting it once.
type starter interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
}

// Handlers do what is left to be done after changes.
func (s *Service) Handlers(engine starter) map[string]change.Handler {
	return map[string]change.Handler{
		TopicScored: s.storeScores,
		TopicDeleted: func(ctx context.Context, m change.Message) error {
			var p Purge
			if err := json.Unmarshal(m.Payload, &p); err != nil {
				return fmt.Errorf("read deletion: %w", err)
			}
			return engine.Start(ctx, Queue, fmt.Sprintf("%s:%s:%d", KindPurge, p.Org, p.Task), PurgeWorkflow, p)
		},
	}
}

// purgeTx makes sure that a deleted task is removed for good.
func (s *Service) purgeTx(ctx context.Context, tx postgres.Tx, task int64) error {
	return s.log.PublishTx(ctx, tx, TopicDeleted, strconv.FormatInt(task, 10), Purge{Org: tx.Org, Task: task})
}

// PurgeWorkflow removes a deleted task for good, a batch of items at a time.
func PurgeWorkflow(ctx workflow.Context, p Purge) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	var a *Activities
	return workflow.ExecuteActivity(ctx, a.PurgeTask, p).Get(ctx, nil)
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(PurgeWorkflow)
	r.RegisterActivity(&Activities{db: s.db, store: s.store})
}

// Activities are the side effects of the domain's workflows. Each may run again after
// a failure.
type Activities struct {
	db    *postgres.DB
	store store
}

// PurgeTask removes a deleted task and its items, with all that belongs to them but
// what people submitted. A second run removes what the first left.
func (a *Activities) PurgeTask(ctx context.Context, p Purge) error {
	for removed := 0; ; {
		n := 0
		err := postgres.InTx(ctx, a.db, p.Org, func(tx postgres.Tx) (err error) {
			n, err = a.store.purgeItemsTx(ctx, tx, p.Task, purgeBatch)
			if err == nil && n < purgeBatch {
				err = a.store.purgeTaskTx(ctx, tx, p.Task)
			}
			return err
		})
		if err != nil || n < purgeBatch {
			return err
		}
		removed += n
		activity.RecordHeartbeat(ctx, removed)
	}
}
