package runs

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// Join is the load of the drill: one run after the other. What is asked again is not
// judged, which would need to know how long a busy machine takes to store an answer.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	s := &system{System: base}
	org, err := base.Bootstrap(ctx, "Runs")
	if err != nil {
		return nil, err
	}
	p := newProof(s, 0)
	p.load.pace = time.Second
	return drill{p}, s.settleIn(ctx, []rig.Organization{org}, time.Minute)
}

type drill struct{ *proof }

func (d drill) Begin(ctx context.Context) { d.load.begin(ctx, 2) }

func (d drill) Steps() (int, error) { return int(d.s.targets.oracle.Total()), d.load.complaint() }

func (d drill) Finish(context.Context) error {
	d.load.end()
	return d.load.complaint()
}

func (d drill) Check(ctx context.Context) (rig.Figures, error) {
	v, err := d.results(ctx)
	return rig.Figures{Done: v.units, Lost: v.missing, Doubled: v.doubled, Wrong: v.miscounted + v.held + v.strayed + v.runs - v.ended, Examples: v.Examples}, err
}
