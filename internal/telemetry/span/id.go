package span

import (
	"encoding/hex"
)

// TraceID is a trace's W3C id. The zero id names no trace.
type TraceID [16]byte

// ParseTraceID reads 32 hexadecimal digits in either case.
func ParseTraceID(text string) (TraceID, bool) {
	var id TraceID
	if len(text) != 2*len(id) {
		return TraceID{}, false
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return TraceID{}, false
	}
	return id, id != TraceID{}
}

// String is 32 lower-case hexadecimal digits.
func (id TraceID) String() string { return hex.EncodeToString(id[:]) }

// ID is a span's W3C id. The zero id names no span: as a parent it marks a
// root, as a span the trace's own row.
type ID [8]byte

// ParseID reads 16 hexadecimal digits in either case.
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

// String is 16 lower-case hexadecimal digits, or nothing for the zero id.
func (id ID) String() string {
	if id == (ID{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}
