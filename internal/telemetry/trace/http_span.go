package trace

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/span"
)

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
func (spanValue) Schema(r huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: spanProperties(), AdditionalProperties: false, Description: "A span to store."}
	s.Extensions = map[string]any{"required": []string{"name", "startTime"}}
	return httpapi.Named(r, "SpanInput", s)
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
	low, high := 1, span.MaxSpans
	s := &huma.Schema{Type: huma.TypeObject, Properties: spanProperties(), AdditionalProperties: false}
	s.Properties["spans"] = &huma.Schema{
		Type: huma.TypeArray, MinItems: &low, MaxItems: &high, Items: spanValue{}.Schema(r),
		Description: "Spans to add. Cannot be combined with the fields of one span.",
	}
	s.Description = "One span, or up to 500 as `{\"spans\": [...]}`."
	return httpapi.Named(r, "AddSpans", s)
}

// Check refuses a body that is both forms at once.
func (b *addSpansBody) Check(context.Context) error {
	if b.mixed {
		return fault.Invalid("body", "/spans", "mutually_exclusive", "cannot be combined with the fields of one span")
	}
	return nil
}

// spanProperties are the fields of a span.
func spanProperties() map[string]*huma.Schema {
	str := func(most int, doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, MaxLength: &most, Description: doc}
	}
	enum := func(doc string, values ...string) *huma.Schema {
		s := httpapi.Enum(values...)
		s.Description = doc
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
		most := span.MaxSpanEvents
		return &huma.Schema{Type: huma.TypeArray, Items: item, MaxItems: &most, Description: doc}
	}
	free := func(doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: doc}
	}
	anything := func(doc string) *huma.Schema { return &huma.Schema{Description: doc} }
	name := func(doc string) *huma.Schema {
		least, s := 1, str(span.MaxName, doc)
		s.MinLength = &least
		return s
	}

	properties := map[string]*huma.Schema{
		"spanId":        str(16, "W3C span id, 16 hexadecimal digits; derived from the content if absent."),
		"parentSpanId":  str(16, "Id of the parent span; absent for a root span."),
		"name":          name("Name of the operation."),
		"kind":          enum("OpenTelemetry span kind; internal by default.", slices.Sorted(maps.Keys(span.Kinds))...),
		"primitiveType": enum("Type of the step; inferred from the attributes if absent.", span.PrimitiveTypes[:]...),
		"startTime":     at("Start of the span. A time more than an hour ahead is replaced by the current time."),
		"endTime":       at("End of the span. A span without an end is open; send it again with an end to close it."),
		"durationMs":    number(huma.TypeNumber, span.MaxDurationMS, "Duration in milliseconds, as an alternative to endTime."),
		"status": object("Outcome of the span.", map[string]*huma.Schema{
			"code": enum("OpenTelemetry status code; unset by default.", "unset", "ok", "error"), "message": str(span.MaxMessage, "Message, usually of an error."),
		}),
		"attributes": free("OpenTelemetry attributes; names are kept as sent. GenAI and OpenInference conventions are understood."),
		"events": list("Events of the span.", object("An event.", map[string]*huma.Schema{
			"name": name("Name of the event."), "time": at("Time of the event."), "attributes": free("Attributes of the event."),
		}, "name")),
		"links": list("Links to other spans.", object("A link.", map[string]*huma.Schema{
			"traceId": str(32, "Id of the linked trace."), "spanId": str(16, "Id of the linked span."), "attributes": free("Attributes of the link."),
		}, "traceId", "spanId")),
		"input":    anything("Input of the step; any JSON value."),
		"output":   anything("Output of the step; any JSON value."),
		"model":    str(span.MaxShort, "Model that answered."),
		"provider": str(span.MaxShort, "Provider of the model."),
		"usage": object("Tokens used by the step.", map[string]*huma.Schema{
			"inputTokens":     number(huma.TypeInteger, span.MaxTokens, "Tokens sent to the model."),
			"outputTokens":    number(huma.TypeInteger, span.MaxTokens, "Tokens generated by the model."),
			"cachedTokens":    number(huma.TypeInteger, span.MaxTokens, "Part of the input that came from the provider's cache."),
			"reasoningTokens": number(huma.TypeInteger, span.MaxTokens, "Part of the output that was reasoning."),
		}),
		"costUsd": number(huma.TypeNumber, span.MaxCost, "Cost in US dollars; computed from the model's price if absent."),
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
