package rule

import (
	"context"

	"github.com/assayhq/assay/internal/platform/temporal"
)

// Activities are the steps of rules and back-fills. Each may run again after a
// failure.
type Activities struct {
	s *Service
}

// LookForTraces has the sampled ones of new traces judged.
func (a *Activities) LookForTraces(ctx context.Context, t Ticket) (Step, error) {
	defer temporal.KeepBeating(ctx)()
	staying, end := temporal.Staying(ctx)
	defer end()
	found, err := a.s.look(ctx, staying, t)
	return a.next(found), err
}

// FillPage has the sampled ones of a page of old traces judged.
func (a *Activities) FillPage(ctx context.Context, t BackfillTicket) (Step, error) {
	defer temporal.KeepBeating(ctx)()
	staying, end := temporal.Staying(ctx)
	defer end()
	found, err := a.s.fill(ctx, staying, t)
	return a.next(found), err
}

// next waits a moment where there is nothing to do at once.
func (a *Activities) next(l Look) Step {
	if l.Ended || l.More {
		return Step{Ended: l.Ended}
	}
	return Step{Wait: a.s.cfg.Poll}
}
