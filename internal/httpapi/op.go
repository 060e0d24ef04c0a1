package httpapi

import (
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
)

// Op is one row of the route table. Router, OpenAPI, reference page and the
// tests that walk every operation all come from these rows, and Register and
// Handle are the only ways to add one: a route outside the table cannot exist.
type Op struct {
	ID          string // camelCase verb and noun, unique
	Method      string
	Path        string
	Tag         string // the area of the interface, for documents
	Summary     string // a short line
	Description string // what a caller must know beyond the types

	// Scope is the one scope that a key needs. principal.Public needs no key.
	Scope principal.Scope
	// Also is a second scope that a key needs, for operations that copy from one
	// scope's data into another's.
	Also principal.Scope
	// Status is the success status.
	Status int
	// RepeatStatus is the success status of a repetition that changes nothing,
	// zero if it is Status. The output then has a field Status.
	RepeatStatus int
	// BodyLimit bounds the decompressed body; zero means DefaultBodyLimit.
	BodyLimit int64
	// Strict refuses unknown body fields instead of ignoring them; governance
	// writes use it, where a misspelt field must not pass in silence.
	Strict bool
	// OptionalBody allows the body to be absent.
	OptionalBody bool
	// Repeatable marks a write that has the same effect however often it is
	// made, such as telemetry; it takes no Idempotency-Key.
	Repeatable bool
	// Annotators lets members whose role is annotator call a write.
	Annotators bool
	// Person lets only people call, as principal.Caller.InPerson has it. An input that
	// is InPerson says for which contents this holds.
	Person bool
	// ContentType of the response, if it is not JSON; */* if it depends on the
	// resource.
	ContentType string
	// Metered leaves the operation out of the hourly limit of requests: its
	// handler measures what it takes in, and refuses with a RateLimited fault.
	Metered bool
	// Raw marks an operation that reads its body itself; Handle sets it.
	Raw bool
}

// Mutates reports whether the operation takes an Idempotency-Key.
func (op Op) Mutates() bool {
	return op.Method != http.MethodGet && !op.Raw && !op.Repeatable
}

// route is what the router matches.
func (op Op) route() string { return op.Method + " " + op.Path }

// scopes are the scopes that a key needs.
func (op Op) scopes() []principal.Scope {
	if op.Also == "" {
		return []principal.Scope{op.Scope}
	}
	return []principal.Scope{op.Scope, op.Also}
}

// security is what the document says about the key that the operation needs.
func (op Op) security() []map[string][]string {
	if op.Scope == principal.Public {
		return nil
	}
	scopes := []string{}
	for _, s := range op.scopes() {
		if s != principal.AnyKey {
			scopes = append(scopes, string(s))
		}
	}
	return []map[string][]string{{"apiKey": scopes}}
}
