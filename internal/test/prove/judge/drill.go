package judge

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// Join is the load of the drill: one judged run after the other, and single requests.
// What is asked again is not judged, which would need to know how long a busy machine
// takes to record a verdict.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	s := &system{System: base}
	org, err := base.Bootstrap(ctx, "Judges")
	if err != nil {
		return nil, err
	}
	p := newProof(s, 0)
	p.load.pace = 500 * time.Millisecond
	return drill{p}, s.settleIn(ctx, []rig.Organization{org})
}

type drill struct{ *proof }

func (d drill) Begin(ctx context.Context) { d.load.begin(ctx, 1) }

func (d drill) Steps() (int, error) { return int(d.s.provider.oracle.Total()), d.load.complaint() }

func (d drill) Finish(context.Context) error {
	d.load.end()
	return d.load.complaint()
}

func (d drill) Check(ctx context.Context) (rig.Figures, error) {
	v, err := d.results(ctx)
	return rig.Figures{Done: v.verdicts, Lost: v.missing, Doubled: v.doubled, Wrong: v.wrong + v.extra, Examples: v.Examples}, err
}
