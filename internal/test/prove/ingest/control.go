package ingest

import (
	"context"
	"errors"

	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

type control = rig.Control[*system]

func isLost(v verdict) int64       { return v.lost }
func isLate(v verdict) int64       { return v.late }
func isDuplicated(v verdict) int64 { return v.duplicated }

// controls are the guards between a sender and a loss.
var controls = []control{
	{
		Noticed: met(onDisk, isLost, func(p *proof) rig.Fault { return rig.Fault{Name: "app killed", Run: p.s.KillServer} }),
		Guard: rig.Guard{
			Name: "ack_first", In: "spandb.writer.write",
			Text: "	var failed error\n",
			Instead: `	var failed error
	if sabotage("ack_first") {
		copied, err := sealed.Open(sealed.Seal(b.parts()))
		go func() {
			time.Sleep(500 * time.Millisecond)
			_ = w.insertParts(context.Background(), copied, token, token)
		}()
		return false, err
	}
`,
		},
	},
	{
		Noticed: met(onDisk, isDuplicated, func(p *proof) rig.Fault { return p.s.ServerAt(trace.AfterInsert) }),
		Guard: rig.Guard{
			Name: "moving_key", In: "trace.intake.add",
			Text: "	in.redact(r)\n",
			Instead: `	if sabotage("moving_key") {
		r.Start += in.stamp.Ingested % 1000
	}
	in.redact(r)
`,
		},
	},
	{
		Noticed: met(onDisk, isLate, func(p *proof) rig.Fault { return rig.Fault{Name: "network cut", Run: p.cut} }),
		Guard: rig.Guard{
			Name: "silent_defer", In: "spandb.writer.write",
			Text: "	failpoint.Hit(AfterDefer)\n",
			Instead: `	failpoint.Hit(AfterDefer)
	if sabotage("silent_defer") {
		return false, nil
	}
`,
		},
	},
	{
		// A block that ClickHouse had stored after all is not missed: another one is.
		// A block that ClickHouse had stored after all is not missed: another one is.
		Noticed: met(inS3, isLost, func(p *proof) rig.Fault { return again(4, p.atDrain(trace.DrainRead)) }),
		Guard: rig.Guard{
			Name: "delete_first", In: "spandb.writer.drainOne",
			Text: "	parts, err := sealed.Open(text)\n",
			Instead: `	if sabotage("delete_first") {
		_ = w.blobs.Delete(ctx, key)
	}
	parts, err := sealed.Open(text)
`,
		},
	},
	{
		Noticed: met(inS3, isLost, func(p *proof) rig.Fault { return rig.Fault{Name: "both cut", Run: p.bothCut} }),
		Guard: rig.Guard{
			Name: "ignore_store", In: "spandb.writer.write",
			Text: "	if err := w.blobs.Put(ctx, deferred.Key(w.now(), token), sealed.Seal(b.parts())); err != nil {\n",
			Instead: `	if err := w.blobs.Put(ctx, deferred.Key(w.now(), token), sealed.Seal(b.parts())); err != nil && !sabotage("ignore_store") {
`,
		},
	},
}

// again is a fault that happens some times in a row.
func again(times int, f rig.Fault) rig.Fault {
	return rig.Fault{Name: f.Name, Run: func(ctx context.Context) error {
		for range times {
			if err := f.Run(ctx); err != nil {
				return err
			}
		}
		return nil
	}}
}

// met has a load of its own meet a fault.
func met(store string, counted func(verdict) int64, fault func(*proof) rig.Fault) func(context.Context, *system) (int, error) {
	return func(ctx context.Context, s *system) (int, error) {
		s.use(store)
		if err := s.Restart(ctx); err != nil {
			return 0, err
		}
		p := newProof(s)
		p.load = newLoad(s, loadOptions{senders: 4, sample: 1})
		p.load.begin(ctx)
		defer p.load.end()
		if err := p.load.settle(ctx); err != nil {
			return 0, err
		}
		if err := fault(p).Run(ctx); err != nil {
			return 0, err
		}
		if err := p.load.grow(ctx, p.load.acked()+int64(p.load.senders*batchSpans)); err != nil {
			return 0, err
		}
		v, err := p.verdict(ctx)
		return int(counted(v)), err
	}
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
