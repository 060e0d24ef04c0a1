package trace

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/fault"
)

// Types of values in requests, so that their bounds hold in every place.
type (
	nameText   string
	labelText  string
	statusText string
	tagList    []string
)

func bounded(low, high int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: &low, MaxLength: &high}
}

// Schema bounds a name.
func (nameText) Schema(huma.Registry) *huma.Schema { return bounded(1, maxName) }

// Schema bounds an id or a short name of the sender's own.
func (labelText) Schema(huma.Registry) *huma.Schema { return bounded(0, maxShort) }

// Schema lists the statuses.
func (statusText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{string(StatusRunning), string(StatusCompleted), string(StatusFailed)}}
}

// Schema bounds a list of tags.
func (tagList) Schema(huma.Registry) *huma.Schema {
	most := maxTags
	return &huma.Schema{Type: huma.TypeArray, Items: bounded(1, 64), MaxItems: &most, UniqueItems: true}
}

// spanValue is a span of a request. Spans are judged one by one, and a span
// that is not valid leaves the others alone; so the edge knows the names of its
// fields, and the document their bounds, but only the reader of spans refuses.
type spanValue jsontext.Value

// UnmarshalJSON keeps the value as it is.
func (v *spanValue) UnmarshalJSON(b []byte) error {
	*v = bytes.Clone(b)
	return nil
}

// MarshalJSON writes the value as it is.
func (v spanValue) MarshalJSON() ([]byte, error) { return v, nil }

// Schema documents a span.
func (spanValue) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: spanProperties(), AdditionalProperties: false}
	s.Extensions = map[string]any{"required": []string{"name", "startTime"}}
	return s
}

// addSpansBody is one span, or a list of spans.
type addSpansBody struct {
	spans []jsontext.Value
	list  bool
	// mixed is true if there are both.
	mixed bool
}

// UnmarshalJSON tells the two forms apart.
func (b *addSpansBody) UnmarshalJSON(text []byte) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	list, ok := members["spans"]
	if !ok {
		b.spans = []jsontext.Value{bytes.Clone(text)}
		return nil
	}
	b.list, b.mixed = true, len(members) > 1
	return json.Unmarshal(list, &b.spans)
}

// Schema documents both forms.
func (addSpansBody) Schema(r huma.Registry) *huma.Schema {
	low, high := 1, maxSpans
	s := &huma.Schema{Type: huma.TypeObject, Properties: spanProperties(), AdditionalProperties: false}
	s.Properties["spans"] = &huma.Schema{
		Type: huma.TypeArray, MinItems: &low, MaxItems: &high, Items: spanValue{}.Schema(r),
		Description: "Spans to add; not together with the fields of one span.",
	}
	s.Description = "One span, or `{\"spans\": [...]}`."
	return s
}

// Resolve refuses a body that is both forms at once.
func (b *addSpansBody) Resolve(huma.Context) []error {
	if b.mixed {
		return []error{fault.Invalid("body", "/spans", "mutually_exclusive", "cannot be combined with the fields of one span")}
	}
	return nil
}

