package kind

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// eachMember calls yield for the members of an object, with names in their quotes, until
// yield returns false. The text must be JSON already: only where values begin and end is
// looked at. It returns false if even that cannot be made out, or yield returned false.
func eachMember(v []byte, yield func(name, value jsontext.Value) bool) bool {
	return eachPart(v, '{', '}', func(at int) (int, bool) {
		if v[at] != '"' {
			return 0, false
		}
		named := skipText(v, at)
		colon := skipSpace(v, named)
		if colon >= len(v) || v[colon] != ':' {
			return 0, false
		}
		from := skipSpace(v, colon+1)
		to := skipValue(v, from)
		return to, to > from && yield(v[at:named:named], v[from:to:to])
	})
}

// eachElement is the same for the elements of a list.
func eachElement(v []byte, yield func(value jsontext.Value) bool) bool {
	return eachPart(v, '[', ']', func(at int) (int, bool) {
		to := skipValue(v, at)
		return to, to > at && yield(v[at:to:to])
	})
}

// eachPart calls read for what begins at each place after an opening bracket or a comma.
// Read says where it ends.
func eachPart(v []byte, open, end byte, read func(at int) (int, bool)) bool {
	i := skipSpace(v, 0)
	if i >= len(v) || v[i] != open {
		return false
	}
	if i = skipSpace(v, i+1); i < len(v) && v[i] == end {
		return skipSpace(v, i+1) == len(v)
	}
	for i < len(v) {
		to, ok := read(i)
		if !ok {
			return false
		}
		if i = skipSpace(v, to); i >= len(v) {
			return false
		}
		switch v[i] {
		case ',':
			i = skipSpace(v, i+1)
		case end:
			return skipSpace(v, i+1) == len(v)
		default:
			return false
		}
	}
	return false
}

// skipSpace is the first place from i on that has no space.
func skipSpace(v []byte, i int) int {
	for i < len(v) && isSpace(v[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// skipText is the place behind the text whose quote is at i.
func skipText(v []byte, i int) int {
	for i++; i < len(v); {
		quote := bytes.IndexByte(v[i:], '"')
		if quote < 0 {
			break
		}
		slash := bytes.IndexByte(v[i:i+quote], '\\')
		if slash < 0 {
			return i + quote + 1
		}
		i += slash + 2 // what is escaped ends no text
	}
	return len(v)
}

// skipValue is the place behind the value that begins at i; i itself if none does.
func skipValue(v []byte, i int) int {
	depth := 0
	for i < len(v) {
		switch v[i] {
		case '"':
			i = skipText(v, i)
		case '{', '[':
			depth++
			i++
		case '}', ']', ',', ':':
			if depth == 0 {
				return i
			}
			if v[i] == '}' || v[i] == ']' {
				depth--
			}
			i++
		case ' ', '\n', '\t', '\r':
			i++
			continue // which ends no value by itself
		default:
			i = skipWord(v, i)
		}
		if depth == 0 {
			return i
		}
	}
	return len(v)
}

// skipWord is the place behind a number, true, false or null.
func skipWord(v []byte, i int) int {
	for ; i < len(v); i++ {
		switch v[i] {
		case '"', '{', '[', '}', ']', ',', ':', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}

// tight reports whether JSON has no spaces between its values.
func tight(v []byte) bool {
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case c == '"':
			i = skipText(v, i)
		case isSpace(c):
			return false
		default:
			i++
		}
	}
	return true
}

// Depth is how deep the lists and objects of a value are nested.
func Depth(v jsontext.Value) (deepest int) {
	depth := 0
	for i := 0; i < len(v); {
		switch v[i] {
		case '"':
			i = skipText(v, i)
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
		i++
	}
	return deepest
}
