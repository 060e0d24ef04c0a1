package app_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// The laws of the OpenAPI document: what every area must keep to, so that a
// client that knows one area knows them all. Each law has a seeded violation in
// TestDocumentLawsBite.

const schemaList = "../../../api/schemas.txt"

// TestDocumentKeepsItsLaws holds the committed document against the laws.
func TestDocumentKeepsItsLaws(t *testing.T) {
	t.Parallel()
	require.Empty(t, strings.Join(documentViolations(committedDocument(t)), "\n"))
}

// TestSchemaNamesAreCommitted keeps a rename of a Go type from renaming the
// types of every generated client: the list is edited by hand.
func TestSchemaNamesAreCommitted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(schemaList)
	require.NoError(t, err)
	names := slices.Sorted(maps.Keys(object(committedDocument(t), "components", "schemas")))
	require.Equal(t, strings.Fields(string(text)), names, "api/schemas.txt lists the public names of schemas; a name that disappears breaks clients")
}

func committedDocument(t testing.TB) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../../api/openapi.json")
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(text, &doc))
	return doc
}

// object is the object at a path of names; nil if there is none.
func object(v any, path ...string) map[string]any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	m, _ := v.(map[string]any)
	return m
}

// laws collects violations.
type laws struct {
	doc   map[string]any
	found []string
}

func documentViolations(doc map[string]any) []string {
	l := &laws{doc: doc}
	for _, tag := range list(doc["tags"]) {
		l.described("tag "+fmt.Sprint(tag["name"]), tag)
	}
	responses := map[string]bool{}
	for path, item := range object(doc, "paths") {
		for method, op := range item.(map[string]any) {
			l.operation(strings.ToUpper(method)+" "+path, op.(map[string]any), responses)
		}
	}
	for name, w := range object(doc, "webhooks") {
		l.described("webhook "+name, object(w, "post"))
	}
	for name, h := range object(doc, "components", "headers") {
		l.described("header "+name, h.(map[string]any))
	}
	for name, s := range object(doc, "components", "schemas") {
		l.schema(name, s.(map[string]any), responses["#/components/schemas/"+name])
	}
	slices.Sort(l.found)
	return slices.Compact(l.found)
}

func (l *laws) say(format string, args ...any) {
	l.found = append(l.found, fmt.Sprintf(format, args...))
}

func (l *laws) operation(at string, op map[string]any, responses map[string]bool) {
	l.described(at, op)
	if summary, _ := op["summary"].(string); summary == "" {
		l.say("%s has no summary", at)
	} else {
		l.plain(at, summary)
	}
	for _, p := range list(op["parameters"]) {
		l.described(fmt.Sprintf("%s: parameter %v", at, p["name"]), p)
	}
	if body, ok := object(op, "requestBody", "content")["application/json"].(map[string]any); ok {
		if _, named := object(body, "schema")["$ref"]; !named {
			l.say("%s: the request body has no named schema", at)
		}
	}
	l.list(at, op)
	for status, r := range object(op, "responses") {
		l.reach(r, responses)
		for name, h := range object(r, "headers") {
			if _, ref := h.(map[string]any)["$ref"]; !ref {
				l.described(fmt.Sprintf("%s: header %s", at, name), h.(map[string]any))
			}
		}
		if _, ok := object(r, "headers")["Location"]; status == "201" && !ok {
			l.say("%s answers 201 without Location", at)
		}
	}
}

// counted are the lists that always have a total, because the base of the
// interface promises it. Others count on request.
var counted = []string{"GET /api/evaluations"}

