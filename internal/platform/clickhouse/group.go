package clickhouse

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"
)

// Block is what a group collects: rows of one or more tables, in columns.
type Block interface {
	Rows() int
	// Bytes is about the memory that the rows take.
	Bytes() int
	// Reset empties the block so that it can be filled again.
	Reset()
}

// GroupConfig says how many requests share a write.
type GroupConfig struct {
	// Lanes is how many writes may be under way at once.
	Lanes int
	// Interval is the shortest time between the starts of two writes of a lane,
	// unless the block is large: each write makes a part on disk that the
	// server must merge later.
	Interval time.Duration
	// EnoughRows and EnoughBytes make a block that is written without waiting.
	EnoughRows, EnoughBytes int
	// MaxBytes is when a block takes no more requests: the next ones wait for
	// the write that is under way.
	MaxBytes int
	// WriteTimeout bounds one write, whoever waits for it.
	WriteTimeout time.Duration
}

// Group makes one write out of many requests. A request adds its rows to the
// block that is open and waits until that block is written; while one block is
// being written the next one fills. What Add returns is what became of the
// caller's own rows.
type Group[B Block] struct {
	cfg   GroupConfig
	fresh func() B
	write func(ctx context.Context, b B, token string) (deferred bool, err error)
	lanes []*lane[B]
	next  atomic.Uint32
}

// lane is one block that fills and one that is being written.
type lane[B Block] struct {
	turn    chan struct{} // holds a token while nobody fills or takes the open block
	open    *batch[B]
	spare   []B
	writing bool
	began   time.Time     // start of the last write
	enough  chan struct{} // signalled when the open block is large
}

// batch is a block with the requests that wait for it.
type batch[B Block] struct {
	block    B
	taken    chan struct{} // closed when the block takes no more rows
	done     chan struct{} // closed when the write has ended
	deferred bool
	err      error
}

// NewGroup makes a group whose blocks come from fresh and are written by
// write, which is given a token that names the block for ever.
func NewGroup[B Block](cfg GroupConfig, fresh func() B, write func(ctx context.Context, b B, token string) (deferred bool, err error)) *Group[B] {
	g := &Group[B]{cfg: cfg, fresh: fresh, write: write}
	for range max(1, cfg.Lanes) {
		l := &lane[B]{turn: make(chan struct{}, 1), enough: make(chan struct{}, 1)}
		l.open = g.newBatch(l)
		l.turn <- struct{}{}
		g.lanes = append(g.lanes, l)
	}
	return g
}

func (g *Group[B]) newBatch(l *lane[B]) *batch[B] {
	b := &batch[B]{taken: make(chan struct{}), done: make(chan struct{})}
	if n := len(l.spare); n > 0 {
		b.block, l.spare = l.spare[n-1], l.spare[:n-1]
	} else {
		b.block = g.fresh()
	}
	return b
}

// ErrFull is what a fill returns that finds no room in a block with rows. It is
// called again with the next one.
var ErrFull = errors.New("the block is full")

// Add lets fill append rows to the open block and waits until they are
// written; deferred is what the write says of them. Nobody else can add rows
// while fill runs, so it only copies. When it returns an error it must leave the
// block as it was. When ctx ends first the rows may still be written.
func (g *Group[B]) Add(ctx context.Context, fill func(B) error) (deferred bool, err error) {
	l := g.pick()
	for {
		select {
		case <-l.turn:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		b := l.open
		added, err := g.fill(l, b, fill)
		if errors.Is(err, ErrFull) {
			select {
			case <-b.taken:
				continue
			case <-ctx.Done():
				return false, ctx.Err()
			}
		}
		if err != nil || !added {
			return false, err
		}
		select {
		case <-b.done:
			return b.deferred, b.err
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// fill runs the caller's function while it holds the lane's turn, which it
// gives back whatever happens.
func (g *Group[B]) fill(l *lane[B], b *batch[B], fill func(B) error) (added bool, err error) {
	defer func() { l.turn <- struct{}{} }()
	before := b.block.Rows()
	if before > 0 && b.block.Bytes() >= g.cfg.MaxBytes {
		return false, ErrFull
	}
	if err := fill(b.block); err != nil {
		return false, err
	}
	if b.block.Rows() == before {
		return false, nil
	}
	if b.block.Rows() >= g.cfg.EnoughRows || b.block.Bytes() >= g.cfg.EnoughBytes {
		select {
		case l.enough <- struct{}{}:
		default:
		}
	}
	if !l.writing {
		l.writing = true
		go g.run(l)
	}
	return true, nil
}

// pick chooses a lane: one whose turn is free, else the next in order.
func (g *Group[B]) pick() *lane[B] {
	n := g.next.Add(1)
	for i := range g.lanes {
		l := g.lanes[(int(n)+i)%len(g.lanes)]
		if len(l.turn) > 0 {
			return l
		}
	}
	return g.lanes[int(n)%len(g.lanes)]
}

// run writes the lane's blocks until it finds the open one empty.
func (g *Group[B]) run(l *lane[B]) {
	for {
		<-l.turn
		if l.open.block.Rows() == 0 {
			l.writing = false
			l.turn <- struct{}{}
			return
		}
		l.turn <- struct{}{}
		g.pace(l)
		<-l.turn
		b := l.open
		select {
		case <-l.enough:
		default:
		}
		l.began = time.Now()
		l.open = g.newBatch(l)
		close(b.taken)
		l.turn <- struct{}{}

		ctx, cancel := context.WithTimeout(context.Background(), g.cfg.WriteTimeout)
		b.deferred, b.err = g.write(ctx, b.block, token())
		cancel()
		close(b.done)

		b.block.Reset()
		<-l.turn
		if len(l.spare) == 0 {
			l.spare = append(l.spare, b.block)
		}
		l.turn <- struct{}{}
	}
}

// pace waits until the interval since the last write has passed or the block is
// large.
func (g *Group[B]) pace(l *lane[B]) {
	wait := g.cfg.Interval - time.Since(l.began)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.enough:
	}
}

// token names one block for ever.
func token() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Token names a block that is written outside a group.
func Token() string { return token() }
