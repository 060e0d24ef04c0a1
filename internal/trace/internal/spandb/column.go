package spandb

import (
	"encoding/binary"
	"math"

	"github.com/ClickHouse/ch-go/proto"
)

// column is a column that can forget its newest rows, so that a request which
// turns out to be unreadable leaves a shared block as it found it.
type column interface {
	proto.ColInput
	mark() columnMark
	rollback(columnMark)
	reset()
	bytes() int
}

// columnMark is how long a column was.
type columnMark struct{ rows, bytes, inner int }

// numbers is a column of fixed-width values.
type numbers[T int8 | int64 | uint8 | uint16 | uint32 | uint64] struct {
	typ    proto.ColumnType
	values []T
}

func (c *numbers[T]) append(v T)                   { c.values = append(c.values, v) }
func (c *numbers[T]) Type() proto.ColumnType       { return c.typ }
func (c *numbers[T]) Rows() int                    { return len(c.values) }
func (c *numbers[T]) mark() columnMark             { return columnMark{rows: len(c.values)} }
func (c *numbers[T]) rollback(to columnMark)       { c.values = c.values[:to.rows] }
func (c *numbers[T]) reset()                       { c.values = c.values[:0] }
func (c *numbers[T]) bytes() int                   { return 8 * cap(c.values) }
func (c *numbers[T]) WriteColumn(w *proto.Writer)  { c.raw().WriteColumn(w) }
func (c *numbers[T]) EncodeColumn(b *proto.Buffer) { c.raw().EncodeColumn(b) }

// raw is the library's column over the same values.
func (c *numbers[T]) raw() proto.ColInput {
	switch v := any(c.values).(type) {
	case []int8:
		return proto.ColInt8(v)
	case []int64:
		return proto.ColInt64(v)
	case []uint8:
		return proto.ColUInt8(v)
	case []uint16:
		return proto.ColUInt16(v)
	case []uint32:
		return proto.ColUInt32(v)
	case []uint64:
		return proto.ColUInt64(v)
	default:
		panic("trace: a column of an unknown width")
	}
}

// fixed is a column of values that all have size bytes and are sent as they
// are.
type fixed struct {
	typ  proto.ColumnType
	size int
	buf  []byte
}

func (c *fixed) append(v []byte)              { c.buf = append(c.buf, v...) }
func (c *fixed) Type() proto.ColumnType       { return c.typ }
func (c *fixed) Rows() int                    { return len(c.buf) / c.size }
func (c *fixed) mark() columnMark             { return columnMark{bytes: len(c.buf)} }
func (c *fixed) rollback(to columnMark)       { c.buf = c.buf[:to.bytes] }
func (c *fixed) reset()                       { c.buf = c.buf[:0] }
func (c *fixed) bytes() int                   { return cap(c.buf) }
func (c *fixed) WriteColumn(w *proto.Writer)  { w.ChainWrite(c.buf) }
func (c *fixed) EncodeColumn(b *proto.Buffer) { b.PutRaw(c.buf) }

// appendUUID appends a UUID in the order that the server stores.
func (c *fixed) appendUUID(id [16]byte) {
	c.buf = binary.LittleEndian.AppendUint64(c.buf, binary.BigEndian.Uint64(id[:8]))
	c.buf = binary.LittleEndian.AppendUint64(c.buf, binary.BigEndian.Uint64(id[8:]))
}

// texts is a String column, kept as it is sent: a length and the bytes.
type texts struct {
	rows int
	buf  []byte
}

func (c *texts) append(v []byte) {
	if from, n := len(c.buf), len(v); n < 0x80 && n < cap(c.buf)-from {
		c.buf = c.buf[:from+1+n]
		c.buf[from] = byte(n)
		copy(c.buf[from+1:], v)
	} else {
		c.buf = append(binary.AppendUvarint(c.buf, uint64(len(v))), v...)
	}
	c.rows++
}

