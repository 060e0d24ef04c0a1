package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/prove/rig"
	"github.com/assayhq/assay/internal/trace"
)

// control is a guard that is removed, and the fault that must show it.
type control struct {
	name, file, text, instead string // the guard: see rig.Guard
	fault                     func(*proof) fault
	store                     string
	// caught tells whether the check has noticed.
	caught func(verdict) bool
}

func isLost(v verdict) bool       { return v.lost > 0 }
func isLate(v verdict) bool       { return v.late > 0 }
func isDuplicated(v verdict) bool { return v.duplicated > 0 }

// controls are the guards between a sender and a loss.
var controls = []control{
	{
		name: "ack_first", file: "internal/trace/internal/spandb/writer.go", caught: isLost, store: onDisk,
		text: "	var failed error\n",
		instead: `	var failed error
	if sabotage("ack_first") {
		copied, err := sealed.Open(sealed.Seal(b.parts()))
		go func() {
			time.Sleep(500 * time.Millisecond)
			_ = w.insertParts(context.Background(), copied, token, token)
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
		r.Start += in.stamp.Ingested % 1000
	}
	in.redact(r)
`,
		fault: func(p *proof) fault { return p.atInsert(trace.AfterInsert) },
	},
	{
		name: "silent_defer", file: "internal/trace/internal/spandb/writer.go", caught: isLate, store: onDisk,
		text: "	failpoint.Hit(AfterDefer)\n",
		instead: `	failpoint.Hit(AfterDefer)
	if sabotage("silent_defer") {
		return false, nil
	}
`,
		fault: func(p *proof) fault { return fault{"network cut", p.cut} },
	},
	{
		name: "delete_first", file: "internal/trace/internal/spandb/drain.go", caught: isLost, store: inS3,
		text: "	parts, err := sealed.Open(text)\n",
		instead: `	if sabotage("delete_first") {
		_ = w.blobs.Delete(ctx, key)
	}
	parts, err := sealed.Open(text)
`,
		// A block that ClickHouse had stored after all is not missed: another one is.
		fault: func(p *proof) fault { return again(4, p.atDrain(trace.DrainRead)) },
	},
	{
		name: "ignore_store", file: "internal/trace/internal/spandb/writer.go", caught: isLost, store: inS3,
		text: "	if err := w.blobs.Put(ctx, deferred.Key(w.now(), token), sealed.Seal(b.parts())); err != nil {\n",
		instead: `	if err := w.blobs.Put(ctx, deferred.Key(w.now(), token), sealed.Seal(b.parts())); err != nil && !sabotage("ignore_store") {
`,
		fault: func(p *proof) fault { return fault{"both cut", p.bothCut} },
	},
}

// again is a fault that happens some times in a row.
func again(times int, f fault) fault {
	return fault{f.name, func(ctx context.Context) error {
		for range times {
			if err := f.run(ctx); err != nil {
				return err
			}
		}
		return nil
	}}
}

// named are the controls that are asked for.
func named(names string) ([]control, error) {
	return rig.Chosen(controls, func(c control) string { return c.name }, names)
}

// sabotage begins to build the application without guards.
func (s *system) sabotage(ctx context.Context) *rig.Unguarded {
	var guards []rig.Guard
	for _, c := range controls {
		guards = append(guards, rig.Guard{Name: c.name, File: c.file, Text: c.text, Instead: c.instead})
	}
	return s.BuildUnguarded(ctx, guards, "assay-sabotaged")
}

// control runs controls. Each must be caught.
func (p *proof) control(ctx context.Context, list []control, b *rig.Unguarded) error {
	if len(list) == 0 {
		return nil
	}
	if err := p.s.app.Stop(patience); err != nil {
		return err
	}
	var err error
	if p.s.Binary, err = b.Binary(); err != nil {
		return err
	}
	for _, c := range list {
		if err := p.s.unguarded(ctx, c); err != nil {
			return fmt.Errorf("control %s: %w", c.name, err)
		}
	}
	return nil
}

// unguarded runs one control with a load of its own.
func (s *system) unguarded(ctx context.Context, c control) error {
	s.Removed = c.name
	s.use(c.store)
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
		return rig.ErrUnnoticed
	}
	return s.app.Stop(patience)
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
