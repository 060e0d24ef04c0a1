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
//	runs N ended N units N missing 0 doubled 0 miscounted 0 extra_calls 0 cancelled N faults N points 7/7 controls 4/4
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are what a shortened run changes.
type options struct {
	runs, faults, width    int
	large                  int
	heartbeat, pause       time.Duration
	controls, binary, only string
	seed                   uint64
	keep                   bool
}

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 100, "how many runs at least")
	flag.IntVar(&o.faults, "faults", 64, "how many faults")
	flag.IntVar(&o.width, "width", 8, "how many runs are under way at once")
	flag.IntVar(&o.large, "large", 100_000, "how many recorded items the large run has, for the memory of which there is a bound; none if zero")
	flag.DurationVar(&o.heartbeat, "heartbeat", 5*time.Second, "how long a worker may be silent")
	flag.DurationVar(&o.pause, "pause", 0, "how long there is peace between two faults: after more of it, less is excused")
	flag.StringVar(&o.controls, "controls", "all", "which controls run: all, none, or names with commas")
	flag.StringVar(&o.only, "only", "", "do only the faults whose names contain this")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "what chance decides by")
	flag.StringVar(&o.binary, "binary", "bin/assay-failpoints", "the application, built with the tag failpoints")
	flag.BoolVar(&o.keep, "keep", false, "keep the state of a proof that failed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := prove(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove runs:", err)
		os.Exit(1)
	}
}

func prove(ctx context.Context, o options) error {
	began := time.Now()
	// What the controls need is known before time is spent.
	if _, err := sabotaged(); err != nil {
		return err
	}
	s, err := start(ctx, o)
	if err != nil {
		return errors.Join(err, s.tail(), s.stop(o.keep))
	}
	say("started in %.1f s, seed %d, state in %s", time.Since(began).Seconds(), o.seed, s.State)
	line, err := run(ctx, s, o)
	if err != nil {
		return errors.Join(err, s.tail(), s.stop(o.keep))
	}
	if err := s.stop(false); err != nil {
		return err
	}
	say("took %.0f s\n%s", time.Since(began).Seconds(), line)
	return nil
}

// say prints one line.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// run does the faults under load, then the check and the controls.
func run(ctx context.Context, s *system, o options) (string, error) {
	chosen, err := named(o.controls)
	if err != nil {
		return "", err
	}
	p := newProof(s, o.seed)
	p.load.begin(ctx, o.width)
	defer p.load.end()
	if err := p.all(ctx, o.faults, o.only); err != nil {
		return "", err
	}
	if err := p.load.grow(ctx, o.runs); err != nil {
		return "", err
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return "", err
	}
	say("%s", v)
	failed := v.guilty()
	if o.only == "" && o.faults >= len(p.list()) && len(p.points) < pointCount {
		failed = errors.Join(failed, fmt.Errorf("only %d of %d points were reached", len(p.points), pointCount))
	}
	if failed != nil {
		return "", failed
	}
	p.load.end()
	if err := s.large(ctx, o.large); err != nil {
		return "", err
	}
	if err := s.control(ctx, chosen); err != nil {
		return "", err
	}
	return fmt.Sprintf("runs %d ended %d units %d missing %d doubled %d miscounted %d extra_calls %d cancelled %d faults %d points %d/%d controls %d/%d",
		v.runs, v.ended, v.units, v.missing, v.doubled, v.miscounted, v.extra, v.cancelled, p.faults, len(p.points), pointCount, len(chosen), len(controls)), nil
}
