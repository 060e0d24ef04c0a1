package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/prove/rig"
)

// fault is something that goes wrong and ends again.
type fault struct {
	name string
	run  func(context.Context) error
}

// list is what can go wrong, the most telling first: a shortened proof takes
// the beginning.
func (p *proof) list() []fault {
	return []fault{
		p.at(evaluation.ChunkAnswered),
		{"clickhouse killed", p.killEngine("clickhouse")},
		{"cancelled while queued", p.cancelQueued},
		p.spoil("provider limits", simulated.Rule{Fault: simulated.FaultRateLimit, Share: 0.6, RetryAfter: time.Second}),
		p.at(evaluation.ChunkStored),
		{"server killed", p.killServer},
		{"cancelled while aggregating", p.cancelAggregating},
		{"postgres killed", p.killEngine("postgres")},
		{"worker killed", p.killWorker},
		p.at(evaluation.RunResolved),
		p.at(evaluation.ChunkJudged),
		{"worker frozen", p.freezeWorker},
		{"temporal killed", p.killEngine("temporal")},
		p.spoil("provider hangs", simulated.Rule{Fault: simulated.FaultHang, Share: 0.3}),
		p.at(evaluation.ChunkRead),
		p.spoil("provider is malformed", simulated.Rule{Fault: simulated.FaultMalformed, Share: 0.6}),
		p.at(evaluation.ChunkCounted),
		{"clickhouse killed", p.killEngine("clickhouse")},
		p.at(evaluation.RunConcluded),
		p.spoil("provider fails", simulated.Rule{Fault: simulated.FaultError, Share: 0.6, Status: 503}),
		{"worker killed", p.killWorker},
		p.at(evaluation.RunConcluding),
		p.spoil("provider cuts answers", simulated.Rule{Fault: simulated.FaultTruncated, Share: 0.6}),
	}
}

// killWorker kills the worker and starts another.
func (p *proof) killWorker(ctx context.Context) error {
	back := p.s.Crashed("worker")
	p.s.worker.Kill()
	if err := p.moment(ctx, time.Second); err != nil {
		return err
	}
	defer back(0)
	return p.s.startWorker(ctx)
}

// freezeWorker stops a worker for so long that another executes its chunks, and
// then lets it go on, as a machine does that was suspended.
func (p *proof) freezeWorker(ctx context.Context) error {
	back := p.s.Crashed("frozen worker")
	frozen := p.s.worker
	defer frozen.Kill()
	if err := frozen.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := p.s.startWorker(ctx); err != nil {
		return err
	}
	if err := rig.Sleep(ctx, p.s.heartbeat+2*time.Second); err != nil {
		return err
	}
	if err := frozen.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	if err := rig.Sleep(ctx, 3*time.Second); err != nil {
		return err
	}
	back(2 * time.Second)
	defer p.s.Crashed("worker")(0)
	return nil
}

// at kills the worker at a point that runs pass.
func (p *proof) at(point failpoint.Point) fault {
	return fault{"point " + string(point), func(ctx context.Context) error {
		if err := p.s.Arm(point); err != nil {
			return err
		}
		back, err := p.dies(ctx, point)
		if err != nil {
			return err
		}
		defer back(0)
		return p.s.startWorker(ctx)
	}}
}

// killServer kills the API, which runs do not need.
func (p *proof) killServer(ctx context.Context) error {
	p.s.server.Kill()
	if err := p.moment(ctx, time.Second); err != nil {
		return err
	}
	return p.s.startServer(ctx)
}

// killEngine kills an engine and brings it back after a while. When the
// workflow engine is back, which keeps its state in PostgreSQL, chunks whose
// heartbeats it missed are executed again.
func (p *proof) killEngine(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		back := p.s.Crashed(name)
		if err := p.s.Engines(ctx, "kill", name); err != nil {
			return err
		}
		if err := p.moment(ctx, 2*time.Second); err != nil {
			return err
		}
		if err := p.s.Engines(ctx, append([]string{"up"}, engineNames...)...); err != nil {
			return err
		}
		if name == "clickhouse" {
			back(2 * time.Second)
		} else {
			back(p.s.heartbeat + 5*time.Second)
		}
		return nil
	}
}

// spoil makes what runs ask misbehave for a while.
func (p *proof) spoil(name string, r simulated.Rule) fault {
	return fault{name, func(ctx context.Context) error {
		if err := p.s.targets.spoil(r); err != nil {
			return err
		}
		err := rig.Sleep(ctx, 2*time.Second)
		return errors.Join(err, p.s.targets.calm(quick))
	}}
}

// cancelQueued cancels a run that no worker has seen. Whoever finds it later
// does nothing.
func (p *proof) cancelQueued(ctx context.Context) error {
	back := p.s.Crashed("worker")
	p.s.worker.Kill()
	j := p.load.plan(int(p.load.number.Add(1)))
	j.kind, j.cancel, j.budget = kindModel, "queued", 0
	p.load.done.Go(p.load.start(ctx, j))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience / 2):
		return fmt.Errorf("run %d could not be cancelled while it was queued", j.number)
	case <-j.cancelled:
	}
	defer back(0)
	return p.s.startWorker(ctx)
}

// cancelAggregating cancels a run whose figures are computed and that has not
// ended. The first that comes by may be one that was cancelled before.
func (p *proof) cancelAggregating(ctx context.Context) error {
	for range 10 {
		if err := p.s.Arm(evaluation.RunConcluding); err != nil {
			return err
		}
		back, err := p.dies(ctx, evaluation.RunConcluding)
		if err != nil {
			return err
		}
		cancelled, err := p.cancelIn(ctx, "aggregating")
		err = errors.Join(err, p.s.startWorker(ctx))
		back(0)
		if err != nil || cancelled > 0 {
			return err
		}
	}
	return errors.New("no run was found that was aggregating")
}

// cancelIn cancels the runs in a phase and tells how many there were.
func (p *proof) cancelIn(ctx context.Context, phase string) (cancelled int, err error) {
	for _, j := range p.load.under() {
		j.mu.Lock()
		running := j.isRunning && !j.isCancelled()
		j.mu.Unlock()
		if !running {
			continue
		}
		now, err := p.s.As(j.org.Organization, "").GetEvaluationRunProgress(ctx, j.evaluation, j.run)
		if err != nil {
			return cancelled, err
		}
		if now.Status != "running" || now.Phase != phase {
			continue
		}
		if err := j.end(ctx); err != nil {
			return cancelled, err
		}
		if j.isCancelled() {
			cancelled++
		}
	}
	return cancelled, nil
}
