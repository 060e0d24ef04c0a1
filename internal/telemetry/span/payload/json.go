package payload

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// This file reads JSON where it lies: it finds values by their position and
// decodes none that nobody asked for. Texts of any length and depth are
// walked without memory; only jsonValid tells whether all of a text is JSON.

// SkipSpace is the position of the first byte from i on that is no space, or
// the length.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// StringEnd is the position after the string that begins at i, or -1.
func StringEnd(b []byte, i int) int {
	i++
	// Names and short values end within a few bytes, before a search by the
	// vector has begun.
	for near := min(i+16, len(b)); i < near; i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	for ; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		slashes := 0
		for slashes < n && b[i+n-1-slashes] == '\\' {
			slashes++
		}
		i += n
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return -1
}

// ValueEnd is the position after the value that begins at i, or -1 if there is
// none. Of lists and objects only the brackets are counted.
func ValueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return StringEnd(b, i)
	case c == '{' || c == '[':
		return nestedEnd(b, i)
	case c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f' || c == 'n':
		for i < len(b) && !literalEnds[b[i]] {
			i++
		}
		return i
	default:
		return -1
	}
}

// literalEnds are the bytes that end a number or a literal.
var literalEnds = [256]bool{' ': true, '\n': true, '\r': true, '\t': true, ',': true, ']': true, '}': true}

func nestedEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = StringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// spaceBack is the position after the last byte before i that is no space.
func spaceBack(b []byte, i int) int {
	for i > 0 && (b[i-1] == ' ' || b[i-1] == '\n' || b[i-1] == '\r' || b[i-1] == '\t') {
		i--
	}
	return i
}

// valueStart is where the list or object begins that ends before end, or -1. It
// looks no further back than from.
//
// Between strings JSON has no quote, and within one every quote follows an odd
// number of backslashes, so that strings can be told from what is between them
// in this direction too.
func valueStart(b []byte, end, from int) int {
	depth := 0
	for i := end - 1; i >= from; i-- {
		switch b[i] {
		case '"':
			for slashes := 1; slashes%2 != 0; {
				n := lastQuote(b[from:i])
				if n < 0 {
					return -1
				}
				i = from + n
				for slashes = 0; i-slashes > from && b[i-1-slashes] == '\\'; {
					slashes++
				}
			}
		case '}', ']':
			depth++
		case '{', '[':
			if depth--; depth == 0 {
				return i
			}
		default:
			if depth == 0 {
				return -1
			}
		}
	}
	return -1
}

// lastQuote is the position of the last quote, or -1. It looks at eight bytes
// together: a byte that is a quote becomes zero, and only a zero byte has no
// high bit after seven ones are added to its low bits.
func lastQuote(b []byte) int {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	i := len(b)
	for ; i >= 8; i -= 8 {
		x := binary.LittleEndian.Uint64(b[i-8:]) ^ '"'*ones
		if zero := ^((x&low + low) | x | low); zero != 0 {
			return i - 1 - bits.LeadingZeros64(zero)/8
		}
	}
	for i--; i >= 0 && b[i] != '"'; i-- {
	}
	return i
}

// Walker goes through the members of an object or the elements of a list.
type Walker struct {
	b     []byte
	i     int    // where the next is expected
	Key   []byte // of the member, as it is written
	keyAt int    // where the member begins, with its quote
	At    int    // where the value begins
	end   int    // after the closing bracket, or -1 if it is not reached or not there
	// object and begun say what may come next.
	object, begun bool
}

// Walk begins at the bracket at i.
func Walk(b []byte, i int) Walker {
	return Walker{b: b, i: i + 1, end: -1, object: b[i] == '{'}
}

