package spandb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// doomed are rows that are to go from blocks that wait in object storage: those of
// an organization, or of one of its traces.
type doomed struct {
	Org principal.OrgID
	// Trace is one trace of the organization; zero means all of them.
	Trace span.TraceID
	// Before keeps what arrived later; zero keeps nothing.
	Before time.Time
}

// cut rewrites every block that waits without the rows, and returns how many
// blocks had some. A process that has read a block before it is cut may insert
// the rows all the same, within DrainTimeout.
//
// Nobody can tell whose rows a damaged block holds. It stays, unless a whole
// organization goes: then it goes too.
func (w *writer) cut(ctx context.Context, all []doomed) (blocks int, err error) {
	for _, prefix := range []string{deferredPrefix, quarantinePrefix} {
		err := w.walk(ctx, prefix, func(o blob.Object) error {
			had, err := w.cutOne(ctx, o.Key, all)
			if had {
				blocks++
			}
			return err
		})
		if err != nil {
			return blocks, err
		}
	}
	return blocks, nil
}

// traceRows are those of one trace; had becomes true if a block has some.
type traceRows struct {
	doomed
	had *bool
}

const (
	cutMost    = 1000
	cutTimeout = 10 * time.Minute
)

// cutTraces cuts out several traces in one walk over the blocks.
func (w *writer) cutTraces(ctx context.Context, all []traceRows) error {
	rows := make([]doomed, len(all))
	for i, one := range all {
		rows[i] = one.doomed
	}
	blocks, err := w.cut(ctx, rows)
	for _, one := range all {
		*one.had = blocks > 0
	}
	return err
}

// cutOne rewrites a block, or deletes it if nothing stays. It reports whether it
// had any of the rows.
func (w *writer) cutOne(ctx context.Context, key string, all []doomed) (had bool, err error) {
	text, err := w.blobs.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil // inserted in the meantime
	}
	if err != nil {
		return false, fmt.Errorf("read deferred block: %w", err)
	}
	parts, err := openParts(text)
	if err != nil {
		return w.cutDamaged(ctx, key, all)
	}
	var left []tablePart
	for _, p := range parts {
		keep, gone, err := p.without(all)
		if err != nil {
			return false, fmt.Errorf("look into deferred block %s: %w", key, err)
		}
		had = had || gone > 0
		if gone < len(keep) {
			if p, err = p.pick(keep); err != nil {
				return false, fmt.Errorf("rewrite deferred block %s: %w", key, err)
			}
			left = append(left, p)
		}
	}
	switch {
	case !had:
		return false, nil
	case len(left) == 0:
		return true, w.blobs.Delete(ctx, key)
	default:
		return true, w.blobs.Put(ctx, key, sealParts(left))
	}
}

// cutDamaged deletes a block that nobody can read if a whole organization goes.
func (w *writer) cutDamaged(ctx context.Context, key string, all []doomed) (had bool, err error) {
	for _, r := range all {
		if r.Trace == (span.TraceID{}) {
			slog.ErrorContext(ctx, "a damaged block of telemetry is deleted: it may hold rows of an organization that is erased", "key", key, "org_id", r.Org.String())
			return true, w.blobs.Delete(ctx, key)
		}
	}
	return false, nil
}

// without says which rows of a table stay, and how many go.
func (p tablePart) without(all []doomed) (keep []bool, gone int, err error) {
	keep = make([]bool, p.Input[0].Data.Rows())
	for i := range keep {
		keep[i] = true
	}
	orgs, traces, arrived := p.bytes("org_id", 16*len(keep)), p.bytes("trace_id", 16*len(keep)), p.bytes("ingested_at", 8*len(keep))
	if orgs == nil || traces == nil || arrived == nil {
		return nil, 0, fmt.Errorf("table %s lacks org_id, trace_id or ingested_at", p.table)
	}
	for _, r := range all {
		var org fixed
		org.appendUUID(r.Org)
		for i := range keep {
			if !keep[i] || !bytes.Equal(orgs[16*i:16*i+16], org.buf) {
				continue
			}
			if r.Trace != (span.TraceID{}) && !bytes.Equal(traces[16*i:16*i+16], r.Trace[:]) {
				continue
			}
			if !r.Before.IsZero() && int64(binary.LittleEndian.Uint64(arrived[8*i:])) > r.Before.UnixMilli() {
				continue
			}
			keep[i] = false
			gone++
		}
	}
	return keep, gone, nil
}

// bytes are those of a column that has so many, or nil.
func (p tablePart) bytes(name string, size int) []byte {
	for _, c := range p.Input {
		if sealed, ok := c.Data.(sealedColumn); ok && c.Name == name && len(sealed.data) == size {
			return sealed.data
		}
	}
	return nil
}

