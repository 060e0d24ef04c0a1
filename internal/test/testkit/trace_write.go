package testkit

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/command/client/api"
)

// TraceFeedback is feedback to give.
type TraceFeedback = api.AddFeedback

// WrittenTrace is the answer to the creation or the change of a trace.
type WrittenTrace struct {
	api.WrittenTrace
	Response *Response `json:"-"`
}

// AddedSpans is the answer to spans that were sent as JSON.
type AddedSpans struct {
	api.AddedSpans
	Response *Response `json:"-"`
}

// Deferred reports whether what was sent is safe and not yet readable.
func (r *Response) Deferred() bool { return r.Header.Get("X-Ingest") == "deferred" }

// CreateTrace makes a trace.
func (c *Client) CreateTrace(ctx context.Context, body map[string]any, opts ...Option) (out WrittenTrace, err error) {
	out.Response, err = c.Call(ctx, http.MethodPost, "/api/traces", body, &out, opts...)
	return out, err
}

// PatchTrace changes the fields of a trace that patch has.
func (c *Client) PatchTrace(ctx context.Context, id string, patch map[string]any, opts ...Option) (out WrittenTrace, err error) {
	out.Response, err = c.Call(ctx, http.MethodPatch, "/api/traces/"+id, patch, &out, opts...)
	return out, err
}

// AddSpans adds spans to a trace.
func (c *Client) AddSpans(ctx context.Context, id string, spans []map[string]any, opts ...Option) (out AddedSpans, err error) {
	out.Response, err = c.Call(ctx, http.MethodPost, "/api/traces/"+id+"/spans", map[string]any{"spans": spans}, &out, opts...)
	return out, err
}
