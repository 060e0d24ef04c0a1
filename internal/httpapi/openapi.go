package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// declaredErrors are the responses that every operation declares, by status.
var declaredErrors = []struct {
	status, name, description string
	headers                   []string // in addition to those of every response
}{
	{"400", "ValidationError", "The parameters or the body are invalid; details.fields lists every problem.", nil},
	{"401", "Unauthorized", "The API key is missing, malformed, incomplete, unknown, revoked or expired, or lacks a scope that the operation needs.", []string{"WWW-Authenticate"}},
	{"403", "Forbidden", "The key has the scope, but a rule forbids this request.", nil},
	{"404", "NotFound", "The resource does not exist in the key's organization.", nil},
	{"409", "Conflict", "The request conflicts with the current state of the resource.", []string{"Retry-After"}},
	{"429", "RateLimited", "The key has reached its rate limit.", []string{"Retry-After"}},
	{"500", "InternalError", "The server failed; contact support with the request id.", nil},
	{"default", "TransportError", "405 method not allowed, 413 body too large, 415 unsupported media type or 503 unavailable, in the same form.", []string{"Retry-After", "Allow"}},
}

// tagOperations is the area of the edge's own operations.
const tagOperations = "Operations"

// describe fills the parts of the document that belong to no operation.
func describe(doc *huma.OpenAPI) {
	doc.Info.Description = "Datasets, traces and evaluations of applications built on language models.\n\n" +
		"Requests accept field names in camelCase or snake_case; responses use snake_case. A field without a value is null, never absent. " +
		"Responses may gain fields, and enumerations may gain values, without notice."
	doc.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	doc.Servers = []*huma.Server{
		{URL: "https://{host}", Description: "Production", Variables: map[string]*huma.ServerVariable{
			"host": {Default: "assay.example.com", Description: "The host that your organization runs Assay on."},
		}},
		{URL: "http://localhost:4318", Description: "Local development"},
	}
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"apiKey": {Type: "http", Scheme: "bearer", Description: "An API key, sent as `Authorization: Bearer <API key>`. Basic authentication with the key as the password works too."},
	}
	errorSchema := doc.Components.Schemas.Schema(reflect.TypeFor[Envelope](), true, "Error")
	doc.Components.Responses = map[string]*huma.Response{}
	for _, e := range declaredErrors {
		doc.Components.Responses[e.name] = &huma.Response{
			Description: e.description,
			Content:     map[string]*huma.MediaType{"application/json": {Schema: errorSchema}},
		}
	}
}

// declareErrors replaces the framework's idea of an operation's errors.
func declareErrors(_ *huma.OpenAPI, op *huma.Operation) {
	delete(op.Responses, "422")
	referToErrors(op, "")
}

// referToErrors gives an operation the errors whose names have the prefix.
func referToErrors(op *huma.Operation, prefix string) {
	for _, e := range declaredErrors {
		op.Responses[e.status] = &huma.Response{Ref: "#/components/responses/" + prefix + e.name}
	}
}

// Seal ends registration. The document and its page are rendered when somebody
// first asks for them: that takes longer than everything else at a start.
func (e *Edge) Seal() { e.sealed = true }

// documents are rendered once.
func (e *Edge) documents() documents {
	d, err := e.rendered()
	if err != nil {
		panic("httpapi: " + err.Error())
	}
	return d
}

