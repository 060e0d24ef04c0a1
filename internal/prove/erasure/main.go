// Command erasure proves that an erased organization is gone.
//
// It starts engines and an application of its own. In every round an
// organization puts a canary, a word that nothing else has, into every kind of
// object that the interface takes, into telemetry in every place of it, and into
// answers of runs. ClickHouse goes away and comes back, so that some telemetry is
// deferred; one block of it is damaged, and one is refused. Then the organization
// is deleted while its runs are under way, and the worker is killed at every
// failpoint of the erasure, one a round. When the certificate is complete, every
// file of every engine, object storage, the dump of every database, Redis, the
// histories of Temporal and the logs are searched. ClickHouse's parts and blocks
// of telemetry are decompressed first. Half of the rounds have two shards.
//
// Before the deletion the same search must find the canary in every store that
// has it, and a neighbour's word must be found before and after. A control runs
// a round without the guard that takes the organization out of deferred blocks:
// if nothing is found then, the proof fails.
//
// PostgreSQL keeps the bytes of deleted rows until a vacuum, and in its log of
// changes until that is recycled; ClickHouse keeps replaced parts for some
// minutes. The search rewrites the tables first, waits for ClickHouse, and does
// not look into the log of changes (pg_wal).
//
// The last line is:
//
//	erasure found 0 rounds N shards 1,2 planted N kills N points 3/3 runs N deferred N refused N damaged N controls 1/1 control_found N
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/erasure"
	"github.com/assayhq/assay/internal/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rounds   int
	settle   time.Duration
	binary   string
	controls string
	keep     bool
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 6, "number of organizations that are erased")
	flag.DurationVar(&o.settle, "settle", 30*time.Second, "pause between two looks of an erasure")
	flag.StringVar(&o.binary, "binary", "bin/assay-failpoints", "application built with the tag failpoints")
	flag.StringVar(&o.controls, "controls", "all", "controls to run: all, none, or names separated by commas")
	flag.BoolVar(&o.keep, "keep", false, "keep the state of a failed proof")
	rig.Main("erasure", func(ctx context.Context) error {
		return rig.Prove(ctx, o.keep, func(ctx context.Context) (*system, error) { return start(ctx, o) },
			func(ctx context.Context, s *system) (rig.Result, error) { return run(ctx, s, o) })
	})
}

// figures are what all rounds add up to.
type figures struct {
	found, planted, kills, runs, deferred, refused, damaged int
	points                                                  map[string]bool
	slowest                                                 time.Duration
}

func run(ctx context.Context, s *system, o options) (rig.Result, error) {
	chosen, err := rig.Chosen(controls, func(g rig.Guard) string { return g.Name }, o.controls)
	if err != nil {
		return nil, err
	}
	fmt.Printf("state in %s\n", s.State)
	f := figures{points: map[string]bool{}}
	for n := range o.rounds {
		if err := s.round(ctx, n, &f); err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	if f.found > 0 {
		return nil, fmt.Errorf("%d canaries outlived their organization", f.found)
	}
	caught := 0
	for _, g := range chosen {
		n, err := s.control(ctx, g)
		if err != nil {
			return nil, fmt.Errorf("control %s: %w", g.Name, err)
		}
		caught += n
	}
	return rig.Result{"erasure"}.With("found", f.found).With("rounds", o.rounds).With("shards", "1,2").With("planted", f.planted).
		With("kills", f.kills).With("points", rig.Of(len(f.points), len(erasure.Failpoints()))).With("runs", f.runs).With("deferred", f.deferred).
		With("refused", f.refused).With("damaged", f.damaged).With("slowest", f.slowest.Round(time.Second)).
		With("controls", rig.Of(len(chosen), len(controls))).With("control_found", caught), nil
}
