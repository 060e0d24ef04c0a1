package erasure

import (
	"context"
	"log/slog"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/core/principal"
)

// Rounds are purges that follow each other: each removes from the disks what was
// hidden since the one before.
type Rounds struct {
	// Org is none: a round is the work of the deployment.
	Org      principal.OrgID `json:"org"`
	Interval time.Duration   `json:"interval"`
}

// roundsOfHistory is how many rounds one history tells of.
const roundsOfHistory = 100

// PurgeWorkflow removes hidden rows from the disks, one partition at a time, in
// rounds. A deployment has one, for all organizations: however often somebody
// deletes, a partition is rewritten once a round.
func PurgeWorkflow(ctx workflow.Context, r Rounds) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 24 * time.Hour, // rewriting the largest parts of busy days
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Minute, MaximumInterval: 10 * time.Minute},
	})
	var a *Activities
	for range roundsOfHistory {
		if err := workflow.Sleep(ctx, r.Interval); err != nil {
			return err
		}
		if err := workflow.ExecuteActivity(ctx, a.Purge, r).Get(ctx, &r); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, PurgeWorkflow, r)
}

// RunRounds makes sure that rounds of purges go on, until ctx ends.
func (s *Service) RunRounds(ctx context.Context) error {
	for {
		wait := s.cfg.PurgeInterval
		err := s.engine.Start(ctx, Queue, "purge", PurgeWorkflow, Rounds{Interval: s.cfg.PurgeInterval})
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "rounds of purges cannot start yet", "error", err)
			wait = min(wait, startPause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// startPause is how long RunRounds waits when the engine is away.
const startPause = 10 * time.Second
