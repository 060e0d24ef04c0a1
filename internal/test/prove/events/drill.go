package events

import (
	"context"
	"path/filepath"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// drill is two replicas with a database of their own, whose clock is faster than that of
// the application.
type drill struct {
	*load
	base *rig.System
}

// Join is the load of the drill, which works at once.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	cfg, err := newDatabase(ctx, base, "events_drill")
	if err != nil {
		return nil, err
	}
	const writers = 4
	l, err := newLoad(ctx, cfg, filepath.Join(base.State, "notes"), writers)
	base.OnStop(func() error { l.end(); return nil })
	return drill{l, base}, err
}

func (d drill) Begin(context.Context) {}

func (d drill) Faults() []rig.Fault {
	return []rig.Fault{
		{Name: "first replica killed", Run: func(context.Context) error { return d.restart(0) }},
		{Name: "second replica killed", Run: func(context.Context) error { return d.restart(1) }},
	}
}

func (d drill) Steps() (int, error) {
	acked, err := read(d.folder, "acked-")
	return len(acked), err
}

func (d drill) Finish(context.Context) error { return d.finish() }

// Check does not ask for what the plain cursor skips: one that a busy machine leaves far
// behind skips nothing.
func (d drill) Check(ctx context.Context) (rig.Figures, error) {
	v, err := d.check(ctx)
	if err != nil {
		return rig.Figures{}, err
	}
	f := rig.Figures{Done: v.acked, Lost: v.gone + v.lost + v.skipped}
	if err := v.guilty(d.kills + len(d.base.Downs())); err != nil {
		f.Wrong++
		f.Example("%v", err)
	}
	return f, nil
}
