package httpapi

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

// queryShape knows the documented query parameters of an operation.
type queryShape struct {
	shapes   map[string]*shape.Shape // by documented name
	required []string
	aliases  map[string]string
}

func newQueryShape(r huma.Registry, params []*huma.Param) queryShape {
	q := queryShape{shapes: map[string]*shape.Shape{}, aliases: map[string]string{}}
	for _, p := range params {
		if p.In != "query" {
			continue
		}
		q.shapes[p.Name] = shape.Of(r, p.Schema, nil)
		if p.Required {
			q.required = append(q.required, p.Name)
		}
		if snake := shape.SnakeCase(p.Name); snake != p.Name {
			q.aliases[snake] = p.Name
		}
	}
	return q
}

// Filter is a query parameter that may be left out; huma's own form for this
// cannot tell 0 and false from nothing.
type Filter[T any] struct {
	Value T
	Sent  bool
}

// Receiver is where the parameter's value goes.
func (f *Filter[T]) Receiver() reflect.Value { return reflect.ValueOf(f).Elem().Field(0) }

// OnParamSet notes that there is a value.
func (f *Filter[T]) OnParamSet(sent bool, _ any) { f.Sent = sent }

// Schema is the schema of the value.
func (Filter[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// OrNil is the value, or nil if none was sent.
func (f Filter[T]) OrNil() *T {
	if !f.Sent {
		return nil
	}
	return &f.Value
}

// normalize renames documented parameters to their documented casing and checks
// them, and drops and lists the others. Several values of one parameter mean any
// of them; a parameter that takes one value is refused if it has two.
func (q queryShape) normalize(raw string) (normal string, ignored []string, violations []fault.Field, err error) {
	if raw == "" && len(q.required) == 0 {
		return "", nil, nil, nil
	}
	values, parseErr := url.ParseQuery(raw)
	if parseErr != nil {
		return "", nil, nil, fault.Invalid("query", "", "format", "the query string is not correctly escaped")
	}
	out := url.Values{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		documented, aliased := q.aliases[name]
		if !aliased {
			documented = name
		}
		s, known := q.shapes[documented]
		if !known {
			ignored = append(ignored, name)
			continue
		}
		for _, v := range values[name] {
			if slices.Contains(out[documented], v) {
				continue
			}
			problem := refuseValue(v, len(out[documented]), s.Repeats())
			if problem != nil {
				problem.In, problem.Path = "query", documented
				violations = append(violations, *problem)
				break
			}
			if bad := s.CheckParam("query", documented, v); len(bad) > 0 {
				violations = append(violations, bad...)
				break
			}
			out.Add(documented, v)
		}
	}
	for _, name := range q.required {
		if values.Get(name) == "" && out.Get(name) == "" {
			violations = append(violations, fault.Field{In: "query", Path: name, Code: "required", Message: "is required"})
		}
	}
	return out.Encode(), ignored, violations, nil
}

// maxRepeats bounds how many values a parameter may have.
const maxRepeats = 50

// refuseValue says what is wrong with one more value of a parameter, if
// anything is.
func refuseValue(v string, before int, repeats bool) *fault.Field {
	switch {
	case strings.ContainsRune(v, 0) || !utf8.ValidString(v):
		return &fault.Field{Code: "format", Message: "contains U+0000 or invalid UTF-8: nothing stored can match"}
	case before > 0 && !repeats:
		return &fault.Field{Code: "ambiguous_field", Message: "is given twice with different values"}
	case before >= maxRepeats:
		return &fault.Field{Code: "length", Message: "must be given at most 50 times", Limit: maxRepeats}
	}
	return nil
}

// headerList joins names that a caller sent into a header value that cannot
// break the response: escaped, and cut after a few hundred bytes.
func headerList(names []string) string {
	const limit = 512
	var b strings.Builder
	for _, n := range names {
		escaped := strings.ReplaceAll(url.PathEscape(n), "%2F", "/")
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if b.Len()+len(escaped) > limit {
			b.WriteString("...")
			break
		}
		b.WriteString(escaped)
	}
	return b.String()
}
