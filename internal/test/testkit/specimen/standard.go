package specimen

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/platform/devenv"
)

// schema is the part of a schema of the document that says which values fit.
type schema struct {
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Examples   []any             `json:"examples"`
	MinLength  int               `json:"minLength"`
}

// standard are the specimens of nouns that no area has: those with a name, a list, and the four operations
// on one that most nouns have. The document says how they are called.
var standard = sync.OnceValue(func() (a area) {
	var d struct {
		Paths map[string]map[string]struct {
			ID string `json:"operationId"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	root, err := devenv.Root()
	if err == nil {
		var text []byte
		text, err = os.ReadFile(filepath.Join(root, "api", "openapi.json"))
		err = errors.Join(err, json.Unmarshal(text, &d))
	}
	if err != nil {
		panic("specimen: " + err.Error())
	}
	for path, list := range d.Paths {
		one, pascal := d.Paths[path+"/{id}"], strings.TrimPrefix(list["post"].ID, "create")
		body := d.Components.Schemas["Create"+pascal]
		if one["get"].ID != "get"+pascal || one["patch"].ID != "update"+pascal || one["delete"].ID != "delete"+pascal || body.Properties["name"].MinLength != 1 ||
			slices.ContainsFunc(written(), func(o Operation) bool { return o.ID == "create"+pascal }) {
			continue
		}
		resource := strings.ToLower(hump.ReplaceAllString(pascal, "${1}_${2}"))
		a.operations = append(a.operations, Operation{
			ID: "create" + pascal, Route: "POST " + path, Body: body.example("{label}"), Audit: resource + ".created " + resource,
			Refused: body.example(""), At: "/name",
		}, Operation{
			ID: "update" + pascal, Route: "PATCH " + path + "/{id}", Body: `{"name":"{label}"}`, Audit: resource + ".updated " + resource,
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"Other","expectedVersion":4711}`,
		}, Operation{ID: "delete" + pascal, Route: "DELETE " + path + "/{id}", Audit: resource + ".deleted " + resource})
		a.nouns = append(a.nouns, Noun{
			Name: strings.ReplaceAll(resource, "_", " "), Paths: []string{path + "/{id}"}, Made: "create" + pascal, ID: "id", Named: []string{"resourceId"},
		})
	}
	slices.SortFunc(a.operations, func(x, y Operation) int { return strings.Compare(x.ID, y.ID) })
	slices.SortFunc(a.nouns, func(x, y Noun) int { return strings.Compare(x.Name, y.Name) })
	return a
})

// hump is where a word begins in a name such as JudgeConfig.
var hump = regexp.MustCompile(`([a-z])([A-Z])`)

// example is a body that has what a schema requires, and a name.
func (s schema) example(name string) string {
	fields := map[string]any{}
	for _, field := range s.Required {
		fields[field] = s.Properties[field].value()
	}
	fields["name"] = name
	text, _ := json.Marshal(fields, json.Deterministic(true))
	return string(text)
}

// value is one that fits the schema. A field that is neither a text, a list nor an object needs an example.
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
	return "#"
}
