package evaluation

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/evaluation/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/principal"
)

// TopicDeleted is published when an evaluation is deleted.
const TopicDeleted = "evaluation.deleted"

// Purge is a deleted evaluation that is to be removed for good.
type Purge struct {
	Org        principal.OrgID `json:"org"`
	Evaluation int64           `json:"evaluation"`
	NotBefore  time.Time       `json:"not_before"`
}

// startPurge hands a deletion to the purge workflow, which keeps the evaluation
// for a while longer.
func startPurge(e engine, keep time.Duration) change.Handler {
	return func(ctx context.Context, m change.Message) error {
		var p Purge
		if err := json.Unmarshal(m.Payload, &p); err != nil {
			return fmt.Errorf("read deletion: %w", err)
		}
		p.NotBefore = p.NotBefore.Add(keep)
		return e.Start(ctx, Queue, fmt.Sprintf("evaluation-purge:%s:%d", p.Org, p.Evaluation), PurgeWorkflow, p)
	}
}

// PurgeWorkflow waits until a deleted evaluation's time is over and removes it
// for good, some runs at a time.
func PurgeWorkflow(ctx workflow.Context, p Purge) error {
	if wait := p.NotBefore.Sub(workflow.Now(ctx)); wait > 0 {
		if err := workflow.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour, // an evaluation may have thousands of runs
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &sdk.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute},
	})
	var a *Activities
	return workflow.ExecuteActivity(ctx, a.PurgeEvaluation, p).Get(ctx, nil)
}

// PurgeEvaluation removes a deleted evaluation and everything of it. A second
// attempt removes what the first left; what is not deleted is left alone.
func (a *Activities) PurgeEvaluation(ctx context.Context, p Purge) error {
	defer temporal.KeepBeating(ctx)()
	for removed := 0; ; {
		runs, err := a.s.purgeRuns(ctx, p)
		if err != nil {
			return err
		}
		if runs == 0 {
			return a.s.store.purge(ctx, p)
		}
		removed += runs
		activity.RecordHeartbeat(ctx, removed)
	}
}

// purgeBatch is how many runs are removed at once: the store of results
// rewrites its parts once for all of them.
const purgeBatch = 100

// purgeRuns removes some runs of a deleted evaluation and returns how many. Their
// rows go last: they are where the rest is found.
func (s *Service) purgeRuns(ctx context.Context, p Purge) (int, error) {
	runs, err := db.New(s.db.Org(p.Org)).PurgeableRuns(ctx, db.PurgeableRunsParams{OrgID: p.Org, EvaluationID: p.Evaluation, RowLimit: purgeBatch})
	if err != nil {
		return 0, fmt.Errorf("find runs to purge: %w", err)
	}
	if len(runs) == 0 {
		return 0, nil
	}
	if err := s.scores.Erase(ctx, p.Org, runs); err != nil {
		return 0, err
	}
	for _, run := range runs {
		if _, err := s.eraseFiles(ctx, runPrefix(p.Org, run)); err != nil {
			return 0, err
		}
		if err := s.store.purgeRun(ctx, p.Org, run); err != nil {
			return 0, err
		}
	}
	return len(runs), nil
}

// purgeRun removes the rows of a run.
func (s store) purgeRun(ctx context.Context, org principal.OrgID, run int64) error {
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		q := db.New(tx)
		for name, remove := range map[string]func() error{
			"items":     func() error { return q.PurgeRunItems(ctx, db.PurgeRunItemsParams{OrgID: org, RunID: run}) },
			"chunks":    func() error { return q.PurgeRunChunks(ctx, db.PurgeRunChunksParams{OrgID: org, RunID: run}) },
			"notes":     func() error { return q.PurgeRunNotes(ctx, db.PurgeRunNotesParams{OrgID: org, RunID: run}) },
			"artifacts": func() error { return q.PurgeRunArtifacts(ctx, db.PurgeRunArtifactsParams{OrgID: org, RunID: run}) },
		} {
			if err := remove(); err != nil {
				return fmt.Errorf("purge %s of run: %w", name, err)
			}
		}
		if err := q.PurgeRun(ctx, db.PurgeRunParams{OrgID: org, ID: run}); err != nil {
			return fmt.Errorf("purge run: %w", err)
		}
		return nil
	})
}

// purge removes a deleted evaluation that has no runs any more.
func (s store) purge(ctx context.Context, p Purge) error {
	if err := db.New(s.db.Org(p.Org)).PurgeEvaluation(ctx, db.PurgeEvaluationParams{OrgID: p.Org, ID: p.Evaluation}); err != nil {
		return fmt.Errorf("purge evaluation: %w", err)
	}
	return nil
}
