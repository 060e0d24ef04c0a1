package runs

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// list is what can go wrong, the most telling first: a shortened proof takes
// the beginning.
func (p *proof) list() []rig.Fault {
	return []rig.Fault{
		p.s.WorkerAt(evaluation.ChunkAnswered),
		p.s.KillEngine("clickhouse"),
		{Name: "cancelled while queued", Run: p.cancelQueued},
		p.spoil("provider limits", simulated.Rule{Fault: simulated.FaultRateLimit, Share: 0.6, RetryAfter: time.Second}),
		p.s.WorkerAt(evaluation.ChunkStored),
		{Name: "server killed", Run: p.s.KillServer},
		{Name: "cancelled while aggregating", Run: p.cancelAggregating},
		p.s.KillEngine("postgres"),
		{Name: "worker killed", Run: p.s.KillWorker},
		p.s.WorkerAt(evaluation.RunResolved),
		p.s.WorkerAt(evaluation.ChunkJudged),
		{Name: "worker frozen", Run: p.freezeWorker},
		p.s.KillEngine("temporal"),
		p.spoil("provider hangs", simulated.Rule{Fault: simulated.FaultHang, Share: 0.3}),
		p.s.WorkerAt(evaluation.ChunkRead),
		p.spoil("provider is malformed", simulated.Rule{Fault: simulated.FaultMalformed, Share: 0.6}),
		p.s.WorkerAt(evaluation.ChunkCounted),
		p.s.KillEngine("clickhouse"),
		p.s.WorkerAt(evaluation.RunConcluded),
		p.spoil("provider fails", simulated.Rule{Fault: simulated.FaultError, Share: 0.6, Status: 503}),
		{Name: "worker killed", Run: p.s.KillWorker},
		p.s.WorkerAt(evaluation.RunConcluding),
		p.spoil("provider cuts answers", simulated.Rule{Fault: simulated.FaultTruncated, Share: 0.6}),
	}
}

// freezeWorker stops a worker for so long that another executes its chunks, and
// then lets it go on, as a machine does that was suspended.
func (p *proof) freezeWorker(ctx context.Context) error {
	back := p.s.Crashed("frozen worker")
	frozen := p.s.Worker
	defer frozen.Kill()
	if err := frozen.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := p.s.StartWorker(ctx); err != nil {
		return err
	}
	if err := rig.Sleep(ctx, p.s.Heartbeat+2*time.Second); err != nil {
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

// spoil makes what runs ask misbehave for a while.
func (p *proof) spoil(name string, r simulated.Rule) rig.Fault {
	return rig.Fault{Name: name, Run: func(ctx context.Context) error {
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
	p.s.Worker.Kill()
	j := p.load.plan(int(p.load.number.Add(1)))
	j.kind, j.cancel, j.budget = kindModel, "queued", 0
	p.load.done.Go(p.load.start(ctx, j))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return fmt.Errorf("run %d could not be cancelled while it was queued", j.number)
	case <-j.cancelled:
	}
	defer back(0)
	return p.s.StartWorker(ctx)
}

// cancelAggregating cancels a run whose figures are computed and that has not
// ended. The first that comes by may be one that was cancelled before.
func (p *proof) cancelAggregating(ctx context.Context) error {
	for range 10 {
		if err := p.s.Arm(evaluation.RunConcluding); err != nil {
			return err
		}
		if err := p.s.Dies(ctx, p.s.Worker, evaluation.RunConcluding, patience); err != nil {
			return err
		}
		back := p.s.Crashed(rig.OfWorker)
		cancelled, err := p.cancelIn(ctx, "aggregating")
		err = errors.Join(err, p.s.StartWorker(ctx))
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
