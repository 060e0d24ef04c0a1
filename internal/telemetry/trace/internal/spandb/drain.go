package spandb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/deferred"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

const (
	// drainPage is how many of the oldest blocks are looked at together.
	drainPage = 100
	// drainers is how many of them are inserted at once, and drainBytes how much
	// they have together in object storage: a block has several times as much in
	// memory. A larger one goes alone.
	drainers   = 4
	drainBytes = 4 << 20
	// DrainTimeout bounds one block. Nobody waits for it, so it is longer than
	// any insert takes, also on a slow network.
	DrainTimeout = 30 * time.Second
	// drainRefusals is how many blocks ClickHouse may refuse before it is left
	// in peace for a while.
	drainRefusals = 10
)

// drain inserts what was deferred, the oldest page first, until nothing is left
// or ClickHouse is away. A block that is damaged, or that ClickHouse refuses,
// holds up no other: it goes to quarantine.
func (w *writer) drain(ctx context.Context) (inserted int, err error) {
	var d drainage
	for after := ""; ; {
		objects, err := w.blobs.List(ctx, deferred.Prefix, after, drainPage)
		if err != nil {
			return int(d.inserted.Load()), fmt.Errorf("list deferred blocks: %w", err)
		}
		if after == "" {
			w.backlog.Saw(objects)
		}
		if len(objects) > 0 {
			after = objects[len(objects)-1].Key
		}
		if err := w.drainAll(ctx, objects, &d); err != nil {
			return int(d.inserted.Load()), err
		}
		if len(objects) < drainPage {
			break
		}
	}
	err = w.reviewQuarantine(ctx, &d)
	return int(d.inserted.Load()), err
}

// walk shows every block under a prefix to a function.
func (w *writer) walk(ctx context.Context, prefix string, show func(blob.Object) error) error {
	for after := ""; ; {
		objects, err := w.blobs.List(ctx, prefix, after, drainPage)
		if err != nil {
			return fmt.Errorf("list blocks of %s: %w", prefix, err)
		}
		for _, o := range objects {
			if err := show(o); err != nil {
				return err
			}
			after = o.Key
		}
		if len(objects) < drainPage {
			return nil
		}
	}
}

// drainage is what has become of blocks so far.
type drainage struct{ inserted, refused atomic.Int64 }

// drainAll inserts a page of blocks. Other processes are at it too: each takes
// the blocks in an order of its own, so that they rarely meet. The first block
// goes alone: if ClickHouse is away, that is enough to know.
func (w *writer) drainAll(ctx context.Context, objects []blob.Object, d *drainage) error {
	if len(objects) == 0 {
		return nil
	}
	//nolint:gosec // nobody gains by guessing the order
	rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	if err := w.drainOne(ctx, objects[0].Key, d); err != nil {
		return err
	}
	g, going := errgroup.WithContext(ctx)
	g.SetLimit(drainers)
	room := semaphore.NewWeighted(drainBytes)
	for _, o := range objects[1:] {
		size := min(max(o.Size, 1), drainBytes)
		if room.Acquire(going, size) != nil {
			break // one has failed; those that are under way go on
		}
		g.Go(func() error {
			defer room.Release(size)
			return w.drainOne(ctx, o.Key, d)
		})
	}
	return g.Wait()
}

// drainOne inserts a block and deletes it.
//
// Every attempt has a token of its own, and a block that was stored before all
// the same is stored once more: its rows replace themselves. A token that was
// used before proves nothing. The server notes it before the rows are there,
// and when it is killed in between it skips the block from then on.
//
// A block that the server is still storing, for an attempt that was given up or
// for another process, is left for later: attempts that overlap would slow each
// other down until none ends in time.
func (w *writer) drainOne(ctx context.Context, key string, d *drainage) error {
	name := deferred.Token(key)
	if busy, err := w.ch.Underway(ctx, name); err != nil || busy {
		return err
	}
	text, err := w.blobs.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // another process was quicker
	}
	if err != nil {
		return fmt.Errorf("read deferred block: %w", err)
	}
	parts, err := sealed.Open(text)
	if err != nil {
		return w.quarantine(ctx, key, text, err)
	}
	failpoint.Hit(DrainRead)
	inserting, cancel := context.WithTimeout(ctx, DrainTimeout)
	defer cancel()
	err = w.insertParts(inserting, parts, name, clickhouse.Token())
	if errors.Is(err, clickhouse.ErrUnderway) {
		return nil
	}
	if err != nil {
		if !ch.IsException(err) || d.refused.Add(1) >= drainRefusals {
			return err
		}
		if w.refusals.Add(key, w.now()) {
			return w.quarantine(ctx, key, text, err)
		}
		slog.WarnContext(ctx, "a deferred block is refused by clickhouse and is tried again", "key", key, "error", err)
		return nil
	}
	w.refusals.Stored(key, w.now())
	failpoint.Hit(DrainInserted)
	if err := w.blobs.Delete(ctx, key); err != nil {
		return fmt.Errorf("delete inserted block: %w", err)
	}
	d.inserted.Add(1)
	if len(text) > drainBytes {
		runtime.GC() // of many large blocks memory would hold several
	}
	return nil
}
