package spandb

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/failpoint"
)

// A deferred block is an object in object storage: the rows of its tables in
// the form that ClickHouse takes them, so that inserting it later needs no
// knowledge of what the columns mean.
const deferredPrefix = "deferred/"

// deferredKey sorts by time: what waited longest goes first.
func deferredKey(at time.Time, token string) string {
	return fmt.Sprintf("%s%020d-%s", deferredPrefix, at.UnixMicro(), token)
}

// blockName is the token under which a deferred block was written first.
func blockName(key string) string {
	_, name, _ := strings.Cut(key, "-")
	return name
}

// sealedMagic begins every deferred block and tells its form.
var sealedMagic = []byte("assay-block-1\n")

var (
	sealers = sync.Pool{New: func() any { return newSealer() }}

	sealDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(drainers), zstd.WithDecoderMaxMemory(1<<30))
)

// sealParts encodes the rows of a block: the magic line, the digest of what
// follows, and the compressed tables. Blocks are largest when storage is away
// and memory is short, so the columns are compressed where they are.
func sealParts(parts []tablePart) []byte {
	s := sealers.Get().(*sealer)
	defer sealers.Put(s)
	s.seal(parts)
	head := len(sealedMagic) + sha256.Size
	sealed := append(make([]byte, 0, head+s.out.size), sealedMagic...)
	sealed = s.out.append(sealed[:head])
	sum := sha256.Sum256(sealed[head:])
	copy(sealed[len(sealedMagic):], sum[:])
	return sealed
}

// sealer writes the tables of a block. It counts what it writes, and writes
// nothing while to is nil.
type sealer struct {
	zip     *zstd.Encoder
	columns *proto.Writer // to the sealer itself
	small   proto.Buffer
	out     pages
	to      io.Writer
	n       int
}

func newSealer() *sealer {
	s := new(sealer)
	s.zip, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	s.columns = proto.NewWriter(s, new(proto.Buffer))
	return s
}

func (s *sealer) Write(p []byte) (int, error) {
	s.n += len(p)
	if s.to == nil {
		return len(p), nil
	}
	return s.to.Write(p)
}

// seal compresses the tables into pages. Their size goes first, so that who
// reads them needs no more memory than that.
func (s *sealer) seal(parts []tablePart) {
	s.to, s.n = nil, 0
	s.tables(parts)
	s.zip.ResetContentSize(&s.out, int64(s.n))
	s.to = s.zip
	s.tables(parts)
	if err := s.zip.Close(); err != nil {
		panic("trace: a block is not what it was a moment ago: " + err.Error())
	}
	s.to = nil
	s.zip.Reset(nil)
}

func (s *sealer) tables(parts []tablePart) {
	s.number(len(parts))
	for _, p := range parts {
		s.text(p.table)
		s.number(p.Input[0].Data.Rows())
		s.number(len(p.Input))
		for _, c := range p.Input {
			s.text(c.Name)
			s.text(string(c.Data.Type()))
			s.number(s.size(c.Data))
			s.column(c.Data)
		}
	}
}

func (s *sealer) number(n int) {
	s.small.Reset()
	s.small.PutInt(n)
	_, _ = s.Write(s.small.Buf)
}

func (s *sealer) text(text string) {
	s.small.Reset()
	s.small.PutString(text)
	_, _ = s.Write(s.small.Buf)
}

// column writes a column as ClickHouse takes it. Memory takes everything, so
// there is no error.
func (s *sealer) column(c proto.ColInput) {
	if state, ok := c.(proto.StateEncoder); ok {
		s.columns.ChainBuffer(state.EncodeState)
	}
	c.WriteColumn(s.columns)
	_, _ = s.columns.Flush()
}

// size is how much column writes.
func (s *sealer) size(c proto.ColInput) int {
	to, n := s.to, s.n
	s.to, s.n = nil, 0
	s.column(c)
	size := s.n
	s.to, s.n = to, n
	return size
}

// pages are bytes that grow without being copied. The pages are used again.
type pages struct {
	full [][]byte
	size int
}

const pageSize = 256 << 10

var freePages = sync.Pool{New: func() any { return new([pageSize]byte) }}

func (p *pages) Write(text []byte) (int, error) {
	p.size += len(text)
	for rest := text; len(rest) > 0; {
		last := len(p.full) - 1
		if last < 0 || len(p.full[last]) == pageSize {
			p.full = append(p.full, freePages.Get().(*[pageSize]byte)[:0])
			continue
		}
		n := min(len(rest), pageSize-len(p.full[last]))
		p.full[last] = append(p.full[last], rest[:n]...)
		rest = rest[n:]
	}
	return len(text), nil
}

