package normal

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
)

// longText is the length of a text whose field names no other.
const longText = 10_000

// body is a record in the making. What is put into it fits its kind.
type body struct {
	n      *normalizer
	kind   *kind.Kind
	values kind.Values
	// adds is what Report says of it.
	adds bool
}

// body begins a record of the runtime that sent the event.
func (n *normalizer) body(name kind.Name) *body {
	b := &body{n: n, kind: kind.Must(name), values: kind.Values{}}
	b.key(kind.FieldRuntimeKey, n.runtime)
	if storable(n.event.Time) {
		b.time(kind.FieldOccurredAt, n.event.Time)
	}
	return b
}

// text puts a text, cut to what its field holds; an empty one is left out.
func (b *body) text(name, s string) {
	if s = b.fit(name, b.kind.Field(name), s); s != "" {
		b.values[name] = kind.TextValue(s)
	}
}

// key puts a text that names something. One that is too long is not cut, which would
// let two names become one, but ends with a digest of the whole.
func (b *body) key(name, s string) {
	s = plain(s)
	if most := length(b.kind.Field(name)); utf8.RuneCountInString(s) > most {
		sum := sha256.Sum256([]byte(s))
		s = string([]rune(s)[:most-65]) + "#" + hex.EncodeToString(sum[:])
		b.n.warn(name + " is shortened")
	}
	if s != "" {
		b.values[name] = kind.TextValue(s)
	}
}

// choice puts one of the values that a field can have, and nothing else.
func (b *body) choice(name, s string) {
	if slices.Contains(b.kind.Field(name).Enum, s) {
		b.values[name] = kind.TextValue(s)
	}
}

// time puts a time, if it can be stored.
func (b *body) time(name string, t time.Time) {
	if storable(t) {
		b.values[name] = kind.TimeValue(t)
	}
}

// number puts a number, if it is one.
func (b *body) number(name string, f float64) {
	if v := number(f); v != nil {
		b.values[name] = v
	}
}

func (b *body) boolean(name string, v bool) {
	b.values[name] = kind.BooleanValue(v)
}

// any puts a JSON value; null and nothing are left out.
func (b *body) any(name string, v jsontext.Value) {
	if len(v) > 0 && v.Kind() != 'n' {
		b.values[name] = v
	}
}

// digested puts a JSON value and, in another field, its digest: the digest stays if
// the value is too large.
func (b *body) digested(name string, v jsontext.Value) {
	if len(v) > 0 && v.Kind() != 'n' {
		b.values[name] = v
		b.values[name+"_digest"] = kind.TextValue(kind.DigestOf(v))
	}
}

// texts puts an object of texts, each cut to what its member holds; empty ones are left
// out, and so is an object without any.
func (b *body) texts(name string, members map[string]string) {
	f := b.kind.Field(name)
	out := map[string]jsontext.Value{}
	for _, member := range sorted(members) {
		var of *kind.Field
		if i := slices.IndexFunc(f.Members, func(m kind.Field) bool { return m.Name == member }); i >= 0 {
			of = &f.Members[i]
		}
		if s := b.fit(name+"."+member, of, members[member]); s != "" {
			out[member] = kind.TextValue(s)
		}
	}
	if len(out) > 0 {
		b.values[name] = encode(out)
	}
}

// failed puts why something failed.
func (b *body) failed(what, message string) {
	b.texts(kind.FieldError, map[string]string{kind.FieldType: what, kind.FieldMessage: message})
}

// attributes puts what the kind has no field for.
func (b *body) attributes(members map[string]jsontext.Value) {
	maps.DeleteFunc(members, func(_ string, v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' })
	if len(members) > 0 {
		b.values[kind.FieldAttributes] = encode(members)
	}
}

// within puts the ids of a span. The id of a span alone names nothing.
func (b *body) within(trace, id string) {
	if trace != "" {
		b.text(kind.FieldOtelTraceID, trace)
		b.text(kind.FieldSpanID, id)
	}
}

// fit cuts a text to what a field holds.
func (b *body) fit(name string, f *kind.Field, s string) string {
	s = plain(s)
	most := length(f)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	b.n.warn(name + " is cut to " + strconv.Itoa(most) + " characters")
	return string([]rune(s)[:most])
}

// report ends the record, and checks it against its kind. What makes it larger, or more
// deeply nested, than a record may be is left out.
func (b *body) report(partial bool) {
	for !b.fits() {
		if !b.shrink() {
			return
		}
	}
	draft, fields := kind.Read(b.kind, kind.WithoutNUL(b.values.JSON()), partial)
	if len(fields) > 0 {
		b.n.unfit(b.kind, fields)
		return
	}
	b.n.add(Report{Draft: draft, Adds: b.adds})
}

// fits leaves out what is nested too deep, and reports whether the rest is small enough.
// Spaces between values do not count.
func (b *body) fits() bool {
	for _, name := range sorted(b.values) {
		if v := b.values[name]; len(v) > 2*maxDepth && kind.Depth(v) > maxDepth {
			b.n.leaveOut(name + " is left out: it is nested too deep")
			delete(b.values, name)
		}
	}
	if b.values.Size() <= kind.MaxBody {
		return true
	}
	for name, v := range b.values {
		v = v.Clone()
		if v.Compact() == nil {
			b.values[name] = v
		}
	}
	return b.values.Size() <= kind.MaxBody
}

// maxDepth is how deep a field may be nested: the record is a level of its own.
const maxDepth = kind.MaxDepth - 1

// unfit refuses the event for a record that its kind does not accept.
func (n *normalizer) unfit(k *kind.Kind, fields []fault.Field) {
	for _, f := range fields {
		n.refuse("/data", f.Code, "gives a record of "+string(k.Name)+" whose "+strings.TrimPrefix(f.Path, "/")+" "+f.Message)
	}
}

// shrink leaves out the largest field. It returns false if the rest cannot be missed,
// and the record is left out itself.
func (b *body) shrink() bool {
	name := b.largest()
	if name == "" {
		b.n.leaveOut("a record of " + string(b.kind.Name) + " is left out: it is too large")
		return false
	}
	b.n.leaveOut(name + " is left out: the record is too large")
	delete(b.values, name)
	return true
}

// largest is the field that takes the most space of those that can be missed.
func (b *body) largest() (name string) {
	for _, field := range sorted(b.values) {
		if !b.kind.Field(field).Required && len(b.values[field]) > len(b.values[name]) {
			name = field
		}
	}
	return name
}

// plain is a text that can be stored: UTF-8 without U+0000.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "")
}

func length(f *kind.Field) int {
	if f == nil || f.Max == 0 {
		return longText
	}
	return f.Max
}

// storable reports whether a time is one that records can have.
func storable(t time.Time) bool { t = t.UTC(); return t.Year() >= 2000 && t.Year() <= 9999 }

// number is a number as a value; nil if it is none.
func number(f float64) jsontext.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return strconv.AppendFloat(nil, f, 'f', -1, 64)
}

// optional is a text as a value; nothing if it is empty.
func optional(s string) jsontext.Value {
	if s = plain(s); s == "" {
		return nil
	}
	return kind.TextValue(s)
}

// encode writes values whose JSON is known to be good.
func encode(v any) jsontext.Value {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil // nested deeper than JSON may be
	}
	return text
}

// sorted is the names of a map, in order.
func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
