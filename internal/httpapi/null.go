package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// Null is a value of a response that there may be none of. It is always present
// and then null: a client never has to tell absent, null and empty apart.
// Numbers, booleans and plain strings are pointers instead.
type Null[T any] struct{ Value *T }

// NullOf is the value behind the pointer, or null.
func NullOf[T any](v *T) Null[T] { return Null[T]{Value: v} }

// OrNull is a pointer to the value, or nil for the zero value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Wraps is the type of the value.
func (Null[T]) Wraps() reflect.Type { return reflect.TypeFor[T]() }

// MarshalJSON writes the value, or null.
func (n Null[T]) MarshalJSON() ([]byte, error) {
	if n.Value == nil {
		return []byte("null"), nil
	}
	return json.Marshal(n.Value, json.Deterministic(true))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Null[T]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &n.Value) }

// Schema is the schema of the value, or null.
func (Null[T]) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[T](), true, "")
	switch {
	case s.Ref != "" || len(s.OneOf) > 0:
		return &huma.Schema{OneOf: []*huma.Schema{s, {Type: "null"}}}
	case s.Type != "":
		s.Nullable = true
	}
	return s
}
