package traffic

import (
	"encoding/binary"
	"math"
	"time"
)

// The fields of OTLP's messages that are written here, by the protocol's
// numbers.
const (
	fieldResourceSpans = 1
	fieldResource      = 1
	fieldScopeSpans    = 2
	fieldSpans         = 2

	fieldTraceID    = 1
	fieldSpanID     = 2
	fieldParent     = 4
	fieldName       = 5
	fieldKind       = 6
	fieldStart      = 7
	fieldEnd        = 8
	fieldAttributes = 9
	fieldStatus     = 15
)

const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// Kinds of spans in OTLP.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3
)

func tag(b []byte, field, wire int) []byte {
	return binary.AppendUvarint(b, uint64(field<<3|wire))
}

func appendText[T string | []byte](b []byte, field int, text T) []byte {
	b = tag(b, field, wireBytes)
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

func appendNumber(b []byte, field int, n uint64) []byte {
	return binary.AppendUvarint(tag(b, field, wireVarint), n)
}

func appendTime(b []byte, field int, at time.Time) []byte {
	return binary.LittleEndian.AppendUint64(tag(b, field, wireFixed64), uint64(at.UnixNano()))
}

// message appends a message that fill writes.
func message(b []byte, field int, fill func([]byte) []byte) []byte {
	b = tag(b, field, wireBytes)
	at := len(b)
	b = fill(b)
	// The length stands before the message and is known after it.
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(b)-at))
	b = append(b, head[:n]...)
	copy(b[at+n:], b[at:len(b)-n])
	copy(b[at:], head[:n])
	return b
}

// span writes one span; what is left to do is to add attributes.
type span struct {
	trace        [16]byte
	id, parent   [8]byte
	name         string
	kind         int
	start, end   time.Time
	failed       bool
	attrs        []byte // KeyValue messages
	value, entry []byte // scratch
}

func (s *span) reset() {
	*s = span{attrs: s.attrs[:0], value: s.value[:0], entry: s.entry[:0]}
}

func (s *span) text(key, value string) {
	s.value = appendText(s.value[:0], 1, value)
	s.add(key)
}

func (s *span) bytes(key string, value []byte) {
	s.value = appendText(s.value[:0], 1, value)
	s.add(key)
}

func (s *span) number(key string, n int) {
	s.value = appendNumber(s.value[:0], 3, uint64(n))
	s.add(key)
}

func (s *span) real(key string, f float64) {
	s.value = binary.LittleEndian.AppendUint64(tag(s.value[:0], 4, wireFixed64), math.Float64bits(f))
	s.add(key)
}

func (s *span) add(key string) {
	s.entry = appendText(s.entry[:0], 1, key)
	s.entry = appendText(s.entry, 2, s.value)
	s.attrs = appendText(s.attrs, fieldAttributes, s.entry)
}

func (s *span) appendTo(b []byte) []byte {
	return message(b, fieldSpans, func(b []byte) []byte {
		b = appendText(b, fieldTraceID, s.trace[:])
		b = appendText(b, fieldSpanID, s.id[:])
		if s.parent != [8]byte{} {
			b = appendText(b, fieldParent, s.parent[:])
		}
		b = appendText(b, fieldName, s.name)
		b = appendNumber(b, fieldKind, uint64(s.kind))
		b = appendTime(b, fieldStart, s.start)
		b = appendTime(b, fieldEnd, s.end)
		b = append(b, s.attrs...)
		if s.failed {
			b = appendText(b, fieldStatus, appendNumber(appendText(nil, 2, "upstream timed out"), 3, 2))
		}
		return b
	})
}
