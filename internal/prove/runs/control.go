package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

// control is a guard that is removed.
type control struct {
	name string
	// file is where the guard is; instead replaces the text, which stands there
	// once.
	file, text, instead string
	// caught tells whether the check has noticed.
	caught func(verdict) bool
}

// controls are the guards between a run and a wrong figure. The text of the
// product is changed for one build of this proof only: the product itself has
// no code that could do any of this.
var controls = []control{
	{
		name: "forget_done", file: "internal/evaluation/execute.go", caught: func(v verdict) bool { return v.extra > 0 },
		text:    "		if wanted[b.Key] {\n",
		instead: "		if wanted[b.Key] && !sabotage(\"forget_done\") {\n",
	},
	{
		name: "count_twice", file: "internal/evaluation/execute.go", caught: func(v verdict) bool { return v.miscounted > 0 },
		text: "			e.count.add(b)\n",
		instead: `			e.count.add(b)
			if sabotage("count_twice") {
				e.count.add(b)
			}
`,
	},
	{
		name: "lose_one", file: "internal/evaluation/execute.go", caught: func(v verdict) bool { return v.missing > 0 },
		text: "	failpoint.Hit(failpoint.ChunkAnswered)\n",
		instead: `	failpoint.Hit(failpoint.ChunkAnswered)
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

const sabotageSource = `package evaluation

import "os"

func sabotage(name string) bool { return os.Getenv("ASSAY_DEV_SABOTAGE") == name }

func stranger(run int64) int64 {
	if sabotage("keep_hold") {
		return -run
	}
	return run
}
`

// control runs the named controls. Each must be caught.
func (s *system) control(ctx context.Context, names string) error {
	if names == "none" || names == "" {
		return nil
	}
	binary, err := s.buildSabotaged(ctx)
	if err != nil {
		return err
	}
	s.binary = binary
	// One long chunk, so that a crash finds much of it done.
	s.env = append(s.env, "ASSAY_EVALUATION_CHUNK_TIME=30s")
	if err := s.targets.calm(simulated.Latency{Fixed: 200 * time.Millisecond}); err != nil {
		return err
	}
	for i, c := range controls {
		if names != "all" && !slices.Contains(strings.Split(names, ","), c.name) {
			continue
		}
		if err := s.unguarded(ctx, c, uint64(i)); err != nil {
			return fmt.Errorf("control %s: %w", c.name, err)
		}
	}
	return nil
}

// unguarded runs one control: a run whose worker is killed when most of a chunk
// is done.
func (s *system) unguarded(ctx context.Context, c control, seed uint64) error {
	s.worker.kill()
	s.server.kill()
	s.sabotage = c.name
	s.targets.oracle.forget()
	if err := errors.Join(s.startServer(ctx), s.startWorker(ctx)); err != nil {
		return err
	}
	p := newProof(s, seed)
	j := p.load.plan(0)
	j.items, j.concurrency = 60, 2
	p.load.done.Go(p.load.start(ctx, j))
	defer p.load.end()
	for calls := 0; calls < 50; {
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		j.mu.Lock()
		if j.isRunning {
			calls, _ = s.targets.oracle.of(j.run)
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
		return errors.New("the guard was removed and nothing was noticed: the proof proves nothing")
	}
	return nil
}

// sabotaged are the files of the product with every guard removable. A guard
// that is not where the control expects it is an error: the control would
// remove nothing.
func sabotaged() (map[string]string, error) {
	sources := map[string]string{"internal/evaluation/sabotage.go": sabotageSource}
	for _, c := range controls {
		source, ok := sources[c.file]
		if !ok {
			text, err := os.ReadFile(c.file)
			if err != nil {
				return nil, err
			}
			source = string(text)
		}
		if n := strings.Count(source, c.text); n != 1 {
			return nil, fmt.Errorf("control %s: the guard is %d times in %s: adapt the control to\n%s", c.name, n, c.file, c.text)
		}
		sources[c.file] = strings.Replace(source, c.text, c.instead, 1)
	}
	return sources, nil
}

// buildSabotaged builds the application from them.
func (s *system) buildSabotaged(ctx context.Context) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sources, err := sabotaged()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, source := range sources {
		path := filepath.Join(s.state, "sabotaged-"+filepath.Base(file))
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay, binary := filepath.Join(s.state, "overlay.json"), filepath.Join(root, "bin", "assay-sabotaged-runs")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "failpoints", "-overlay", overlay, "-o", binary, "./cmd/assay")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build without guards: %w\n%s", err, out)
	}
	return binary, nil
}
