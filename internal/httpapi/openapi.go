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
var declaredErrors = []struct{ status, name, description string }{
	{"400", "ValidationError", "Parameters or body are not valid; details.fields lists every problem."},
	{"401", "Unauthorized", "The API key is missing, malformed, incomplete, unknown, revoked or expired, or lacks the operation's scope."},
	{"403", "Forbidden", "The key could do this, but not to this target or not in this way."},
	{"404", "NotFound", "The target does not exist in the key's organization."},
	{"409", "Conflict", "The request conflicts with the current state."},
	{"429", "RateLimited", "The key's rate limit is spent; Retry-After says for how long."},
	{"500", "InternalError", "A failure on our side; quote the request id."},
	{"default", "TransportError", "405, 413, 415 and 503, in the same form."},
}

// describe fills the parts of the document that belong to no operation.
func describe(doc *huma.OpenAPI) {
	doc.Info.Description = "Traces, evaluations, judgements, evidence and releases of applications built on language models.\n\n" +
		"Requests take camelCase or snake_case names; responses use snake_case. Every response carries `X-Request-Id`."
	doc.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	doc.Servers = []*huma.Server{
		{URL: "https://{host}", Description: "Production", Variables: map[string]*huma.ServerVariable{
			"host": {Default: "assay.example.com", Description: "Where your organization runs Assay."},
		}},
		{URL: "http://localhost:4318", Description: "Local development"},
	}
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"apiKey": {Type: "http", Scheme: "bearer", Description: "An API key of the organization, sent as `Authorization: Bearer <API key>`."},
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

// schemaName puts the domain before the type's name, so that two domains can
// both have an "item". Types of the edge keep their own names.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && t.Name() == "" {
		panic("httpapi: " + hint + " is an anonymous struct; give it a named type, so that its schema has a name of its own")
	}
	domain := path.Base(t.PkgPath())
	if t.PkgPath() == "" || domain == "httpapi" || domain == "fault" || strings.HasPrefix(strings.ToLower(name), domain) {
		return name
	}
	return strings.ToUpper(domain[:1]) + domain[1:] + name
}

// Seal ends registration and renders the document and its page.
func (e *Edge) Seal() error {
	doc := e.api.OpenAPI()
	var all map[string]any
	raw, err := doc.MarshalJSON()
	if err != nil {
		return fmt.Errorf("render openapi: %w", err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("render openapi: %w", err)
	}
	allowNull(all)
	for _, op := range e.ops {
		item := all["paths"].(map[string]any)[op.Path].(map[string]any)[strings.ToLower(op.Method)].(map[string]any)
		hash, err := contractHash(all, item)
		if err != nil {
			return fmt.Errorf("hash contract of %s: %w", op.ID, err)
		}
		item["x-contract-hash"] = hash
		item["x-source-hash"] = "sha256:" + e.opts.SourceHashes[op.ID]
		item["x-request-validators"] = e.validators(op, item)
	}
	rendered, err := json.Marshal(all, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("render openapi: %w", err)
	}
	e.document = append(rendered, '\n')
	if e.reference, err = renderReference(e.document); err != nil {
		return fmt.Errorf("render reference: %w", err)
	}
	return nil
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

// OpenAPI returns the document that Seal rendered.
func (e *Edge) OpenAPI() []byte { return e.document }

// validators names the schemas that a request of the operation must pass.
func (e *Edge) validators(op Op, item map[string]any) []string {
	names := []string{}
	if params, ok := item["parameters"].([]any); ok && len(params) > 0 {
		if input := e.inputs[op.ID]; input.Name() != "" {
			names = append(names, schemaName(input, op.ID))
		}
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
			target := any(doc)
			for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				target = target.(map[string]any)[part]
			}
			return resolve(doc, target, append(slices.Clone(path), ref))
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
