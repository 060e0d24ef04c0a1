package httpapi

import (
	"reflect"
	"strings"
)

// markVolatile marks the fields of responses that change without an entry in the
// audit log, so that whoever computes a digest knows what to leave out. They have
// the tag volatile:"true", which package change reads.
func (e *Edge) markVolatile(doc map[string]any) {
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for t, name := range e.names {
		schema, ok := schemas[name].(map[string]any)
		if !ok || t.Kind() != reflect.Struct {
			continue
		}
		properties, _ := schema["properties"].(map[string]any)
		for _, f := range reflect.VisibleFields(t) {
			if f.Tag.Get("volatile") != "true" {
				continue
			}
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			properties[field].(map[string]any)["x-volatile"] = true
		}
	}
}
