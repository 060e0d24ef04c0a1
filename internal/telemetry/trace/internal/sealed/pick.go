package sealed

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// Bytes are those of a column that has so many, or nil.
func (p Part) Bytes(name string, size int) []byte {
	for _, c := range p.Input {
		if held, ok := c.Data.(column); ok && c.Name == name && len(held.data) == size {
			return held.data
		}
	}
	return nil
}

// Pick returns the table with the rows that stay.
func (p Part) Pick(keep []bool) (Part, error) {
	out := Part{Table: p.Table}
	for _, c := range p.Input {
		held, ok := c.Data.(column)
		if !ok {
			return p, fmt.Errorf("column %s.%s is not sealed", p.Table, c.Name)
		}
		picked, err := held.pick(keep)
		if err != nil {
			return p, fmt.Errorf("column %s.%s: %w", p.Table, c.Name, err)
		}
		out.Input = append(out.Input, proto.InputColumn{Name: c.Name, Data: picked})
	}
	return out, nil
}

// pick returns the column with the rows that stay. Texts that only the others
// had are gone from its dictionary too.
func (c column) pick(keep []bool) (column, error) {
	p := picker{in: reader{rest: c.data}}
	p.column(string(c.typ), keep)
	if p.in.bad || len(p.in.rest) > 0 {
		return c, fmt.Errorf("%w: its type %s is unknown, or it has other bytes", ErrDamaged, c.typ)
	}
	rows := 0
	for _, k := range keep {
		if k {
			rows++
		}
	}
	return column{typ: c.typ, rows: rows, data: p.out.Buf}, nil
}

// picker copies rows that stay from one encoded column to another.
type picker struct {
	in  reader
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
	out := new(proto.ColStr).LowCardinality()
	for i, k := range keep {
		var number [8]byte
		copy(number[:], numbers[i*width:(i+1)*width])
		n := binary.LittleEndian.Uint64(number[:])
		if n >= uint64(len(words)) {
			p.in.bad = true
			return
		}
		if k {
			out.Append(string(words[n]))
		}
	}
	if err := out.Prepare(); err != nil {
		p.in.bad = true
		return
	}
	out.EncodeColumn(&p.out)
}

// take reads so many bytes.
func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return nil
	}
	data := r.rest[:n:n]
	r.rest = r.rest[n:]
	return data
}
