package httpapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/core/fault"
)

// Schemas are public names of wire types: the name in the document, and a value
// of the type. Clients are generated from these names, so they are given and
// never derived: moving a Go type renames nothing that others have compiled.
type Schemas map[string]any

// edgeSchemas are the names of the edge's own types.
var edgeSchemas = Schemas{
	"Actor":          Actor{},
	"Deleted":        Deleted[string]{},
	"DeletedInteger": Deleted[int64]{},
	"Error":          Envelope{},
	"ErrorDetail":    ErrorBody{},
	"FieldError":     fault.Field{},
	"Health":         healthBody{},
	"Readiness":      readyBody{},
	"ReadinessCheck": checkState{},
	"Usage":          Usage{},

	"WebhookEvent":     webhookBody{},
	"WebhookEventData": webhookData{},
}

// Name gives types their public names. A domain calls it before it registers
// operations; a struct without a name cannot be part of one.
func (e *Edge) Name(schemas Schemas) {
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		t := reflect.TypeOf(schemas[name])
		if other, ok := e.names[t]; ok && other != name {
			panic(fmt.Sprintf("httpapi: %s has two public names, %s and %s", t, other, name))
		}
		for other, taken := range e.names {
			if taken == name && other != t {
				panic(fmt.Sprintf("httpapi: %s and %s have the same public name, %s", other, t, name))
			}
		}
		e.names[t] = name
	}
}

// schemaName is the public name of a type.
func (e *Edge) schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if name, ok := e.names[t]; ok {
		return name
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if !e.needsName(t) {
		return name
	}
	if t.Name() == "" {
		panic("httpapi: " + hint + " is an anonymous struct; give it a named type and a public name")
	}
	panic(fmt.Sprintf("httpapi: %s has no public name; add it to the Schemas of its domain", t))
}

// needsName reports whether the document would show the type under its name.
// Types that describe themselves are shown in place, and types of tests are
// shown to nobody.
func (e *Edge) needsName(t reflect.Type) bool {
	provider := reflect.TypeFor[huma.SchemaProvider]()
	return t.Kind() == reflect.Struct && !t.Implements(provider) && !reflect.PointerTo(t).Implements(provider) &&
		t.PkgPath() != "time" && t.PkgPath() != "net/url" && !strings.HasSuffix(t.PkgPath(), "_test")
}

// Named puts a schema that a type wrote itself into the document under a public
// name, and refers to it.
func Named(r huma.Registry, name string, s *huma.Schema) *huma.Schema {
	if _, ok := r.Map()[name]; !ok {
		s.PrecomputeMessages()
		r.Map()[name] = s
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}
