package spandb

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
)

// column is a column that takes over the rows of another one of its kind, and
// can forget its newest rows, so that a failure in between leaves a shared block
// as it found it.
type column interface {
	proto.ColInput
	take(from column)
	mark() columnMark
	rollback(columnMark)
	// sound reports whether the column's own parts fit together.
	sound() bool
	reset()
	bytes() int
}

// columnMark is how long a column was.
type columnMark struct {
	rows, bytes, inner int
	words, wordBytes   int // of a dictionary
}

// numbers is a column of fixed-width values.
type numbers[T int8 | int64 | uint8 | uint16 | uint32 | uint64] struct {
	typ    proto.ColumnType
	values []T
}

func (c *numbers[T]) append(v T)                   { c.values = append(c.values, v) }
func (c *numbers[T]) take(from column)             { c.values = append(c.values, from.(*numbers[T]).values...) }
func (c *numbers[T]) Type() proto.ColumnType       { return c.typ }
func (c *numbers[T]) Rows() int                    { return len(c.values) }
func (c *numbers[T]) mark() columnMark             { return columnMark{rows: len(c.values)} }
func (c *numbers[T]) rollback(to columnMark)       { c.values = c.values[:to.rows] }
func (c *numbers[T]) sound() bool                  { return true }
func (c *numbers[T]) reset()                       { c.values = c.values[:0] }
func (c *numbers[T]) bytes() int                   { return 8 * cap(c.values) }
func (c *numbers[T]) WriteColumn(w *proto.Writer)  { c.raw().WriteColumn(w) }
func (c *numbers[T]) EncodeColumn(b *proto.Buffer) { c.raw().EncodeColumn(b) }

// shift takes over values, each higher by some.
func (c *numbers[T]) shift(from *numbers[T], by T) {
	c.values = slices.Grow(c.values, len(from.values))
	for _, v := range from.values {
		c.values = append(c.values, v+by)
	}
}

// last is the newest value, zero if there is none.
func (c *numbers[T]) last() T {
	if len(c.values) == 0 {
		return 0
	}
	return c.values[len(c.values)-1]
}

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
func (c *fixed) take(from column)             { c.buf = append(c.buf, from.(*fixed).buf...) }
func (c *fixed) Type() proto.ColumnType       { return c.typ }
func (c *fixed) Rows() int                    { return len(c.buf) / c.size }
func (c *fixed) mark() columnMark             { return columnMark{bytes: len(c.buf)} }
func (c *fixed) rollback(to columnMark)       { c.buf = c.buf[:to.bytes] }
func (c *fixed) sound() bool                  { return len(c.buf)%c.size == 0 }
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

func (c *texts) take(from column) {
	f := from.(*texts)
	c.buf = append(c.buf, f.buf...)
	c.rows += f.rows
}

func (c *texts) Type() proto.ColumnType       { return proto.ColumnTypeString }
func (c *texts) Rows() int                    { return c.rows }
func (c *texts) mark() columnMark             { return columnMark{rows: c.rows, bytes: len(c.buf)} }
func (c *texts) rollback(to columnMark)       { c.rows, c.buf = to.rows, c.buf[:to.bytes] }
func (c *texts) sound() bool                  { return len(c.buf) >= c.rows }
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
	// a guess that is wrong costs one comparison. A column that is never used
	// has none.
	recent *[256][2]label
	// sent are the texts by number, as they came.
	sent []string
	// clean is what a text becomes when it is seen for the first time; nil
	// leaves it as it is.
	clean func([]byte) []byte
	// moved is where the texts of a column that is taken over are in this one.
	moved []uint32
}

// label is a text of the dictionary. The zero label is no text: a number is
// stored one higher than it is.
type label struct {
	word   string
	number uint32
}

func (c *labels) append(v []byte)        { c.keys = append(c.keys, numberOf(c, v)) }
func (c *labels) appendWord(word string) { c.keys = append(c.keys, numberOf(c, word)) }

// take looks up each text once, however many rows have it.
func (c *labels) take(from column) {
	f := from.(*labels)
	if len(f.keys) == 0 {
		return
	}
	c.moved = c.moved[:0]
	for rest := f.words.buf; len(rest) > 0; {
		n, size := binary.Uvarint(rest)
		end := size + int(n)
		c.moved = append(c.moved, numberOf(c, rest[size:end]))
		rest = rest[end:]
	}
	c.keys = slices.Grow(c.keys, len(f.keys))
	for _, k := range f.keys {
		c.keys = append(c.keys, c.moved[k])
	}
}

