package spandb

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/telemetry/span"
)

// Rows are the rows of one request, in memory of its own. Whatever reading and
// redacting them takes, no other request waits for it: the lanes that all share
// are held for as long as it takes to copy columns.
type Rows struct {
	clean  Clean
	border int64 // microseconds since 1970; what started before it is old
	live   *Block
	old    []*Block
	in     map[partition]*Block // where the old rows of a partition are
}

// Clean removes what must not be stored. What it returns is good until the next
// call.
type Clean struct {
	Text func([]byte) []byte
	JSON func([]byte) []byte
}

// partition is a partition of a table. Each that a block has rows of is a part
// on disk.
type partition int64

const (
	// maxPartitions is how many partitions of old rows a block has at most, and
	// maxOldBlocks how many such blocks a request.
	maxPartitions = 10
	maxOldBlocks  = 50
	// daily is the longest retention for which a partition has a day. Above it
	// one has a month.
	daily = 90
)

// TooManyDays is why an old span is rejected.
var TooManyDays = fmt.Sprintf("the request has spans of more than %d days that are more than three days ago; send this one in another request", maxOldBlocks*maxPartitions)

// blocks are the empty blocks of requests.
var blocks = sync.Pool{New: func() any { return NewBlock() }}

// NewRows makes room for the rows of a request that arrived at a time. They must
// be released.
func NewRows(now int64, clean Clean) *Rows {
	r := &Rows{clean: clean, border: now - recentMicros}
	r.live = r.block()
	return r
}

func (r *Rows) block() *Block {
	b := blocks.Get().(*Block)
	b.clean(r.clean)
	return b
}

// releasedBytes is how much memory a block may hold on to that waits for the
// next request. It holds a full batch of a collector.
const releasedBytes = 16 << 20

// Release gives back the memory. The rows can be released before they are
// stored: the lanes have copies.
func (r *Rows) Release() {
	for _, b := range append(r.old, r.live) {
		release(b)
	}
	*r = Rows{}
}

func release(b *Block) {
	if b == nil || b.reset() > releasedBytes {
		return
	}
	b.clean(Clean{})
	blocks.Put(b)
}

// MoveLive moves the recent rows into a block.
func (r *Rows) MoveLive(to *Block) error { return into(to, &r.live) }

// AppendSpan adds a span; reason says why it is rejected.
func (r *Rows) AppendSpan(s *span.Record, at Stamp) (reason string) {
	b := r.live
	if s.Start < r.border {
		if b = r.oldBlock(s.Start, at.Retention); b == nil {
			return TooManyDays
		}
	}
	b.AppendSpan(s, at)
	return ""
}

// AppendEvent adds a log record; reason says why it is rejected.
func (r *Rows) AppendEvent(l *span.LogRecord, at Stamp) (reason string) {
	b := r.live
	if l.Time < r.border {
		if b = r.oldBlock(l.Time, at.Retention); b == nil {
			return TooManyDays
		}
	}
	b.AppendEvent(l, at)
	return ""
}

// oldBlock is the block for an old row, nil if the request has as many as it
// may.
func (r *Rows) oldBlock(start int64, retention uint16) *Block {
	p := partitionOf(start, retention)
	if b, ok := r.in[p]; ok {
		return b
	}
	if r.in == nil {
		r.in = map[partition]*Block{}
	}
	n := len(r.old)
	if n == 0 || len(r.old[n-1].partitions) == maxPartitions {
		if n == maxOldBlocks {
			return nil
		}
		r.old = append(r.old, r.block())
		n++
	}
	b := r.old[n-1]
	b.note(p)
	r.in[p] = b
	return b
}

// partitionOf is the partition of the rows of one day, or month.
func partitionOf(start int64, retention uint16) partition {
	period := start / day
	if retention > daily {
		at := time.UnixMicro(start).UTC()
		period = int64(at.Year()*12) + int64(at.Month())
	}
	return partition(int64(retention)<<32 | period)
}

// note remembers a partition that the block has rows of.
func (b *Block) note(p partition) {
	if !slices.Contains(b.partitions, p) {
		b.partitions = append(b.partitions, p)
	}
}

// room reports whether the block can take the partitions of another.
func (b *Block) room(from *Block) bool {
	n := len(b.partitions)
	for _, p := range from.partitions {
		if !slices.Contains(b.partitions, p) {
			n++
		}
	}
	return n <= maxPartitions
}
