// Command ingest proves that telemetry which was acknowledged is kept.
//
// It starts engines, a proxy, an object store and an application of its own.
// Senders post OTLP without pause and note what they are about to send and
// what was acknowledged. Meanwhile one fault follows another: the application
// is killed at random and at every failpoint, ClickHouse is killed in the
// middle of an insert, goes away, becomes slow, and runs out of disk, and
// object storage goes away with it. Half of the faults meet object storage in
// a folder, half in a bucket.
//
// After every fault each sender reads back what was just acknowledged, past
// the proxy. In the end every acknowledged span must be there exactly once,
// with the tokens that were sent. A flood while ClickHouse is away shows that
// memory is bounded. Controls then run the same faults against builds of which
// one guard is removed: a control that is not caught fails the proof.
//
// The last line is:
//
//	ingest lost 0 duplicated 0 late 0 acked N deferred N faults N points 10/10 memory R controls 5/5
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
	faults, spans, senders int
	away, ahead            time.Duration
	controls, binary, only string
	seed                   uint64
	keep                   bool
}

func main() {
	var o options
	flag.IntVar(&o.faults, "faults", wholeFaults, "how many faults")
	flag.IntVar(&o.spans, "spans", 200_000, "how many spans are acknowledged at least")
	flag.IntVar(&o.senders, "senders", 8, "how many senders post at once")
	flag.StringVar(&o.controls, "controls", "all", "which controls run: all, none, or names with commas")
	flag.StringVar(&o.only, "only", "", "do only the faults whose names contain this")
	flag.DurationVar(&o.away, "away", time.Minute, "how long ClickHouse is away during the flood; 0s for no flood")
	flag.DurationVar(&o.ahead, "ahead", 0, "how far the clock of every sixteenth batch runs before ours")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "what chance decides by")
	flag.StringVar(&o.binary, "binary", "bin/assay-failpoints", "the application, built with the tag failpoints")
	flag.BoolVar(&o.keep, "keep", false, "keep the state of a run that failed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := prove(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove ingest:", err)
		os.Exit(1)
	}
}

func prove(ctx context.Context, o options) error {
	began := time.Now()
	s, err := start(ctx, o.binary)
	if err != nil {
		return errors.Join(err, s.stop(false))
	}
	fmt.Printf("started in %.1f s, seed %d, state in %s\n", time.Since(began).Seconds(), o.seed, s.State)
	line, err := run(ctx, s, o)
	if err != nil {
		return errors.Join(err, s.Tail("the application's log", "serve"), s.stop(o.keep))
	}
	if err := s.stop(false); err != nil {
		return err
	}
	fmt.Printf("took %.0f s\n%s\n", time.Since(began).Seconds(), line)
	return nil
}

// run does the faults under load, then the flood, the check and the controls.
func run(ctx context.Context, s *system, o options) (string, error) {
	chosen, err := named(o.controls)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	without := s.sabotage(ctx)
	p := newProof(s, o.seed)
	p.load = newLoad(s, loadOptions{senders: o.senders, sample: 50, ahead: o.ahead})
	p.load.begin(ctx)
	defer p.load.end()
	if err := p.all(ctx, o.faults, o.only); err != nil {
		return "", err
	}
	if err := p.load.grow(ctx, int64(o.spans)); err != nil {
		return "", err
	}
	memory, err := p.flood(ctx, o.away)
	if err != nil {
		return "", fmt.Errorf("flood: %w", err)
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return "", err
	}
	fmt.Println(v)
	p.fail(v.guilty())
	if err := p.control(ctx, chosen, without); err != nil {
		return "", err
	}
	if err := errors.Join(p.failures...); err != nil {
		return "", err
	}
	if p.unproven != "" {
		fmt.Println(p.unproven)
	}
	return fmt.Sprintf("ingest lost %d duplicated %d late %d acked %d deferred %d faults %d points %d/%d memory %.2f controls %d/%d",
		v.lost, v.duplicated, v.late, v.acked, v.deferred, p.faults, len(p.points), pointCount, memory, len(chosen), len(controls)), nil
}
