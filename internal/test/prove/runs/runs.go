// Package runs proves that a run ends, once, whatever dies around it.
//
// It starts engines, a provider of models, an application to be asked, a server
// and a worker of its own. Two organizations start runs without pause, several
// under way at a time, and one fault follows another: the worker is killed at
// random and at every failpoint of a run, and frozen until others do its work;
// the server and each engine are killed; the provider limits, hangs, fails and
// lies. Runs are cancelled at
// every stage.
//
// Every run must end as it should. Each of its units must have one result,
// through the API and in ClickHouse, and every counter must equal the results.
// What a target answered may be asked again only where a crash took the answer:
// once for each crash, and only what was not yet stored when it came. A dataset
// whose run has ended can be deleted. A run of many items then shows that memory
// is bounded. Controls run builds of which one
// guard is removed: a control that is not caught fails the proof.
//
// The last line is:
//
//	runs N ended N units N missing 0 doubled 0 miscounted 0 extra_calls 0 cancelled N faults N points 8/8 controls 4/4
package runs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	runs, width, large int
	heartbeat, pause   time.Duration
}

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, 64)
	flags.IntVar(&o.runs, "runs", 100, "least number of runs")
	flags.IntVar(&o.width, "width", 8, "number of runs under way at the same time")
	flags.IntVar(&o.large, "large", 100_000, "number of recorded items of the large run, whose memory is bounded; 0 for none")
	flags.DurationVar(&o.heartbeat, "heartbeat", 10*time.Second, "longest silence of a worker")
	flags.DurationVar(&o.pause, "pause", 0, "peace between two faults: with more of it, less is excused")
	return rig.Proof[*system]{
		Name: "runs", Options: &o.Options, Controls: controls, Run: run, More: map[string]string{"evaluation": strangerSource},
		Start: func(ctx context.Context) (*system, error) { return start(ctx, o) },
	}.Prove
}

// run does the faults under load, then the check and the large run.
func run(ctx context.Context, s *system) (rig.Result, error) {
	p := newProof(s, s.Seed)
	p.load.begin(ctx, s.width)
	defer p.load.end()
	faults, err := p.all(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.load.grow(ctx, s.runs); err != nil {
		return nil, err
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return nil, err
	}
	rig.Say("%s", v)
	failed := v.guilty()
	if s.Only == "" && s.Faults >= len(p.list()) && len(s.Points) < pointCount {
		failed = errors.Join(failed, fmt.Errorf("only %d of %d points were reached", len(s.Points), pointCount))
	}
	if failed != nil {
		return nil, failed
	}
	p.load.end()
	if err := s.large(ctx, s.options.large); err != nil {
		return nil, err
	}
	return rig.Result{}.With("runs", v.runs).With("ended", v.ended).With("units", v.units).With("missing", v.missing).With("doubled", v.doubled).
		With("miscounted", v.miscounted).With("extra_calls", v.extra).With("cancelled", v.cancelled).With("faults", faults).
		With("points", rig.Of(len(s.Points), pointCount)), nil
}
