package rule

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/assayhq/assay/internal/telemetry/span"
)

// place is where a trace lies in [0, 1) for a sampling key: the first eight bytes of
// the SHA-256 of the key, a line feed and the trace's id as 32 hexadecimal digits,
// read as a number with the most significant byte first and divided by 2^64. It is
// the same on every server and at all times.
func place(key string, id span.TraceID) float64 {
	sum := sha256.Sum256([]byte(key + "\n" + id.String()))
	// 53 bits are what a number holds exactly; 64 could round up to 1.
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// sampled reports whether a trace is among those that a rate chooses. A higher rate
// chooses the same traces and more.
func sampled(key string, rate float64, id span.TraceID) bool { return place(key, id) < rate }
