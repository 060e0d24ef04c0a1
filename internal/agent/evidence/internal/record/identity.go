package record

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Identity is what a report names its record by.
type Identity struct {
	Key Key
	// content is the digest of what was sent under a name of the sender's: it must be
	// the same when the name comes again. It is nil where later reports add to the
	// record.
	Content []byte
	// Once names the report, and Said is the digest of what was sent under that name. Zero
	// counts every report.
	Once Key
	Said []byte
	// alone says that there can be no other report of the record.
	Alone bool
}

// Identify finds out what a report names its record by: its key in the organization, the
// name that its sender gave it, or what names it by nature. A report without any of
// these is about a record of its own.
func Identify(d kind.Draft, l Links, header string) Identity {
	k, name := d.Kind, d.Values.IdempotencyKey()
	if k.Name == kind.RawEvents { // what is posted does not stand for what is received
		parts := []string{string(k.Name), "posted", d.Values.Text(kind.FieldSource), d.Values.EventID()}
		return Identity{Key: Hashed(parts...), Content: ContentOf(d.Values)}
	}
	if k.KeyField != "" && k.Name != kind.Benchmarks {
		if own := d.Values.Text(k.KeyField); own != "" {
			id := Identity{Key: Hashed(string(k.Name), "key", own)}
			if name != "" && !d.Partial {
				id.Once, id.Said = Hashed(string(k.Name), "once", name), ContentOf(d.Values)
			}
			return id
		}
	}
	switch {
	case name != "" && d.Partial:
		return Identity{Key: Hashed(string(k.Name), "name", name)}
	case name != "":
		return Identity{Key: Hashed(string(k.Name), "name", name), Content: ContentOf(d.Values)}
	}
	if parts, ok := natural(d, l); ok {
		return Identity{Key: Hashed(append([]string{string(k.Name), "natural"}, parts...)...)}
	}
	if header != "" {
		return Identity{Key: Hashed(string(k.Name), "header", header), Content: ContentOf(d.Values)}
	}
	var own Key
	_, _ = rand.Read(own[:])
	return Identity{Key: own, Alone: true}
}

// Received names an event that was received: its source and its id there.
func Received(source, id string) Key { return Hashed(string(kind.RawEvents), "received", source, id) }

// Unnamed names a record that an event reports and does not name.
func Unnamed(event Key, k *kind.Kind, position int) Key {
	return Hashed(string(k.Name), "event", string(event[:]), strconv.Itoa(position))
}

// natural are the values that name a record by nature, if the report has them all.
func natural(d kind.Draft, l Links) (parts []string, ok bool) {
	if len(d.Kind.Natural) == 0 {
		return nil, false
	}
	for _, name := range d.Kind.Natural {
		var part string
		switch name {
		case kind.FieldRuntimeKey:
			part = l.RuntimeKey
		case kind.FieldOtelTraceID:
			if l.Trace != (Links{}).Trace {
				part = l.Trace.String()
			}
		case kind.FieldAttempt:
			if part = string(d.Values[name]); part == "" {
				part = "1"
			}
		default:
			part = d.Values.Text(name)
		}
		if part == "" {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

// Hashed is the key of some parts, none of which runs into the next.
func Hashed(parts ...string) (k Key) {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		_, _ = h.Write(size[:])
		_, _ = h.Write([]byte(p))
	}
	copy(k[:], h.Sum(nil))
	return k
}

// ContentOf is the digest of what was sent.
func ContentOf(v kind.Values) []byte {
	sum := kind.Sum(v.JSON())
	return sum[:]
}
