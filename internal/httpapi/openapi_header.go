package httpapi

import (
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
)

// headers are the response headers that operations share. Those of one
// operation alone are fields of its output.
var headers = map[string]struct{ kind, description string }{
	"Allow":                 {"string", "The methods that the route takes; sent with 405."},
	"Idempotent-Replayed":   {"string", "true if this is the response to an earlier request with the same Idempotency-Key; otherwise absent."},
	"RateLimit":             {"string", "What is left of the key's limit, for example \"hour\";r=99;t=3600."},
	"RateLimit-Policy":      {"string", "The key's limit, for example \"hour\";q=100;w=3600."},
	"Retry-After":           {"integer", "Seconds to wait before the next attempt; absent if waiting does not help."},
	"WWW-Authenticate":      {"string", "The reason why the credential was refused, as RFC 6750 defines it."},
	"X-Ignored-Fields":      {"string", "Body fields that the operation does not know and has ignored; absent if there are none."},
	"X-Ignored-Params":      {"string", "Query parameters that the operation does not know and has ignored; absent if there are none."},
	"X-RateLimit-Limit":     {"integer", "Requests that the key may make in an hour."},
	"X-RateLimit-Remaining": {"integer", "Requests that the key may still make now."},
	"X-RateLimit-Reset":     {"integer", "Seconds until the whole limit is available again."},
	"X-Request-Id":          {"string", "The request id (a UUID); include it when you ask for help."},
}

// quotaNames are the headers that say where a key stands.
var quotaNames = []string{"RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}

// declareHeaders adds the shared headers to every response of the document.
func (e *Edge) declareHeaders(doc map[string]any) {
	components := doc["components"].(map[string]any)
	declared := map[string]any{}
	for name, h := range headers {
		declared[name] = map[string]any{"description": h.description, "schema": map[string]any{"type": h.kind}}
	}
	components["headers"] = declared
	responses := components["responses"].(map[string]any)
	for _, prefix := range append([]string{""}, e.errorPrefixes...) {
		for _, d := range declaredErrors {
			if r, ok := responses[prefix+d.name].(map[string]any); ok {
				refer(r, append(slices.Concat([]string{"X-Request-Id"}, quotaNames), d.headers...))
			}
		}
	}
	for _, op := range e.ops {
		item := operation(doc, op)
		all := item["responses"].(map[string]any)
		for _, status := range []int{op.Status, op.RepeatStatus} {
			if r, ok := all[strconv.Itoa(status)].(map[string]any); ok {
				describeOwn(r)
				refer(r, op.headers(item["requestBody"] != nil))
			}
		}
	}
}

// describeOwn moves the descriptions of an operation's own headers to where
// documents have them; the framework leaves them in the schemas.
func describeOwn(response map[string]any) {
	own, _ := response["headers"].(map[string]any)
	for _, h := range own {
		header := h.(map[string]any)
		schema, _ := header["schema"].(map[string]any)
		if text, ok := schema["description"]; ok {
			header["description"] = text
			delete(schema, "description")
		}
	}
}

// headers are the shared headers of a success.
func (op Op) headers(takesBody bool) []string {
	names := []string{"X-Request-Id", "X-Ignored-Params"}
	if op.Scope != principal.Public && !op.Metered {
		names = append(names, quotaNames...)
	}
	if op.Mutates() {
		names = append(names, "Idempotent-Replayed")
	}
	if takesBody && !op.Raw {
		names = append(names, "X-Ignored-Fields")
	}
	return names
}

// refer gives a response the headers.
func refer(response map[string]any, names []string) {
	into, ok := response["headers"].(map[string]any)
	if !ok {
		into = map[string]any{}
		response["headers"] = into
	}
	for _, name := range names {
		into[name] = map[string]any{"$ref": "#/components/headers/" + name}
	}
}
