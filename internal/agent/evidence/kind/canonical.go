package kind

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// simple is the canonical form of a value, if it can be written by looking at each byte once:
// its text has no escapes, its numbers are integers that every program holds exactly, and
// the names of its members are ASCII. This is true of almost all that agents send; ok is
// false of everything else, and of what is not JSON.
func simple(v jsontext.Value) (canonical []byte, ok bool) {
	w := writer{text: v, out: make([]byte, 0, len(v))}
	end, ok := w.value(skipSpace(v, 0))
	if !ok || skipSpace(v, end) != len(v) {
		return nil, false
	}
	return w.out, true
}

// writer writes the canonical form of a text.
type writer struct {
	text, out []byte
	depth     int
}

// value writes the value that begins at i, and returns the place behind it.
func (w *writer) value(i int) (end int, ok bool) {
	if i >= len(w.text) {
		return 0, false
	}
	if w.depth++; w.depth > MaxDepth {
		return 0, false
	}
	defer func() { w.depth-- }()
	switch w.text[i] {
	case '"':
		return w.quoted(i, false)
	case '{':
		return w.object(i)
	case '[':
		return w.list(i)
	}
	end = skipWord(w.text, i)
	word := w.text[i:end]
	w.out = append(w.out, word...)
	return end, string(word) == "true" || string(word) == "false" || string(word) == "null" || exact(word)
}

// maxExact is how many digits an integer has at most that a float64 always holds.
const maxExact = 15

// exact reports whether a word is an integer that is written in one way only.
func exact(word []byte) bool {
	digits := bytes.TrimPrefix(word, []byte("-"))
	if len(digits) == 0 || len(digits) > maxExact || digits[0] == '0' && len(word) > 1 {
		return false
	}
	return !slices.ContainsFunc(digits, func(c byte) bool { return c < '0' || c > '9' })
}

// quoted writes a text without escapes.
func (w *writer) quoted(i int, ascii bool) (end int, ok bool) {
	end = i + 1
	long := false // there are characters of several bytes
	for ; end < len(w.text) && w.text[end] != '"'; end++ {
		c := w.text[end]
		if c < ' ' || c == '\\' || c >= utf8.RuneSelf && ascii {
			return 0, false
		}
		long = long || c >= utf8.RuneSelf
	}
	if end == len(w.text) || long && !utf8.Valid(w.text[i:end]) {
		return 0, false
	}
	end++
	w.out = append(w.out, w.text[i:end]...)
	return end, true
}

func (w *writer) list(i int) (end int, ok bool) {
	w.out = append(w.out, '[')
	return w.parts(i, ']', w.value)
}

// parts writes what is between the bracket at i and the one that ends it.
func (w *writer) parts(i int, end byte, part func(i int) (end int, ok bool)) (behind int, ok bool) {
	i = skipSpace(w.text, i+1)
	for n := 0; i < len(w.text) && (n > 0 || w.text[i] != end); n++ {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		if i, ok = part(i); !ok {
			return 0, false
		}
		if i = skipSpace(w.text, i); i < len(w.text) && w.text[i] == end {
			break
		}
		if i >= len(w.text) || w.text[i] != ',' {
			return 0, false
		}
		i = skipSpace(w.text, i+1)
	}
	w.out = append(w.out, end)
	return i + 1, i < len(w.text)
}

// member is where a member is in what is written: its name, without quotes, and its end.
type member struct{ from, named, to int }

// object writes the members in the order of their names. Names in ASCII have the same order
// as bytes and as UTF-16, which is what the canonical form is defined by.
func (w *writer) object(i int) (end int, ok bool) {
	w.out = append(w.out, '{')
	start := len(w.out)
	var few [16]member
	members, sorted := few[:0], true
	name := func(m member) []byte { return w.out[m.from:m.named] }
	end, ok = w.parts(i, '}', func(i int) (int, bool) {
		m := member{from: len(w.out) + 1}
		if i >= len(w.text) || w.text[i] != '"' {
			return 0, false
		}
		i, ok := w.quoted(i, true)
		if !ok {
			return 0, false
		}
		m.named = len(w.out) - 1
		if i = skipSpace(w.text, i); i >= len(w.text) || w.text[i] != ':' {
			return 0, false
		}
		w.out = append(w.out, ':')
		if i, ok = w.value(skipSpace(w.text, i+1)); !ok {
			return 0, false
		}
		m.to = len(w.out)
		sorted = sorted && (len(members) == 0 || bytes.Compare(name(members[len(members)-1]), name(m)) < 0)
		members = append(members, m)
		return i, true
	})
	if !ok || sorted {
		return end, ok
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(name(a), name(b)) })
	again := make([]byte, 0, len(w.out)-start)
	for n, m := range members {
		if n > 0 {
			if again = append(again, ','); bytes.Equal(name(members[n-1]), name(m)) {
				return 0, false // a name may occur once
			}
		}
		again = append(again, w.out[m.from-1:m.to]...)
	}
	w.out = append(append(w.out[:start], again...), '}')
	return end, true
}
