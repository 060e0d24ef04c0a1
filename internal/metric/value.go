package metric

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What is read of one JSON value. An output of a megabyte is within it, and a
// tree of it fits in some tens of megabytes.
const (
	maxBytes  = 4 << 20
	maxDepth  = 200
	maxValues = 500_000
)

// decode reads a JSON document into nil, bool, string, json.Number, []any and
// map[string]any. Of members with the same name the last counts, as it does for
// most readers.
func (w *work) decode(doc []byte) (any, error) {
	if len(doc) > maxBytes {
		return nil, errTooLarge
	}
	if !w.spend(costDecode * int64(len(doc))) {
		return nil, errTooCostly
	}
	if text, ok := plainText(doc); ok {
		return text, nil
	}
	r := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return v, nil
}

// plainText reads a text without escapes, which most documents are, at a fraction
// of what a decoder costs.
func plainText(doc []byte) (string, bool) {
	if len(doc) < 2 || doc[0] != '"' || doc[len(doc)-1] != '"' {
		return "", false
	}
	text := doc[1 : len(doc)-1]
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(text), utf8.Valid(text)
}

type reader struct {
	dec    *jsontext.Decoder
	values int
}

func (r *reader) value(depth int) (any, error) {
	if r.values++; r.values > maxValues || depth > maxDepth {
		return nil, errTooLarge
	}
	switch r.dec.PeekKind() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '0':
		raw, err := r.dec.ReadValue()
		if err != nil {
			return nil, errNotJSON
		}
		return json.Number(raw), nil
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, errNotJSON
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	default:
		return nil, errNotJSON
	}
}

func (r *reader) object(depth int) (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	out := map[string]any{}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return nil, errNotJSON
		}
		key := name.String()
		if out[key], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	return out, nil
}

func (r *reader) list(depth int) (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	out := []any{}
	for r.dec.PeekKind() != ']' {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	return out, nil
}

// key returns a text that two values share exactly when they are equal: the
// order of members does not count, and 1, 1.0 and 1e0 are one number.
func key(v any) string { return string(appendKey(nil, v)) }

func equal(a, b any) bool { return bytes.Equal(appendKey(nil, a), appendKey(nil, b)) }

func appendKey(dst []byte, v any) []byte {
	switch v := v.(type) {
	case json.Number:
		return append(dst, numberKey(string(v))...)
	default:
		return appendValue(dst, v, appendKey)
	}
}

// appendPlain appends a value as JSON, numbers as they were written.
func appendPlain(dst []byte, v any) []byte {
	switch v := v.(type) {
	case json.Number:
		return append(dst, v...)
	default:
		return appendValue(dst, v, appendPlain)
	}
}

// appendValue appends everything but numbers; each says how parts are written.
func appendValue(dst []byte, v any, each func([]byte, any) []byte) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		dst, _ = jsontext.AppendQuote(dst, v) // replaces what is not UTF-8
		return dst
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = each(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst, _ = jsontext.AppendQuote(dst, name)
			dst = append(dst, ':')
			dst = each(dst, v[name])
		}
		return append(dst, '}')
	default:
		return dst
	}
}

// numberKey writes a JSON number as its digits and the place of the point, the
// same for every way to write that number. No digit is lost to rounding.
func numberKey(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	mantissa, exponent := text, int64(0)
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		n, err := strconv.ParseInt(text[at+1:], 10, 48)
		if err != nil {
			return sign + text // equal to itself only
		}
		mantissa, exponent = text[:at], n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= int64(len(fraction))
	if digits == "" {
		return "0"
	}
	short := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(short))
	return sign + short + "e" + strconv.FormatInt(exponent, 10)
}

// at returns what a JSON Pointer (RFC 6901) names in a value.
func at(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 || n >= len(in) || token != strconv.Itoa(n) {
				return nil, false
			}
			v = in[n]
		default:
			return nil, false
		}
	}
	return v, true
}
