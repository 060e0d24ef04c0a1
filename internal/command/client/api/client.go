// Package api has the HTTP interface as Go types and methods, generated from
// api/openapi.json. It has no transport of its own: its users decide how requests
// are sent and repeated, and what a refusal becomes.
//
// Files ending in _gen.go are generated. Streams, files and OTLP have no method.
package api

import (
	"context"
	"net/http"
	"net/url"
)

// Option changes one request.
type Option func(*http.Request)

// Caller sends one request and decodes the response into out. A response other
// than a success is an error.
type Caller func(ctx context.Context, method, path string, in, out any, opts []Option) error

// Client has a method for each operation.
type Client struct{ Send Caller }

func (c Client) call(ctx context.Context, method, path string, query url.Values, in, out any, opts []Option) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.Send(ctx, method, path, in, out, opts)
}

// Value is the value of a field that may be null or absent: the zero value if it
// is.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
