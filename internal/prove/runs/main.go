// Command runs proves that a run ends, once, whatever dies around it.
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
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/assayhq/assay/internal/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	runs, width, large int
	heartbeat, pause   time.Duration
}

func main() {
	var o options
	o.Flags(64)
	flag.IntVar(&o.runs, "runs", 100, "least number of runs")
	flag.IntVar(&o.width, "width", 8, "number of runs under way at the same time")
	flag.IntVar(&o.large, "large", 100_000, "number of recorded items of the large run, whose memory is bounded; 0 for none")
	flag.DurationVar(&o.heartbeat, "heartbeat", 10*time.Second, "longest silence of a worker")
	flag.DurationVar(&o.pause, "pause", 0, "peace between two faults: with more of it, less is excused")
	rig.Main("runs", func(ctx context.Context) error {
		// A missing guard is found before time is spent.
		if _, err := sabotaged(); err != nil {
			return err
		}
		return rig.Prove(ctx, o.Keep, func(ctx context.Context) (*system, error) { return start(ctx, o) },
			func(ctx context.Context, s *system) (rig.Result, error) { return run(ctx, s, o) })
	})
}

// say prints one line.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// run does the faults under load, then the check and the controls.
func run(ctx context.Context, s *system, o options) (rig.Result, error) {
	chosen, err := named(o.Controls)
	if err != nil {
		return nil, err
	}
	say("seed %d, state in %s", o.Seed, s.State)
	p := newProof(s, o.Seed)
	p.load.begin(ctx, o.width)
	defer p.load.end()
	if err := p.all(ctx, o.Faults, o.Only); err != nil {
		return nil, err
	}
	if err := p.load.grow(ctx, o.runs); err != nil {
		return nil, err
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return nil, err
	}
	say("%s", v)
	failed := v.guilty()
	if o.Only == "" && o.Faults >= len(p.list()) && len(p.points) < pointCount {
		failed = errors.Join(failed, fmt.Errorf("only %d of %d points were reached", len(p.points), pointCount))
	}
	if failed != nil {
		return nil, failed
	}
	p.load.end()
	if err := s.large(ctx, o.large); err != nil {
		return nil, err
	}
	if err := s.control(ctx, chosen); err != nil {
		return nil, err
	}
	return rig.Result{}.With("runs", v.runs).With("ended", v.ended).With("units", v.units).With("missing", v.missing).With("doubled", v.doubled).
		With("miscounted", v.miscounted).With("extra_calls", v.extra).With("cancelled", v.cancelled).With("faults", p.faults).
		With("points", rig.Of(len(p.points), pointCount)).With("controls", rig.Of(len(chosen), len(controls))), nil
}
