package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

var pointCount = len(evaluation.Failpoints()) + len(judge.Failpoints())

// proof is a load that meets faults.
type proof struct {
	s    *system
	load *load
}

func newProof(s *system, seed uint64) *proof { return &proof{s: s, load: newLoad(s, seed)} }

// list is what can go wrong, the most telling first: a shortened proof takes the
// beginning.
func (p *proof) list() []rig.Fault {
	return []rig.Fault{
		p.s.WorkerAt(evaluation.ChunkJudged),
		p.s.ServerAt(judge.Answered),
		p.spoil("provider limits", simulated.Rule{Fault: simulated.FaultRateLimit, Share: 0.6, RetryAfter: time.Second}),
		p.s.KillEngine("clickhouse"),
		p.s.ServerAt(judge.Recorded),
		p.spoil("provider hangs", simulated.Rule{Fault: simulated.FaultHang, Share: 0.3}),
		p.s.WorkerAt(evaluation.ChunkAnswered),
		p.s.KillEngine("postgres"),
		p.spoil("provider resets", simulated.Rule{Fault: simulated.FaultDisconnect, Share: 0.6}),
		{Name: "server killed", Run: p.s.KillServer},
		p.s.WorkerAt(evaluation.ChunkStored),
		p.spoil("provider is malformed", simulated.Rule{Fault: simulated.FaultMalformed, Share: 0.6}),
		{Name: "worker killed", Run: p.s.KillWorker},
		p.s.KillEngine("temporal"),
		p.spoil("provider cuts answers", simulated.Rule{Fault: simulated.FaultTruncated, Share: 0.6}),
		p.s.WorkerAt(evaluation.ChunkCounted),
		p.s.WorkerAt(evaluation.ChunkRead),
		p.spoil("provider is overloaded", simulated.Rule{Fault: simulated.FaultOverloaded, Share: 0.6, RetryAfter: time.Second}),
		p.s.WorkerAt(evaluation.RunResolved),
		p.s.WorkerAt(evaluation.RunConcluding),
		p.spoil("provider fails", simulated.Rule{Fault: simulated.FaultError, Share: 0.6, Status: 500}),
		p.s.WorkerAt(evaluation.RunConcluded),
		p.spoil("provider sends pages", simulated.Rule{Fault: simulated.FaultHTML, Share: 0.6}),
	}
}

// all does faults, each while cases are judged.
func (p *proof) all(ctx context.Context) (done int, err error) {
	return p.s.Meet(ctx, p.list(), p.s.Faults, p.s.Only, rig.Meeting{
		Ready: func(ctx context.Context, _ int) error { return p.load.lively(ctx) }, Complaint: p.load.complaint,
		Progress: func() string {
			p.load.mu.Lock()
			defer p.load.mu.Unlock()
			return fmt.Sprintf("runs ended %3d single requests %4d calls %d", p.load.ended, len(p.load.singles), p.s.provider.oracle.Total())
		},
	})
}

// spoil makes the provider misbehave for a while.
func (p *proof) spoil(name string, r simulated.Rule) rig.Fault {
	return rig.Fault{Name: name, Run: func(ctx context.Context) error {
		if err := p.s.provider.spoil(r); err != nil {
			return err
		}
		err := rig.Sleep(ctx, 2*time.Second)
		return errors.Join(err, p.s.provider.peace())
	}}
}
