package trace

import (
	"encoding/hex"
)

// ID is a trace's W3C id. The zero id names no trace.
type ID [16]byte

// ParseID reads 32 hexadecimal digits in either case.
func ParseID(text string) (ID, bool) {
	var id ID
	if len(text) != 2*len(id) {
		return ID{}, false
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return ID{}, false
	}
	return id, id != ID{}
}

// String is 32 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// SpanID is a span's W3C id. The zero id names no span: as a parent it marks a
// root, as a span the trace's own row.
type SpanID [8]byte

// ParseSpanID reads 16 hexadecimal digits in either case.
func ParseSpanID(text string) (SpanID, bool) {
	var id SpanID
	if len(text) != 2*len(id) {
		return SpanID{}, false
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return SpanID{}, false
	}
	return id, id != SpanID{}
}

// String is 16 lower-case hexadecimal digits, or nothing for the zero id.
func (id SpanID) String() string {
	if id == (SpanID{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}
