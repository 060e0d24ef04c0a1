package spandb

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/failpoint"
)

// Telemetry goes into ClickHouse by one of two lanes. What started recently goes
// by the live lane. What is older is an import: its rows belong to many days,
// each day is a part on disk of its own, and parts are what inserting and
// merging pay for. So imports have a lane of their own that writes one block of
// few days at a time and rests after it, and nobody who sends live telemetry
// waits for it.

const (
	// recentMicros is how long ago a row of the live lane may have started: as long
	// as most senders keep what they could not send, and a block has few days.
	recentMicros = 3 * day

	// importPause is the time between two blocks of imports. A block makes up to
	// three parts for each of its partitions, and a server merges about a hundred
	// small parts a second without falling behind.
	importPause = 250 * time.Millisecond
	// ImportTime bounds the time in which the old rows of a request are stored,
	// so that a sender does not give up first.
	ImportTime = 25 * time.Second
	// queuedBlocks is how many blocks of imports may wait: as many as are
	// written in ImportTime with time to spare. An organization has at most as
	// many as one request, so that its import leaves room for those of others.
	queuedBlocks = 80
)

// Blocks of this size are written at once: they make parts that need little
// merging, and a reader waits for no more than one of them.
const (
	EnoughRows  = 20_000
	enoughBytes = 16 << 20
	maxBlock    = 48 << 20
)

// ErrImportBusy is returned when as much old telemetry waits as may.
var ErrImportBusy = fault.New(fault.Unavailable, "import_busy", "Telemetry that started more than three days ago is stored at a limited rate, and the queue is full. Send it again in a moment.").
	With("retryAfterSeconds", 5)

// lanes are the two ways into ClickHouse.
type lanes struct {
	live, imports *clickhouse.Group[*Block]
	queue         *importQueue
}

// writeBlock stores a block, or defers it.
type writeBlock func(ctx context.Context, b *Block, token string) (deferred bool, err error)

// newLanes makes the lanes. Each has a writer of its own: that an import takes
// too long says nothing about whether ClickHouse is there for live telemetry.
func newLanes(cfg Config, live, imports writeBlock) lanes {
	timeout := cfg.InsertTimeout + DeferTimeout
	return lanes{
		live: clickhouse.NewGroup(clickhouse.GroupConfig{
			Lanes: max(2, runtime.GOMAXPROCS(0)/2), Interval: cfg.GroupInterval,
			EnoughRows: EnoughRows, EnoughBytes: enoughBytes, MaxBytes: maxBlock, WriteTimeout: timeout,
		}, NewBlock, live),
		imports: clickhouse.NewGroup(clickhouse.GroupConfig{
			Lanes: 1, Interval: importPause,
			EnoughRows: math.MaxInt, EnoughBytes: math.MaxInt, // no size cuts the pause short
			MaxBytes: enoughBytes, WriteTimeout: timeout,
		}, NewBlock, imports),
		queue: &importQueue{orgs: map[principal.OrgID]int{}},
	}
}

// add moves the rows of a request into the open blocks and waits until they are
// stored. The old ones go one block after another, so that imports take turns.
func (l lanes) add(ctx context.Context, org principal.OrgID, r *Rows) (deferred bool, err error) {
	if n := len(r.old); n > 0 {
		// Asked for now, so that nothing of a refused request is stored.
		if err := l.queue.enter(org, n); err != nil {
			return false, err
		}
		defer l.queue.leave(org, n)
	}
	if r.live.Rows() > 0 {
		deferred, err = l.live.Add(ctx, r.MoveLive)
		if err != nil {
			return false, err
		}
	}
	importing, cancel := context.WithTimeout(ctx, ImportTime)
	defer cancel()
	for i := range r.old {
		late, err := l.imports.Add(importing, func(b *Block) error { return into(b, &r.old[i]) })
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return false, ErrImportBusy
		}
		if err != nil {
			return false, err
		}
		deferred = deferred || late
	}
	return deferred, nil
}

// into moves rows of a request into the open block.
func into(open *Block, rows **Block) error {
	if !open.room(*rows) {
		return clickhouse.ErrFull
	}
	if err := open.take(*rows); err != nil {
		return err
	}
	release(*rows)
	*rows = nil
	failpoint.Hit(Decoded)
	return nil
}

// importQueue bounds the blocks that wait in the lane of imports.
type importQueue struct {
	mu      sync.Mutex
	waiting int
	orgs    map[principal.OrgID]int
}

// enter asks for room for n blocks.
func (q *importQueue) enter(org principal.OrgID, n int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting+n > queuedBlocks || q.orgs[org]+n > maxOldBlocks {
		return ErrImportBusy
	}
	q.waiting += n
	q.orgs[org] += n
	return nil
}

func (q *importQueue) leave(org principal.OrgID, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting -= n
	if q.orgs[org] -= n; q.orgs[org] == 0 {
		delete(q.orgs, org)
	}
}