// append moves all bytes to the end of b.
func (p *pages) append(b []byte) []byte {
	for _, page := range p.full {
		b = append(b, page...)
		freePages.Put((*[pageSize]byte)(page[:pageSize]))
	}
	clear(p.full)
	p.full, p.size = p.full[:0], 0
	return b
}

var errSealed = errors.New("the deferred block is damaged")

// openParts reads what sealParts wrote.
func openParts(text []byte) ([]tablePart, error) {
	rest, ok := bytes.CutPrefix(text, sealedMagic)
	if !ok || len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != [sha256.Size]byte(rest[:sha256.Size]) {
		return nil, errSealed
	}
	body, err := sealDecoder.DecodeAll(rest[sha256.Size:], nil)
	if err != nil {
		return nil, errSealed
	}
	r := sealedReader{rest: body}
	parts := make([]tablePart, 0, 3)
	for range r.count(3) {
		p := tablePart{table: string(r.text())}
		rows := r.count(1 << 30)
		for range r.count(1000) {
			c := sealedColumn{rows: rows}
			name := string(r.text())
			c.typ = proto.ColumnType(r.text())
			c.data = r.text()
			p.Input = append(p.Input, proto.InputColumn{Name: name, Data: c})
		}
		parts = append(parts, p)
	}
	if r.bad {
		return nil, errSealed
	}
	return parts, nil
}

// sealedReader reads numbers and texts; what is wrong once stays wrong.
type sealedReader struct {
	rest []byte
	bad  bool
}

func (r *sealedReader) count(most int) int {
	n, size := binary.Uvarint(r.rest)
	if r.bad || size <= 0 || n > uint64(most) {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *sealedReader) text() []byte {
	n := r.count(1 << 31)
	if n > len(r.rest) {
		r.bad = true
		return nil
	}
	text := r.rest[:n:n]
	r.rest = r.rest[n:]
	return text
}

// sealedColumn is a column that is encoded already.
type sealedColumn struct {
	typ  proto.ColumnType
	rows int
	data []byte
}

func (c sealedColumn) Type() proto.ColumnType       { return c.typ }
func (c sealedColumn) Rows() int                    { return c.rows }
func (c sealedColumn) EncodeColumn(b *proto.Buffer) { b.PutRaw(c.data) }
func (c sealedColumn) WriteColumn(w *proto.Writer)  { w.ChainWrite(c.data) }

const (
	// drainPage is how many of the oldest blocks are looked at together.
	drainPage = 100
	// drainers is how many of them are inserted at once, and drainBytes how much
	// they have together in object storage: a block has several times as much in
	// memory. A larger one goes alone.
	drainers   = 4
	drainBytes = 4 << 20
	// drainTimeout bounds one block. Nobody waits for it, so it is longer than
	// any insert takes, also on a slow network.
	drainTimeout = 30 * time.Second
	// drainRefusals is how many blocks ClickHouse may refuse before it is left
	// in peace for a while.
	drainRefusals = 10
)

// drain inserts what was deferred, the oldest page first, until nothing is left
// or ClickHouse is away. A block that is damaged, or that ClickHouse refuses, is
// left where it is and reported: it must not hold up the others.
func (w *writer) drain(ctx context.Context) (inserted int, err error) {
	var d drainage
	for after := ""; ; {
		objects, err := w.blobs.List(ctx, deferredPrefix, after, drainPage)
		if err != nil {
			return int(d.inserted.Load()), fmt.Errorf("list deferred blocks: %w", err)
		}
		if len(objects) > 0 {
			after = objects[len(objects)-1].Key
		}
		if err := w.drainAll(ctx, objects, &d); err != nil || len(objects) < drainPage {
			return int(d.inserted.Load()), err
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
	name := blockName(key)
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
	parts, err := openParts(text)
	if err != nil {
		slog.ErrorContext(ctx, "a deferred block cannot be read and is left in object storage", "key", key, "error", err)
		return nil
	}
	failpoint.Hit(DrainRead)
	inserting, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	err = w.insertParts(inserting, parts, name, clickhouse.Token())
	if errors.Is(err, clickhouse.ErrUnderway) {
		return nil
	}
	if err != nil {
		if !ch.IsException(err) || d.refused.Add(1) >= drainRefusals {
			return err
		}
		slog.WarnContext(ctx, "a deferred block is refused by clickhouse and is left in object storage", "key", key, "error", err)
		return nil
	}
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
