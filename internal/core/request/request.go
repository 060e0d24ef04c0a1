// Package request says what is being asked: the facts about one HTTP request
// that code below the edge may need, without knowing HTTP's machinery.
package request

import (
	"context"
	"net/http"
)

// Info describes the request being served.
type Info struct {
	// ID is the UUID that the response, the log and the error share.
	ID string
	// Operation is the operation's id in the route table, empty before routing.
	Operation string
	// Method and Path are as sent; Path has its parameters filled in.
	Method, Path string
	// IdempotencyKey is the caller's key, empty if there is none.
	IdempotencyKey string
	// Fingerprint identifies the content: two requests with the same
	// operation, query and body have the same one.
	Fingerprint []byte
	// Ignored are the JSON Pointers of members of the body that the operation does
	// not know; at most 50.
	Ignored []string
	// IP is the address that the request came from.
	IP string
	// Header collects response headers until the response is written.
	Header http.Header
}

type contextKey struct{}

// With returns a context that carries the request's facts.
func With(ctx context.Context, i *Info) context.Context {
	return context.WithValue(ctx, contextKey{}, i)
}

// From returns the facts of the request being served. Outside a request it
// returns an empty value that is safe to use.
func From(ctx context.Context) *Info {
	if i, ok := ctx.Value(contextKey{}).(*Info); ok {
		return i
	}
	return &Info{Header: http.Header{}}
}
