package erasure

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/tenancy"
)

// Activities are the side effects of the domain's workflows. Each may run
// again after a failure.
type Activities struct{ s *Service }

// EraseEvents erases what the data plane has of an organization.
func (a *Activities) EraseEvents(ctx context.Context, d tenancy.Deletion) error {
	defer temporal.KeepBeating(ctx)()
	return a.s.eraseEvents(ctx, d.Org, func(table string) { activity.RecordHeartbeat(ctx, table) })
}

// EraseRows erases what the control plane has of an organization, and last the
// organization itself. Counts of a run that was interrupted are kept in the
// certificate, so the sum is right whoever finishes.
func (a *Activities) EraseRows(ctx context.Context, d tenancy.Deletion) error {
	defer temporal.KeepBeating(ctx)()
	return a.s.eraseRows(ctx, d.Org, func(table string) { activity.RecordHeartbeat(ctx, table) })
}
