// Package ingest proves that telemetry which was acknowledged is kept.
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
package ingest

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
	spans, senders int
	away, ahead    time.Duration
}

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, wholeFaults)
	flags.IntVar(&o.spans, "spans", 200_000, "least number of acknowledged spans")
	flags.IntVar(&o.senders, "senders", 8, "number of concurrent senders")
	flags.DurationVar(&o.away, "away", time.Minute, "absence of ClickHouse during the flood; 0s for no flood")
	flags.DurationVar(&o.ahead, "ahead", 0, "lead of the clock of every sixteenth batch")
	return rig.Proof[*system]{
		Name: "ingest", Options: &o.Options, Controls: controls, Run: func(ctx context.Context, s *system) (rig.Result, error) { return run(ctx, s, o) },
		Start: func(ctx context.Context) (*system, error) { return start(ctx, o.Options) },
	}.Prove
}

// run does the faults under load, then the flood and the check.
func run(ctx context.Context, s *system, o options) (rig.Result, error) {
	p := newProof(s)
	p.load = newLoad(s, loadOptions{senders: o.senders, sample: 50, ahead: o.ahead})
	p.load.begin(ctx)
	defer p.load.end()
	if err := p.all(ctx, o.Faults, o.Only); err != nil {
		return nil, err
	}
	if err := p.load.grow(ctx, int64(o.spans)); err != nil {
		return nil, err
	}
	memory, err := p.flood(ctx, o.away)
	if err != nil {
		return nil, fmt.Errorf("flood: %w", err)
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return nil, err
	}
	rig.Say("%s", v)
	p.fail(v.guilty())
	if err := errors.Join(p.failures...); err != nil {
		return nil, err
	}
	if p.unproven != "" {
		rig.Say("%s", p.unproven)
	}
	return rig.Result{"ingest"}.With("lost", v.lost).With("duplicated", v.duplicated).With("late", v.late).With("acked", v.acked).
		With("deferred", v.deferred).With("faults", p.faults).With("points", rig.Of(len(s.Points), pointCount)).
		With("memory", fmt.Sprintf("%.2f", memory)), nil
}
