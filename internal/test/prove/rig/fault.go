package rig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/platform/failpoint"
)

// Fault is something that goes wrong and ends again.
type Fault struct {
	Name string
	Run  func(context.Context) error
}

// Meeting is how faults meet a load.
type Meeting struct {
	// Ready waits until there is work for a fault to meet; done are those before it.
	Ready func(ctx context.Context, done int) error
	// Over waits until the consequences of a fault are over, if a fault waits for them.
	Over func(context.Context) error
	// Progress says what the load has done so far.
	Progress func() string
	// Complaint is what was seen that must not be.
	Complaint func() error
}

// Meet does so many faults in turn, of those whose names have a word in them.
func (s *System) Meet(ctx context.Context, list []Fault, n int, only string, m Meeting) (done int, err error) {
	list = slices.DeleteFunc(list, func(f Fault) bool { return !strings.Contains(f.Name, only) })
	if len(list) == 0 {
		return 0, fmt.Errorf("no fault has a name with %q in it", only)
	}
	for done < n {
		f := list[done%len(list)]
		name := fmt.Sprintf("fault %d, %s", done+1, f.Name)
		if err := m.Ready(ctx, done); err != nil {
			return done, fmt.Errorf("before %s: %w", name, err)
		}
		done++
		// A fault at the same moment of every load would meet the same work.
		if err := s.Moment(ctx, time.Second); err != nil {
			return done, err
		}
		began := time.Now()
		if err := f.Run(ctx); err != nil {
			return done, errors.Join(fmt.Errorf("%s: %w", name, err), m.Complaint())
		}
		took := time.Since(began)
		if m.Over != nil {
			if err := m.Over(ctx); err != nil {
				return done, fmt.Errorf("after %s: %w", name, err)
			}
		}
		Say("fault %2d  %s  %-30s %5.1f s, over %4.1f s later  %s", done, began.Format(Clock), f.Name, took.Seconds(), (time.Since(began) - took).Seconds(), m.Progress())
		if err := m.Complaint(); err != nil {
			return done, err
		}
	}
	return done, nil
}

// Moment waits for a random while. Faults do, one after the other.
func (s *System) Moment(ctx context.Context, most time.Duration) error {
	return Sleep(ctx, time.Duration(s.rand.Int64N(int64(most))))
}

// What crashes are called. One of an engine has the engine's name behind it, and one
// at a point the point.
const (
	OfServer = "server"
	OfWorker = "worker"
	OfEngine = "engine "
)

// KillServer kills the API and starts another.
func (s *System) KillServer(ctx context.Context) error {
	return s.killed(ctx, OfServer, s.Server, s.StartServer)
}

// KillWorker kills the worker and starts another.
func (s *System) KillWorker(ctx context.Context) error {
	return s.killed(ctx, OfWorker, s.Worker, s.StartWorker)
}

func (s *System) killed(ctx context.Context, what string, p *Process, again func(context.Context) error) error {
	back := s.Crashed(what)
	if !p.Kill() {
		return p.Ended()
	}
	if err := s.Moment(ctx, time.Second); err != nil {
		return err
	}
	defer back(0)
	return again(ctx)
}

// KillEngine is an engine that is killed and brought back after a while, with those that
// keep their state in it. When the workflow engine is back, work whose heartbeats it
// missed is done again.
func (s *System) KillEngine(name string) Fault {
	return s.EngineAway(name, func(ctx context.Context) error { return s.Moment(ctx, 2*time.Second) })
}

// EngineAway is an engine that is killed and brought back when something has happened.
func (s *System) EngineAway(name string, meanwhile func(context.Context) error) Fault {
	return Fault{name + " killed", func(ctx context.Context) error {
		back := s.Crashed(OfEngine + name)
		if err := s.Engines(ctx, "kill", name); err != nil {
			return err
		}
		if err := meanwhile(ctx); err != nil {
			return err
		}
		if err := s.bring(ctx); err != nil {
			return err
		}
		if name == "clickhouse" {
			back(2 * time.Second)
		} else {
			back(s.Heartbeat + 5*time.Second)
		}
		return nil
	}}
}

// ServerAt is the death of the API at a point that its work passes.
func (s *System) ServerAt(point failpoint.Point) Fault {
	return s.at(point, OfServer, func() *Process { return s.Server }, s.StartServer)
}

// WorkerAt is the death of the worker at a point that its work passes.
func (s *System) WorkerAt(point failpoint.Point) Fault {
	return s.at(point, OfWorker, func() *Process { return s.Worker }, s.StartWorker)
}

func (s *System) at(point failpoint.Point, what string, p func() *Process, again func(context.Context) error) Fault {
	return Fault{"point " + string(point), func(ctx context.Context) error {
		if err := s.Arm(point); err != nil {
			return err
		}
		if err := s.Dies(ctx, p(), point, Patience); err != nil {
			return err
		}
		defer s.Crashed(what + " at " + string(point))(0)
		return again(ctx)
	}}
}