// pick returns the table with the rows that stay.
func (p tablePart) pick(keep []bool) (tablePart, error) {
	out := tablePart{table: p.table}
	for _, c := range p.Input {
		sealed, ok := c.Data.(sealedColumn)
		if !ok {
			return p, fmt.Errorf("column %s.%s is not sealed", p.table, c.Name)
		}
		picked, err := sealed.pick(keep)
		if err != nil {
			return p, fmt.Errorf("column %s.%s: %w", p.table, c.Name, err)
		}
		out.Input = append(out.Input, proto.InputColumn{Name: c.Name, Data: picked})
	}
	return out, nil
}

// pick returns the column with the rows that stay. Texts that only the others
// had are gone from its dictionary too.
func (c sealedColumn) pick(keep []bool) (sealedColumn, error) {
	p := picker{in: sealedReader{rest: c.data}}
	p.column(string(c.typ), keep)
	if p.in.bad || len(p.in.rest) > 0 {
		return c, fmt.Errorf("%w: its type %s is unknown, or it has other bytes", errSealed, c.typ)
	}
	rows := 0
	for _, k := range keep {
		if k {
			rows++
		}
	}
	return sealedColumn{typ: c.typ, rows: rows, data: p.out.Buf}, nil
}

// picker copies rows that stay from one encoded column to another.
type picker struct {
	in  sealedReader
	out proto.Buffer
}

func (p *picker) column(typ string, keep []bool) {
	switch typ {
	case "String":
		p.texts(keep)
	case "LowCardinality(String)":
		p.state()
		p.labels(keep)
	case "Array(LowCardinality(String))":
		p.state()
		p.labels(p.lists(keep))
	case "Map(LowCardinality(String), String)":
		p.state()
		inner := p.lists(keep)
		p.labels(inner)
		p.texts(inner)
	default:
		p.fixed(widthOf(typ), keep)
	}
}

// widths are the bytes that a value takes, by how its type begins.
var widths = []struct {
	typ   string
	bytes int
}{
	{"UUID", 16},
	{"FixedString(16)", 16},
	{"FixedString(8)", 8},
	{"DateTime64(", 8},
	{"UInt64", 8},
	{"UInt32", 4},
	{"UInt16", 2},
	{"Enum8(", 1},
	{"Bool", 1},
}

func widthOf(typ string) int {
	for _, w := range widths {
		if strings.HasPrefix(typ, w.typ) {
			return w.bytes
		}
	}
	return 0
}

func (p *picker) fixed(width int, keep []bool) {
	data := p.in.take(width * len(keep))
	if width == 0 || data == nil {
		p.in.bad = true
		return
	}
	for i, k := range keep {
		if k {
			p.out.PutRaw(data[i*width : (i+1)*width])
		}
	}
}

func (p *picker) texts(keep []bool) {
	for _, k := range keep {
		text := p.in.text()
		if p.in.bad {
			return
		}
		if k {
			p.out.PutUVarInt(uint64(len(text)))
			p.out.PutRaw(text)
		}
	}
}

// state copies what goes before a dictionary.
func (p *picker) state() { p.out.PutRaw(p.in.take(8)) }

// lists copies the ends of lists and says which of their values stay.
func (p *picker) lists(keep []bool) (inner []bool) {
	ends := p.in.take(8 * len(keep))
	if ends == nil {
		return nil
	}
	var at, kept uint64
	for i, k := range keep {
		end := binary.LittleEndian.Uint64(ends[8*i:])
		if end < at || end-at > uint64(len(p.in.rest)) {
			p.in.bad = true
			return nil
		}
		for ; at < end; at++ {
			inner = append(inner, k)
			if k {
				kept++
			}
		}
		if k {
			p.out.PutUInt64(kept)
		}
	}
	return inner
}

// labels copies a dictionary and the numbers of its texts.
func (p *picker) labels(keep []bool) {
	if len(keep) == 0 {
		return
	}
	head := p.in.take(16)
	if head == nil {
		return
	}
	width := 1 << (head[0] & 3)
	words := make([][]byte, 0, min(binary.LittleEndian.Uint64(head[8:]), uint64(len(p.in.rest))))
	for range cap(words) {
		words = append(words, p.in.text())
	}
	rows := p.in.take(8)
	if rows == nil || binary.LittleEndian.Uint64(rows) != uint64(len(keep)) {
		p.in.bad = true
		return
	}
	numbers := p.in.take(width * len(keep))
	if numbers == nil {
		return
	}
	var out labels
	for i, k := range keep {
		var number [8]byte
		copy(number[:], numbers[i*width:(i+1)*width])
		n := binary.LittleEndian.Uint64(number[:])
		if n >= uint64(len(words)) {
			p.in.bad = true
			return
		}
		if k {
			out.append(words[n])
		}
	}
	out.EncodeColumn(&p.out)
}

// take reads so many bytes.
func (r *sealedReader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return nil
	}
	data := r.rest[:n:n]
	r.rest = r.rest[n:]
	return data
}