// numberOf is the place of a text in the dictionary.
func numberOf[T []byte | string](c *labels, v T) uint32 {
	if c.recent == nil {
		c.recent = new([256][2]label)
	}
	guess := &c.recent[slot(v)]
	if guess[0].number > 0 && guess[0].word == string(v) {
		return guess[0].number - 1
	}
	if guess[1].number > 0 && guess[1].word == string(v) {
		return guess[1].number - 1
	}
	n := look(c, v)
	guess[0], guess[1] = label{word: c.sent[n], number: n + 1}, guess[0]
	return n
}

// slot is where a text is remembered: few texts that one program uses share
// their length and both ends.
func slot[T []byte | string](v T) uint8 {
	const spread = 0x9e3779b97f4a7c15
	n := len(v)
	switch {
	case n >= 8:
		ends := eight(v)*spread ^ eight(v[n-8:])
		return uint8((ends + uint64(n)) * spread >> 56)
	case n > 0:
		return uint8((uint64(v[0]) | uint64(v[n/2])<<8 | uint64(v[n-1])<<16 | uint64(n)<<24) * spread >> 56)
	default:
		return 0
	}
}

// eight is the first eight bytes as a number.
func eight[T []byte | string](v T) uint64 {
	_ = v[7]
	return uint64(v[0]) | uint64(v[1])<<8 | uint64(v[2])<<16 | uint64(v[3])<<24 |
		uint64(v[4])<<32 | uint64(v[5])<<40 | uint64(v[6])<<48 | uint64(v[7])<<56
}

// look finds or adds a text. It is found again as it came, also if another is
// stored in its place.
func look[T []byte | string](c *labels, v T) uint32 {
	if n, ok := c.numbers[string(v)]; ok {
		return n
	}
	if c.numbers == nil {
		c.numbers = map[string]uint32{}
	}
	word, n := string(v), uint32(c.words.rows)
	c.numbers[word] = n
	c.sent = append(c.sent, word)
	text := []byte(word)
	if c.clean != nil {
		text = c.clean(text)
	}
	c.words.append(text)
	return n
}

func (c *labels) Type() proto.ColumnType { return "LowCardinality(String)" }
func (c *labels) Rows() int              { return len(c.keys) }
func (c *labels) mark() columnMark {
	return columnMark{rows: len(c.keys), words: c.words.rows, wordBytes: len(c.words.buf)}
}

func (c *labels) rollback(to columnMark) {
	c.keys = c.keys[:to.rows]
	for _, word := range c.sent[to.words:] {
		delete(c.numbers, word)
		c.recent[slot(word)] = [2]label{}
	}
	c.sent = c.sent[:to.words]
	c.words.rollback(columnMark{rows: to.words, bytes: to.wordBytes})
}

func (c *labels) sound() bool { return c.words.sound() && len(c.sent) == c.words.rows }

// manyLabels is above how many texts a dictionary is made anew: emptying a map
// takes as long as it was ever large.
const manyLabels = 1000

func (c *labels) reset() {
	switch n := len(c.numbers); {
	case n > manyLabels:
		c.numbers = nil
		clear(c.recent[:])
	case n > 0:
		for word := range c.numbers {
			c.recent[slot(word)] = [2]label{}
		}
		clear(c.numbers)
	}
	clear(c.sent)
	c.sent = c.sent[:0]
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

func (c *labelLists) take(from column) {
	f := from.(*labelLists)
	c.ends.shift(&f.ends, uint64(c.items.Rows()))
	c.items.take(&f.items)
}

func (c *labelLists) Type() proto.ColumnType { return "Array(LowCardinality(String))" }
func (c *labelLists) Rows() int              { return c.ends.Rows() }
func (c *labelLists) mark() columnMark {
	m := c.items.mark()
	m.rows, m.inner = c.ends.Rows(), m.rows
	return m
}

func (c *labelLists) rollback(to columnMark) {
	c.ends.rollback(to)
	to.rows = to.inner
	c.items.rollback(to)
}

func (c *labelLists) sound() bool                 { return c.items.sound() && c.ends.last() == uint64(c.items.Rows()) }
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

func (c *textMaps) take(from column) {
	f := from.(*textMaps)
	c.ends.shift(&f.ends, uint64(c.values.rows))
	c.keys.take(&f.keys)
	c.values.take(&f.values)
}

func (c *textMaps) Type() proto.ColumnType { return "Map(LowCardinality(String), String)" }
func (c *textMaps) Rows() int              { return c.ends.Rows() }

func (c *textMaps) mark() columnMark {
	m := c.keys.mark()
	m.rows, m.inner, m.bytes = c.ends.Rows(), m.rows, len(c.values.buf)
	return m
}

func (c *textMaps) rollback(to columnMark) {
	c.ends.rollback(to)
	to.rows = to.inner
	c.keys.rollback(to)
	c.values.rollback(to)
}

func (c *textMaps) sound() bool {
	return c.values.sound() && c.keys.Rows() == c.values.rows && c.ends.last() == uint64(c.values.rows)
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