// spanProperties are the fields of a span.
func spanProperties() map[string]*huma.Schema {
	str := func(most int, doc string) *huma.Schema {
		s := bounded(0, most)
		s.MinLength, s.Description = nil, doc
		return s
	}
	enum := func(doc string, values ...string) *huma.Schema {
		s := &huma.Schema{Type: huma.TypeString, Description: doc}
		for _, v := range values {
			s.Enum = append(s.Enum, v)
		}
		return s
	}
	at := func(doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Format: "date-time", Description: doc}
	}
	number := func(typ string, high float64, doc string) *huma.Schema {
		low := 0.0
		return &huma.Schema{Type: typ, Minimum: &low, Maximum: &high, Description: doc}
	}
	object := func(doc string, properties map[string]*huma.Schema, required ...string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, Properties: properties, Required: required, Description: doc}
	}
	list := func(doc string, item *huma.Schema) *huma.Schema {
		most := maxSpanEvents
		return &huma.Schema{Type: huma.TypeArray, Items: item, MaxItems: &most, Description: doc}
	}
	free := func(doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: doc}
	}
	anything := func(doc string) *huma.Schema { return &huma.Schema{Description: doc} }
	name := bounded(1, maxName)

	properties := map[string]*huma.Schema{
		"spanId":        str(16, "16 hexadecimal digits; made from the content if absent."),
		"parentSpanId":  str(16, "16 hexadecimal digits; a root has none."),
		"name":          name,
		"kind":          enum("internal if absent.", slices.Sorted(maps.Keys(spanKinds))...),
		"primitiveType": enum("What kind of step it is; told from the attributes if absent.", contractSteps[:]...),
		"startTime":     at("More than an hour ahead of our clock it is replaced by the present."),
		"endTime":       at("A span without an end is open; sending it again with one ends it."),
		"durationMs":    number(huma.TypeNumber, maxDurationMS, "Instead of endTime."),
		"status": object("How it went.", map[string]*huma.Schema{
			"code": enum("unset if absent.", "unset", "ok", "error"), "message": str(maxMessage, ""),
		}),
		"attributes": free("OpenTelemetry attributes; names are kept as sent. Conventions for language models are understood."),
		"events": list("", object("", map[string]*huma.Schema{
			"name": name, "time": at(""), "attributes": free(""),
		}, "name")),
		"links": list("", object("", map[string]*huma.Schema{
			"traceId": str(32, ""), "spanId": str(16, ""), "attributes": free(""),
		}, "traceId", "spanId")),
		"input":    anything("What went in; any JSON value."),
		"output":   anything("What came out; any JSON value."),
		"model":    str(maxShort, ""),
		"provider": str(maxShort, ""),
		"usage": object("Tokens.", map[string]*huma.Schema{
			"inputTokens": number(huma.TypeInteger, maxTokens, ""), "outputTokens": number(huma.TypeInteger, maxTokens, ""),
			"cachedTokens": number(huma.TypeInteger, maxTokens, "Part of the input."), "reasoningTokens": number(huma.TypeInteger, maxTokens, "Part of the output."),
		}),
		"costUsd": number(huma.TypeNumber, maxCost, "US dollars; computed from the model's price if absent."),
	}
	for key, p := range properties {
		properties[key] = described(p)
	}
	return properties
}

// described is a schema that says everything in the document and refuses
// nothing at the edge, which still learns the names of nested fields from it.
func described(s *huma.Schema) *huma.Schema {
	out := &huma.Schema{}
	if s.Items != nil {
		out.Items = described(s.Items)
	}
	for key, p := range s.Properties {
		if out.Properties == nil {
			out.Properties = map[string]*huma.Schema{}
		}
		out.Properties[key] = described(p)
	}
	text, err := s.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &out.Extensions)
	}
	if err != nil {
		panic("trace: a schema does not encode: " + err.Error())
	}
	delete(out.Extensions, "items")
	delete(out.Extensions, "properties")
	return out
}

// traceNames are ids or numbers of traces.
type traceNames []string

// UnmarshalJSON reads texts and numbers.
func (n *traceNames) UnmarshalJSON(b []byte) error {
	var list []jsontext.Value
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*n = make(traceNames, len(list))
	for i, v := range list {
		(*n)[i] = strings.Trim(string(v), `"`)
	}
	return nil
}

// Schema documents both forms.
func (traceNames) Schema(huma.Registry) *huma.Schema {
	low, high, least := 1, 100, 1.0
	return &huma.Schema{Type: huma.TypeArray, MinItems: &low, MaxItems: &high, Items: &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, Pattern: "^([0-9a-fA-F]{32}|[1-9][0-9]{0,15})$"},
		{Type: huma.TypeInteger, Minimum: &least},
	}}}
}
