// Package erasure proves that an erased organization is gone.
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
//	erasure found 0 rounds N shards 1,2 planted N kills N points 3/3 runs N deferred N refused N damaged N slowest Ns controls 1/1
package erasure

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/tenancy/erasure"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	rounds int
	settle time.Duration
}

// New declares the proof and its flags. Its faults are those of a round.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, 0)
	flags.IntVar(&o.rounds, "rounds", 6, "number of organizations that are erased")
	flags.DurationVar(&o.settle, "settle", 30*time.Second, "pause between two looks of an erasure")
	return rig.Proof[*system]{
		Name: "erasure", Options: &o.Options, Controls: controls, Run: run,
		Start: func(ctx context.Context) (*system, error) { return start(ctx, o) },
	}.Prove
}

// figures are what all rounds add up to.
type figures struct {
	found, planted, kills, runs, deferred, refused, damaged int
	slowest                                                 time.Duration
}

func run(ctx context.Context, s *system) (rig.Result, error) {
	var f figures
	for n := range s.rounds {
		if err := s.round(ctx, n, &f); err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	if f.found > 0 {
		return nil, fmt.Errorf("%d canaries outlived their organization", f.found)
	}
	return rig.Result{"erasure"}.With("found", f.found).With("rounds", s.rounds).With("shards", "1,2").With("planted", f.planted).
		With("kills", f.kills).With("points", rig.Of(len(s.Points), len(erasure.Failpoints()))).With("runs", f.runs).With("deferred", f.deferred).
		With("refused", f.refused).With("damaged", f.damaged).With("slowest", f.slowest.Round(time.Second)), nil
}
