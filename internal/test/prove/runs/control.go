package runs

import (
	"context"
	"errors"
	"time"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

type control = rig.Control[*system]

// controls are the guards between a run and a wrong figure.
var controls = []control{
	{
		Noticed: killed(func(v verdict) int { return v.extra }),
		Guard: rig.Guard{
			Name: "forget_done", In: "chunk.execution.left",
			Text:    "		if wanted[b.Key] {\n",
			Instead: "		if wanted[b.Key] && !sabotage(\"forget_done\") {\n",
		},
	},
	{
		Noticed: killed(func(v verdict) int { return v.miscounted }),
		Guard: rig.Guard{
			Name: "count_twice", In: "chunk.execution.left",
			Text: "			e.count.Add(b)\n",
			Instead: `			e.count.Add(b)
			if sabotage("count_twice") {
				e.count.Add(b)
			}
`,
		},
	},
	{
		Noticed: killed(func(v verdict) int { return v.missing }),
		Guard: rig.Guard{
			Name: "lose_one", In: "chunk.execution.flush",
			Text: "	failpoint.Hit(Answered)\n",
			Instead: `	failpoint.Hit(Answered)
	if sabotage("lose_one") && len(ready) > 1 {
		ready = ready[1:]
	}
`,
		},
	},
	{
		Noticed: killed(func(v verdict) int { return v.held }),
		Guard: rig.Guard{
			Name: "keep_hold", In: "evaluation.Service.endTx",
			Text:    "ReleaseTx(ctx, tx, id, holder(r.ID))",
			Instead: "ReleaseTx(ctx, tx, id, holder(stranger(r.ID)))",
		},
	},
}

// strangerSource is what a run calls that forgets who holds its dataset.
const strangerSource = `
func stranger(run int64) int64 {
	if sabotage("keep_hold") {
		return -run
	}
	return run
}
`

// Restart starts the application as it is when guards are removed: with one long chunk, so
// that a crash finds much of it done.
func (s *system) Restart(ctx context.Context) error {
	s.Env = append(s.Env, "ASSAY_EVALUATION_CHUNK_TIME=30s")
	s.targets.oracle.Forget()
	return errors.Join(s.targets.calm(simulated.Latency{Fixed: 400 * time.Millisecond}), s.System.Restart(ctx))
}

// killed has a run executed whose worker is killed when most of a chunk is done.
func killed(found func(verdict) int) func(context.Context, *system) (int, error) {
	return func(ctx context.Context, s *system) (int, error) {
		p := newProof(s, 0)
		j := p.load.plan(0)
		j.items, j.concurrency = 60, 2
		p.load.done.Go(p.load.start(ctx, j))
		defer p.load.end()
		for calls := 0; calls < 40; {
			if err := errors.Join(rig.Sleep(ctx, 50*time.Millisecond), p.load.complaint()); err != nil {
				return 0, err
			}
			j.mu.Lock()
			if j.isRunning {
				calls, _ = s.targets.oracle.Of(prefix(j.run))
			}
			j.mu.Unlock()
		}
		if err := s.KillWorker(ctx); err != nil {
			return 0, err
		}
		v, err := p.verdict(ctx)
		return found(v), err
	}
}
