package drill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// list is what is killed, in turn.
func (d *drill) list() (list []rig.Fault) {
	list = []rig.Fault{
		{Name: "server killed", Run: d.KillServer},
		d.engine("postgres"),
		d.at(evaluation.ChunkAnswered),
		d.engine("clickhouse"),
		d.at(evidence.BeforeEvents),
		{Name: "worker killed", Run: d.KillWorker},
		d.engine("temporal"),
		d.at(trace.AfterInsert),
		d.engine("redis"),
		d.at(evaluation.ChunkStored),
		d.at(judge.Answered),
	}
	for _, l := range d.loads {
		if b, ok := l.(rig.Breaker); ok {
			list = append(list, b.Faults()...)
		}
	}
	return append(list, d.at(evaluation.RunConcluding), d.at(trace.BetweenTables))
}

// engine is an engine that is killed. The application has to notice: readiness that stays
// up is a lie. Redis is optional, and the application serves on without it.
func (d *drill) engine(name string) rig.Fault {
	if name == "redis" {
		return d.KillEngine(name)
	}
	return d.EngineAway(name, func(ctx context.Context) error {
		if _, err := d.AwaitReady(ctx, false); err != nil {
			return fmt.Errorf("readiness did not notice: %w", err)
		}
		return nil
	})
}

// rest is for how long the worker is killed no more in the end: erasure hears of its death
// after a minute, and nobody is to wait for that.
const rest = time.Minute

func ofWorker(f rig.Fault) bool {
	return slices.ContainsFunc([]string{"worker killed", string(evaluation.ChunkAnswered), string(evaluation.ChunkStored), string(evaluation.RunConcluding)},
		func(word string) bool { return strings.HasSuffix(f.Name, word) })
}

// reached is how long somebody has to come to a point. Who does not, because work waits
// for something slow, is killed where it is.
const reached = 15 * time.Second

// at is the death of the server or the worker, whichever comes to a point first, or soon of
// both.
func (d *drill) at(point failpoint.Point) rig.Fault {
	return rig.Fault{Name: "point " + string(point), Run: func(ctx context.Context) error {
		if err := d.Arm(point); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.Server.Exited():
			return errors.Join(d.Dies(ctx, d.Server, point, rig.Patience), d.StartServer(ctx))
		case <-d.Worker.Exited():
			return errors.Join(d.Dies(ctx, d.Worker, point, rig.Patience), d.StartWorker(ctx))
		case <-time.After(reached):
		}
		// Both begin anew: the point may be reached while the trap is taken away.
		if err := d.Arm(""); err != nil {
			return err
		}
		return d.Restart(ctx)
	}}
}

// alive is an error if a role has ended that should not have.
func (d *drill) alive() error {
	for _, p := range []*rig.Process{d.Server, d.Worker} {
		select {
		case <-p.Exited():
			return p.Ended()
		default:
		}
	}
	return nil
}

// all kills everything in turn until a time, and everything once. After each kill the
// application is ready by itself, and every load goes on.
func (d *drill) all(ctx context.Context, only string, until time.Time) (done int, err error) {
	list := slices.DeleteFunc(d.list(), func(f rig.Fault) bool { return !strings.Contains(f.Name, only) })
	over := func(ctx context.Context) (last string, err error) {
		if _, err := d.AwaitReady(ctx, true); err != nil {
			return "", err
		}
		return d.goesOn(ctx)
	}
	if _, err := over(ctx); err != nil {
		return 0, err
	}
	all := len(list)
	for turn := 0; turn < all || time.Now().Before(until); turn++ {
		if turn >= all && time.Until(until) < rest {
			list = slices.DeleteFunc(list, ofWorker)
		}
		if len(list) == 0 {
			break
		}
		f := list[turn%len(list)]
		done++
		if err := d.Moment(ctx, 2*time.Second); err != nil {
			return done, err
		}
		began := time.Now()
		if err := f.Run(ctx); err != nil {
			return done, fmt.Errorf("fault %d, %s: %w", done, f.Name, err)
		}
		took := time.Since(began)
		last, err := over(ctx)
		if err != nil {
			return done, fmt.Errorf("after fault %d, %s: %w", done, f.Name, err)
		}
		rig.Say("fault %2d  %s  %-34s %5.1f s, all go on %4.1f s later, %s last", done, began.Format(rig.Clock), f.Name, took.Seconds(), (time.Since(began) - took).Seconds(), last)
	}
	return done, nil
}

// goesOn waits until every load has done something more, and says which was the last.
func (d *drill) goesOn(ctx context.Context) (last string, err error) {
	var mu sync.Mutex
	err = d.each(ctx, len(d.loads), func(ctx context.Context, i int) error {
		l, ok := d.loads[i].(rig.Stepper)
		if !ok {
			return nil
		}
		before, wrong := l.Steps()
		for limit, now := time.Now().Add(rig.Patience), before; now == before; now, wrong = l.Steps() {
			if err := errors.Join(wrong, d.alive(), rig.Sleep(ctx, 100*time.Millisecond)); err != nil {
				return err
			}
			if time.Now().After(limit) {
				return fmt.Errorf("it stands still at %d", before)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		last = parts[i].name
		return wrong
	})
	return last, err
}
