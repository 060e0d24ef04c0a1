// Package sealed is the form that rows have in object storage: the columns of
// their tables as ClickHouse takes them, compressed and with a digest, so that
// storing them later needs no knowledge of what they mean. Rows can be taken out.
package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/klauspost/compress/zstd"
)

// Part is the rows of one table.
type Part struct {
	Table string
	proto.Input
}

// readers is how many texts are opened at once.
const readers = 4

// magic begins every deferred block and tells its form.
var magic = []byte("assay-block-1\n")

var (
	sealers = sync.Pool{New: func() any { return newSealer() }}

	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(readers), zstd.WithDecoderMaxMemory(1<<30))
)

// Seal encodes the rows of a block: the magic line, the digest of what
// follows, and the compressed tables. Blocks are largest when storage is away
// and memory is short, so the columns are compressed where they are.
func Seal(parts []Part) []byte {
	s := sealers.Get().(*sealer)
	defer sealers.Put(s)
	s.seal(parts)
	head := len(magic) + sha256.Size
	sealed := append(make([]byte, 0, head+s.out.size), magic...)
	sealed = s.out.append(sealed[:head])
	sum := sha256.Sum256(sealed[head:])
	copy(sealed[len(magic):], sum[:])
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
func (s *sealer) seal(parts []Part) {
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

func (s *sealer) tables(parts []Part) {
	s.number(len(parts))
	for _, p := range parts {
		s.text(p.Table)
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

// ErrDamaged is returned for a text that is not what Seal wrote.
var ErrDamaged = errors.New("the deferred block is damaged")

// Open reads what Seal wrote.
func Open(text []byte) ([]Part, error) {
	rest, ok := bytes.CutPrefix(text, magic)
	if !ok || len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != [sha256.Size]byte(rest[:sha256.Size]) {
		return nil, ErrDamaged
	}
	body, err := decoder.DecodeAll(rest[sha256.Size:], nil)
	if err != nil {
		return nil, ErrDamaged
	}
	r := reader{rest: body}
	parts := make([]Part, 0, 3)
	for range r.count(3) {
		p := Part{Table: string(r.text())}
		rows := r.count(1 << 30)
		for range r.count(1000) {
			c := column{rows: rows}
			name := string(r.text())
			c.typ = proto.ColumnType(r.text())
			c.data = r.text()
			p.Input = append(p.Input, proto.InputColumn{Name: name, Data: c})
		}
		parts = append(parts, p)
	}
	if r.bad {
		return nil, ErrDamaged
	}
	return parts, nil
}

// reader reads numbers and texts; what is wrong once stays wrong.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) count(most int) int {
	n, size := binary.Uvarint(r.rest)
	if r.bad || size <= 0 || n > uint64(most) {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *reader) text() []byte {
	n := r.count(1 << 31)
	if n > len(r.rest) {
		r.bad = true
		return nil
	}
	text := r.rest[:n:n]
	r.rest = r.rest[n:]
	return text
}

// column is a column that is encoded already.
type column struct {
	typ  proto.ColumnType
	rows int
	data []byte
}

func (c column) Type() proto.ColumnType       { return c.typ }
func (c column) Rows() int                    { return c.rows }
func (c column) EncodeColumn(b *proto.Buffer) { b.PutRaw(c.data) }
func (c column) WriteColumn(w *proto.Writer)  { w.ChainWrite(c.data) }
