package kind

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Values are fields of a record by name, in JSON.
type Values map[string]jsontext.Value

// JSON is the object with these members, in the order of their names. The values are
// written as they are: each must be JSON, as those that Read accepts are.
func (v Values) JSON() jsontext.Value {
	size := len("{}")
	names := make([]string, 0, len(v))
	for name, value := range v {
		names = append(names, name)
		size += len(name) + len(value) + len(`"":null,`)
	}
	slices.Sort(names)
	out := append(make(jsontext.Value, 0, size), '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendName(out, name), ':')
		if value := v[name]; len(value) > 0 {
			out = append(out, value...)
		} else {
			out = append(out, "null"...)
		}
	}
	return append(out, '}')
}

// Size is the length of the object with these members.
func (v Values) Size() int {
	size := len("{}")
	for name, value := range v {
		size += len(name) + len(value) + len(`"":,`)
	}
	return size
}

// appendName writes the name of a member. Nearly all are plain letters, which need no
// escapes.
func appendName(out []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return append(out, TextValue(name)...)
		}
	}
	out = append(out, '"')
	out = append(out, name...)
	return append(out, '"')
}

// ParseValues splits an object that JSON wrote into its members. Its values are not
// checked again, and are parts of the text, which must not be changed afterwards.
func ParseValues(text []byte) (Values, error) {
	out := make(Values, 16)
	if !eachMember(text, func(name, value jsontext.Value) bool {
		out[unquote(name)] = value
		return true
	}) {
		return nil, errNotStored
	}
	return out, nil
}

// Elements splits a list in the same way; nil if the value is something else.
func Elements(v jsontext.Value) []jsontext.Value {
	out := []jsontext.Value{}
	if !eachElement(v, func(one jsontext.Value) bool {
		out = append(out, one)
		return true
	}) {
		return nil
	}
	return out
}

var errNotStored = errors.New("the text is not an object of values")

// known are the names of all fields, which need not be made anew for each record.
var known = func() map[string]string {
	out := map[string]string{}
	for i := range Kinds {
		for _, f := range slices.Concat(Kinds[i].Fields, Common) {
			out[f.Name] = f.Name
		}
	}
	return out
}()

// unquote is the text of a name in its quotes.
func unquote(name jsontext.Value) string {
	inner := name[1 : len(name)-1]
	if s, ok := known[string(inner)]; ok {
		return s
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	text, _ := jsontext.AppendUnquote(nil, name) // the name is JSON
	return string(text)
}
