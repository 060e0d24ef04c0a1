// Package reference renders the page that describes the interface to people.
package reference

import (
	"bytes"
	"cmp"
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

//go:embed reference.html
var source string

var layout = template.Must(template.New("reference").Parse(source))

// Render makes the reference page out of the OpenAPI document. The same document
// always makes the same page, and the page needs nothing but itself: no script,
// no font, no image.
func Render(document []byte) ([]byte, error) {
	var doc refDocument
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("read openapi for the reference: %w", err)
	}
	page, err := doc.page()
	if err != nil {
		return nil, fmt.Errorf("lay out the reference: %w", err)
	}
	var out bytes.Buffer
	if err := layout.Execute(&out, page); err != nil {
		return nil, fmt.Errorf("render the reference: %w", err)
	}
	return out.Bytes(), nil
}

// The ref types are the parts of the document that the page shows.
type (
	refDocument struct {
		Info struct {
			Title       string `json:"title"`
			Version     string `json:"version"`
			Description string `json:"description"`
		} `json:"info"`
		Servers []struct {
			URL         string `json:"url"`
			Description string `json:"description"`
			Variables   map[string]struct {
				Default string `json:"default"`
			} `json:"variables"`
		} `json:"servers"`
		Tags []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"tags"`
		Paths      map[string]map[string]jsontext.Value `json:"paths"`
		Components struct {
			Schemas         map[string]*refSchema  `json:"schemas"`
			Responses       map[string]refResponse `json:"responses"`
			SecuritySchemes map[string]struct {
				Description string `json:"description"`
			} `json:"securitySchemes"`
		} `json:"components"`
	}
	refOperation struct {
		ID          string                 `json:"operationId"`
		Tags        []string               `json:"tags"`
		Summary     string                 `json:"summary"`
		Description string                 `json:"description"`
		Deprecated  bool                   `json:"deprecated"`
		Parameters  []refParam             `json:"parameters"`
		Body        *refBody               `json:"requestBody"`
		Responses   map[string]refResponse `json:"responses"`
		Security    []map[string][]string  `json:"security"`
		Contract    string                 `json:"x-contract-hash"`
	}
	refParam struct {
		Name        string         `json:"name"`
		In          string         `json:"in"`
		Description string         `json:"description"`
		Required    bool           `json:"required"`
		Example     jsontext.Value `json:"example"`
		Schema      *refSchema     `json:"schema"`
	}
	refBody struct {
		Required bool                `json:"required"`
		Content  map[string]refMedia `json:"content"`
	}
	refResponse struct {
		Ref         string              `json:"$ref"`
		Description string              `json:"description"`
		Content     map[string]refMedia `json:"content"`
		Headers     map[string]struct {
			Ref string `json:"$ref"`
		} `json:"headers"`
	}
	refMedia struct {
		Schema *refSchema `json:"schema"`
	}
)

// The view types are what the template reads.
type (
	pageView struct {
		Title, Version, ErrorExample string
		About, Auth                  []paragraph
		Servers, Errors              []pair
		Scopes                       []string
		Groups                       []groupView
	}
	pair      struct{ Name, Text string }
	groupView struct {
		Name, Anchor string
		About        []paragraph
		Ops          []opView
	}
	opView struct {
		ID, Method, Summary, Scope, Contract, Curl string

		tag, path   string
		Path        []span
		Description []paragraph
		Public      bool
		Deprecated  bool
		Params      []paramView
		Body        *bodyView
		Results     []resultView
		Errors      []string
	}
	paramView struct {
		In    string
		Field fieldView
	}
	bodyView struct {
		Required bool
		Schema   schemaView
	}
	resultView struct {
		Status, Text, Media, Sample string
		Headers                     []string
		Schema                      *schemaView
	}
	// A paragraph is a run of spans, some of them code.
	paragraph []span
	span      struct {
		Text string
		Code bool
	}
)

// pageMethods are the methods of the interface, in the order of the page.
var pageMethods = []string{"get", "post", "put", "patch", "delete"}

func (d *refDocument) page() (pageView, error) {
	p := pageView{
		Title:        d.Info.Title,
		Version:      d.Info.Version,
		About:        prose(d.Info.Description),
		Auth:         prose(d.Components.SecuritySchemes["apiKey"].Description),
		ErrorExample: errorExample(),
	}
	p.Servers = d.servers()
	base := ""
	if len(p.Servers) > 0 {
		base = p.Servers[0].Name
	}
	groups := map[string][]opView{}
	scopes, errs := map[string]bool{}, map[string]string{}
	for _, route := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range pageMethods {
			raw, ok := d.Paths[route][method]
			if !ok {
				continue
			}
			var op refOperation
			if err := json.Unmarshal(raw, &op); err != nil {
				return p, fmt.Errorf("%s %s: %w", method, route, err)
			}
			if op.ID == "" {
				return p, fmt.Errorf("%s %s has no operationId to link to", method, route)
			}
			v := d.operation(op, method, route, base)
			groups[v.tag] = append(groups[v.tag], v)
			for scope := range strings.FieldsSeq(v.Scope) {
				scopes[scope] = !v.Public
			}
			for _, status := range v.Errors {
				errs[status] = cmp.Or(errs[status], d.response(op.Responses[status]).Description)
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(groups)) {
		anchor := "tag-" + strings.Join(strings.Fields(strings.ToLower(tag)), "-")
		g := groupView{Name: tag, Anchor: anchor, Ops: groups[tag]}
		for _, t := range d.Tags {
			if t.Name == tag {
				g.About = prose(t.Description)
			}
		}
		p.Groups = append(p.Groups, g)
	}
	for _, status := range slices.Sorted(maps.Keys(errs)) {
		p.Errors = append(p.Errors, pair{Name: status, Text: errs[status]})
	}
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		if scopes[scope] {
			p.Scopes = append(p.Scopes, scope)
		}
	}
	return p, nil
}

// servers lists the base URLs, with the defaults of their variables.
func (d *refDocument) servers() []pair {
	var out []pair
	for _, s := range d.Servers {
		u := s.URL
		for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
			u = strings.ReplaceAll(u, "{"+name+"}", s.Variables[name].Default)
		}
		out = append(out, pair{Name: u, Text: s.Description})
	}
	return out
}
