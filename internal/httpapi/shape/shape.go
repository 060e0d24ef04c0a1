// Package shape reads what callers send against the schema that the document
// shows: names, types and bounds are checked in one pass over the tokens, all
// violations are reported together, and the result is the same text with the
// documented names.
//
// A shape is compiled from a schema once, when an operation is registered. A
// keyword that it cannot check stops the process there, so that the document
// never promises a check that nobody makes.
package shape

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Shape is a compiled schema. A shape without kinds is free-form: whatever it
// holds is kept as it was sent, but for the documented names in it.
type Shape struct {
	kinds    kinds
	nullable bool

	// Of a string.
	enum       []string
	minLength  int
	maxLength  int // -1 for none
	pattern    *regexp.Regexp
	patternDoc string
	format     string

	// Of a number.
	low, high         *float64
	overLow, belowTop *float64 // exclusive bounds

	// Of an array.
	elements           *Shape
	minItems, maxItems int // -1 for none
	unique             bool

	// Of an object with documented names.
	fields []field
	byName map[string]int // documented names and their snake_case forms
	folded map[string]bool
	// Of an object whose names are the caller's.
	values                 *Shape
	minMembers, maxMembers int // -1 for none
	forms                  []*Shape
}

// field is a documented member of an object.
type field struct {
	name     string
	quoted   []byte // the name as JSON
	shape    *Shape
	required bool
	// notNull refuses null for a member that may be absent; otherwise null
	// there means the same as absent.
	notNull bool
	// absent is the default as JSON, nil for none.
	absent []byte
}

// kinds is a set of JSON types.
type kinds uint8

const (
	text kinds = 1 << iota
	number
	integer
	boolean
	array
	object
)

// NotNull is implemented by types of optional fields that refuse null.
type NotNull interface{ NotNull() }

// Of compiles a schema. The Go type tells which optional fields refuse null; it
// may be nil.
func Of(r huma.Registry, s *huma.Schema, t reflect.Type) *Shape {
	c := compiler{registry: r, seen: map[string]*Shape{}}
	return c.compile(s, t)
}

type compiler struct {
	registry huma.Registry
	seen     map[string]*Shape
}

func (c *compiler) compile(s *huma.Schema, t reflect.Type) *Shape {
	if s == nil {
		return &Shape{}
	}
	if s.Ref != "" {
		if known, ok := c.seen[s.Ref]; ok {
			return known
		}
		out := &Shape{}
		c.seen[s.Ref] = out
		*out = *c.compile(c.registry.SchemaFromRef(s.Ref), t)
		return out
	}
	refuseKeywords(s)
	out := &Shape{
		nullable: s.Nullable, minLength: least(s.MinLength), maxLength: most(s.MaxLength),
		patternDoc: s.PatternDescription, format: s.Format,
		low: s.Minimum, high: s.Maximum, overLow: s.ExclusiveMinimum, belowTop: s.ExclusiveMaximum,
		minItems: least(s.MinItems), maxItems: most(s.MaxItems), unique: s.UniqueItems,
		minMembers: least(s.MinProperties), maxMembers: most(s.MaxProperties),
	}
	if s.Pattern != "" {
		out.pattern = regexp.MustCompile(s.Pattern)
	}
	for _, v := range s.Enum {
		out.enum = append(out.enum, fmt.Sprint(v))
	}
	for _, f := range s.OneOf {
		form := c.compile(f, nil)
		if form.kinds == 0 || out.kinds&form.kinds != 0 {
			panic("shape: the forms of a oneOf must differ in their JSON type, which is how a reader tells them apart")
		}
		out.kinds |= form.kinds
		out.forms = append(out.forms, form)
	}
	switch s.Type {
	case "": // only names, for an operation that checks the values itself
		if s.Items != nil {
			out.elements = c.compile(s.Items, elementOf(t))
		}
		c.compileObject(out, s, t)
	case huma.TypeString:
		out.kinds = text
	case huma.TypeNumber:
		out.kinds = number
	case huma.TypeInteger:
		out.kinds = integer
	case huma.TypeBoolean:
		out.kinds = boolean
	case huma.TypeArray:
		out.kinds = array
		out.elements = c.compile(s.Items, elementOf(t))
	case huma.TypeObject:
		out.kinds = object
		c.compileObject(out, s, t)
	default:
		panic("shape: unknown type " + s.Type)
	}
	return out
}

func (c *compiler) compileObject(out *Shape, s *huma.Schema, t reflect.Type) {
	if len(s.Properties) == 0 {
		if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
			out.values = c.compile(of, elementOf(t))
		}
		return
	}
	out.byName, out.folded = map[string]int{}, map[string]bool{}
	types := fieldTypes(t)
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		p := s.Properties[name]
		f := field{name: name, shape: c.compile(p, types[name]), required: slices.Contains(s.Required, name)}
		f.quoted, _ = jsontext.AppendQuote(nil, name)
		if ft := types[name]; ft != nil {
			f.notNull = ft.Implements(reflect.TypeFor[NotNull]())
		}
		if p.Default != nil {
			absent, err := json.Marshal(p.Default)
			if err != nil {
				panic("shape: the default of " + name + " does not encode: " + err.Error())
			}
			f.absent = absent
		}
		out.fields = append(out.fields, f)
		out.byName[name] = i
		out.byName[SnakeCase(name)] = i
		out.folded[strings.ToLower(name)] = true
		out.folded[strings.ToLower(SnakeCase(name))] = true
	}
}

// refuseKeywords stops at what this package would not check.
func refuseKeywords(s *huma.Schema) {
	switch {
	case len(s.AnyOf) > 0, len(s.AllOf) > 0, s.Not != nil, s.MultipleOf != nil, len(s.DependentRequired) > 0, s.ContentEncoding != "":
		panic("shape: a request's schema uses a keyword that is not checked: anyOf, allOf, not, multipleOf, dependentRequired or contentEncoding")
	}
	switch s.Format {
	case "", "int32", "int64", "float", "double", "date-time", "email", "uuid", "uri":
	default:
		panic("shape: the format " + s.Format + " is not checked")
	}
	if len(s.Enum) > 0 && s.Type != huma.TypeString {
		panic("shape: only strings have an enum")
	}
}

func least(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func most(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// fieldTypes are the Go types of a struct's fields by their JSON names.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	types := map[string]reflect.Type{}
	if t == nil || t.Kind() != reflect.Struct {
		return types
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			types[name] = f.Type
		}
	}
	return types
}

func elementOf(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Slice && t.Kind() != reflect.Map {
		return nil
	}
	return t.Elem()
}

// SnakeCase is the form that a documented name has in responses.
func SnakeCase(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
