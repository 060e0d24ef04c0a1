package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/test/testkit"
)

// document is the committed OpenAPI document.
type document struct {
	all map[string]any

	mu       sync.Mutex // a compiler is for one goroutine; what it compiled is for many
	compiler *jsonschema.Compiler
}

// docOperation is an operation as the document has it.
type docOperation struct {
	pointer string
	params  []docParam
	body    map[string]any // the schema of the body, nil if there is none
	all     map[string]any
}

type docParam struct {
	in, name string
	schema   map[string]any
}

func readDocument(t *testing.T) *document {
	t.Helper()
	text, err := os.ReadFile("../../../api/openapi.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	d := &document{all: value.(map[string]any), compiler: jsonschema.NewCompiler()}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	require.NoError(t, d.compiler.AddResource("openapi.json", value))
	return d
}

func (d *document) operation(t *testing.T, op httpapi.Op) *docOperation {
	t.Helper()
	item, ok := d.all["paths"].(map[string]any)[op.Path].(map[string]any)
	require.True(t, ok, "%s is not in api/openapi.json: run make gen", op.Path)
	o, ok := item[strings.ToLower(op.Method)].(map[string]any)
	require.True(t, ok, "%s is not in api/openapi.json: run make gen", op.ID)
	out := &docOperation{all: o, pointer: pointer("paths", op.Path, strings.ToLower(op.Method))}
	list, _ := o["parameters"].([]any)
	for _, p := range list {
		m := p.(map[string]any)
		out.params = append(out.params, docParam{m["in"].(string), m["name"].(string), d.resolve(m["schema"].(map[string]any))})
	}
	if body, ok := o["requestBody"].(map[string]any); ok {
		out.body = body["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
	}
	return out
}

// pointer is a JSON Pointer as a URL fragment.
func pointer(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(p)))
	}
	return b.String()
}

// resolve follows a reference.
func (d *document) resolve(schema map[string]any) map[string]any {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return schema
	}
	return d.all["components"].(map[string]any)["schemas"].(map[string]any)[path.Base(ref)].(map[string]any)
}

// response is the schema of an answer, nil if it is not JSON.
func (d *document) response(t *testing.T, op *docOperation, status int) *jsonschema.Schema {
	t.Helper()
	key := strconv.Itoa(status)
	responses := op.all["responses"].(map[string]any)
	if _, ok := responses[key]; !ok {
		key = "default"
	}
	require.Contains(t, responses, key)
	at := op.pointer + pointer("responses", key)
	r := responses[key].(map[string]any)
	if ref, ok := r["$ref"].(string); ok {
		at = strings.TrimPrefix(ref, "#")
		r = d.all["components"].(map[string]any)["responses"].(map[string]any)[path.Base(ref)].(map[string]any)
	}
	if _, ok := r["content"].(map[string]any)["application/json"]; !ok {
		return nil
	}
	return d.compile(t, at+pointer("content", "application/json", "schema"))
}

// envelope is the form of error answers, of raw operations or of all others.
func (d *document) envelope(t *testing.T, raw bool) *jsonschema.Schema {
	t.Helper()
	if raw {
		return d.compile(t, pointer("components", "schemas", "OtlpError"))
	}
	return d.compile(t, pointer("components", "schemas", "Error"))
}

// compile makes the schema at a pointer ready to check with; tests that run side by side share it.
func (d *document) compile(t *testing.T, at string) *jsonschema.Schema {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.compiler.Compile("openapi.json#" + at)
	require.NoError(t, err)
	return s
}

// sample makes a small value that a schema accepts.
func (d *document) sample(schema map[string]any) any {
	s := d.resolve(schema)
	if list, ok := s["examples"].([]any); ok {
		return list[0]
	}
	if list, ok := s["enum"].([]any); ok {
		return list[0]
	}
	if list, ok := s["oneOf"].([]any); ok {
		return d.sample(list[0].(map[string]any))
	}
	switch types(s)[0] {
	case "object":
		out := map[string]any{}
		required, _ := s["required"].([]any)
		for _, name := range required {
			out[name.(string)] = d.sample(s["properties"].(map[string]any)[name.(string)].(map[string]any))
		}
		return out
	case "array":
		least, _ := s["minItems"].(json.Number)
		n, _ := strconv.Atoi(least.String())
		out := []any{}
		for range n {
			out = append(out, d.sample(s["items"].(map[string]any)))
		}
		return out
	case "integer", "number":
		if low, ok := s["minimum"]; ok {
			return low
		}
		return 1
	case "boolean":
		return true
	}
	switch s["format"] {
	case "date-time":
		return "2026-01-31T12:00:00.000Z"
	case "uuid":
		return "018f2f6e-7c4e-7cc0-8000-000000000000"
	}
	return "sample text"
}

// types are the JSON types that a schema allows; a free-form schema has the
// one type "any".
func types(s map[string]any) []string {
	switch v := s["type"].(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, e.(string))
		}
		return out
	}
	return []string{"any"}
}

