package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/prove/rig"
	"github.com/assayhq/assay/internal/trace"
)

// fault is something that goes wrong and ends again.
type fault struct {
	name string
	run  func(context.Context) error
}

// list is what can go wrong with a kind of object storage, the most telling
// first: a shortened proof takes the beginning.
func (p *proof) list(store string) []fault {
	clickhouse := p.s.net.proxies["clickhouse"]
	latency := func(ms, jitter int) toxic {
		return toxic{"latency", "downstream", map[string]any{"latency": ms, "jitter": jitter}}
	}
	first := []fault{
		p.atInsert(trace.AfterInsert),
		{"clickhouse killed mid-insert", p.killClickHouse(0)},
		p.atDrain(trace.DrainInserted),
		p.storeAway(store),
	}
	if store == inS3 {
		first = []fault{
			p.storeAway(store),
			{"network cut", p.cut},
			p.atDrain(trace.DrainRead),
			{"app killed", p.killApp},
			p.atDefer(trace.AfterDefer),
			{"clickhouse killed mid-insert", p.killClickHouse(0)},
			{"object storage hangs", p.storeHangs},
		}
	}
	all := append(first,
		p.atInsert(trace.BetweenTables),
		p.atDefer(trace.BeforeDefer),
		p.atInsert(trace.BeforeReply),
		fault{"clickhouse away", p.killClickHouse(4 * time.Second)},
		p.atInsert(trace.Decoded),
		fault{"clickhouse disk full", p.clickHouseFull},
		p.atDefer(trace.AfterDefer),
		fault{"connections reset", p.spoil(clickhouse, toxic{"reset_peer", "downstream", map[string]any{"timeout": 0}}, 0)},
		p.atInsert(trace.BeforeInsert),
		fault{"cut mid-insert", p.spoil(clickhouse, toxic{"limit_data", "upstream", map[string]any{"bytes": 20_000}}, 0)},
		p.atDrain(trace.DrainRead),
		fault{"black hole", p.spoil(clickhouse, toxic{"timeout", "downstream", map[string]any{"timeout": 0}}, 0)},
		fault{"app killed", p.killApp},
		fault{"latency 1 s ± 0.5 s", p.spoil(clickhouse, latency(1000, 500), 4*time.Second)},
		p.atDrain(trace.DrainInserted),
		fault{"20 KB/s", p.spoil(clickhouse, toxic{"bandwidth", "upstream", map[string]any{"rate": 20}}, 4*time.Second)},
		p.atInsert(trace.AfterInsert),
		fault{"network cut", p.cut},
		fault{"latency 3 s", p.slow(clickhouse, latency(3000, 0))},
	)
	if store == onDisk {
		all = append(all, p.atDefer(blob.BeforeNamed))
	}
	return all
}

// killApp kills the application at a random moment.
func (p *proof) killApp(ctx context.Context) error {
	if err := rig.Sleep(ctx, time.Duration(p.rand.IntN(400))*time.Millisecond); err != nil {
		return err
	}
	if !p.s.app.Kill() {
		return p.s.app.Ended()
	}
	return p.s.startApp(ctx)
}

// atInsert kills the application at a point that every block passes.
func (p *proof) atInsert(point failpoint.Point) fault {
	return fault{"point " + string(point), func(ctx context.Context) error {
		if err := p.s.Arm(point); err != nil {
			return err
		}
		if err := p.dies(ctx, point); err != nil {
			return err
		}
		return p.s.startApp(ctx)
	}}
}

// atDefer kills the application at a point that blocks pass while ClickHouse
// is away. It comes up again without ClickHouse and defers on.
func (p *proof) atDefer(point failpoint.Point) fault {
	return fault{"point " + string(point), func(ctx context.Context) error {
		clickhouse := p.s.net.proxies["clickhouse"]
		if err := errors.Join(clickhouse.cut(ctx), p.s.Arm(point)); err != nil {
			return err
		}
		if err := p.dies(ctx, point); err != nil {
			return err
		}
		if err := p.s.startApp(ctx); err != nil {
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
func (p *proof) atDrain(point failpoint.Point) fault {
	return fault{"point " + string(point), func(ctx context.Context) error {
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
		if err := p.dies(ctx, point); err != nil {
			return err
		}
		return p.s.startApp(ctx)
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
	if err := rig.Sleep(ctx, time.Duration(500+p.rand.IntN(2000))*time.Millisecond); err != nil {
		return err
	}
	return clickhouse.mend(ctx)
}

// storeAway takes ClickHouse and object storage away together: nothing may be
// acknowledged. Object storage comes back first and takes what it can.
func (p *proof) storeAway(store string) fault {
	away, back := p.s.net.proxies[inS3].cut, p.s.net.proxies[inS3].mend
	name := "all storage away"
	if store == onDisk {
		name = "object storage full"
		v := p.s.volume(onDisk)
		if v == nil {
			return fault{name, func(context.Context) error { return p.cannot(name) }}
		}
		away = func(context.Context) error { return v.fill() }
		back = func(context.Context) error { return v.free() }
	}
	return fault{name, func(ctx context.Context) error {
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
