package metric

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

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
