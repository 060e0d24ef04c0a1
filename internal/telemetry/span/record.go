package span

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// The codes of the enumerated columns.
const (
	StateOpen  = 0
	StateEnded = 1

	StatusUnset = 0
	StatusOK    = 1
	StatusError = 2

	KindInternal = 0
	KindServer   = 1
	KindClient   = 2
	KindProducer = 3
	KindConsumer = 4
)

// Record is one span on its way into the columns. A decoder fills one record after
// another; its texts alias what was sent or its own scratch space, so a
// record is good until the next reset and costs no memory of its own.
type Record struct {
	Fields
	// What the resource says of all its spans, and a convention of one of them.
	Service, Environment, Release []byte
	Resource                      []byte // JSON object

	Tags       [][]byte
	Attributes []Attribute
	// scratch is where texts are made that were not sent as they are kept.
	scratch arena
	// convention is the memory that decoding of conventions needs.
	convention convention
}

// Fields are what a span says of itself, besides its tags and attributes.
type Fields struct {
	TraceID      TraceID
	ID, ParentID ID
	Start, End   int64 // microseconds since 1970; end is zero while the span is open
	Status       int8
	Kind         int8
	// Primitive is what kind of step the span is: a name from the contract's
	// list, empty if nothing tells.
	Primitive                                       string
	Name, StatusMessage                             []byte
	Agent, Model, Provider, Tool                    []byte
	Conversation, User                              []byte
	InputTokens, OutputTokens                       uint32
	CachedTokens, CacheWriteTokens, ReasoningTokens uint32
	Cost                                            float64 // US dollars, as sent
	CostSent                                        bool
	FirstToken                                      uint32 // microseconds

	// What went in and came out; JSON or plain text.
	Input, Output, System, Tools []byte
	Events, Links                []byte // JSON arrays, empty if there are none
}

// Attribute is one attribute. A value that is no text is kept as JSON.
type Attribute struct {
	Key, Value []byte
	JSON       bool
}

// reset makes the record ready for the next span of the same resource.
func (r *Record) reset() {
	r.Fields = Fields{}
	r.Tags, r.Attributes = r.Tags[:0], r.Attributes[:0]
	r.scratch.reset()
	r.convention.reset()
}

// HasPayload reports whether something went in or came out, or happened during
// the span.
func (r *Record) HasPayload() bool {
	return len(r.Input)+len(r.Output)+len(r.System)+len(r.Tools)+len(r.Events)+len(r.Links) > 0
}

// Keep copies a text into the record's scratch space.
func (r *Record) Keep(text []byte) []byte { return r.scratch.close(append(r.scratch.open(), text...)) }

// MoveStart lets the span begin at another time and last as long as before. The
// claimed time stays readable as an attribute.
func (r *Record) MoveStart(to int64) {
	text := AppendTime(r.scratch.open(), r.Start)
	r.Attributes = append(r.Attributes, Attribute{Key: keyClaimedStart, Value: r.scratch.close(text), JSON: true})
	if r.End != 0 {
		r.End = to + r.End - r.Start
	}
	r.Start = to
}

var keyClaimedStart = []byte("assay.claimed_start_time")

// arena hands out memory that is taken back all at once.
type arena struct {
	buf  []byte
	lost int // bytes handed out that are in buffers before this one
}

// maxArena is what an arena keeps; a span that needs more pays for it itself.
const maxArena = 4 << 20

// reset takes everything back. If it did not fit into one buffer, the next one
// is large enough for as much again, so that spans of one size soon cost no
// memory.
func (a *arena) reset() {
	if a.lost > 0 {
		a.buf = make([]byte, 0, min(a.lost+cap(a.buf), maxArena))
		a.lost = 0
	}
	a.buf = a.buf[:0]
}

// open returns an empty slice to append to; close keeps what was appended.
// Between the two nobody else may open.
func (a *arena) open() []byte { return a.buf[len(a.buf):] }

func (a *arena) close(text []byte) []byte {
	n := len(a.buf)
	switch {
	case len(text) == 0:
	case n+len(text) <= cap(a.buf) && &a.buf[:n+1][n] == &text[0]:
		a.buf = a.buf[:n+len(text)]
	default:
		// It outgrew the arena: what was handed out before stays where it is.
		a.lost += n
		a.buf = text
	}
	return text[:len(text):len(text)]
}

// value is an attribute's value as a decoder sees it.
type value struct {
	kind valueKind
	text []byte // of a text or of bytes, or the encoded message of a list or a map
	num  int64
	real float64
}

type valueKind uint8

const (
	valueEmpty valueKind = iota
	valueText
	valueBool
	valueInt
	valueReal
	valueList
	valueMap
	valueBytes
)

// uint32 is the value as a count: texts that are digits count too, because
// several libraries send them so.
func (v *value) uint32() (uint32, bool) {
	switch v.kind {
	case valueInt:
		if v.num < 0 {
			return 0, false
		}
		return uint32(min(v.num, math.MaxUint32)), true
	case valueReal:
		if !(v.real >= 0) {
			return 0, false
		}
		return uint32(min(v.real, math.MaxUint32)), true
	case valueText:
		var n uint64
		if len(v.text) == 0 || len(v.text) > 10 {
			return 0, false
		}
		for _, c := range v.text {
			if c < '0' || c > '9' {
				return 0, false
			}
			n = n*10 + uint64(c-'0')
		}
		return uint32(min(n, math.MaxUint32)), true
	default:
		return 0, false
	}
}

// float is the value as a number.
func (v *value) float() (float64, bool) {
	switch v.kind {
	case valueInt:
		return float64(v.num), true
	case valueReal:
		return v.real, !math.IsNaN(v.real) && !math.IsInf(v.real, 0)
	case valueText:
		f, err := strconv.ParseFloat(string(v.text), 64)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	default:
		return 0, false
	}
}

// AppendJSONString appends a JSON string; invalid UTF-8 becomes U+FFFD.
func AppendJSONString(b, text []byte) []byte {
	b = append(b, '"')
	valid := utf8.Valid(text)
	from := 0
	for i := 0; i < len(text); {
		if i += plainBytes(text[i:], valid); i == len(text) {
			break
		}
		c := text[i]
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRune(text[i:]); valid || r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		b = append(b, text[from:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			const digits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, "\uFFFD"...)
		}
		i++
		from = i
	}
	b = append(b, text[from:]...)
	return append(b, '"')
}

// plainBytes counts the bytes that stand in a JSON string as they are. Eight
// are looked at together: subtracting borrows from a byte's high bit where the
// byte is too small or, after an exclusive or, the one looked for. Bytes of
// longer characters count only in text that is known to be valid.
func plainBytes(text []byte, valid bool) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		found := (x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash
		if !valid {
			found |= x
		}
		if found &= highs; found != 0 {
			// Only the lowest is certain: a borrow may spoil those above.
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf && !valid {
			break
		}
	}
	return i
}

// appendJSONFloat appends a JSON number; what is no number becomes null.
func appendJSONFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
