package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// Patch is a field of a partial update: absent leaves the value as it is, null
// clears it, anything else sets it.
type Patch[T any] struct {
	Sent  bool
	Null  bool
	Value T
}

// UnmarshalJSON is called only if the field was sent.
func (p *Patch[T]) UnmarshalJSON(b []byte) error {
	p.Sent = true
	if string(b) == "null" {
		p.Null = true
		return nil
	}
	return json.Unmarshal(b, &p.Value)
}

// MarshalJSON writes the value, or null.
func (p Patch[T]) MarshalJSON() ([]byte, error) {
	if !p.Sent || p.Null {
		return []byte("null"), nil
	}
	return json.Marshal(p.Value)
}

// Schema is the schema of the value, or null.
func (p Patch[T]) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[T](), true, "")
	if s.Ref == "" && s.Type != "" {
		s.Nullable = true
	}
	return s
}

// Apply changes target if the field was sent; null sets the zero value.
func (p Patch[T]) Apply(target *T) {
	if p.Sent {
		*target = p.Value
	}
}
