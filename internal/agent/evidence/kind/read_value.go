package kind

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// value checks a value, and returns it as it is stored; nil if it is refused.
func (r *reader) value(f *Field, v jsontext.Value) jsontext.Value {
	switch f.Type {
	case Text, Enum, Time, Digest:
		return r.text(f, v)
	case Integer, Ref:
		return r.integer(f, v)
	case Number:
		if n, err := strconv.ParseFloat(string(v), 64); v.Kind() != '0' || err != nil || math.IsInf(n, 0) {
			r.add("type", "must be a number")
			return nil
		}
	case Boolean:
		if v.Kind() != 't' && v.Kind() != 'f' {
			r.add("type", "must be true or false")
			return nil
		}
	case Texts, Objects:
		return r.list(f, v)
	case Object:
		return r.object(f, v)
	case Any:
	}
	return compact(v)
}

func (r *reader) text(f *Field, v jsontext.Value) jsontext.Value {
	if v.Kind() != '"' {
		r.add("type", "must be a string")
		return nil
	}
	raw, escaped := []byte(v[1:len(v)-1]), bytes.IndexByte(v, '\\') >= 0
	if escaped {
		text, err := jsontext.AppendUnquote(nil, v)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			r.add("format", "is not UTF-8 text without U+0000")
			return nil
		}
		raw = text
	}
	switch f.Type {
	case Enum:
		if !slices.ContainsFunc(f.Enum, func(s string) bool { return s == string(raw) }) {
			r.add("enum", "must be one of "+strings.Join(f.Enum, ", "))
			return nil
		}
	case Time:
		return r.time(raw, v)
	case Digest:
		sum, ok := bytes.CutPrefix(raw, []byte("sha256:"))
		if !ok || !isHex(sum, 64) {
			r.add("pattern", "must be sha256: and 64 hexadecimal digits")
			return nil
		}
		if !lower(raw) {
			return TextValue(strings.ToLower(string(raw)))
		}
	default:
		if !r.fits(f, raw) {
			return nil
		}
	}
	if escaped {
		return TextValue(string(raw))
	}
	return v
}

// fits checks how long a text is.
func (r *reader) fits(f *Field, text []byte) bool {
	most := f.Max
	if most == 0 {
		most = maxText
	}
	switch {
	case len(text) > most && utf8.RuneCount(text) > most:
		r.limit("length", "must have at most "+strconv.Itoa(most)+" characters", most)
		return false
	case f.Required && len(text) == 0:
		r.limit("length", "must have a length of at least 1", 1)
		return false
	}
	return true
}

func (r *reader) time(text []byte, v jsontext.Value) jsontext.Value {
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil || at.Year() < 2000 || at.Year() > 9999 {
		r.add("format", "must be a time such as 2026-01-31T12:00:00Z, not before 2000")
		return nil
	}
	var room [32]byte
	if out := appendTime(room[:0], at); !bytes.Equal(out, v) {
		return bytes.Clone(out)
	}
	return v
}

// maxInteger is what every JSON reader can hold.
const maxInteger = 1<<53 - 1

func (r *reader) integer(f *Field, v jsontext.Value) jsontext.Value {
	text := []byte(v)
	if v.Kind() == '"' && f.Type == Ref { // ids may be text
		text = bytes.Trim(text, `"`)
	} else if v.Kind() != '0' {
		r.add("type", "must be an integer")
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	low := int64(0)
	if f.Type == Ref {
		low = 1
	}
	if err != nil || n < low || n > maxInteger {
		r.add("type", "must be an integer from "+strconv.FormatInt(low, 10))
		return nil
	}
	if c := v[0]; c >= '0' && c <= '9' {
		return v
	}
	return IntegerValue(n)
}

var oneText = &Field{Type: Text, Max: 1024}

func (r *reader) list(f *Field, v jsontext.Value) jsontext.Value {
	if v.Kind() != '[' {
		r.add("type", "must be a list")
		return nil
	}
	count := 0
	eachElement(v, func(jsontext.Value) bool { count++; return count <= maxList })
	if count > maxList {
		r.limit("length", "must have at most 1000 entries", maxList)
		return nil
	}
	item := oneText
	if f.Type == Objects {
		item = &Field{Type: Object, Members: f.Members}
	}
	out := append(make([]byte, 0, len(v)), '[')
	i := 0
	if !eachElement(v, func(one jsontext.Value) bool {
		r.enter(place{index: i})
		got := r.value(item, one)
		r.leave()
		if i++; i > 1 {
			out = append(out, ',')
		}
		out = append(out, got...)
		return got != nil
	}) {
		return nil
	}
	return append(out, ']')
}

func (r *reader) object(f *Field, v jsontext.Value) jsontext.Value {
	if v.Kind() != '{' {
		r.add("type", "must be an object")
		return nil
	}
	if len(f.Members) == 0 {
		return compact(v)
	}
	out, whole := make(Values, len(f.Members)), true
	eachMember(v, func(name, value jsontext.Value) bool {
		if value.Kind() == 'n' {
			return true
		}
		i := memberOf(f.Members, name)
		if i < 0 {
			out[unquote(name)] = plainly(value)
			return true
		}
		r.enter(place{name: name})
		if m := &f.Members[i]; out[m.Name] != nil {
			r.add("ambiguous_field", "is given twice")
			whole = false
		} else if got := r.value(m, value); got != nil {
			out[m.Name] = plainly(got)
		} else {
			whole = false
		}
		r.leave()
		return true
	})
	for _, m := range f.Members {
		if m.Required && whole && out[m.Name] == nil {
			r.about(m.Name, "required", "is required")
			whole = false
		}
	}
	if !whole {
		return nil
	}
	return out.JSON()
}

// compact is a value without spaces between its parts.
func compact(v jsontext.Value) jsontext.Value {
	if tight(v) {
		return v
	}
	out := v.Clone()
	if err := out.Compact(); err != nil {
		return nil
	}
	return out
}

func isHex(s []byte, size int) bool {
	var room [64]byte
	if len(s) != size || size > 2*len(room) {
		return false
	}
	_, err := hex.Decode(room[:], s)
	return err == nil
}
