package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// list is what can go wrong with a kind of object storage, the most telling
// first: a shortened proof takes the beginning.
func (p *proof) list(store string) []rig.Fault {
	clickhouse := p.s.net.proxies["clickhouse"]
	latency := func(ms, jitter int) toxic {
		return toxic{"latency", "downstream", map[string]any{"latency": ms, "jitter": jitter}}
	}
	first := []rig.Fault{
		p.s.ServerAt(trace.AfterInsert),
		{Name: "clickhouse killed mid-insert", Run: p.killClickHouse(0)},
		p.atDrain(trace.DrainInserted),
		p.storeAway(store),
	}
	if store == inS3 {
		first = []rig.Fault{
			p.storeAway(store),
			{Name: "network cut", Run: p.cut},
			p.atDrain(trace.DrainRead),
			{Name: "app killed", Run: p.s.KillServer},
			p.atDefer(trace.AfterDefer),
			{Name: "clickhouse killed mid-insert", Run: p.killClickHouse(0)},
			{Name: "object storage hangs", Run: p.storeHangs},
		}
	}
	all := append(first,
		p.s.ServerAt(trace.BetweenTables),
		p.atDefer(trace.BeforeDefer),
		p.s.ServerAt(trace.BeforeReply),
		rig.Fault{Name: "clickhouse away", Run: p.killClickHouse(4 * time.Second)},
		p.s.ServerAt(trace.Decoded),
		rig.Fault{Name: "clickhouse disk full", Run: p.clickHouseFull},
		p.atDefer(trace.AfterDefer),
		rig.Fault{Name: "connections reset", Run: p.spoil(clickhouse, toxic{"reset_peer", "downstream", map[string]any{"timeout": 0}}, 0)},
		p.s.ServerAt(trace.BeforeInsert),
		rig.Fault{Name: "cut mid-insert", Run: p.spoil(clickhouse, toxic{"limit_data", "upstream", map[string]any{"bytes": 20_000}}, 0)},
		p.atDrain(trace.DrainRead),
		rig.Fault{Name: "black hole", Run: p.spoil(clickhouse, toxic{"timeout", "downstream", map[string]any{"timeout": 0}}, 0)},
		rig.Fault{Name: "app killed", Run: p.s.KillServer},
		rig.Fault{Name: "latency 1 s ± 0.5 s", Run: p.spoil(clickhouse, latency(1000, 500), 4*time.Second)},
		p.atDrain(trace.DrainInserted),
		rig.Fault{Name: "20 KB/s", Run: p.spoil(clickhouse, toxic{"bandwidth", "upstream", map[string]any{"rate": 20}}, 4*time.Second)},
		p.s.ServerAt(trace.AfterInsert),
		rig.Fault{Name: "network cut", Run: p.cut},
		rig.Fault{Name: "latency 3 s", Run: p.slow(clickhouse, latency(3000, 0))},
	)
	if store == onDisk {
		all = append(all, p.atDefer(blob.BeforeNamed))
	}
	return all
}

// atDefer kills the application at a point that blocks pass while ClickHouse
// is away. It comes up again without ClickHouse and defers on.
func (p *proof) atDefer(point failpoint.Point) rig.Fault {
	return rig.Fault{Name: "point " + string(point), Run: func(ctx context.Context) error {
		clickhouse := p.s.net.proxies["clickhouse"]
		if err := errors.Join(clickhouse.cut(ctx), p.s.Arm(point)); err != nil {
			return err
		}
		if err := p.s.Dies(ctx, p.s.Server, point, patience); err != nil {
			return err
		}
		if err := p.s.StartServer(ctx); err != nil {
			return err
		}
		if err := p.deferral(ctx); err != nil {
			return err
		}
		return clickhouse.mend(ctx)
	}}
}

// atDrain kills the application at a point that deferred blocks pass when
// ClickHouse is back.
func (p *proof) atDrain(point failpoint.Point) rig.Fault {
	return rig.Fault{Name: "point " + string(point), Run: func(ctx context.Context) error {
		clickhouse := p.s.net.proxies["clickhouse"]
		if err := clickhouse.cut(ctx); err != nil {
			return err
		}
		if err := p.deferral(ctx); err != nil {
			return err
		}
		if err := errors.Join(p.s.Arm(point), clickhouse.mend(ctx)); err != nil {
			return err
		}
		if err := p.s.Dies(ctx, p.s.Server, point, patience); err != nil {
			return err
		}
		return p.s.StartServer(ctx)
	}}
}

