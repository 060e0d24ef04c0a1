package spandb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strconv"
	"strings"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Times go into statements as microseconds since 1970: the driver cuts
// parameters that are times to seconds.
const (
	micros = 1_000_000
	minute = 60 * micros
	day    = 24 * 60 * minute
)

// noSpan is the id of a trace row, and the parent of a root.
const noSpan = "toFixedString('', 8)"

// arguments are the arguments of a statement, whose names stand in it after an
// @, and the organization that it is for.
type arguments struct {
	org  principal.OrgID
	args []any
}

func forOrg(org principal.OrgID) *arguments {
	n := &arguments{org: org}
	n.set("org", uuid.UUID(org))
	return n
}

func (n *arguments) set(name string, value any) { n.args = append(n.args, chgo.Named(name, value)) }

// reach is how long after its start a trace is found by what a later span of
// it says.
const reach = day

// Window is a range of microseconds since 1970, both ends included.
type Window struct{ Low, High int64 }

// set gives the statement the window.
func (w Window) set(n *arguments) {
	n.set("from", w.Low)
	n.set("to", w.High+reach)
	n.set("since", w.Low/minute*60)
}

// within bounds the start of a row by the arguments from and to.
const within = "start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC')"

// Position is a place in the list of traces, which is newest first: the list
// goes on with what is below it.
type Position struct {
	Start int64 // microseconds since 1970
	ID    span.TraceID
}

// Compare orders positions by their start, and those of one moment by their ids.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Start, q.Start), bytes.Compare(p.ID[:], q.ID[:]))
}

// Bounds say when the spans of a trace start.
type Bounds struct {
	ID          span.TraceID
	First, last int64 // microseconds since 1970
	// created is when something of the trace arrived first, in milliseconds.
	created int64
}

// Position is where the trace stands among others.
func (b Bounds) Position() Position { return Position{Start: b.First, ID: b.ID} }

// Scope is some traces with their bounds, written as conditions on the key of
// spans. A statement reads only the granules that hold the traces.
type Scope []Bounds

// maxPairs is how many minutes of traces are listed one by one. Beyond it a
// range takes their place: it is shorter to write and reads more.
const maxPairs = 4000

// SQL is the clause that finds the traces' rows. trace_id is in the key, so
// that looking at it first is right whatever else the statement does.
func (s Scope) SQL() string {
	pairs, low, high := 0, s[0].First, s[0].last
	for _, b := range s {
		pairs += int(b.last/minute - b.First/minute + 1)
		low, high = min(low, b.First), max(high, b.last)
	}
	var t strings.Builder
	t.WriteString("PREWHERE trace_id IN (" + idList(s.ids()) + ")\n  WHERE org_id = @org AND ")
	if pairs > maxPairs {
		t.WriteString("toStartOfMinute(start_time) >= toDateTime(" + seconds(low) + ", 'UTC') AND toStartOfMinute(start_time) <= toDateTime(" + seconds(high) + ", 'UTC')")
		t.WriteString(" AND xxHash32(trace_id) IN (")
		for i, b := range s {
			t.WriteString(comma(i) + strconv.FormatUint(uint64(xxHash32(b.ID)), 10))
		}
		t.WriteString(")")
		return t.String()
	}
	t.WriteString("(toStartOfMinute(start_time), xxHash32(trace_id)) IN (")
	n := 0
	for _, b := range s {
		hash := strconv.FormatUint(uint64(xxHash32(b.ID)), 10)
		for m := b.First / minute; m <= b.last/minute; m++ {
			t.WriteString(comma(n) + "(" + strconv.FormatInt(m*60, 10) + ", " + hash + ")")
			n++
		}
	}
	t.WriteString(")")
	return t.String()
}

func (s Scope) ids() []span.TraceID {
	ids := make([]span.TraceID, len(s))
	for i, b := range s {
		ids[i] = b.ID
	}
	return ids
}

// span is the time from the first to the last start of all traces.
func (s Scope) span() (first, last int64) {
	first, last = s[0].First, s[0].last
	for _, b := range s {
		first, last = min(first, b.First), max(last, b.last)
	}
	return first, last
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

// seconds is the minute of a time, as the seconds since 1970.
func seconds(at int64) string { return strconv.FormatInt(at/minute*60, 10) }

// idList writes ids as literals: thousands of parameters would cost more than
// the query.
func idList(ids []span.TraceID) string {
	var t strings.Builder
	for i, id := range ids {
		t.WriteString(comma(i) + literal(id[:]))
	}
	return t.String()
}

// literal writes bytes as a string.
func literal(b []byte) string {
	digits := hex.EncodeToString(b)
	var t strings.Builder
	t.WriteByte('\'')
	for i := 0; i < len(digits); i += 2 {
		t.WriteString(`\x` + digits[i:i+2])
	}
	t.WriteByte('\'')
	return t.String()
}

// xxHash32 is the hash of an id that the key of spans contains: xxHash with 32
// bits and seed zero, of exactly 16 bytes.
func xxHash32(id span.TraceID) uint32 {
	const p1, p2, p3, p4 = 2654435761, 2246822519, 3266489917, 668265263
	seed := uint32(0)
	lanes := [4]uint32{seed + p1, seed, seed, seed}
	lanes[0] += p2
	lanes[1] += p2
	lanes[3] -= p1
	for i := range lanes {
		lanes[i] += binary.LittleEndian.Uint32(id[4*i:]) * p2
		lanes[i] = bits.RotateLeft32(lanes[i], 13) * p1
	}
	h := bits.RotateLeft32(lanes[0], 1) + bits.RotateLeft32(lanes[1], 7) + bits.RotateLeft32(lanes[2], 12) + bits.RotateLeft32(lanes[3], 18)
	h += uint32(len(id))
	h ^= h >> 15
	h *= p2
	h ^= h >> 13
	h *= p3
	return h ^ h>>16
}
