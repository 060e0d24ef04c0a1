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

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/platform/failpoint"
)

// control is a guard that is removed, and the fault that must show it.
type control struct {
	name string
	// file is where the guard is; instead replaces the text, which stands there
	// once.
	file, text, instead string
	fault               func(*proof) fault
	store               string
	// caught tells whether the check has noticed.
	caught func(verdict) bool
}

func isLost(v verdict) bool       { return v.lost > 0 }
func isLate(v verdict) bool       { return v.late > 0 }
func isDuplicated(v verdict) bool { return v.duplicated > 0 }

// controls are the guards between a sender and a loss. The text of the product
// is changed for one build of this proof only: the product itself has no code
// that could do any of this.
var controls = []control{
	{
		name: "ack_first", file: "internal/trace/store_write.go", caught: isLost, store: onDisk,
		text: "	var failed error\n",
		instead: `	var failed error
	if sabotage("ack_first") {
		copied, err := openParts(sealParts(b.parts()))
		go func() {
			time.Sleep(500 * time.Millisecond)
			_ = w.insertParts(context.Background(), copied, token)
		}()
		return false, err
	}
`,
		fault: func(p *proof) fault { return fault{"app killed", p.killApp} },
	},
	{
		name: "moving_key", file: "internal/trace/ingest.go", caught: isDuplicated, store: onDisk,
		text: "	in.redact(r)\n",
		instead: `	if sabotage("moving_key") {
		r.start += in.now % 1000
	}
	in.redact(r)
`,
		fault: func(p *proof) fault { return p.atInsert(failpoint.AfterInsert) },
	},
	{
		name: "silent_defer", file: "internal/trace/store_write.go", caught: isLate, store: onDisk,
		text: "	failpoint.Hit(failpoint.AfterDefer)\n",
		instead: `	failpoint.Hit(failpoint.AfterDefer)
	if sabotage("silent_defer") {
		return false, nil
	}
`,
		fault: func(p *proof) fault { return fault{"network cut", p.cut} },
	},
	{
		name: "delete_first", file: "internal/trace/store_deferred.go", caught: isLost, store: inS3,
		text: "	parts, err := openParts(text)\n",
		instead: `	if sabotage("delete_first") {
		_ = w.blobs.Delete(ctx, key)
	}
	parts, err := openParts(text)
`,
		fault: func(p *proof) fault { return p.atDrain(failpoint.DrainRead) },
	},
	{
		name: "ignore_store", file: "internal/trace/store_write.go", caught: isLost, store: inS3,
		text: "	if err := w.blobs.Put(ctx, deferredKey(w.now(), token), sealParts(b.parts())); err != nil {\n",
		instead: `	if err := w.blobs.Put(ctx, deferredKey(w.now(), token), sealParts(b.parts())); err != nil && !sabotage("ignore_store") {
`,
		fault: func(p *proof) fault { return fault{"both cut", p.bothCut} },
	},
}

const sabotageSource = `package trace

import "os"

func sabotage(name string) bool { return os.Getenv("ASSAY_DEV_SABOTAGE") == name }
`

// named are the controls that are asked for.
func named(names string) (out []control, err error) {
	if names == "all" {
		return controls, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(controls, func(c control) bool { return c.name == name })
		if i < 0 && name != "" {
			return nil, fmt.Errorf("there is no control %q", name)
		}
		if i >= 0 {
			out = append(out, controls[i])
		}
	}
	return out, nil
}

// sabotaged is the application without guards. It is built while the faults
// take their time.
type sabotaged struct {
	binary string
	err    error
	built  chan struct{}
}

func (s *system) sabotage(ctx context.Context) *sabotaged {
	b := &sabotaged{built: make(chan struct{})}
	go func() {
		defer close(b.built)
		b.binary, b.err = s.buildSabotaged(ctx)
	}()
	return b
}

// control runs controls. Each must be caught.
func (p *proof) control(ctx context.Context, list []control, b *sabotaged) error {
	if len(list) == 0 {
		return nil
	}
	if err := p.s.stopApp(); err != nil {
		return err
	}
	if <-b.built; b.err != nil {
		return b.err
	}
	p.s.binary = b.binary
	for _, c := range list {
		if err := p.s.unguarded(ctx, c); err != nil {
			return fmt.Errorf("control %s: %w", c.name, err)
		}
	}
	return nil
}

// unguarded runs one control with a load of its own.
func (s *system) unguarded(ctx context.Context, c control) error {
	s.removed, s.store = c.name, s.stores[c.store]
	if err := s.startApp(ctx); err != nil {
		return err
	}
	p := newProof(s, 1)
	p.load = newLoad(s, loadOptions{senders: 4, sample: 1})
	p.load.begin(ctx)
	defer p.load.end()
	if err := p.load.settle(ctx); err != nil {
		return err
	}
	f := c.fault(p)
	if err := f.run(ctx); err != nil {
		return err
	}
	if err := p.load.grow(ctx, p.load.acked()+int64(p.load.senders*batchSpans)); err != nil {
		return err
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("control %-13s %-28s lost %d duplicated %d late %d of %d\n", c.name, f.name, v.lost, v.duplicated, v.late, v.acked)
	if !c.caught(v) {
		return errors.New("the guard was removed and nothing was noticed: the proof proves nothing")
	}
	return s.stopApp()
}

// bothCut takes all storage away for a moment.
func (p *proof) bothCut(ctx context.Context) error {
	clickhouse, s3 := p.s.net.proxies["clickhouse"], p.s.net.proxies[inS3]
	if err := errors.Join(s3.cut(ctx), clickhouse.cut(ctx)); err != nil {
		return err
	}
	if err := p.deferral(ctx); err != nil {
		return err
	}
	return errors.Join(s3.mend(ctx), clickhouse.mend(ctx))
}

// buildSabotaged builds the application with every guard removable. A guard
// that is not where the control expects it is an error: the control would
// remove nothing.
func (s *system) buildSabotaged(ctx context.Context) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sources := map[string]string{"internal/trace/sabotage.go": sabotageSource}
	for _, c := range controls {
		source, ok := sources[c.file]
		if !ok {
			text, err := os.ReadFile(c.file)
			if err != nil {
				return "", err
			}
			source = string(text)
		}
		if n := strings.Count(source, c.text); n != 1 {
			return "", fmt.Errorf("control %s: the guard is %d times in %s: adapt the control to\n%s", c.name, n, c.file, c.text)
		}
		sources[c.file] = strings.Replace(source, c.text, c.instead, 1)
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
	overlay, binary := filepath.Join(s.state, "overlay.json"), filepath.Join(root, "bin", "assay-sabotaged")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "nice", "go", "build", "-trimpath", "-tags", "failpoints", "-overlay", overlay, "-o", binary, "./cmd/assay")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build without guards: %w\n%s", err, out)
	}
	return binary, nil
}