// walk calls every operation once as it is meant to be called, what deletes
// last, and then in a few wrong ways; each answer must match the document.
func walk(t *testing.T, k *testkit.Kit, d *document) {
	t.Helper()
	c := person(t, k)
	ops := operations(t, k, c, d)
	order := []string{http.MethodPut, http.MethodPatch, http.MethodGet, http.MethodPost, http.MethodDelete}
	final := func(o operation) bool { return o.ID == "deleteOrganization" } // after which the organization is of no more use
	slices.SortStableFunc(ops, func(a, b operation) int {
		if final(a) != final(b) {
			return map[bool]int{true: 1, false: -1}[final(a)]
		}
		methodA, pathA := a.deletes()
		methodB, pathB := b.deletes()
		if methodA != methodB {
			return slices.Index(order, methodA) - slices.Index(order, methodB)
		}
		return len(pathB) - len(pathA)
	})
	for _, op := range ops {
		for _, p := range namesOf(d, op) {
			require.Regexp(t, snake, p, "%s: response names are snake_case", op.ID)
		}
		if op.before != nil {
			op.before(t, c)
		}
		send(t, c, d, op, op.Status, op.path+op.query, op.body)
		if !op.public() {
			send(t, &testkit.Client{}, d, op, http.StatusUnauthorized, k.URL+op.path, op.body)
		}
		if op.body != nil {
			broken := `{"a":1,"a":2}`
			if op.raw() {
				broken = `{`
			}
			send(t, c, d, op, http.StatusBadRequest, op.path, []byte(broken))
			send(t, c, d, op, http.StatusUnsupportedMediaType, op.path, op.body, testkit.Header("Content-Type", "text/plain"))
		}
		if op.path != op.Path {
			send(t, c, d, op, http.StatusNotFound, regexp.MustCompile(`\{[^}]+\}`).ReplaceAllString(op.Path, "999999999")+op.query, op.body)
		}
	}
}

// deletes are the method and the path of an operation; one that deletes many with
// POST counts as a DELETE of their collection.
func (o operation) deletes() (method, path string) {
	if collection, ok := strings.CutSuffix(o.path, "/delete"); ok && o.Method == http.MethodPost {
		return http.MethodDelete, collection
	}
	return o.Method, o.path
}

func send(t *testing.T, c *testkit.Client, d *document, op operation, status int, target string, body []byte, opts ...testkit.Option) {
	t.Helper()
	res, err := c.Send(t.Context(), op.Method, target, bodyReader(body), opts...)
	require.NoError(t, err)
	require.Equal(t, status, res.Status, "%s: %s", op.ID, res.Body)
	require.Regexp(t, requestID, res.Header.Get("X-Request-Id"))
	schema := d.response(t, op.doc, status)
	if schema == nil {
		return
	}
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(res.Body))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value), "%s %d: %s", op.ID, status, res.Body)
	checkTimes(t, value)
	for _, at := range d.empty(d.success(op, status), value, "") {
		t.Errorf("%s: %s is empty, and should be null", op.ID, at)
	}
	if status == http.StatusCreated {
		found, err := c.Send(t.Context(), http.MethodGet, res.Header.Get("Location"), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, found.Status, "%s: Location leads to what was made: %q", op.ID, res.Header.Get("Location"))
	}
}

// success is the schema of an operation's success as the document has it; nil
// for other statuses.
func (d *document) success(op operation, status int) any {
	r, _ := op.doc.all["responses"].(map[string]any)[strconv.Itoa(status)].(map[string]any)
	content, _ := r["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	return media["schema"]
}

// empty lists the documented strings of a response that are "": what has no
// value is null. Free-form values are the caller's own.
func (d *document) empty(schema, value any, at string) (found []string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	s = d.resolve(s)
	forms, _ := s["oneOf"].([]any)
	for _, form := range forms {
		found = append(found, d.empty(form, value, at)...)
	}
	switch v := value.(type) {
	case string:
		if v == "" && slices.Contains(types(s), "string") {
			found = append(found, at)
		}
	case map[string]any:
		props, _ := s["properties"].(map[string]any)
		for name, p := range props {
			found = append(found, d.empty(p, v[name], at+"/"+name)...)
		}
	case []any:
		for i, e := range v {
			found = append(found, d.empty(s["items"], e, at+"/"+strconv.Itoa(i))...)
		}
	}
	return found
}

func TestEmptyStringsAreFound(t *testing.T) {
	t.Parallel()
	d := &document{all: map[string]any{"components": map[string]any{"schemas": map[string]any{
		"Thing": map[string]any{"properties": map[string]any{"name": map[string]any{"type": []any{"string", "null"}}, "metadata": map[string]any{"type": "object"}}},
	}}}}
	things := map[string]any{"type": "array", "items": map[string]any{"oneOf": []any{map[string]any{"$ref": "#/components/schemas/Thing"}, map[string]any{"type": "null"}}}}
	value := []any{nil, map[string]any{"name": "x", "metadata": map[string]any{"name": ""}}, map[string]any{"name": ""}}
	require.Equal(t, []string{"/2/name"}, d.empty(things, value, ""))
}

var (
	snake     = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	requestID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	millis    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
)

// checkTimes looks at every name that says it is a time.
func checkTimes(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if text, ok := e.(string); ok && strings.HasSuffix(name, "_at") {
				require.Regexp(t, millis, text, name)
			}
			checkTimes(t, e)
		}
	case []any:
		for _, e := range v {
			checkTimes(t, e)
		}
	}
}

// namesOf lists the documented names of the operation's success response.
func namesOf(d *document, op operation) []string {
	var names []string
	seen := map[string]bool{}
	var visit func(v any)
	visit = func(v any) {
		s, ok := v.(map[string]any)
		if !ok {
			return
		}
		if ref, ok := s["$ref"].(string); ok {
			if seen[ref] {
				return
			}
			seen[ref] = true
			s = d.resolve(s)
		}
		props, _ := s["properties"].(map[string]any)
		for name, p := range props {
			names = append(names, name)
			visit(p)
		}
		visit(s["items"])
	}
	r := op.doc.all["responses"].(map[string]any)[strconv.Itoa(op.Status)].(map[string]any)
	content, _ := r["content"].(map[string]any)
	for _, media := range content {
		visit(media.(map[string]any)["schema"])
	}
	return names
}
