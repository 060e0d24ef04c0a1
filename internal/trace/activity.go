package trace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/score"
	"github.com/assayhq/assay/internal/span"
)

// Activities are the side effects of the domain's workflows. Each may run
// again after a failure.
type Activities struct {
	store  store
	scores *score.Service
	now    func() time.Time
}

var (
	errUnsettled = errors.New("telemetry from before the deletion is still deferred; it goes when ClickHouse has taken it")
	errLeft      = errors.New("rows of the deleted trace are left")
)

// PurgeTrace removes what is stored of a deleted trace.
func (a *Activities) PurgeTrace(ctx context.Context, d Deletion) error {
	id, ok := span.ParseTraceID(d.Trace)
	if !ok {
		return fmt.Errorf("deletion %d names no trace: %q", d.ID, d.Trace)
	}
	defer temporal.KeepBeating(ctx)()
	if err := a.store.Eraser(d.Org, id).Purge(ctx, d.Requested); err != nil {
		return err
	}
	return a.scores.Purge(ctx, d.Org, scoresOf(id), d.Requested)
}

// FinishDeletion removes what came in after the deletion and is older than it,
// makes sure that nothing is left, and says so.
func (a *Activities) FinishDeletion(ctx context.Context, d Deletion) error {
	waiting, err := a.store.DeferredBefore(ctx, d.Settled)
	if err != nil {
		return err
	}
	if waiting {
		return errUnsettled
	}
	id, _ := span.ParseTraceID(d.Trace)
	// A promise of feedback that was committed after the deletion.
	err = postgres.InTx(ctx, a.store.db, d.Org, func(tx postgres.Tx) error {
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
	gone, stay, err := e.Left(ctx, d.Requested)
	switch {
	case err != nil:
		return err
	case gone+scores > 0:
		return fmt.Errorf("%w: %d", errLeft, gone+scores)
	case stay > 0:
		if err := e.Restate(ctx); err != nil {
			return err
		}
	}
	return a.store.finishDeletion(ctx, d.Org, d.ID, a.now())
}
