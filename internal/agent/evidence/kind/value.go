package kind

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Text is a field that is a text; empty if it is absent or something else.
func (v Values) Text(name string) string {
	raw := v[name]
	if raw.Kind() != '"' {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ""
	}
	return string(text)
}

// Integer is a field that is an integer; 0 if it is absent or something else.
func (v Values) Integer(name string) int64 {
	n, err := strconv.ParseInt(string(v[name]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Time is a field that is a time; the zero time if it is absent or something else.
func (v Values) Time(name string) time.Time {
	t, err := time.Parse(time.RFC3339, v.Text(name))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Within is the values of a field that is an object; nil if it is absent or something else.
func (v Values) Within(name string) Values {
	if v[name].Kind() != '{' {
		return nil
	}
	out, err := ParseValues(v[name])
	if err != nil {
		return nil
	}
	return out
}

// Objects is a field that is a list of objects; nil if it is absent or something else.
func (v Values) Objects(name string) (list []Values) {
	if json.Unmarshal(v[name], &list) != nil {
		return nil
	}
	return list
}

// TextValue is a text as a value.
func TextValue(s string) jsontext.Value {
	text, err := jsontext.AppendQuote(nil, s)
	if err != nil { // not UTF-8
		text, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\ufffd"))
	}
	return text
}

// IntegerValue is an integer as a value.
func IntegerValue(n int64) jsontext.Value { return strconv.AppendInt(nil, n, 10) }

// BooleanValue is true or false as a value.
func BooleanValue(yes bool) jsontext.Value { return strconv.AppendBool(nil, yes) }

// TimeValue is a time as a value, in milliseconds.
func TimeValue(t time.Time) jsontext.Value { return appendTime(nil, t) }

func appendTime(out []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(out, `"2006-01-02T15:04:05.000Z"`)
}

// Sum is the SHA-256 of the canonical form of a value, or of the value as it is if it has
// none.
func Sum(v jsontext.Value) [sha256.Size]byte {
	if canonical, ok := simple(v); ok {
		return sha256.Sum256(canonical)
	}
	canonical := v.Clone()
	if canonical.Canonicalize() != nil {
		canonical = v
	}
	return sha256.Sum256(canonical)
}

// DigestOf is the digest of a value, as fields have it.
func DigestOf(v jsontext.Value) string {
	sum := Sum(v)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Snake is a name in snake case.
func Snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Camel is a name of snake case in camel case.
func Camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}