// Next finds the next value; it returns false at the end and at a fault.
func (w *Walker) Next() bool {
	if w.i < 0 {
		return false
	}
	i := SkipSpace(w.b, w.i)
	if i >= len(w.b) {
		return false
	}
	if w.object && w.b[i] == '}' || !w.object && w.b[i] == ']' {
		w.end = i + 1
		return false
	}
	if w.begun {
		if w.b[i] != ',' {
			return false
		}
		i = SkipSpace(w.b, i+1)
	}
	w.begun = true
	if w.object {
		if i >= len(w.b) || w.b[i] != '"' {
			return false
		}
		end := StringEnd(w.b, i)
		if end < 0 {
			return false
		}
		w.Key, w.keyAt = w.b[i+1:end-1], i
		if i = SkipSpace(w.b, end); i >= len(w.b) || w.b[i] != ':' {
			return false
		}
		i = SkipSpace(w.b, i+1)
	}
	w.At = i
	return i < len(w.b)
}

// Skip goes past the value that next found.
func (w *Walker) Skip() { w.i = ValueEnd(w.b, w.At) }

// maxDepth is how deep a text may be nested to be taken for JSON.
const maxDepth = 128

// Valid reports whether the whole text is one JSON value, so that it may
// be put into another as it is.
func Valid(b []byte) bool {
	end := check(b, SkipSpace(b, 0), 0)
	return end >= 0 && SkipSpace(b, end) == len(b)
}

// check is jsonSkip that takes nothing for granted.
func check(b []byte, i, depth int) int {
	if i >= len(b) || depth > maxDepth {
		return -1
	}
	switch b[i] {
	case '"':
		return checkString(b, i)
	case '{', '[':
		w := Walk(b, i)
		for w.Next() {
			if w.object && checkString(b, w.keyAt) < 0 {
				return -1
			}
			if w.i = check(b, w.At, depth+1); w.i < 0 {
				return -1
			}
		}
		return w.end
	default:
		return checkLiteral(b, i)
	}
}

func checkString(b []byte, i int) int {
	end := StringEnd(b, i)
	if end < 0 {
		return -1
	}
	for s := b[i+1 : end-1]; len(s) > 0; {
		switch {
		case s[0] < ' ':
			return -1
		case s[0] != '\\':
			s = s[1:]
		case s[1] == 'u':
			if len(s) < 6 || hexRune(s[2:6]) < 0 {
				return -1
			}
			s = s[6:]
		case bytes.IndexByte([]byte(`"\/bfnrt`), s[1]) >= 0:
			s = s[2:]
		default:
			return -1
		}
	}
	return end
}

func checkLiteral(b []byte, i int) int {
	end := i
	for end < len(b) && !literalEnds[b[end]] {
		end++
	}
	switch s := b[i:end]; string(s) {
	case "true", "false", "null":
		return end
	default:
		if !isNumber(s) {
			return -1
		}
		return end
	}
}

// isNumber reports whether a text is a number in JSON's grammar.
func isNumber(s []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' || !digits() {
		return false
	}
	if len(s) > 0 && s[0] == '.' {
		if s = s[1:]; !digits() {
			return false
		}
	}
	if len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		return digits() && len(s) == 0
	}
	return len(s) == 0
}

// AppendUnescaped appends a string's text, given what stands between its
// quotes. What is no escape, and an escape that is cut off, is left out.
func AppendUnescaped(b, raw []byte) []byte {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 >= len(raw) {
			if n >= 0 {
				raw = raw[:n]
			}
			return append(b, raw...)
		}
		b = append(b, raw[:n]...)
		c := raw[n+1]
		raw = raw[n+2:]
		switch c {
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		case 'b', 'f':
			b = append(b, ' ')
		case '"', '\\', '/':
			b = append(b, c)
		case 'u':
			if len(raw) < 4 {
				return b
			}
			r := hexRune(raw[:4])
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					r = utf16.DecodeRune(r, hexRune(raw[2:6]))
					raw = raw[6:]
				} else {
					r = utf8.RuneError
				}
			}
			b = utf8.AppendRune(b, r)
		}
	}
}

// hexRune is four hexadecimal digits, or -1.
func hexRune(s []byte) rune {
	var r rune
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// startsWith is bytes.HasPrefix with a string.
func startsWith(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}