// render makes the document and its page.
func (e *Edge) render() (d documents, err error) {
	doc := e.api.OpenAPI()
	var all map[string]any
	raw, err := doc.MarshalJSON()
	if err != nil {
		return d, fmt.Errorf("render openapi: %w", err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return d, fmt.Errorf("render openapi: %w", err)
	}
	allowNull(all)
	e.openResponses(all)
	e.declareHeaders(all)
	e.markVolatile(all)
	all["tags"] = e.renderTags()
	for _, op := range e.ops {
		item := operation(all, op)
		hash, err := contractHash(all, item)
		if err != nil {
			return d, fmt.Errorf("hash contract of %s: %w", op.ID, err)
		}
		item["x-contract-hash"] = hash
		item["x-source-hash"] = "sha256:" + e.opts.SourceHashes[op.ID]
		item["x-request-validators"] = validators(op, item)
	}
	rendered, err := json.Marshal(all, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return d, fmt.Errorf("render openapi: %w", err)
	}
	d.openAPI = append(rendered, '\n')
	if e.opts.Reference == nil {
		return d, nil
	}
	if d.reference, err = e.opts.Reference(d.openAPI); err != nil {
		return d, fmt.Errorf("render reference: %w", err)
	}
	return d, nil
}

// allowNull adds null to the list of values of every schema that takes null:
// JSON Schema asks for both, and the framework writes only the type.
func allowNull(v any) {
	switch v := v.(type) {
	case map[string]any:
		types, _ := v["type"].([]any)
		values, _ := v["enum"].([]any)
		if values != nil && slices.Contains(types, any("null")) && !slices.Contains(values, nil) {
			v["enum"] = append(values, nil)
		}
		for _, e := range v {
			allowNull(e)
		}
	case []any:
		for _, e := range v {
			allowNull(e)
		}
	}
}

// OpenAPI returns the document of a sealed edge. It panics if an operation's
// types cannot be described, as registering them does.
func (e *Edge) OpenAPI() []byte { return e.documents().openAPI }

// renderTags are the areas that have operations, with their descriptions.
func (e *Edge) renderTags() []any {
	used := map[string]any{}
	for _, op := range e.ops {
		used[op.Tag] = e.tags[op.Tag]
	}
	out := []any{}
	for _, name := range sortedKeys(used) {
		out = append(out, map[string]any{"name": name, "description": used[name]})
	}
	return out
}

// operation is the rendered operation of a row.
func operation(doc map[string]any, op Op) map[string]any {
	return doc["paths"].(map[string]any)[op.Path].(map[string]any)[strings.ToLower(op.Method)].(map[string]any)
}

// openResponses lets clients accept fields that later versions add: every schema
// that a response uses is open. So are those of requests that ignore unknown
// fields; only strict operations refuse them, and say so.
func (e *Edge) openResponses(doc map[string]any) {
	var strict, open []string
	for _, op := range e.ops {
		item := operation(doc, op)
		reach(doc, item["responses"], &open)
		if op.Strict {
			reach(doc, item["requestBody"], &strict)
		}
	}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for name, s := range schemas {
		ref := "#/components/schemas/" + name
		if !slices.Contains(strict, ref) || slices.Contains(open, ref) {
			openUp(s)
		}
	}
}

// openUp removes the mark of closed objects from a schema and all that is
// written in place inside it.
func openUp(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["additionalProperties"] == false {
			delete(v, "additionalProperties")
		}
		for _, e := range v {
			openUp(e)
		}
	case []any:
		for _, e := range v {
			openUp(e)
		}
	}
}

// reach collects every reference that a part of the document leads to.
func reach(doc map[string]any, v any, into *[]string) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !slices.Contains(*into, ref) {
			*into = append(*into, ref)
			reach(doc, lookUp(doc, ref), into)
		}
		for _, e := range v {
			reach(doc, e, into)
		}
	case []any:
		for _, e := range v {
			reach(doc, e, into)
		}
	}
}

// lookUp is what a reference refers to.
func lookUp(doc map[string]any, ref string) any {
	target := any(doc)
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		target = target.(map[string]any)[part]
	}
	return target
}

// validators names what checks a request: the operation's parameters, and the
// schemas of its body.
func validators(op Op, item map[string]any) []string {
	names := []string{}
	if params, ok := item["parameters"].([]any); ok && len(params) > 0 {
		names = append(names, strings.ToUpper(op.ID[:1])+op.ID[1:]+"Parameters")
	}
	collectRefs(item["requestBody"], &names)
	return names
}

func collectRefs(v any, into *[]string) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			if name := path.Base(ref); !slices.Contains(*into, name) {
				*into = append(*into, name)
			}
		}
		for _, k := range sortedKeys(v) {
			collectRefs(v[k], into)
		}
	case []any:
		for _, e := range v {
			collectRefs(e, into)
		}
	}
}

// contractHash is the SHA-256 of the operation object in canonical form,
// without vendor extensions and with every reference replaced by what it
// refers to, so that it changes when a schema that the operation uses does.
func contractHash(doc, op map[string]any) (string, error) {
	value, err := json.Marshal(resolve(doc, op, nil))
	if err != nil {
		return "", err
	}
	canonical := jsontext.Value(value)
	if err := canonical.Canonicalize(); err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func resolve(doc map[string]any, v any, path []string) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			if slices.Contains(path, ref) {
				return ref // a type that contains itself
			}
			return resolve(doc, lookUp(doc, ref), append(slices.Clone(path), ref))
		}
		out := map[string]any{}
		for k, e := range v {
			if !strings.HasPrefix(k, "x-") {
				out[k] = resolve(doc, e, path)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = resolve(doc, e, path)
		}
		return out
	}
	return v
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func findOperation(doc *huma.OpenAPI, method, path string) *huma.Operation {
	item := doc.Paths[path]
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	}
	panic("httpapi: method " + method + " is not used by this interface")
}
