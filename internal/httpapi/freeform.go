package httpapi

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// JSON is a free-form value: kept as it was sent, never rewritten.
type JSON jsontext.Value

// MarshalJSON writes the value as it is.
func (j JSON) MarshalJSON() ([]byte, error) {
	if len(j) == 0 {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps the value as it is.
func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = append((*j)[:0:0], b...)
	return nil
}

// Schema allows any value.
func (JSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "Any JSON value."}
}

// Object is a free-form object, whose names are never rewritten.
type Object jsontext.Value

// MarshalJSON writes the object as it is; none is an empty one.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps the object as it is.
func (o *Object) UnmarshalJSON(b []byte) error { return (*JSON)(o).UnmarshalJSON(b) }

// Schema allows any object.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Text is the object with its names in order, so that equal objects have equal
// texts; nil if none was sent.
func (o Object) Text() jsontext.Value {
	if o == nil {
		return nil
	}
	text := jsontext.Value(o).Clone()
	if err := text.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(true)); err != nil {
		panic("httpapi: an object that was decoded is not JSON: " + err.Error())
	}
	return text
}

// OrEmpty is Text, or an empty object if none was sent.
func (o Object) OrEmpty() jsontext.Value {
	if o == nil {
		return jsontext.Value("{}")
	}
	return o.Text()
}

// OrEmpty is the list itself, or an empty one: responses never say null for a
// list.
func OrEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
