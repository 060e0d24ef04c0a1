package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/judge"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/prove/rig"
)

// proof is a load that meets faults.
type proof struct {
	s      *system
	load   *load
	rand   *rand.Rand
	faults int
	points map[failpoint.Point]int
}

func newProof(s *system, seed uint64) *proof {
	return &proof{s: s, load: newLoad(s, seed), rand: rand.New(rand.NewPCG(seed, seed)), points: map[failpoint.Point]int{}}
}

// fault is something that goes wrong and ends again.
type fault struct {
	name string
	run  func(context.Context) error
}

// list is what can go wrong, the most telling first: a shortened proof takes the
// beginning.
func (p *proof) list() []fault {
	return []fault{
		p.at(evaluation.ChunkJudged),
		p.at(judge.Answered),
		p.spoil("provider limits", simulated.Rule{Fault: simulated.FaultRateLimit, Share: 0.6, RetryAfter: time.Second}),
		{"clickhouse killed", p.killEngine("clickhouse")},
		p.at(judge.Recorded),
		p.spoil("provider hangs", simulated.Rule{Fault: simulated.FaultHang, Share: 0.3}),
		p.at(evaluation.ChunkAnswered),
		{"postgres killed", p.killEngine("postgres")},
		p.spoil("provider resets", simulated.Rule{Fault: simulated.FaultDisconnect, Share: 0.6}),
		{"server killed", p.killServer},
		p.at(evaluation.ChunkStored),
		p.spoil("provider is malformed", simulated.Rule{Fault: simulated.FaultMalformed, Share: 0.6}),
		{"worker killed", p.killWorker},
		{"temporal killed", p.killEngine("temporal")},
		p.spoil("provider cuts answers", simulated.Rule{Fault: simulated.FaultTruncated, Share: 0.6}),
		p.at(evaluation.ChunkCounted),
		p.at(evaluation.ChunkRead),
		p.spoil("provider is overloaded", simulated.Rule{Fault: simulated.FaultOverloaded, Share: 0.6, RetryAfter: time.Second}),
		p.at(evaluation.RunResolved),
		p.at(evaluation.RunConcluding),
		p.spoil("provider fails", simulated.Rule{Fault: simulated.FaultError, Share: 0.6, Status: 500}),
		p.at(evaluation.RunConcluded),
		p.spoil("provider sends pages", simulated.Rule{Fault: simulated.FaultHTML, Share: 0.6}),
	}
}

// all does so many faults, each while cases are judged.
func (p *proof) all(ctx context.Context, n int, only string) error {
	list := slices.DeleteFunc(p.list(), func(f fault) bool { return !strings.Contains(f.name, only) })
	if len(list) == 0 {
		return fmt.Errorf("no fault has a name with %q in it", only)
	}
	for range n {
		p.faults++
		f := list[(p.faults-1)%len(list)]
		name := fmt.Sprintf("fault %d, %s", p.faults, f.name)
		if err := p.load.lively(ctx); err != nil {
			return fmt.Errorf("before %s: %w", name, err)
		}
		if err := p.moment(ctx, 600*time.Millisecond); err != nil {
			return err
		}
		began := time.Now()
		if err := f.run(ctx); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", name, err), p.load.complaint())
		}
		p.load.mu.Lock()
		runs, singles := p.load.ended, len(p.load.singles)
		p.load.mu.Unlock()
		say("fault %2d  %s  %-26s %5.1f s  runs ended %3d single requests %4d calls %d", p.faults, began.Format(rig.Clock), f.name, time.Since(began).Seconds(), runs, singles, p.s.provider.oracle.Total())
	}
	return nil
}

// moment waits for a random while.
func (p *proof) moment(ctx context.Context, most time.Duration) error {
	return rig.Sleep(ctx, time.Duration(p.rand.Int64N(int64(most))))
}

// What may excuse that an answer was asked for again. Runs need no server, and
// single requests no worker.
const (
	ofWorker = "worker"
	ofServer = "server"
	ofEngine = "engine"
)

// at kills the process that passes a point, and starts another.
func (p *proof) at(point failpoint.Point) fault {
	return fault{"point " + string(point), func(ctx context.Context) error {
		process, what, again := p.s.worker, ofWorker, p.s.startWorker
		if slices.Contains(judge.Failpoints(), point) {
			process, what, again = p.s.server, ofServer, p.s.startServer
		}
		if err := p.s.Arm(point); err != nil {
			return err
		}
		if err := p.s.Dies(ctx, process, point, rig.Patience/2); err != nil {
			return err
		}
		p.points[point]++
		defer p.s.Crashed(what + " at " + string(point))(0)
		return again(ctx)
	}}
}

// killWorker kills the worker and starts another.
func (p *proof) killWorker(ctx context.Context) error {
	back := p.s.Crashed(ofWorker)
	p.s.worker.Kill()
	if err := p.moment(ctx, time.Second); err != nil {
		return err
	}
	defer back(0)
	return p.s.startWorker(ctx)
}

// killServer kills the API and starts another.
func (p *proof) killServer(ctx context.Context) error {
	back := p.s.Crashed(ofServer)
	p.s.server.Kill()
	if err := p.moment(ctx, time.Second); err != nil {
		return err
	}
	defer back(0)
	return p.s.startServer(ctx)
}

// killEngine kills an engine and brings it back after a while. When the workflow
// engine is back, which keeps its state in PostgreSQL, chunks whose heartbeats it
// missed are executed again.
func (p *proof) killEngine(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		back := p.s.Crashed(ofEngine + " " + name)
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

// excuses tells whether a crash can have taken the answer about a case.
func excuses(name string, c rig.Crash) bool {
	if strings.HasPrefix(name, ofSingles) {
		return strings.HasPrefix(c.What, ofServer) || c.What == ofEngine+" postgres"
	}
	return !strings.HasPrefix(c.What, ofServer)
}

// spoil makes the provider misbehave for a while.
func (p *proof) spoil(name string, r simulated.Rule) fault {
	return fault{name, func(ctx context.Context) error {
		if err := p.s.provider.spoil(r); err != nil {
			return err
		}
		err := rig.Sleep(ctx, 2*time.Second)
		return errors.Join(err, p.s.provider.peace())
	}}
}
