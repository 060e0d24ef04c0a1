package evidence

import (
	"bytes"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/httpapi"
)

// recordBody is a record on the wire. Which fields it has depends on its kind.
type recordBody jsontext.Value

// MarshalJSON writes the record as it is.
func (b recordBody) MarshalJSON() ([]byte, error) { return b, nil }

// UnmarshalJSON keeps the record as it is.
func (b *recordBody) UnmarshalJSON(text []byte) error {
	*b = bytes.Clone(text)
	return nil
}

// reportBody is what a caller reports about a record. Which fields it has depends on the
// kind; the response shows them.
type reportBody httpapi.Object

// MarshalJSON writes the report as it is.
func (b reportBody) MarshalJSON() ([]byte, error) { return httpapi.Object(b).MarshalJSON() }

// UnmarshalJSON keeps the report as it is.
func (b *reportBody) UnmarshalJSON(text []byte) error {
	return (*httpapi.Object)(b).UnmarshalJSON(text)
}

// Schema allows any object.
func (reportBody) Schema(r huma.Registry) *huma.Schema {
	return httpapi.Named(r, "EvidenceReport", &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: "Fields of a record of evidence, in camel case or snake case. EvidenceRecord has the fields of each kind.",
	})
}

// toRecordBody writes a record: the fields that all records have, and those of its kind.
// A field without a value is null.
func toRecordBody(r *Record) recordBody {
	out := []byte{'{'}
	r.Each(func(name string, value jsontext.Value, _ bool) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, name...)
		out = append(out, '"', ':')
		out = append(out, value...)
	})
	return append(out, '}')
}

// Schema documents the records of every kind.
func (recordBody) Schema(r huma.Registry) *huma.Schema {
	all := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "resource", Mapping: map[string]string{}}, Description: "A record of evidence; `resource` says of which kind."}
	for i := range kind.Kinds {
		k := &kind.Kinds[i]
		ref := httpapi.Named(r, schemaName(k), schemaOf(k))
		all.OneOf = append(all.OneOf, ref)
		all.Discriminator.Mapping[string(k.Name)] = ref.Ref
	}
	return httpapi.Named(r, "EvidenceRecord", all)
}

// schemaName is the public name of a kind's schema.
func schemaName(k *kind.Kind) string {
	name := kind.Camel(string(bytes.ReplaceAll([]byte(k.Name), []byte("-"), []byte("_"))))
	return "Evidence" + string(bytes.ToUpper([]byte(name[:1]))) + name[1:]
}

// schemaOf documents the records of a kind.
func schemaOf(k *kind.Kind) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, Description: k.About, AdditionalProperties: true}
	add := func(f kind.Field) {
		p := fieldSchema(f)
		switch f.Name {
		case kind.FieldResource:
			p = &huma.Schema{Type: huma.TypeString, Enum: []any{string(k.Name)}, Description: f.Doc}
		case kind.FieldID, kind.FieldOrigin, kind.FieldOccurredAt, kind.FieldCreatedAt, kind.FieldUpdatedAt, kind.FieldVersion,
			kind.FieldIntegrity, kind.FieldRedactions:
		default:
			p.Nullable = p.Type != "" // any value includes null
			if len(p.Enum) > 0 {
				p.Enum = append(slices.Clone(p.Enum), nil)
			}
		}
		if f.Name == kind.FieldTraceID {
			p = &huma.Schema{Type: huma.TypeInteger, Nullable: true, Description: f.Doc}
		}
		if f.Volatile {
			p.Extensions = map[string]any{"x-volatile": true}
		}
		s.Properties[f.Name] = p
		s.Required = append(s.Required, f.Name)
	}
	for _, f := range kind.Common {
		if f.Name != k.KeyField {
			add(f)
		}
	}
	for _, f := range k.Fields {
		add(f)
	}
	slices.Sort(s.Required)
	return s
}

// fieldSchema documents a field.
func fieldSchema(f kind.Field) *huma.Schema {
	s := &huma.Schema{Description: listed(f.Doc, f.Members)}
	switch f.Type {
	case kind.Text, kind.Digest:
		s.Type = huma.TypeString
	case kind.Enum:
		s.Type = huma.TypeString
		for _, v := range f.Enum {
			s.Enum = append(s.Enum, v)
		}
	case kind.Time:
		s.Type, s.Format = huma.TypeString, "date-time"
	case kind.Integer, kind.Ref:
		s.Type = huma.TypeInteger
	case kind.Number:
		s.Type = huma.TypeNumber
	case kind.Boolean:
		s.Type = huma.TypeBoolean
	case kind.Texts:
		s.Type, s.Items = huma.TypeArray, &huma.Schema{Type: huma.TypeString}
	case kind.Object:
		s.Type, s.AdditionalProperties = huma.TypeObject, true
	case kind.Objects:
		s.Type = huma.TypeArray
		s.Items = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	case kind.Any:
	}
	return s
}

// listed says which members an object usually has.
func listed(doc string, list []kind.Field) string {
	var names []string
	for _, m := range list {
		names = append(names, "`"+m.Name+"`")
	}
	if len(names) == 0 {
		return doc
	}
	return doc + " Members: " + strings.Join(names, ", ") + "."
}
