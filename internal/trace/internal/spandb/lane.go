package spandb

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// Telemetry goes into ClickHouse by one of two lanes. What started recently goes
// by the live lane. What is older is an import: its rows belong to many days,
// each day is a part on disk of its own, and parts are what inserting and
// merging pay for. So imports have a lane of their own that writes one block at
// a time and rests after it for as long as its days ask for, and nobody who
// sends live telemetry waits for it.

const (
	// recentMicros is how long ago a row of the live lane may have started: long
	// enough for senders that were cut off, and a block has few days all the same.
	recentMicros = 35 * day

	// importPause is the shortest time between two blocks of imports, and
	// importDayPause what each day in a block adds to it: a server merges about a
	// hundred small parts a second without falling behind.
	importPause    = time.Second
	importDayPause = 10 * time.Millisecond
	// LongestPause bounds both together, so that senders do not give up on the
	// next block.
	LongestPause = 5 * time.Second
)

// Blocks of this size are written at once: they make parts that need little
// merging, and a reader waits for no more than one of them.
const (
	EnoughRows  = 20_000
	enoughBytes = 16 << 20
	maxBlock    = 48 << 20
)

// ErrImportBusy is returned when as much old telemetry waits as may.
var ErrImportBusy = fault.New(fault.Unavailable, "import_busy", "Telemetry that started more than 35 days ago is stored at a limited rate, and the queue is full. Send it again in a moment.").
	With("retryAfterSeconds", 1)

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
	l := lanes{
		live: clickhouse.NewGroup(clickhouse.GroupConfig{
			Lanes: max(2, runtime.GOMAXPROCS(0)/2), Interval: cfg.GroupInterval,
			EnoughRows: EnoughRows, EnoughBytes: enoughBytes, MaxBytes: maxBlock, WriteTimeout: timeout,
		}, NewBlock, live),
		imports: clickhouse.NewGroup(clickhouse.GroupConfig{
			Lanes: 1, Interval: importPause,
			EnoughRows: math.MaxInt, EnoughBytes: math.MaxInt, // no size cuts the pause short
			MaxBytes: enoughBytes, WriteTimeout: timeout,
		}, NewBlock, imports),
		queue: &importQueue{limit: cfg.QueueBytes},
	}
	l.imports.Cost = func(b *Block) time.Duration { return min(time.Duration(b.days())*importDayPause, LongestPause) }
	return l
}

// Pass is one of the two times that the rows of a request are looked at: for
// the rows of the live lane, and for those that are older than border.
type Pass struct {
	imports bool
	border  int64 // microseconds since 1970
}

// Takes reports whether a row is one of this pass.
func (p Pass) Takes(start int64) bool { return (start < p.border) == p.imports }

// add lets fill add the rows of a request, which takes size bytes, and waits
// until they are stored. later is what fill says about rows that it left to the
// other pass.
func (l lanes) add(ctx context.Context, now int64, size int, fill func(*Block, Pass) (later bool, err error)) (deferred bool, err error) {
	p := Pass{border: now - recentMicros}
	var later, queued bool
	defer func() {
		if queued {
			l.queue.leave(size)
		}
	}()
	into := func(b *Block) (err error) {
		mark := b.mark()
		later, err = fill(b, p)
		if err == nil && later && !queued {
			// Asked for now, so that nothing of a refused request is stored.
			err = l.queue.enter(size)
			queued = err == nil
		}
		if err != nil {
			b.rollback(mark)
		}
		return err
	}
	deferred, err = l.live.Add(ctx, into)
	if err != nil || !later {
		return deferred, err
	}
	p.imports = true
	late, err := l.imports.Add(ctx, into)
	return deferred || late, err
}

// importQueue bounds the bytes of requests that wait in the lane of imports:
// they count against what a process may hold, and live telemetry needs its part
// of that.
type importQueue struct {
	limit int

	mu      sync.Mutex
	waiting int
}

// enter asks for room for n bytes. A request that is larger than the queue goes
// alone.
func (q *importQueue) enter(n int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting > 0 && q.waiting+n > q.limit {
		return ErrImportBusy
	}
	q.waiting += n
	return nil
}

func (q *importQueue) leave(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting -= n
}
