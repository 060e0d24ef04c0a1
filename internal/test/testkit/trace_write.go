package testkit

import (
	"context"
	"net/http"
)

// WrittenTrace is the answer to the creation or the change of a trace.
type WrittenTrace struct {
	ID             string         `json:"id"`
	TraceRef       int64          `json:"trace_ref"`
	Name           string         `json:"name"`
	Status         string         `json:"status"`
	StartTime      string         `json:"start_time"`
	EndTime        string         `json:"end_time"`
	ConversationID string         `json:"conversation_id"`
	UserID         string         `json:"user_id"`
	Environment    string         `json:"environment"`
	AgentName      string         `json:"agent_name"`
	ReleaseID      string         `json:"release_id"`
	Input          any            `json:"input"`
	Output         any            `json:"output"`
	SpanCount      int            `json:"span_count"`
	ErrorCount     int            `json:"error_count"`
	Tags           []string       `json:"tags"`
	Metadata       map[string]any `json:"metadata"`

	Response *Response `json:"-"`
}

// Deferred reports whether what was sent is safe and not yet readable.
func (r *Response) Deferred() bool { return r.Header.Get("X-Ingest") == "deferred" }

// AddedSpans is the answer to spans that were sent as JSON.
type AddedSpans struct {
	Spans []struct {
		Index     int    `json:"index"`
		ID        string `json:"id"`
		SpanID    string `json:"span_id"`
		Name      string `json:"name"`
		StartTime string `json:"start_time"`
	} `json:"spans"`
	Accepted int `json:"accepted"`
	Rejected []struct {
		Index  int `json:"index"`
		Errors []struct {
			Path string `json:"path"`
			Code string `json:"code"`
		} `json:"errors"`
	} `json:"rejected"`

	Response *Response `json:"-"`
}

// DeletedTrace is the answer to a deletion.
type DeletedTrace struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// TraceFeedback is feedback as a client sees it.
type TraceFeedback struct {
	ID        int64  `json:"id,omitzero"`
	TraceID   string `json:"trace_id,omitzero"`
	SpanID    string `json:"span_id,omitzero"`
	Type      string `json:"type,omitzero"`
	Name      string `json:"name,omitzero"`
	Value     any    `json:"value,omitzero"`
	Comment   string `json:"comment,omitzero"`
	UserID    string `json:"user_id,omitzero"`
	CreatedAt string `json:"created_at,omitzero"`
}

// Promotion is the answer to traces that were put into a dataset.
type Promotion struct {
	Created int `json:"created"`
	Items   []struct {
		Index   int    `json:"index"`
		TraceID string `json:"trace_id"`
		SpanID  string `json:"span_id"`
		ItemID  string `json:"item_id"`
	} `json:"items"`
	Skipped []struct {
		Index   int    `json:"index"`
		TraceID string `json:"trace_id"`
		SpanID  string `json:"span_id"`
		ItemID  string `json:"item_id"`
		Reason  string `json:"reason"`
	} `json:"skipped"`
}

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

// DeleteTrace deletes a trace.
func (c *Client) DeleteTrace(ctx context.Context, id string) (out DeletedTrace, err error) {
	_, err = c.Call(ctx, http.MethodDelete, "/api/traces/"+id, nil, &out)
	return out, err
}

// Feedback says something about a trace.
func (c *Client) Feedback(ctx context.Context, id string, f TraceFeedback, opts ...Option) (out TraceFeedback, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/traces/"+id+"/feedback", f, &out, opts...)
	return out, err
}

// TracesToDataset puts traces into a dataset.
func (c *Client) TracesToDataset(ctx context.Context, body map[string]any, opts ...Option) (out Promotion, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/traces/to-dataset", body, &out, opts...)
	return out, err
}
