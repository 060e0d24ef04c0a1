package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/prove/rig"
)

// control is a guard that is removed.
type control struct {
	name, file, text, instead string // the guard: see rig.Guard
	// caught tells whether the check has noticed.
	caught func(verdict) bool
}

// controls are the guards between a run and a wrong figure.
var controls = []control{
	{
		name: "forget_done", file: "internal/evaluation/internal/chunk/rest.go", caught: func(v verdict) bool { return v.extra > 0 },
		text:    "		if wanted[b.Key] {\n",
		instead: "		if wanted[b.Key] && !sabotage(\"forget_done\") {\n",
	},
	{
		name: "count_twice", file: "internal/evaluation/internal/chunk/rest.go", caught: func(v verdict) bool { return v.miscounted > 0 },
		text: "			e.count.Add(b)\n",
		instead: `			e.count.Add(b)
			if sabotage("count_twice") {
				e.count.Add(b)
			}
`,
	},
	{
		name: "lose_one", file: "internal/evaluation/internal/chunk/flush.go", caught: func(v verdict) bool { return v.missing > 0 },
		text: "	failpoint.Hit(Answered)\n",
		instead: `	failpoint.Hit(Answered)
	if sabotage("lose_one") && len(ready) > 1 {
		ready = ready[1:]
	}
`,
	},
	{
		name: "keep_hold", file: "internal/evaluation/run.go", caught: func(v verdict) bool { return v.held > 0 },
		text:    "ReleaseTx(ctx, tx, id, holder(r.ID))",
		instead: "ReleaseTx(ctx, tx, id, holder(stranger(r.ID)))",
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

// named are the controls that are asked for.
func named(names string) ([]control, error) {
	return rig.Chosen(controls, func(c control) string { return c.name }, names)
}

// control runs controls. Each must be caught.
func (s *system) control(ctx context.Context, chosen []control) error {
	if len(chosen) == 0 {
		return nil
	}
	sources, err := sabotaged()
	if err != nil {
		return err
	}
	if s.Binary, err = s.Build(ctx, sources, "assay-sabotaged-runs"); err != nil {
		return err
	}
	// One long chunk, so that a crash finds much of it done.
	s.Env = append(s.Env, "ASSAY_EVALUATION_CHUNK_TIME=30s")
	if err := s.targets.calm(simulated.Latency{Fixed: 400 * time.Millisecond}); err != nil {
		return err
	}
	for i, c := range chosen {
		if err := s.unguarded(ctx, c, uint64(i)); err != nil {
			return fmt.Errorf("control %s: %w", c.name, err)
		}
	}
	return nil
}

// unguarded runs one control: a run whose worker is killed when most of a chunk
// is done.
func (s *system) unguarded(ctx context.Context, c control, seed uint64) error {
	s.worker.Kill()
	s.server.Kill()
	s.Removed = c.name
	s.targets.oracle.Forget()
	if err := errors.Join(s.startServer(ctx), s.startWorker(ctx)); err != nil {
		return err
	}
	p := newProof(s, seed)
	j := p.load.plan(0)
	j.items, j.concurrency = 60, 2
	p.load.done.Go(p.load.start(ctx, j))
	defer p.load.end()
	for calls := 0; calls < 40; {
		if err := rig.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		j.mu.Lock()
		if j.isRunning {
			calls, _ = s.targets.oracle.Of(prefix(j.run))
		}
		j.mu.Unlock()
		if err := p.load.complaint(); err != nil {
			return err
		}
	}
	if err := p.killWorker(ctx); err != nil {
		return err
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return err
	}
	say("control %-12s missing %d miscounted %d extra %d held %d", c.name, v.missing, v.miscounted, v.extra, v.held)
	if !c.caught(v) {
		return rig.ErrUnnoticed
	}
	return nil
}

// sabotaged are the files of the product with every guard removable.
func sabotaged() (map[string]string, error) {
	var guards []rig.Guard
	for _, c := range controls {
		guards = append(guards, rig.Guard{Name: c.name, File: c.file, Text: c.text, Instead: c.instead})
	}
	return rig.Removable(guards, map[string]string{"internal/evaluation": strangerSource})
}
