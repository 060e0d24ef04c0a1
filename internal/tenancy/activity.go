package tenancy

import (
	"context"

	"go.temporal.io/sdk/activity"
)

// Activities are the side effects of the domain's workflows. Each may run
// again after a failure.
type Activities struct{ s *Service }

// EraseEvents erases what the data plane has of an organization.
func (a *Activities) EraseEvents(ctx context.Context, e Erasure) error {
	return a.s.store.eraseEvents(ctx, e.Org, func(table string) { activity.RecordHeartbeat(ctx, table) })
}

// EraseRows erases what the control plane has of an organization, and last the
// organization itself. Counts of a run that was interrupted are kept in the
// certificate, so the sum is right whoever finishes.
func (a *Activities) EraseRows(ctx context.Context, e Erasure) error {
	if a.s.secrets != nil {
		a.s.secrets.Forget(e.Org.String())
	}
	if a.s.files != nil {
		n, err := a.s.files(ctx, e.Org)
		if err != nil {
			return err
		}
		if err := a.s.store.countFiles(ctx, e.Org, n); err != nil {
			return err
		}
	}
	return a.s.store.eraseRows(ctx, e.Org, a.s.now, func(table string) { activity.RecordHeartbeat(ctx, table) })
}
