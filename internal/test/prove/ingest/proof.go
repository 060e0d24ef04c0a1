package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

var pointCount = len(trace.Failpoints())

// wholeFaults is how many faults a proof has that is not shortened.
const wholeFaults = 60

// proof is a load that meets faults.
type proof struct {
	s      *system
	load   *load
	faults int

	checked time.Time // until when rows were checked for doubles
	// failures are broken promises that do not stop the proof: it tells all.
	failures []error
	// unproven tells what this machine did not let us prove.
	unproven string
}

func newProof(s *system) *proof { return &proof{s: s, checked: time.Now()} }

// all does so many faults: half with object storage in a folder, half with a
// bucket.
func (p *proof) all(ctx context.Context, n int, only string) error {
	done := 0
	for _, store := range []string{onDisk, inS3} {
		if err := p.use(ctx, store); err != nil {
			return err
		}
		list := slices.DeleteFunc(p.list(store), func(f rig.Fault) bool { return !strings.Contains(f.Name, only) })
		if len(list) == 0 {
			return fmt.Errorf("no fault with blobs in %s has a name with %q in it", store, only)
		}
		for half := (n - done + 1) / 2; store == inS3 && done < n || half > 0; half-- {
			if err := p.one(ctx, list[0]); err != nil {
				return err
			}
			list = append(list[1:], list[0])
			done++
		}
	}
	if only == "" && n >= wholeFaults && len(p.s.Points) < pointCount {
		p.fail(fmt.Errorf("the application died at %d of %d points", len(p.s.Points), pointCount))
	}
	return nil
}

// use gives the application another object store. Nothing is left in the old
// one.
func (p *proof) use(ctx context.Context, store string) error {
	if p.s.store == p.s.stores[store] {
		return nil
	}
	if err := p.drained(ctx); err != nil {
		return err
	}
	if err := p.s.Server.Stop(patience); err != nil {
		return fmt.Errorf("stop the application: %w", err)
	}
	p.s.use(store)
	return p.s.StartServer(ctx)
}

// one does a fault and waits until its consequences are over: everyone is
// served, what was acknowledged can be read, nothing is deferred any more.
func (p *proof) one(ctx context.Context, f rig.Fault) error {
	p.faults++
	p.load.during.Store(int32(p.faults))
	began, acked, deferred, refused := time.Now(), p.load.acked(), p.load.deferred(), p.load.refused.Load()
	name := fmt.Sprintf("fault %d, %s with blobs in %s", p.faults, f.Name, p.s.store.name)
	if err := p.s.stopMerges(ctx); err != nil {
		return err
	}
	if err := f.Run(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	took := time.Since(began)
	if err := p.load.settle(ctx); err != nil {
		return fmt.Errorf("after %s: %w", name, err)
	}
	served := time.Since(began) - took
	if err := p.drained(ctx); err != nil {
		return fmt.Errorf("after %s: %w", name, err)
	}
	stored := time.Since(began) - took - served
	doubled, err := p.s.doubled(ctx, p.load, p.checked.Add(-2*time.Second))
	if err != nil {
		return err
	}
	p.checked = time.Now()
	if err := p.s.startMerges(ctx); err != nil {
		return err
	}
	fmt.Printf("fault %2d  %-4s  %-28s %5.1f s, all served %4.1f s later, all stored %4.1f s later  acked %6d deferred %5d refused %4d twice %d late %d\n",
		p.faults, p.s.store.name, f.Name, took.Seconds(), served.Seconds(), stored.Seconds(),
		p.load.acked()-acked, p.load.deferred()-deferred, p.load.refused.Load()-refused, doubled, p.load.late.Load())
	return p.load.complaint()
}

func (p *proof) fail(err error) {
	if err != nil {
		fmt.Println("FAILED:", err)
		p.failures = append(p.failures, err)
	}
}

// drained waits until nothing is deferred, as long as there is always a block
// that is stored.
func (p *proof) drained(ctx context.Context) error {
	blocks, failed := p.s.store.waiting()
	for failed == nil && len(blocks) > 0 {
		before := blocks
		err := p.load.await(ctx, "what was deferred is stored", func() bool {
			blocks, failed = p.s.store.waiting()
			return failed != nil || slices.ContainsFunc(before, func(b string) bool { return !slices.Contains(blocks, b) })
		})
		if err != nil {
			return err
		}
	}
	return failed
}

// deferral waits until about every sender has had a batch acknowledged as
// deferred.
func (p *proof) deferral(ctx context.Context) error {
	goal := p.load.deferred() + int64(p.load.senders*batchSpans)
	return p.load.await(ctx, "spans are deferred", func() bool { return p.load.deferred() >= goal })
}

// refusal waits until as many requests are refused as there are senders.
func (p *proof) refusal(ctx context.Context) error {
	before := p.load.refused.Load()
	return p.load.await(ctx, "senders are refused", func() bool { return p.load.refused.Load() >= before+int64(p.load.senders) })
}
