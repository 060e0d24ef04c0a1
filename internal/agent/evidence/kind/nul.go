package kind

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// nul is how JSON writes the character U+0000. PostgreSQL stores it, and then fails to read
// any value of the same document.
var nul = []byte(`\u0000`)

// HasNUL reports whether a text of a JSON value contains U+0000.
func HasNUL(v jsontext.Value) bool { return nextNUL(v, 0) >= 0 }

// WithoutNUL is a JSON value with U+FFFD in place of U+0000.
func WithoutNUL(v jsontext.Value) jsontext.Value {
	at := nextNUL(v, 0)
	if at < 0 {
		return v
	}
	v = v.Clone()
	for ; at >= 0; at = nextNUL(v, at+len(nul)) {
		copy(v[at:], `\ufffd`)
	}
	return v
}

// nextNUL finds the next U+0000; -1 means that there is none. After an odd number of
// backslashes, a backslash is one itself.
func nextNUL(v jsontext.Value, from int) int {
	for {
		i := bytes.Index(v[from:], nul)
		if i < 0 {
			return -1
		}
		at := from + i
		before := at - len(bytes.TrimRight(v[:at], `\`))
		if before%2 == 0 {
			return at
		}
		from = at + len(nul)
	}
}
