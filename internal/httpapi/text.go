package httpapi

import "github.com/danielgtaylor/huma/v2"

// Tags are labels that a resource can be filtered by, each of them once.
type Tags []string

// Schema bounds the tags.
func (Tags) Schema(huma.Registry) *huma.Schema {
	shortest, longest, most := 1, 64, 50
	return &huma.Schema{
		Type: huma.TypeArray, MaxItems: &most, UniqueItems: true,
		Items: &huma.Schema{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest},
	}
}

// Enum is the schema of a text that has one of these values. A type whose values
// are part of several requests and responses lists them once, in its Schema
// method; elsewhere a tag does.
func Enum[T ~string](values ...T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}
