package engines

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// Join is the load of the drill: a few writers of datasets.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	org, err := base.Bootstrap(ctx, "Datasets")
	l := newLoad(&system{System: base, org: org}, 2)
	l.pace = 200 * time.Millisecond
	return drill{l}, err
}

type drill struct{ *load }

func (d drill) Begin(ctx context.Context) { d.begin(ctx) }

func (d drill) Steps() (int, error) { return int(d.acked()), nil }

func (d drill) Finish(context.Context) error {
	d.end()
	return nil
}

// Check reads everything back, and then again when one write was removed and another one
// doubled.
func (d drill) Check(ctx context.Context) (f rig.Figures, err error) {
	f.Done = int(d.acked())
	if f.Lost, f.Doubled, err = d.verify(ctx); err != nil || f.Bad() > 0 {
		return f, err
	}
	return f, d.control(ctx)
}
