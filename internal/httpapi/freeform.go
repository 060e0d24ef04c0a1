package httpapi

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
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

// Object is a free-form object of a response.
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

// Map is a free-form object of a request, whose
// names are never rewritten.
type Map map[string]jsontext.Value

// Schema allows any object.
func (Map) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Text is the object as JSON, its names in order; nil if it was not sent.
func (m Map) Text() jsontext.Value {
	if m == nil {
		return nil
	}
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		panic("httpapi: a decoded object does not encode: " + err.Error())
	}
	return text
}

// Object is Text, or an empty object if none was sent.
func (m Map) Object() jsontext.Value {
	if m == nil {
		return jsontext.Value("{}")
	}
	return m.Text()
}

// OrEmpty is the list itself, or an empty one: responses never say null for a
// list.
func OrEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
