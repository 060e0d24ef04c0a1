package purge

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
)

// TopicDeleted is published when an evaluation is deleted.
const TopicDeleted = "evaluation.deleted"

// Purge is a deleted evaluation that is to be removed for good.
type Purge struct {
	Org        principal.OrgID `json:"org"`
	Evaluation int64           `json:"evaluation"`
	NotBefore  time.Time       `json:"not_before"`
}

// Started is a deletion that the purge workflow takes up, for whoever starts it. It
// keeps the evaluation for a while longer.
func Started(m change.Message, keep time.Duration) (id string, p Purge, err error) {
	if err := json.Unmarshal(m.Payload, &p); err != nil {
		return "", p, fmt.Errorf("read deletion: %w", err)
	}
	p.NotBefore = p.NotBefore.Add(keep)
	return fmt.Sprintf("evaluation-purge:%s:%d", p.Org, p.Evaluation), p, nil
}

// PurgeWorkflow waits until a deleted evaluation's time is over and removes it
// for good, some runs at a time.
func PurgeWorkflow(ctx workflow.Context, p Purge) error { //nolint:revive // workflows that are under way are replayed by this name
	if wait := p.NotBefore.Sub(workflow.Now(ctx)); wait > 0 {
		if err := workflow.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour, // an evaluation may have thousands of runs
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute},
	})
	var a *Activities
	return workflow.ExecuteActivity(ctx, a.PurgeEvaluation, p).Get(ctx, nil)
}
