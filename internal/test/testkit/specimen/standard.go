package specimen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json"
)

// standard are the specimens of nouns that no area has: those with a name, a list, and the four operations
// on one that most nouns have. The document says how they are called.
var standard = sync.OnceValue(func() (a area) {
	var d described
	if err := json.Unmarshal(document(), &d); err != nil {
		panic("specimen: " + err.Error())
	}
	for path, list := range d.Paths {
		one := d.Paths[path+"/{id}"]
		pascal, ok := strings.CutPrefix(list["post"].ID, "create")
		if !ok || one["get"].ID != "get"+pascal || one["patch"].ID != "update"+pascal || one["delete"].ID != "delete"+pascal {
			continue
		}
		body := d.resolve(list["post"].Body.Content["application/json"].Schema)
		if body.Properties["name"].MinLength != 1 || slices.ContainsFunc(written(), func(o Operation) bool { return o.ID == "create"+pascal }) {
			continue
		}
		noun := spelt(pascal)
		event := func(happened string) string {
			return strings.ReplaceAll(noun, " ", "_") + "." + happened + " " + strings.ReplaceAll(noun, " ", "_")
		}
		a.operations = append(a.operations, Operation{
			ID: "create" + pascal, Route: "POST " + path, Body: d.body(body, "{label}"), Audit: event("created"), Refused: d.body(body, ""), At: "/name",
		}, Operation{
			ID: "update" + pascal, Route: "PATCH " + path + "/{id}", Body: `{"name":"{label}"}`, Audit: event("updated"),
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"Other","expectedVersion":4711}`,
		}, Operation{ID: "delete" + pascal, Route: "DELETE " + path + "/{id}", Audit: event("deleted")})
		a.nouns = append(a.nouns, Noun{Name: noun, Paths: []string{path + "/{id}"}, Made: "create" + pascal, ID: "id", Named: []string{"resourceId"}})
	}
	slices.SortFunc(a.operations, func(x, y Operation) int { return strings.Compare(x.ID, y.ID) })
	slices.SortFunc(a.nouns, func(x, y Noun) int { return strings.Compare(x.Name, y.Name) })
	return a
})

// described is the part of the OpenAPI document that says how an operation is called.
type described struct {
	Paths map[string]map[string]struct {
		ID   string `json:"operationId"`
		Body struct {
			Content map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Examples   []any             `json:"examples"`
	MinLength  int               `json:"minLength"`
}

func (d described) resolve(s schema) schema {
	if s.Ref == "" {
		return s
	}
	return d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
}

// body has what a schema requires, and a name.
func (d described) body(s schema, name string) string {
	fields := map[string]any{}
	for _, field := range s.Required {
		fields[field] = d.resolve(s.Properties[field]).value()
	}
	fields["name"] = name
	text, _ := json.Marshal(fields, json.Deterministic(true))
	return string(text)
}

// value is one that fits the schema.
func (s schema) value() any {
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "object":
		return map[string]any{}
	case s.Type == "array":
		return []any{}
	}
	return "#" // a field of another type needs an example
}

// spelt is a name such as JudgeConfig in words: judge config.
func spelt(pascal string) string {
	var text strings.Builder
	for i, r := range pascal {
		if i > 0 && unicode.IsUpper(r) {
			text.WriteByte(' ')
		}
		text.WriteRune(unicode.ToLower(r))
	}
	return text.String()
}

// document is api/openapi.json, from the folder that runs the test or one above it.
func document() []byte {
	dir, err := os.Getwd()
	for err == nil {
		text, failed := os.ReadFile(filepath.Join(dir, "api", "openapi.json"))
		if failed == nil {
			return text
		}
		if dir == filepath.Dir(dir) {
			err = failed
		}
		dir = filepath.Dir(dir)
	}
	panic("specimen: " + err.Error())
}