// spoil makes the way to ClickHouse bad for a time or, without a time, until
// blocks are deferred for it.
func (p *proof) spoil(way *proxy, t toxic, hold time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := way.spoil(ctx, t); err != nil {
			return err
		}
		wait := p.deferral
		if hold > 0 {
			wait = func(ctx context.Context) error { return rig.Sleep(ctx, hold) }
		}
		if err := wait(ctx); err != nil {
			return err
		}
		return way.heal(ctx)
	}
}

// slow makes ClickHouse slower than senders wait. What is deferred for that is
// stored all the same: nobody waits for it, so it may take longer.
func (p *proof) slow(way *proxy, t toxic) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := way.spoil(ctx, t); err != nil {
			return err
		}
		if err := p.deferral(ctx); err != nil {
			return err
		}
		before, failed := p.s.store.waiting()
		err := p.load.await(ctx, "a deferred block is stored slowly", func() bool {
			blocks, err := p.s.store.waiting()
			failed = errors.Join(failed, err)
			return failed != nil || slices.ContainsFunc(before, func(b string) bool { return !slices.Contains(blocks, b) })
		})
		return errors.Join(err, failed, way.heal(ctx))
	}
}

// cut takes ClickHouse away for a random while.
func (p *proof) cut(ctx context.Context) error {
	clickhouse := p.s.net.proxies["clickhouse"]
	if err := clickhouse.cut(ctx); err != nil {
		return err
	}
	if err := p.s.Moment(ctx, 2500*time.Millisecond); err != nil {
		return err
	}
	return clickhouse.mend(ctx)
}

// storeAway takes ClickHouse and object storage away together: nothing may be
// acknowledged. Object storage comes back first and takes what it can.
func (p *proof) storeAway(store string) rig.Fault {
	away, back := p.s.net.proxies[inS3].cut, p.s.net.proxies[inS3].mend
	name := "all storage away"
	if store == onDisk {
		name = "object storage full"
		v := p.s.volume(onDisk)
		if v == nil {
			return rig.Fault{Name: name, Run: func(context.Context) error { return p.cannot(name) }}
		}
		away = func(context.Context) error { return v.fill() }
		back = func(context.Context) error { return v.free() }
	}
	return rig.Fault{Name: name, Run: func(ctx context.Context) error {
		clickhouse := p.s.net.proxies["clickhouse"]
		if err := clickhouse.cut(ctx); err != nil {
			return err
		}
		if err := away(ctx); err != nil {
			return err
		}
		p.load.closedSince.Store(time.Now().UnixNano())
		if err := p.refusal(ctx); err != nil {
			return err
		}
		p.load.closedSince.Store(0)
		if err := back(ctx); err != nil {
			return err
		}
		if err := p.deferral(ctx); err != nil {
			return err
		}
		return clickhouse.mend(ctx)
	}}
}

// storeHangs makes object storage take bytes and answer nothing while
// ClickHouse is away: senders are told to wait, in time.
func (p *proof) storeHangs(ctx context.Context) error {
	clickhouse, s3 := p.s.net.proxies["clickhouse"], p.s.net.proxies[inS3]
	hang := toxic{"timeout", "downstream", map[string]any{"timeout": 0}}
	if err := errors.Join(s3.spoil(ctx, hang), clickhouse.cut(ctx)); err != nil {
		return err
	}
	if err := p.refusal(ctx); err != nil {
		return err
	}
	return errors.Join(s3.heal(ctx), clickhouse.mend(ctx))
}

// clickHouseFull fills ClickHouse's disk until it refuses blocks.
func (p *proof) clickHouseFull(ctx context.Context) (err error) {
	v := p.s.volume("clickhouse")
	if v == nil {
		return p.cannot("clickhouse disk full")
	}
	before := p.load.deferred()
	err = p.load.await(ctx, "a full disk defers spans", func() bool {
		// Merges end and give room back, so it is taken again and again.
		if err = v.fill(); err != nil {
			return true
		}
		return p.load.deferred() > before
	})
	return errors.Join(err, v.free())
}

// cannot notes that a fault needs more rights than this process has.
func (p *proof) cannot(what string) error {
	p.unproven = "NOT PROVEN here: " + what + " needs a disk that can be filled. Run as root, or as a user of sudo, where mkfs.ext4 is installed and loop devices can be mounted."
	fmt.Println(p.unproven)
	return nil
}