func (c *texts) Type() proto.ColumnType       { return proto.ColumnTypeString }
func (c *texts) Rows() int                    { return c.rows }
func (c *texts) mark() columnMark             { return columnMark{rows: c.rows, bytes: len(c.buf)} }
func (c *texts) rollback(to columnMark)       { c.rows, c.buf = to.rows, c.buf[:to.bytes] }
func (c *texts) reset()                       { c.rows, c.buf = 0, c.buf[:0] }
func (c *texts) bytes() int                   { return cap(c.buf) }
func (c *texts) WriteColumn(w *proto.Writer)  { w.ChainWrite(c.buf) }
func (c *texts) EncodeColumn(b *proto.Buffer) { b.PutRaw(c.buf) }

// labels is a LowCardinality(String) column: each text once, and its number
// for every row.
type labels struct {
	numbers map[string]uint32
	words   texts
	keys    []uint32
	// recent finds most texts without the map: a program names few things, and
	// a guess that is wrong costs one comparison.
	recent [256][2]label
	// spelled are the texts by number.
	spelled []string
}

// label is a text of the dictionary. The zero label is no text: a number is
// stored one higher than it is.
type label struct {
	word   string
	number uint32
}

func (c *labels) append(v []byte) { c.keys = append(c.keys, c.number(v)) }

// number is the place of a text in the dictionary.
func (c *labels) number(v []byte) uint32 {
	guess := &c.recent[slot(v)]
	if guess[0].number > 0 && guess[0].word == string(v) {
		return guess[0].number - 1
	}
	if guess[1].number > 0 && guess[1].word == string(v) {
		return guess[1].number - 1
	}
	n := c.look(v)
	guess[0], guess[1] = label{word: c.spelled[n], number: n + 1}, guess[0]
	return n
}

// slot is where a text is remembered: few texts that one program uses share
// their length and both ends.
func slot(v []byte) uint8 {
	const spread = 0x9e3779b97f4a7c15
	n := len(v)
	switch {
	case n >= 8:
		ends := binary.LittleEndian.Uint64(v)*spread ^ binary.LittleEndian.Uint64(v[n-8:])
		return uint8((ends + uint64(n)) * spread >> 56)
	case n > 0:
		return uint8((uint64(v[0]) | uint64(v[n/2])<<8 | uint64(v[n-1])<<16 | uint64(n)<<24) * spread >> 56)
	default:
		return 0
	}
}

// look finds or adds a text.
func (c *labels) look(v []byte) uint32 {
	if n, ok := c.numbers[string(v)]; ok {
		return n
	}
	if c.numbers == nil {
		c.numbers = map[string]uint32{}
	}
	word, n := string(v), uint32(c.words.rows)
	c.numbers[word] = n
	c.spelled = append(c.spelled, word)
	c.words.append(v)
	return n
}

func (c *labels) Type() proto.ColumnType { return "LowCardinality(String)" }
func (c *labels) Rows() int              { return len(c.keys) }
func (c *labels) mark() columnMark       { return columnMark{rows: len(c.keys)} }

// rollback leaves the dictionary: a text that no row uses does no harm.
func (c *labels) rollback(to columnMark) { c.keys = c.keys[:to.rows] }

func (c *labels) reset() {
	clear(c.numbers)
	clear(c.recent[:])
	clear(c.spelled)
	c.spelled = c.spelled[:0]
	c.words.reset()
	c.keys = c.keys[:0]
}

func (c *labels) bytes() int { return cap(c.words.buf) + 4*cap(c.keys) }

// sharedDictionaries is the only form of the dictionary that the server takes.
const sharedDictionaries = 1

func (c *labels) EncodeState(b *proto.Buffer) { b.PutInt64(sharedDictionaries) }