// list asks an operation that returns pages for the ways of all of them.
func (l *laws) list(at string, op map[string]any) {
	body := object(op, "responses", "200", "content", "application/json", "schema")
	if ref, ok := body["$ref"].(string); ok {
		body = object(l.doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	has := map[string]bool{}
	for _, p := range list(op["parameters"]) {
		has[fmt.Sprint(p["name"])] = true
	}
	_, next := object(body, "properties")["next_cursor"]
	if body == nil || !has["limit"] && !next {
		return
	}
	for _, name := range []string{"limit", "offset", "cursor", "includeTotal"} {
		if !has[name] {
			l.say("%s is a list without the parameter %s", at, name)
		}
	}
	if !next {
		l.say("%s is a list without next_cursor", at)
	}
	want := []string{"integer", "null"}
	if slices.Contains(counted, at) {
		want = want[:1]
	}
	if got := slices.Sorted(slices.Values(texts(object(body, "properties", "total")["type"]))); !slices.Equal(got, want) {
		l.say("%s is a list whose total has the type %v, and not %v", at, got, want)
	}
}

// reach notes the schemas that a response leads to.
func (l *laws) reach(v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !into[ref] {
			into[ref] = true
			l.reach(object(l.doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), into)
		}
		for _, e := range v {
			l.reach(e, into)
		}
	case []any:
		for _, e := range v {
			l.reach(e, into)
		}
	}
}

// vocabularies are the fields whose values a client switches on.
var vocabularies = regexp.MustCompile(`^(status|phase|mode|kind|role|plan|purpose|split|primitive_type|verdict|better|level|scopes)$`)

func (l *laws) schema(at string, s map[string]any, response bool) {
	required := texts(s["required"])
	for name, p := range object(s, "properties") {
		property, here := p.(map[string]any), at+"."+name
		l.described(here, property)
		l.schema(here, property, response)
		if !response {
			continue
		}
		if !slices.Contains(required, name) {
			l.say("%s may be absent from a response: send null instead", here)
		}
		if (name == "id" || strings.HasSuffix(name, "_id")) && property["type"] == nil {
			l.say("%s is neither a string nor an integer", here)
		}
		if vocabularies.MatchString(name) && slices.Contains(texts(property["type"]), "string") && property["enum"] == nil {
			l.say("%s does not list its values", here)
		}
		if items := object(property, "items"); vocabularies.MatchString(name) && items["type"] == "string" && items["enum"] == nil {
			l.say("%s does not list its values", here)
		}
		if property["additionalProperties"] == false {
			l.say("%s is closed to new fields", here)
		}
	}
	if items := object(s, "items"); items != nil {
		l.schema(at+"[]", items, response)
	}
	if response && s["additionalProperties"] == false {
		l.say("%s is closed to new fields", at)
	}
}

// described asks for a description in plain English.
func (l *laws) described(at string, of map[string]any) {
	text, _ := of["description"].(string)
	if text == "" {
		l.say("%s has no description", at)
		return
	}
	l.plain(at, text)
}

// idioms are turns of phrase that no native speaker would write here.
var idioms = regexp.MustCompile(`(?i)\b(is|are|was) no [a-z]+|\btold\b|\bfor ever\b|\bbeside\b|\bsaid of\b|\bsomebody\b|\bnobody\b|\bpromised\b`)

func (l *laws) plain(at, text string) {
	if found := idioms.FindString(text); found != "" {
		l.say("%s is not plain English: %q", at, found)
	}
}

func list(v any) (out []map[string]any) {
	all, _ := v.([]any)
	for _, e := range all {
		out = append(out, e.(map[string]any))
	}
	return out
}

// texts are the strings of a value that is a string or a list of them.
func texts(v any) (out []string) {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	all, _ := v.([]any)
	for _, e := range all {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func TestDocumentLawsBite(t *testing.T) {
	t.Parallel()
	const good = `{
	  "tags": [{"name": "Things", "description": "Things."}],
	  "paths": {"/things": {"get": {
	    "summary": "List things", "description": "Lists them.",
	    "parameters": [
	      {"name": "limit", "description": "Maximum."}, {"name": "offset", "description": "Skipped."},
	      {"name": "cursor", "description": "Place."}, {"name": "includeTotal", "description": "Counts."}],
	    "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ThingList"}}}}}},
	  "post": {
	    "summary": "Create a thing", "description": "Creates it.",
	    "parameters": [{"name": "strict", "description": "Strictness."}],
	    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/CreateThing"}}}},
	    "responses": {"201": {"headers": {"Location": {"description": "Where it is."}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}}},
	  "webhooks": {"thing.created": {"post": {"description": "A thing was created."}}},
	  "components": {
	    "headers": {"X-Request-Id": {"description": "Its id."}},
	    "schemas": {
	      "ThingList": {"required": ["next_cursor", "total"], "properties": {
	        "next_cursor": {"description": "The next page.", "type": ["string", "null"]},
	        "total": {"description": "All of them.", "type": ["integer", "null"]}}},
	      "CreateThing": {"properties": {"name": {"description": "Its name.", "type": "string"}}},
	      "Thing": {"required": ["id", "status"], "properties": {
	        "id": {"description": "Its id.", "type": "string"},
	        "status": {"description": "Its status.", "type": ["string", "null"], "enum": ["open"]}}}}}}`
	violations := func(t *testing.T, old, seeded string) []string {
		t.Helper()
		require.Contains(t, good, old)
		var doc map[string]any
		require.NoError(t, json.Unmarshal([]byte(strings.Replace(good, old, seeded, 1)), &doc))
		return documentViolations(doc)
	}
	require.Empty(t, violations(t, "", ""))
	for seeded, c := range map[string]struct{ old, new, says string }{
		"a tag":                     {`"description": "Things."`, `"x": ""`, "tag Things has no description"},
		"an operation":              {`"description": "Creates it.",`, ``, "POST /things has no description"},
		"a webhook":                 {`"description": "A thing was created."`, `"x": 1`, "webhook thing.created has no description"},
		"a summary":                 {`"summary": "Create a thing",`, ``, "POST /things has no summary"},
		"a parameter":               {`"description": "Strictness."`, `"in": "query"`, "POST /things: parameter strict has no description"},
		"a list without a limit":    {`{"name": "limit", "description": "Maximum."}, `, ``, "GET /things is a list without the parameter limit"},
		"a list without a cursor":   {`{"name": "cursor", "description": "Place."}, `, ``, "GET /things is a list without the parameter cursor"},
		"a list that always counts": {`"total": {"description": "All of them.", "type": ["integer", "null"]}`, `"total": {"description": "All of them.", "type": "integer"}`, "GET /things is a list whose total has the type [integer], and not [integer null]"},
		"a list that ends":          {`"next_cursor": {"description": "The next page.", "type": ["string", "null"]},`, ``, "GET /things is a list without next_cursor"},
		"a header":                  {`"description": "Where it is."`, `"x": 1`, "POST /things: header Location has no description"},
		"a shared header":           {`"X-Request-Id": {"description": "Its id."}`, `"X-Request-Id": {}`, "header X-Request-Id has no description"},
		"a property":                {`"description": "Its name.", `, ``, "CreateThing.name has no description"},
		"a body without a name":     {`{"$ref": "#/components/schemas/CreateThing"}`, `{"type": "object"}`, "POST /things: the request body has no named schema"},
		"201 without Location":      {`"headers": {"Location": {"description": "Where it is."}}, `, ``, "POST /things answers 201 without Location"},
		"an absent field":           {`"required": ["id", "status"], `, `"required": ["id"], `, "Thing.status may be absent from a response: send null instead"},
		"an id of two types":        {`"description": "Its id.", "type": "string"`, `"description": "Its id.", "oneOf": []`, "Thing.id is neither a string nor an integer"},
		"an open vocabulary":        {`, "enum": ["open"]`, ``, "Thing.status does not list its values"},
		"a closed response":         {`"Thing": {"required"`, `"Thing": {"additionalProperties": false, "required"`, "Thing is closed to new fields"},
		"an idiom in a description": {`Its name.`, `Nobody is told its name.`, `CreateThing.name is not plain English: "Nobody"`},
		"an idiom in a summary":     {`Create a thing`, `Say what is no thing`, `POST /things is not plain English: "is no thing"`},
	} {
		t.Run(seeded, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, []string{c.says}, violations(t, c.old, c.new))
		})
	}
}
