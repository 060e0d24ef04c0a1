package probe

import (
	"context"
	"errors"

	"github.com/assayhq/assay/internal/platform/temporal"
)

// Activities are the side effects of a probe. Each may run again after a failure.
type Activities struct {
	s *Service
}

// stopOf is the reason in an error why a probe cannot go on, if there is one.
func stopOf(err error) *Error {
	var why *Error
	errors.As(err, &why)
	return why
}

// BeginProbe fixes what a probe judges.
func (a *Activities) BeginProbe(ctx context.Context, t Ticket) (Begun, error) {
	defer temporal.KeepBeating(ctx)()
	p, err := a.s.begin(ctx, t)
	if errors.Is(err, ErrNotFound) { // its organization was erased
		return Begun{Ended: true}, nil
	}
	if why := stopOf(err); why != nil {
		return Begun{Stop: why}, nil
	}
	return Begun{Ended: p.Status != StatusRunning, Units: p.Units}, err
}

// JudgeStretch asks for verdicts, those that there are none of yet.
func (a *Activities) JudgeStretch(ctx context.Context, in Stretch) (Done, error) {
	// Also while a cancelled one waits for what is under way.
	defer temporal.KeepBeating(context.WithoutCancel(ctx))()
	staying, end := temporal.Staying(ctx)
	defer end()
	ended, err := a.s.execute(ctx, staying, in)
	if errors.Is(err, ErrNotFound) {
		return Done{Ended: true}, nil
	}
	if why := stopOf(err); why != nil {
		return Done{Stop: why}, nil
	}
	return Done{Ended: ended}, err
}

// ConcludeProbe sums a probe up and ends it.
func (a *Activities) ConcludeProbe(ctx context.Context, c Conclusion) error {
	defer temporal.KeepBeating(ctx)()
	if err := a.s.conclude(ctx, c); !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}
