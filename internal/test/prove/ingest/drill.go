package ingest

import (
	"context"
	"path/filepath"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// Control is one of the drill: who acknowledges before ClickHouse has a block loses it
// when the server is killed.
func Control() rig.Control[*rig.System] {
	c := controls[0]
	return rig.Control[*rig.System]{Guard: c.Guard, Noticed: func(ctx context.Context, base *rig.System) (int, error) {
		s, err := join(ctx, base)
		if err != nil {
			return 0, err
		}
		return c.Noticed(ctx, s)
	}}
}

// Join is the load of the drill: a few senders of spans.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	s, err := join(ctx, base)
	if err != nil {
		return nil, err
	}
	p := newProof(s)
	p.load = newLoad(s, loadOptions{senders: 2, sample: 10, pace: 400 * time.Millisecond})
	return drill{p}, nil
}

// join makes organizations of senders, on engines with no proxy before them.
func join(ctx context.Context, base *rig.System) (*system, error) {
	s := newSystem(base)
	s.fixed = base.Env
	s.stores[onDisk] = &store{name: onDisk, folder: filepath.Join(base.State, "blobs")}
	s.store = s.stores[onDisk]
	for _, name := range []string{"Senders", "More senders"} {
		o, err := base.Bootstrap(ctx, name)
		if err != nil {
			return nil, err
		}
		s.orgs = append(s.orgs, o)
	}
	return s, s.open()
}

type drill struct{ *proof }

func (d drill) Begin(ctx context.Context) { d.load.begin(ctx) }

func (d drill) Steps() (int, error) { return int(d.load.acked()), d.load.complaint() }

func (d drill) Finish(context.Context) error {
	d.load.end()
	return d.load.complaint()
}

func (d drill) Check(ctx context.Context) (rig.Figures, error) {
	v, err := d.verdict(ctx)
	return rig.Figures{Done: int(v.acked), Lost: int(v.lost + v.late), Doubled: int(v.duplicated), Wrong: int(v.wrong + v.derived), Examples: v.Examples}, err
}
