package evidence

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
)

// identity is what a report names its record by.
type identity struct {
	key key
	// content is the digest of what was sent under a name of the sender's: it must be
	// the same when the name comes again. It is nil where later reports add to the
	// record.
	content []byte
	// alone says that there can be no other report of the record.
	alone bool
}

// identify finds out what a report names its record by: its key in the organization, the
// name that its sender gave it, or what names it by nature. A report without any of
// these is about a record of its own.
func identify(d kind.Draft, l Links, header string) identity {
	k := d.Kind
	if k.KeyField != "" && k.Name != "benchmarks" {
		if own := d.Values.Text(k.KeyField); own != "" {
			return identity{key: hashed(string(k.Name), "key", own)}
		}
	}
	name := d.Values.Text("idempotency_key")
	switch {
	case name != "" && d.Partial:
		return identity{key: hashed(string(k.Name), "name", name)}
	case name != "":
		return identity{key: hashed(string(k.Name), "name", name), content: contentOf(d.Values)}
	}
	if parts, ok := natural(d, l); ok {
		return identity{key: hashed(append([]string{string(k.Name), "natural"}, parts...)...)}
	}
	if header != "" {
		return identity{key: hashed(string(k.Name), "header", header), content: contentOf(d.Values)}
	}
	var own key
	_, _ = rand.Read(own[:])
	return identity{key: own, alone: true}
}

// natural are the values that name a record by nature, if the report has them all.
func natural(d kind.Draft, l Links) (parts []string, ok bool) {
	if len(d.Kind.Natural) == 0 {
		return nil, false
	}
	for _, name := range d.Kind.Natural {
		var part string
		switch name {
		case "runtime_key":
			part = l.RuntimeKey
		case "otel_trace_id":
			if l.Trace != (Links{}).Trace {
				part = l.Trace.String()
			}
		case "attempt":
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

// hashed is the key of some parts, none of which runs into the next.
func hashed(parts ...string) (k key) {
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

// contentOf is the digest of what was sent.
func contentOf(v kind.Values) []byte {
	text, err := json.Marshal(map[string]jsontext.Value(v), json.Deterministic(true))
	if err != nil {
		text = fmt.Append(nil, v)
	}
	sum := kind.Sum(text)
	return sum[:]
}
