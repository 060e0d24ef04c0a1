package drill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/evidence"
	"github.com/assayhq/assay/internal/judge"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/prove/rig"
	"github.com/assayhq/assay/internal/trace"
)

// list is what is killed, in turn.
func (d *drill) list() (list []rig.Fault) {
	list = []rig.Fault{
		{Name: "server killed", Run: d.KillServer},
		d.engine("postgres"),
		d.at(rig.OfWorker, evaluation.ChunkAnswered),
		d.engine("clickhouse"),
		d.at(rig.OfServer, evidence.BeforeEvents),
		{Name: "worker killed", Run: d.KillWorker},
		d.engine("temporal"),
		d.at(rig.OfServer, trace.AfterInsert),
		d.engine("redis"),
		d.at(rig.OfWorker, evaluation.ChunkStored),
		d.at(rig.OfServer, judge.Answered),
	}
	for _, l := range d.loads {
		if b, ok := l.(rig.Breaker); ok {
			list = append(list, b.Faults()...)
		}
	}
	return append(list, d.at(rig.OfWorker, evaluation.RunConcluding), d.at(rig.OfServer, trace.BetweenTables))
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

// reached is how long a role has to come to a point. One that does not, because its work
// waits for something slow, is killed where it is.
const reached = 15 * time.Second

// at is a role that dies at a point, or soon.
func (d *drill) at(role string, point failpoint.Point) rig.Fault {
	return rig.Fault{Name: "point " + string(point), Run: func(ctx context.Context) error {
		p, again := d.Worker, d.StartWorker
		if role == rig.OfServer {
			p, again = d.Server, d.StartServer
		}
		if err := d.Arm(point); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reached):
			if err := d.Arm(""); err != nil {
				return err
			}
			p.Kill()
			return again(ctx)
		case <-p.Exited():
		}
		if err := d.Dies(ctx, p, point, rig.Patience); err != nil {
			return err
		}
		return again(ctx)
	}}
}

// all kills everything in turn until a time, and everything once. After each kill the
// application is ready by itself, and every load goes on.
func (d *drill) all(ctx context.Context, only string, until time.Time) (done int, err error) {
	list := slices.DeleteFunc(d.list(), func(f rig.Fault) bool { return !strings.Contains(f.Name, only) })
	over := func(ctx context.Context) error {
		_, err := d.AwaitReady(ctx, true)
		return errors.Join(err, d.goesOn(ctx))
	}
	if err := over(ctx); err != nil {
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
		if err := over(ctx); err != nil {
			return done, fmt.Errorf("after fault %d, %s: %w", done, f.Name, err)
		}
		rig.Say("fault %2d  %s  %-34s %5.1f s, all go on %4.1f s later", done, began.Format(rig.Clock), f.Name, took.Seconds(), (time.Since(began) - took).Seconds())
	}
	return done, nil
}

// goesOn waits until every load has done something more.
func (d *drill) goesOn(ctx context.Context) error {
	return d.each(ctx, len(d.loads), func(ctx context.Context, i int) error {
		l, ok := d.loads[i].(rig.Stepper)
		if !ok {
			return nil
		}
		before, wrong := l.Steps()
		for limit, now := time.Now().Add(rig.Patience), before; now == before; now, wrong = l.Steps() {
			if err := errors.Join(wrong, rig.Sleep(ctx, 100*time.Millisecond)); err != nil {
				return err
			}
			if time.Now().After(limit) {
				return fmt.Errorf("it stands still at %d", before)
			}
		}
		return wrong
	})
}
