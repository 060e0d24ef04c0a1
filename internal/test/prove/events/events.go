// Package events proves that no follower of events skips one, and that events
// cost those nothing who do not read them.
//
// It starts a PostgreSQL of its own and two replicas, in which many writers
// commit events after holding their transactions open for random times, and two
// followers read them. The replicas and PostgreSQL are killed in turn. Every
// event that was acknowledged, and every event that is in the table, must be
// seen by each follower; some are seen twice, which is counted. A control reads
// the same table with a cursor over plain ids: if it skips nothing, the load
// would not have shown a follower that skips, and the proof fails.
//
// Then the dispatcher's query and a write with its audit entry are timed in two
// databases in alternation: an empty one, and one with millions of events behind
// a slow follower.
//
// The last lines are:
//
//	events lost 0 skipped 0 acked N twice N control_skipped N faults N
//	events_dispatch ratio 1.00
//	events_write ratio 1.00
package events

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// options are what a shortened run changes.
type options struct {
	writers, faults, acked int
	events, rounds         int
}

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	flags.IntVar(&o.writers, "writers", 200, "how many writers commit at once")
	flags.IntVar(&o.faults, "faults", 24, "how many kills")
	flags.IntVar(&o.acked, "acked", 1000, "how many events are acknowledged between two kills, at least")
	flags.IntVar(&o.events, "events", 10_000_000, "how many events are behind the slow follower")
	flags.IntVar(&o.rounds, "rounds", 41, "how often each side is timed, at least")
	replica := flags.String("replica", "", "run as the replica that writes to this folder")
	return func(ctx context.Context) error {
		if *replica != "" {
			return runReplica(ctx, *replica, o.writers)
		}
		return prove(ctx, o)
	}
}

func prove(ctx context.Context, o options) (err error) {
	s, err := rig.New(ctx, "", 0)
	defer func() { err = errors.Join(err, s.Down(), s.Remove()) }()
	if err != nil {
		return err
	}
	if err := s.Up(ctx, "postgres"); err != nil {
		return err
	}
	lines, err := proveNoneSkipped(ctx, s, o)
	if err != nil {
		return err
	}
	cost, err := proveNoCost(ctx, s, o)
	if err != nil {
		return err
	}
	fmt.Println(lines)
	fmt.Println(cost)
	return nil
}

// connWait is how long a writer waits for a connection: as long as in the product.
const connWait = 2 * time.Second

// config is how to reach the rig's database.
func config(s *rig.System, conns int) postgres.Config {
	return postgres.Config{URL: secret.Text(s.Engine["ASSAY_POSTGRES_URL"]), OwnerURL: secret.Text(s.Engine["ASSAY_POSTGRES_OWNER_URL"]), MaxConns: conns, ConnWait: connWait}
}
