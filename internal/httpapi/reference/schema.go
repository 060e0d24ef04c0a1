package reference

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// refSchema is a schema of the document.
type refSchema struct {
	Ref         string                `json:"$ref"`
	Title       string                `json:"title"`
	Description string                `json:"description"`
	Type        any                   `json:"type"` // a name, or a list of names
	Format      string                `json:"format"`
	Pattern     string                `json:"pattern"`
	Properties  map[string]*refSchema `json:"properties"`
	Required    []string              `json:"required"`
	Items       *refSchema            `json:"items"`
	Additional  jsontext.Value        `json:"additionalProperties"` // a boolean, or a schema
	OneOf       []*refSchema          `json:"oneOf"`
	AnyOf       []*refSchema          `json:"anyOf"`
	AllOf       []*refSchema          `json:"allOf"`
	Enum        []jsontext.Value      `json:"enum"`
	Examples    []jsontext.Value      `json:"examples"`
	Const       jsontext.Value        `json:"const"`
	Default     jsontext.Value        `json:"default"`
	Minimum     jsontext.Value        `json:"minimum"`
	Maximum     jsontext.Value        `json:"maximum"`
	Above       jsontext.Value        `json:"exclusiveMinimum"`
	Below       jsontext.Value        `json:"exclusiveMaximum"`
	MinLength   jsontext.Value        `json:"minLength"`
	MaxLength   jsontext.Value        `json:"maxLength"`
	MinItems    jsontext.Value        `json:"minItems"`
	MaxItems    jsontext.Value        `json:"maxItems"`
	Unique      bool                  `json:"uniqueItems"`
	Deprecated  bool                  `json:"deprecated"`
}

type (
	// schemaView is a schema with every reference replaced by what it refers to.
	schemaView struct {
		Type   string
		Text   []paragraph
		Bounds []bound
		Fields []fieldView
		Forms  []formView
		Again  string // the type that is not expanded, as it contains itself
	}
	fieldView struct {
		Name                 string
		Required, Deprecated bool
		Text                 []paragraph
		Schema               schemaView
	}
	formView struct {
		Name   string
		Schema schemaView
	}
	// bound is one restriction of a value: words, and values shown as code.
	bound struct {
		Text   string
		Values []string
	}
)

// deepest ends the expansion of types that contain many others; a reader who
// has opened this many levels has lost the place.
const deepest = 8

// resolve follows references. again is true for a type inside itself.
func (d *refDocument) resolve(s *refSchema, trail []string) (target *refSchema, inner []string, again bool) {
	if s == nil {
		return &refSchema{}, trail, false
	}
	for s.Ref != "" {
		name := path.Base(s.Ref)
		if slices.Contains(trail, name) || len(trail) >= deepest {
			return s, trail, true
		}
		trail = append(slices.Clone(trail), name)
		next := refSchema{}
		if known := d.Components.Schemas[name]; known != nil {
			next = *known
		}
		next.Title = cmp.Or(next.Title, name)
		next.Description = cmp.Or(s.Description, next.Description)
		s = &next
	}
	return s, trail, false
}

// schema describes a schema. trail names the types around it.
func (d *refDocument) schema(s *refSchema, trail []string) schemaView {
	s, trail, again := d.resolve(s, trail)
	if again {
		return schemaView{Type: "object", Again: path.Base(s.Ref), Text: prose(s.Description)}
	}
	v := schemaView{Type: s.typeName(), Text: prose(s.Description), Bounds: s.bounds()}
	if s.Items != nil {
		item := d.schema(s.Items, trail)
		v.Type = strings.Replace(v.Type, "array", "array of "+item.Type, 1)
		v.Fields, v.Forms, v.Again = item.Fields, item.Forms, item.Again
		for _, b := range item.Bounds {
			v.Bounds = append(v.Bounds, bound{Text: "each: " + b.Text, Values: b.Values})
		}
	}
	var types []string
	for _, form := range s.forms() {
		f := d.schema(form, trail)
		if !slices.Contains(types, f.Type) {
			types = append(types, f.Type)
		}
		if len(f.Fields) > 0 || f.Again != "" {
			target, _, _ := d.resolve(form, trail)
			v.Forms = append(v.Forms, formView{Name: cmp.Or(target.Title, f.Again, f.Type), Schema: f})
		}
	}
	if len(types) > 0 {
		v.Type = strings.Join(types, " or ")
	}
	v.Fields = append(v.Fields, d.fields(s, trail)...)
	return v
}

// fields lists the members of an object in the order of names.
func (d *refDocument) fields(s *refSchema, trail []string) []fieldView {
	var out []fieldView
	for _, name := range s.names() {
		member := d.schema(s.Properties[name], trail)
		out = append(out, fieldView{
			Name: name, Required: slices.Contains(s.Required, name), Deprecated: s.Properties[name].Deprecated,
			Schema: member, Text: member.Text,
		})
	}
	if other := s.additional(); other != nil {
		member := d.schema(other, trail)
		out = append(out, fieldView{Name: "any name", Schema: member, Text: member.Text})
	}
	return out
}

// names puts required members first, and an id before its peers.
func (s *refSchema) names() []string {
	rank := func(name string) int {
		switch {
		case !slices.Contains(s.Required, name):
			return 2
		case name != "id":
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// additional is the schema of the members that have no documented name, or nil
// if there are none or they may be anything.
func (s *refSchema) additional() *refSchema {
	var out refSchema
	if s.Additional.Kind() != '{' || json.Unmarshal(s.Additional, &out) != nil {
		return nil
	}
	return &out
}

func (s *refSchema) forms() []*refSchema { return slices.Concat(s.OneOf, s.AnyOf, s.AllOf) }

// types are the JSON types that the schema names.
func (s *refSchema) types() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, e := range t {
			out = append(out, fmt.Sprint(e))
		}
		return out
	}
	if len(s.Properties) > 0 {
		return []string{"object"}
	}
	return []string{"any"}
}

func (s *refSchema) typeName() string {
	types := s.types()
	if types[0] == "string" && s.Format != "" {
		types[0] += " (" + s.Format + ")"
	}
	return strings.Join(types, " or ")
}

func (s *refSchema) bounds() []bound {
	var out []bound
	add := func(text string, values ...jsontext.Value) {
		b := bound{Text: text}
		for _, v := range values {
			b.Values = append(b.Values, plain(v))
		}
		out = append(out, b)
	}
	between := func(low, high jsontext.Value, unit string) {
		switch {
		case len(low) > 0 && len(high) > 0:
			add(string(low) + " to " + string(high) + unit)
		case len(low) > 0:
			add(string(low) + " or more" + unit)
		case len(high) > 0:
			add("up to " + string(high) + unit)
		}
	}
	if len(s.Enum) > 0 {
		add("one of", s.Enum...)
	}
	if len(s.Const) > 0 {
		add("always", s.Const)
	}
	between(s.Minimum, s.Maximum, "")
	between(s.MinLength, s.MaxLength, " characters")
	between(s.MinItems, s.MaxItems, " entries")
	if len(s.Above) > 0 {
		add("greater than " + string(s.Above))
	}
	if len(s.Below) > 0 {
		add("less than " + string(s.Below))
	}
	if s.Unique {
		add("no entry twice")
	}
	if s.Pattern != "" {
		out = append(out, bound{Text: "pattern", Values: []string{s.Pattern}})
	}
	if len(s.Default) > 0 {
		add("default", s.Default)
	}
	return out
}
