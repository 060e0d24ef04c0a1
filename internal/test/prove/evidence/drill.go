package evidence

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// Control is one of the drill: who forgets that an event came before stores it again.
func Control() rig.Control[*rig.System] {
	c := controls[3]
	return rig.Control[*rig.System]{Guard: c.Guard, Noticed: func(ctx context.Context, base *rig.System) (int, error) {
		s := &system{System: base}
		if err := s.open(); err != nil {
			return 0, err
		}
		return c.Noticed(ctx, s)
	}}
}

// Join is the load of the drill: two senders of events.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	s := &system{System: base}
	if err := s.open(); err != nil {
		return nil, err
	}
	l, err := s.newLoad(ctx, manners{orgs: 1, senders: 2, twice: 8, together: 16, impatient: 8, look: 10, pace: 700 * time.Millisecond})
	return drill{l}, err
}

type drill struct{ *load }

func (d drill) Begin(ctx context.Context) { d.begin(ctx) }

func (d drill) Steps() (int, error) { return d.size(), d.complaint() }

func (d drill) Finish(context.Context) error { return d.finish() }

func (d drill) Check(ctx context.Context) (rig.Figures, error) {
	var found []stored
	if err := rig.UntilUp(ctx, func() (err error) {
		found, err = d.read(ctx)
		return err
	}); err != nil {
		return rig.Figures{}, err
	}
	v := d.verdict(found)
	return rig.Figures{Done: v.events, Lost: v.lost + v.missing, Doubled: v.doubled, Wrong: v.unmerged, Examples: v.Examples}, nil
}
