package erasure

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/tenancy"
)

// Activities are the side effects of the domain's workflows. Each may run
// again after a failure.
type Activities struct{ s *Service }

// Look is what a workflow asks for.
type Look struct {
	tenancy.Deletion
	// Last completes the certificate if the look finds nothing.
	Last bool `json:"last,omitzero"`
}

// Looked is what came of a look.
type Looked struct {
	Found     int64         `json:"found"`
	Completed bool          `json:"completed"`
	Settle    time.Duration `json:"settle"`
}

// Erase looks for everything of an organization and erases what it finds.
func (a *Activities) Erase(ctx context.Context, l Look) (Looked, error) {
	defer temporal.KeepBeating(ctx)()
	found, err := a.s.look(ctx, l.Org, beat(ctx))
	if err != nil {
		return Looked{}, err
	}
	looked := Looked{Found: found, Settle: a.s.cfg.Settle}
	if !l.Last || found > 0 {
		return looked, nil
	}
	if err := a.s.complete(ctx, l.Org); err != nil {
		return Looked{}, err
	}
	failpoint.Hit(Completed)
	looked.Completed = true
	return looked, nil
}

// EraseEvents is a look of workflows that began under an older release.
func (a *Activities) EraseEvents(ctx context.Context, d tenancy.Deletion) error {
	defer temporal.KeepBeating(ctx)()
	_, err := a.s.look(ctx, d.Org, beat(ctx))
	return err
}

// EraseRows is the last step of workflows that began under an older release.
func (a *Activities) EraseRows(ctx context.Context, d tenancy.Deletion) error {
	defer temporal.KeepBeating(ctx)()
	if _, err := a.s.look(ctx, d.Org, beat(ctx)); err != nil {
		return err
	}
	return a.s.complete(ctx, d.Org)
}

func beat(ctx context.Context) func(string) {
	return func(place string) { activity.RecordHeartbeat(ctx, place) }
}

// Purge removes from the disks what deletions have hidden since the last round,
// and returns how long the next one waits.
func (a *Activities) Purge(ctx context.Context, r Rounds) (Rounds, error) {
	defer temporal.KeepBeating(ctx)()
	r.Interval = a.s.cfg.PurgeInterval
	return r, a.s.store.ch.Eraser().Drop(ctx)
}
