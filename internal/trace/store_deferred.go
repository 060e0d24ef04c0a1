package trace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/klauspost/compress/zstd"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/failpoint"
)

// A deferred block is an object in object storage: the rows of its tables in
// the form that ClickHouse takes them, so that inserting it later needs no
// knowledge of what the columns mean. Its name holds the token, so that it is
// inserted once however often that is tried.

const deferredPrefix = "deferred/"

// deferredKey sorts by time: what waited longest goes first.
func deferredKey(at time.Time, token string) string {
	return fmt.Sprintf("%s%020d-%s", deferredPrefix, at.UnixMicro(), token)
}

func deferredToken(key string) (string, bool) {
	_, token, ok := strings.Cut(strings.TrimPrefix(key, deferredPrefix), "-")
	return token, ok && token != ""
}

// sealedMagic begins every deferred block and tells its form.
var sealedMagic = []byte("assay-block-1\n")

var (
	sealEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	sealDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
)

// sealParts encodes the rows of a block: the magic line, the digest of what
// follows, and the compressed tables.
func sealParts(parts []tablePart) []byte {
	var b proto.Buffer
	b.PutInt(len(parts))
	for _, p := range parts {
		b.PutString(p.table)
		b.PutInt(p.Input[0].Data.Rows())
		b.PutInt(len(p.Input))
		for _, c := range p.Input {
			b.PutString(c.Name)
			b.PutString(string(c.Data.Type()))
			var data proto.Buffer
			if s, ok := c.Data.(proto.StateEncoder); ok {
				s.EncodeState(&data)
			}
			c.Data.EncodeColumn(&data)
			b.PutString(string(data.Buf))
		}
	}
	body := sealEncoder.EncodeAll(b.Buf, nil)
	sum := sha256.Sum256(body)
	return bytes.Join([][]byte{sealedMagic, sum[:], body}, nil)
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

// drain inserts what was deferred, oldest first, until nothing is left or an
// insert fails. A damaged block is left where it is and told of: it must not
// hold up the others.
func (w *writer) drain(ctx context.Context) (inserted int, err error) {
	after := ""
	for {
		objects, err := w.blobs.List(ctx, deferredPrefix, after, drainPage)
		if err != nil {
			return inserted, fmt.Errorf("list deferred blocks: %w", err)
		}
		for _, o := range objects {
			after = o.Key
			done, err := w.drainOne(ctx, o.Key)
			if err != nil {
				return inserted, err
			}
			if done {
				inserted++
			}
		}
		if len(objects) < drainPage {
			return inserted, nil
		}
	}
}

const drainPage = 100

func (w *writer) drainOne(ctx context.Context, key string) (done bool, err error) {
	token, ok := deferredToken(key)
	text, err := w.blobs.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil // another process was quicker
	}
	if err != nil {
		return false, fmt.Errorf("read deferred block: %w", err)
	}
	parts, err := openParts(text)
	if err != nil || !ok {
		slog.ErrorContext(ctx, "a deferred block cannot be read and is left in object storage", "key", key, "error", err)
		return false, nil
	}
	failpoint.Hit(failpoint.DrainRead)
	inserting, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	if err := w.insertParts(inserting, parts, token); err != nil {
		return false, err
	}
	failpoint.Hit(failpoint.DrainInserted)
	if err := w.blobs.Delete(ctx, key); err != nil {
		return true, fmt.Errorf("delete inserted block: %w", err)
	}
	return true, nil
}
