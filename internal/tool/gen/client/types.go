package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

type generator struct {
	doc      openAPI
	out      bytes.Buffer
	problems []string
	later    []func() // inline objects, which get types of their own
}

// types writes a type for each schema.
func (g *generator) types() {
	for _, name := range sorted(g.doc.Components.Schemas) {
		s := g.doc.Components.Schemas[name]
		kinds, _ := s.kinds()
		if slices.Equal(kinds, []string{"object"}) && s.Properties != nil {
			g.object(goName(name), s)
		} else {
			g.describe(goName(name), s)
			fmt.Fprintf(&g.out, "type %s %s\n\n", goName(name), g.typeOf(goName(name), s, true))
		}
		for len(g.later) > 0 {
			next := g.later[0]
			g.later = g.later[1:]
			next()
		}
	}
}

// object writes a struct. A field that may be absent is left out when it is
// zero; one that may be null is a pointer.
func (g *generator) object(name string, s schema) {
	g.describe(name, s)
	fmt.Fprintf(&g.out, "type %s struct {\n", name)
	for _, field := range sorted(s.Properties) {
		p := s.Properties[field]
		required := slices.Contains(s.Required, field)
		g.comment(p.Description, "\t")
		tag := field
		if !required {
			tag += ",omitzero"
		}
		fmt.Fprintf(&g.out, "\t%s %s `json:%q`\n", goName(field), g.typeOf(name+goName(field), p, required), tag)
	}
	fmt.Fprint(&g.out, "}\n\n")
}

// typeOf is the Go type of a schema. An optional object or scalar is a pointer,
// like one that may be null.
func (g *generator) typeOf(name string, s schema, required bool) string {
	pointer := func(t string, null bool) string {
		if null || !required {
			return "*" + t
		}
		return t
	}
	if ref, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		kinds, null := g.doc.Components.Schemas[ref].kinds()
		if len(kinds) == 1 && kinds[0] != "object" {
			return goName(ref)
		}
		return pointer(goName(ref), null)
	}
	if len(s.AllOf) > 0 || len(s.AnyOf) > 0 {
		g.problems = append(g.problems, name+": allOf or anyOf")
		return "any"
	}
	if len(s.OneOf) > 0 {
		return g.union(name, s)
	}
	kinds, null := s.kinds()
	if len(kinds) != 1 {
		return "any" // any JSON
	}
	switch kinds[0] {
	case "string":
		if s.Format == "date-time" {
			return pointer("time.Time", null)
		}
		return pointer("string", null)
	case "integer":
		return pointer("int64", null)
	case "number":
		return pointer("float64", null)
	case "boolean":
		return pointer("bool", null)
	case "array":
		if s.Items == nil {
			return "[]any"
		}
		return "[]" + g.typeOf(name+"Item", *s.Items, true)
	case "object":
		return g.inline(name, s, pointer, null)
	}
	g.problems = append(g.problems, fmt.Sprintf("%s: type %s", name, kinds[0]))
	return "any"
}

// inline is the type of an object within another schema.
func (g *generator) inline(name string, s schema, pointer func(string, bool) string, null bool) string {
	if s.Properties != nil {
		g.later = append(g.later, func() { g.object(name, s) })
		return pointer(name, null)
	}
	values, ok := s.Additional.(map[string]any)
	if !ok {
		return "map[string]any"
	}
	return "map[string]" + g.typeOf(name+"Value", fromMap(values), true)
}

// union is the type of a choice. A schema or null is a pointer; an id that may
// be written as a string or as a number is a string; everything else is any
// JSON.
func (g *generator) union(name string, s schema) string {
	if len(s.OneOf) == 2 && s.OneOf[0].Ref != "" && s.OneOf[1].Type == "null" {
		return "*" + strings.TrimPrefix(g.typeOf(name, s.OneOf[0], false), "*")
	}
	var kinds []string
	for _, one := range s.OneOf {
		k, _ := one.kinds()
		kinds = append(kinds, k...)
	}
	slices.Sort(kinds)
	if slices.Equal(kinds, []string{"integer", "string"}) {
		return "string"
	}
	return "any"
}

// fromMap reads a schema that was decoded as JSON.
func fromMap(m map[string]any) schema {
	s := schema{Type: m["type"]}
	s.Ref, _ = m["$ref"].(string)
	s.Format, _ = m["format"].(string)
	if items, ok := m["items"].(map[string]any); ok {
		inner := fromMap(items)
		s.Items = &inner
	}
	if _, ok := m["properties"]; ok {
		s.Type = nil // any JSON: values of maps have no types of their own
	}
	s.Additional = m["additionalProperties"]
	return s
}

// describe writes the comment of a type, if the document has a description.
func (g *generator) describe(name string, s schema) {
	if s.Description != "" {
		g.comment(name+": "+s.Description, "")
	}
}

// comment writes a text as a comment.
func (g *generator) comment(text, indent string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&g.out, "%s// %s\n", indent, line)
		}
	}
}

// initialisms are written in capitals in Go names.
var initialisms = []string{"api", "ci", "cpu", "csv", "html", "http", "id", "ip", "json", "mde", "ok", "otel", "se", "sha", "url", "usd", "uuid"}

// goName is the Go name of a name of the document.
func goName(name string) string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	previous := ' '
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush()
		case unicode.IsUpper(c) && !unicode.IsUpper(previous):
			flush()
			word.WriteRune(c)
		default:
			word.WriteRune(c)
		}
		previous = c
	}
	flush()
	var out strings.Builder
	for _, w := range words {
		plain := strings.ToLower(w)
		switch {
		case slices.Contains(initialisms, plain):
			out.WriteString(strings.ToUpper(w))
		case plain == "ids":
			out.WriteString("IDs")
		default:
			out.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return out.String()
}
