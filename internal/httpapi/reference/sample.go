package reference

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sample makes a value of a schema: the documented example where there is one,
// and otherwise a plain value of the right type. A request's sample has only
// what is required; all adds the rest, for responses.
func (d *refDocument) sample(s *refSchema, trail []string, all bool) any {
	s, trail, again := d.resolve(s, trail)
	if again {
		return orderedObject{}
	}
	for _, given := range slices.Concat(s.Examples, []jsontext.Value{s.Const, s.Default}, s.Enum) {
		if len(given) > 0 {
			return given
		}
	}
	if forms := s.forms(); len(forms) > 0 {
		return d.sample(forms[0], trail, all)
	}
	switch s.types()[0] {
	case "array":
		if _, _, again := d.resolve(s.Items, trail); again {
			return []any{}
		}
		return []any{d.sample(s.Items, trail, all)}
	case "object", "any":
		return d.sampleObject(s, trail, all)
	}
	return s.sampleScalar()
}

func (d *refDocument) sampleObject(s *refSchema, trail []string, all bool) any {
	names := s.names()
	if !all && len(names) > 0 {
		// A body that requires nothing still shows one field, as {} says little.
		names = names[:min(len(names), max(len(s.Required), 1))]
	}
	out := orderedObject{}
	for _, name := range names {
		if _, _, again := d.resolve(s.Properties[name], trail); again && !slices.Contains(s.Required, name) {
			continue // an empty object would look like a real answer
		}
		out = append(out, member{name, d.sample(s.Properties[name], trail, all)})
	}
	if other := s.additional(); other != nil && len(out) == 0 {
		out = append(out, member{"key", d.sample(other, trail, all)})
	} else if len(s.Properties) == 0 {
		out = append(out, member{"key", "value"})
	}
	return out
}

// orderedObject is a JSON object whose members keep the order of the page.
type (
	orderedObject []member
	member        struct {
		name  string
		value any
	}
)

// MarshalJSONTo writes the members in their order.
func (o orderedObject) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

func (s *refSchema) sampleScalar() any {
	switch s.types()[0] {
	case "boolean":
		return true
	case "integer", "number":
		if low := string(s.Minimum); low != "" && low != "0" {
			return s.Minimum
		}
		return 1
	case "null":
		return nil
	}
	switch s.Format {
	case "date-time":
		return "2026-01-31T12:00:00.000Z"
	case "date":
		return "2026-01-31"
	case "uuid":
		return "0198c5f2-7d7e-7c31-9f0a-3f1c52a6b8e4"
	case "uri":
		return "https://example.com"
	case "email":
		return "ada@example.com"
	}
	return "example"
}

// plain is a JSON value as a person writes it: strings without quotes.
func plain(v jsontext.Value) string {
	if v.Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(text)
		}
	}
	return string(v)
}

// indented is a value as JSON for a person. Samples are made of documents that
// were read as JSON, so writing them cannot fail.
func indented(v any) string {
	out, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return "{}"
	}
	return string(out)
}
