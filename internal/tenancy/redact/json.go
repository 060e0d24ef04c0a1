package redact

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// redactDepth is how deep documents in strings of documents are followed: tool
// calls carry their arguments so, and proxies wrap them once more.
const redactDepth = 4

// JSONText is text for a JSON document. It also removes the values of members
// that key names, and the document stays valid JSON: a removed value becomes a
// string. Strings that are documents themselves are treated alike. What is not
// valid JSON is treated as text.
//
// Rules see strings as they read, without escapes.
func (r *Redactor) JSONText(scratch, v []byte) (out []byte, changed bool) {
	return r.document(scratch, v, 0)
}

func (r *Redactor) document(scratch, v []byte, depth int) (out []byte, changed bool) {
	if !r.suspects(v) {
		return v, false
	}
	w := writer{Redactor: r, doc: v, out: scratch[:0], depth: depth}
	if err := w.run(); err != nil {
		if out, changed = r.Text(scratch, v); changed {
			// What is left may be a document after all.
			out, _ = r.document(nil, out, depth)
		}
		return out, changed
	}
	if w.copied == 0 {
		return v, false
	}
	out = append(w.out, v[w.copied:]...)
	if w.renamed {
		out = distinct(out)
	}
	return out, true
}

// suspects reports whether a document may hold something that has to go.
func (r *Redactor) suspects(v []byte) bool {
	if r.always {
		return true
	}
	if _, ok := r.docs.next(v, 0, true); ok {
		return true
	}
	for i := range r.patterns {
		if redactAny(r.patterns[i].needles, v) || redactAny(r.patterns[i].escaped, v) {
			return true
		}
	}
	for i := range r.keys {
		if len(r.keys[i].needles) == 0 || redactAny(r.keys[i].needles, v) {
			return true
		}
	}
	return false
}

// writer copies a document and replaces what has to go. Until something
// does, nothing is copied.
type writer struct {
	*Redactor
	doc    []byte
	out    []byte
	copied int // how much of doc is in out
	depth  int
	// renamed says that a name was replaced.
	renamed bool

	plain, clean []byte // reused
}

// errRedactRest says that something follows the document.
var errRedactRest = errors.New("more than one JSON value")

func (w *writer) run() error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(w.doc), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for first := true; ; first = false {
		if dec.StackDepth() == 0 && !first {
			if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
				return errRedactRest
			}
			return nil
		}
		switch kind := dec.PeekKind(); kind {
		case '{', '}', '[', ']':
			if _, err := dec.ReadToken(); err != nil {
				return err
			}
		default:
			in, n := dec.StackIndex(dec.StackDepth())
			raw, err := dec.ReadValue()
			if err != nil {
				return err
			}
			end := int(dec.InputOffset())
			switch {
			case in == '{' && n%2 == 0:
				w.name(raw, end)
				if err := w.member(dec, raw); err != nil {
					return err
				}
			case kind == '"':
				w.string(raw, end)
			case kind == '0':
				w.number(raw, end)
			}
		}
	}
}

// unquote returns how a string reads; it is valid until the next one.
func (w *writer) unquote(raw []byte) []byte {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	// The only error is that of invalid UTF-8, which is replaced.
	w.plain, _ = jsontext.AppendUnquote(w.plain[:0], raw)
	return w.plain
}

// name treats a member's name as text.
func (w *writer) name(raw []byte, end int) {
	if out, changed := w.Text(w.clean, w.unquote(raw)); changed {
		w.clean, w.renamed = out, true
		w.replace(end-len(raw), end, out)
	}
}

// member removes the value after a name that says so. A built-in name leaves
// true, false and null: has_password is no password.
func (w *writer) member(dec *jsontext.Decoder, name []byte) error {
	mark, own := w.KeyMark(w.unquote(name))
	if mark == "" {
		return nil
	}
	kind := dec.PeekKind()
	if kind == 'n' || !own && (kind == 't' || kind == 'f') {
		return nil
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if len(raw) == len(mark)+2 && string(raw[1:len(raw)-1]) == mark {
		return nil
	}
	end := int(dec.InputOffset())
	w.replace(end-len(raw), end, []byte(mark))
	return nil
}

func (w *writer) string(raw []byte, end int) {
	plain := w.unquote(raw)
	var out []byte
	var changed bool
	if at := redactRun(plain, 0, redactSpace); w.depth < redactDepth && at < len(plain) && (plain[at] == '{' || plain[at] == '[') {
		out, changed = w.document(w.clean, plain, w.depth+1)
	} else {
		out, changed = w.Text(w.clean, plain)
	}
	if changed {
		w.clean = out
		w.replace(end-len(raw), end, out)
	}
}

// number removes a number that reads like something that has to go.
func (w *writer) number(raw []byte, end int) {
	if out, changed := w.Text(w.clean, raw); changed {
		w.clean = out
		w.replace(end-len(raw), end, out)
	}
}

// replace writes a string in place of a piece of the document.
func (w *writer) replace(from, to int, text []byte) {
	w.out = append(w.out, w.doc[w.copied:from]...)
	w.out, _ = jsontext.AppendQuote(w.out, text) // invalid UTF-8 is replaced
	w.copied = to
}