// EncodeColumn writes the dictionary and, in the narrowest width that holds
// them, the numbers.
func (c *labels) EncodeColumn(b *proto.Buffer) {
	if len(c.keys) == 0 {
		return
	}
	const hasDictionary, updatesDictionary = 1 << 9, 1 << 10
	var width int64
	switch n := c.words.rows; {
	case n <= math.MaxUint8+1:
		width = 0
	case n <= math.MaxUint16+1:
		width = 1
	default:
		width = 2
	}
	b.PutInt64(hasDictionary | updatesDictionary | width)
	b.PutInt64(int64(c.words.rows))
	b.PutRaw(c.words.buf)
	b.PutInt64(int64(len(c.keys)))
	switch width {
	case 0:
		for _, k := range c.keys {
			b.Buf = append(b.Buf, byte(k))
		}
	case 1:
		for _, k := range c.keys {
			b.Buf = binary.LittleEndian.AppendUint16(b.Buf, uint16(k))
		}
	default:
		for _, k := range c.keys {
			b.Buf = binary.LittleEndian.AppendUint32(b.Buf, k)
		}
	}
}

func (c *labels) WriteColumn(w *proto.Writer) { w.ChainBuffer(c.EncodeColumn) }

// labelLists is an Array(LowCardinality(String)) column.
type labelLists struct {
	ends  numbers[uint64]
	items labels
}

func (c *labelLists) append(v [][]byte) {
	for _, item := range v {
		c.items.append(item)
	}
	c.ends.append(uint64(c.items.Rows()))
}

func (c *labelLists) Type() proto.ColumnType { return "Array(LowCardinality(String))" }
func (c *labelLists) Rows() int              { return c.ends.Rows() }
func (c *labelLists) mark() columnMark {
	return columnMark{rows: c.ends.Rows(), inner: c.items.Rows()}
}

func (c *labelLists) rollback(to columnMark) {
	c.ends.rollback(to)
	c.items.rollback(columnMark{rows: to.inner})
}

func (c *labelLists) reset()                      { c.ends.reset(); c.items.reset() }
func (c *labelLists) bytes() int                  { return c.ends.bytes() + c.items.bytes() }
func (c *labelLists) EncodeState(b *proto.Buffer) { c.items.EncodeState(b) }

func (c *labelLists) EncodeColumn(b *proto.Buffer) {
	c.ends.EncodeColumn(b)
	c.items.EncodeColumn(b)
}

func (c *labelLists) WriteColumn(w *proto.Writer) {
	c.ends.WriteColumn(w)
	c.items.WriteColumn(w)
}

// textMaps is a Map(LowCardinality(String), String) column.
type textMaps struct {
	ends   numbers[uint64]
	keys   labels
	values texts
}

// add appends a pair to the row that is being made.
func (c *textMaps) add(key, value []byte) {
	c.keys.append(key)
	c.values.append(value)
}

// end ends the row.
func (c *textMaps) end() {
	c.ends.append(uint64(c.values.rows))
}

func (c *textMaps) Type() proto.ColumnType { return "Map(LowCardinality(String), String)" }
func (c *textMaps) Rows() int              { return c.ends.Rows() }

func (c *textMaps) mark() columnMark {
	return columnMark{rows: c.ends.Rows(), bytes: len(c.values.buf), inner: c.values.rows}
}

func (c *textMaps) rollback(to columnMark) {
	c.ends.rollback(to)
	c.keys.rollback(columnMark{rows: to.inner})
	c.values.rollback(columnMark{rows: to.inner, bytes: to.bytes})
}

func (c *textMaps) reset() {
	c.ends.reset()
	c.keys.reset()
	c.values.reset()
}

func (c *textMaps) bytes() int                  { return c.ends.bytes() + c.keys.bytes() + c.values.bytes() }
func (c *textMaps) EncodeState(b *proto.Buffer) { c.keys.EncodeState(b) }

func (c *textMaps) EncodeColumn(b *proto.Buffer) {
	c.ends.EncodeColumn(b)
	c.keys.EncodeColumn(b)
	c.values.EncodeColumn(b)
}

func (c *textMaps) WriteColumn(w *proto.Writer) {
	c.ends.WriteColumn(w)
	c.keys.WriteColumn(w)
	c.values.WriteColumn(w)
}
