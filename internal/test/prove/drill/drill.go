// Package drill proves that all of the product together keeps what it promises, whatever
// breaks.
//
// It starts one set of engines, a server and a worker. Everything works on them at once:
// senders of telemetry and of events of agents, writers of datasets, runs, judges, people
// who annotate and decide, agents with approvals, followers of events, and organizations
// that are erased. Everything is killed in turn for some minutes, at random moments and at
// points where it is worst: each engine, the server, the worker, and the followers. After
// every kill the application must be ready by itself, and every load must go on. In the
// end each load is checked as in its own proof, which has more faults, and more controls.
// Controls then run builds of which one guard is removed.
//
// Nothing here asks how long anything takes, as far as it comes. What a proof of its own
// judges by its moment is not judged here: whether a target was asked again without need.
//
// The last line is:
//
//	drill seconds N faults N points N done N lost 0 doubled 0 wrong 0 controls 2/2
package drill

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/prove/engines"
	"github.com/assayhq/assay/internal/test/prove/erasure"
	"github.com/assayhq/assay/internal/test/prove/events"
	"github.com/assayhq/assay/internal/test/prove/evidence"
	"github.com/assayhq/assay/internal/test/prove/ingest"
	"github.com/assayhq/assay/internal/test/prove/judge"
	"github.com/assayhq/assay/internal/test/prove/people"
	"github.com/assayhq/assay/internal/test/prove/policy"
	"github.com/assayhq/assay/internal/test/prove/rig"
	"github.com/assayhq/assay/internal/test/prove/runs"
)

// parts are the loads. The last one is checked when the others are, because it rewrites
// the tables that it searches.
var parts = []struct {
	name string
	join func(context.Context, *rig.System) (rig.Load, error)
}{
	{"datasets", engines.Join},
	{"telemetry", ingest.Join},
	{"evidence", evidence.Join},
	{"people", people.Join},
	{"runs", runs.Join},
	{"judge", judge.Join},
	{"approvals", policy.Join},
	{"events", events.Join},
	{"erasure", erasure.Join},
}

// New declares the drill and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o rig.Options
	o.Flags(flags, 0)
	during := flags.Duration("for", 200*time.Second, "time of faults, which is longer if not everything was killed in it")
	return rig.Proof[*rig.System]{
		Name: "drill", Options: &o, Controls: []rig.Control[*rig.System]{ingest.Control(), evidence.Control()},
		Start: func(ctx context.Context) (*rig.System, error) { return start(ctx, o) },
		Run:   func(ctx context.Context, s *rig.System) (rig.Result, error) { return run(ctx, s, o, *during) },
	}.Prove
}

func start(ctx context.Context, o rig.Options) (*rig.System, error) {
	s, err := rig.New(ctx, o.Binary, o.Seed)
	if err != nil {
		return s, err
	}
	if err := s.Up(ctx, "postgres", "clickhouse", "temporal", "redis"); err != nil {
		return s, err
	}
	s.Heartbeat = 10 * time.Second
	if err := s.Keyed("ASSAY_TRACE_GRPC_ADDR=", "ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_HEARTBEAT="+s.Heartbeat.String(),
		"ASSAY_ERASURE_SETTLE=5s", "ASSAY_ERASURE_PURGE_INTERVAL=5s", "ASSAY_DATASET_KEEP_DELETED=1h", "ASSAY_EVALUATION_KEEP_DELETED=1h"); err != nil {
		return s, err
	}
	if _, err := s.Prepare(ctx); err != nil {
		return s, err
	}
	return s, errors.Join(s.StartServer(ctx), s.StartWorker(ctx))
}

// drill is all loads at once.
type drill struct {
	*rig.System
	loads []rig.Load
}

// run has all loads meet faults, and checks them.
func run(ctx context.Context, s *rig.System, o rig.Options, during time.Duration) (rig.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a load that failed leaves the others at work
	began := time.Now()
	d := &drill{System: s, loads: make([]rig.Load, len(parts))}
	if err := d.each(ctx, len(parts), func(ctx context.Context, i int) (err error) {
		d.loads[i], err = parts[i].join(ctx, s)
		return err
	}); err != nil {
		return nil, err
	}
	rig.Say("%d loads are there after %.0f s", len(parts), time.Since(began).Seconds())
	for _, l := range d.loads {
		l.Begin(ctx)
	}
	faults, err := d.all(ctx, o.Only, time.Now().Add(during))
	if err != nil {
		return nil, err
	}
	finishing := time.Now()
	if err := d.each(ctx, len(parts), func(ctx context.Context, i int) error { return d.loads[i].Finish(ctx) }); err != nil {
		return nil, err
	}
	rig.Say("all came to their end after %.0f s", time.Since(finishing).Seconds())
	sum, err := d.check(ctx)
	if err != nil {
		return nil, err
	}
	return rig.Result{"drill"}.With("seconds", int(time.Since(began).Seconds())).With("faults", faults).With("points", len(s.Points)).With("done", sum.Done).
		With("lost", sum.Lost).With("doubled", sum.Doubled).With("wrong", sum.Wrong), nil
}

// each does something for the first so many loads, at the same time.
func (d *drill) each(ctx context.Context, n int, do func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error {
			if err := do(ctx, i); err != nil {
				return fmt.Errorf("%s: %w", parts[i].name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// check checks all loads, and says what is wrong with any.
func (d *drill) check(ctx context.Context) (sum rig.Figures, err error) {
	found := make([]rig.Figures, len(parts))
	one := func(ctx context.Context, i int) (err error) {
		began := time.Now()
		if found[i], err = d.loads[i].Check(ctx); err != nil {
			return err
		}
		rig.Say("checked %-10s %5.1f s  %s", parts[i].name, time.Since(began).Seconds(), found[i])
		return nil
	}
	last := len(parts) - 1
	if err := d.each(ctx, last, one); err != nil {
		return sum, err
	}
	if err := one(ctx, last); err != nil {
		return sum, fmt.Errorf("%s: %w", parts[last].name, err)
	}
	for i, f := range found {
		sum.Done, sum.Lost, sum.Doubled, sum.Wrong = sum.Done+f.Done, sum.Lost+f.Lost, sum.Doubled+f.Doubled, sum.Wrong+f.Wrong
		if f.Bad() > 0 || f.Done == 0 {
			err = errors.Join(err, fmt.Errorf("%s: %s\n%s", parts[i].name, f, f.Examples))
		}
	}
	return sum, err
}
