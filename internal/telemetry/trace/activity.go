package trace

import (
	"context"
	"fmt"
	"time"

	sdk "go.temporal.io/sdk/temporal"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// Activities are the side effects of the domain's workflows. Each may run
// again after a failure.
type Activities struct {
	store  store
	scores *score.Service
	now    func() time.Time
}

const (
	// drained is how long a process that has read a block may still insert it,
	// with some room.
	drained = spandb.DrainTimeout + 10*time.Second
	// nextRound is how long a deletion waits before it looks again whether the
	// rows have left the disks. Rounds of purges are hours apart.
	nextRound = 10 * time.Minute
)

// later is an error that says when the next attempt makes sense.
func later(wait time.Duration, why string) error {
	return sdk.NewApplicationErrorWithOptions(why, "later", sdk.ApplicationErrorOptions{NextRetryDelay: wait})
}

// PurgeTrace makes what is stored of a deleted trace unreadable, if the request
// could not. A round of purges removes it from the disks, for all deletions
// together.
func (a *Activities) PurgeTrace(ctx context.Context, d Deletion) error {
	id, ok := span.ParseTraceID(d.Trace)
	if !ok {
		return fmt.Errorf("deletion %d names no trace: %q", d.ID, d.Trace)
	}
	defer temporal.KeepBeating(ctx)()
	if err := a.store.Eraser(d.Org, id).Hide(ctx, d.Requested); err != nil {
		return err
	}
	return a.scores.Hide(ctx, d.Org, scoresOf(id), d.Requested)
}

// FinishDeletion removes what came in after the deletion and is older than it,
// waits until nothing is left on the disks, and says so.
func (a *Activities) FinishDeletion(ctx context.Context, d Deletion) error {
	defer temporal.KeepBeating(ctx)()
	id, _ := span.ParseTraceID(d.Trace)
	// Telemetry that waits in object storage would come back.
	switch had, err := a.store.CutTrace(ctx, d.Org, id, d.Requested); {
	case err != nil:
		return err
	case had:
		return later(drained, "telemetry from before the deletion was deferred; some of it may be on its way")
	}
	// A promise of feedback that was committed after the deletion.
	err := postgres.InTx(ctx, a.store.db, d.Org, func(tx postgres.Tx) error {
		return a.scores.WithdrawTx(ctx, tx, score.Trace(id), d.Requested)
	})
	if err != nil {
		return err
	}
	if err := a.PurgeTrace(ctx, d); err != nil {
		return err
	}
	scores, err := a.scores.Left(ctx, d.Org, scoresOf(id), d.Requested)
	if err != nil {
		return err
	}
	e := a.store.Eraser(d.Org, id)
	gone, err := e.Left(ctx, d.Requested)
	if err != nil {
		return err
	}
	if gone+scores > 0 {
		return later(nextRound, fmt.Sprintf("%d hidden rows of the deleted trace are still on the disks", gone+scores))
	}
	if err := e.Restate(ctx); err != nil {
		return err
	}
	return a.store.finishDeletion(ctx, d.Org, d.ID, a.now())
}
