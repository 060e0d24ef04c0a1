package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// Patch is a field of a partial update that can be cleared: absent leaves the
// value as it is, null clears it, anything else sets it.
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

// Schema is the schema of the value, or null. A struct's is written in place:
// the framework does not check null against a reference.
func (Patch[T]) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[T](), true, "")
	if s.Ref != "" {
		inPlace := *r.SchemaFromRef(s.Ref)
		s = &inPlace
	}
	if s.Type != "" {
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

// Pointer is the value, or nil for null.
func (p Patch[T]) Pointer() *T {
	if !p.Sent || p.Null {
		return nil
	}
	return &p.Value
}

// Set is a field of a partial update that the resource always has: absent
// leaves the value as it is, and null is refused.
type Set[T any] struct {
	Sent  bool
	Value T
}

// UnmarshalJSON is called only if the field was sent.
func (s *Set[T]) UnmarshalJSON(b []byte) error {
	s.Sent = true
	return json.Unmarshal(b, &s.Value)
}

// MarshalJSON writes the value.
func (s Set[T]) MarshalJSON() ([]byte, error) { return json.Marshal(s.Value) }

// Schema is the schema of the value.
func (Set[T]) Schema(r huma.Registry) *huma.Schema { return r.Schema(reflect.TypeFor[T](), true, "") }

// NotNull lets the edge refuse null, which otherwise means the same as absent.
func (Set[T]) NotNull() {}

// Apply changes target if the field was sent.
func (s Set[T]) Apply(target *T) {
	if s.Sent {
		*target = s.Value
	}
}
