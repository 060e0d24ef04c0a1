package testkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
)

// Client calls the application over HTTP with one key. It has a method for each
// operation, named as in the OpenAPI document.
type Client struct {
	operations
	Org   principal.OrgID
	Owner uuid.UUID // the organization's first member
	Key   secret.Text
	base  string
	kit   *Kit
}

// operations are the generated methods.
type operations struct {
	call func(ctx context.Context, method, path string, in, out any, opts []Option) error
}

func newClient(c Client) *Client {
	c.call = func(ctx context.Context, method, path string, in, out any, opts []Option) error {
		_, err := c.Call(ctx, method, path, in, out, opts...)
		return err
	}
	return &c
}

// segment is an id, a string or a number, as a part of a path.
func segment(id any) string { return url.PathEscape(fmt.Sprint(id)) }

// asking is a path with a query, which has no question mark of its own.
func asking(path, query string) string {
	switch {
	case query == "":
		return path
	case query[0] == '?':
		panic("testkit: a query begins with its first parameter: " + query)
	}
	return path + "?" + query
}

// Response is what the application answered.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Option changes one request.
type Option = api.Option

// Header sets a header of the request.
func Header(name, value string) Option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Idempotent makes the request safe to repeat under a key.
func Idempotent(key string) Option { return Header("Idempotency-Key", key) }

var transport = &http.Client{Timeout: 6 * time.Minute}

// Send makes a request with a raw body. Any answer is a success.
func (c *Client) Send(ctx context.Context, method, path string, body io.Reader, opts ...Option) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key.Reveal())
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, o := range opts {
		o(req)
	}
	res, err := transport.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return &Response{Status: res.StatusCode, Header: res.Header, Body: text}, err
}

// Call makes a JSON request and decodes the answer into out. An error answer
// comes back as the fault that it stands for, so that a test can compare it
// with the domain's own.
func (c *Client) Call(ctx context.Context, method, path string, in, out any, opts ...Option) (*Response, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	res, err := c.Send(ctx, method, path, body, opts...)
	if err != nil {
		return nil, err
	}
	if res.Status >= http.StatusBadRequest {
		return res, res.fault()
	}
	if out == nil {
		return res, nil
	}
	return res, json.Unmarshal(res.Body, out)
}

// Envelope is the body of an error answer.
type Envelope struct {
	Error struct {
		Code      string         `json:"code"`
		Message   string         `json:"message"`
		Details   map[string]any `json:"details"`
		RequestID string         `json:"requestId"`
	} `json:"error"`
}

func (r *Response) fault() error {
	var e Envelope
	if err := json.Unmarshal(r.Body, &e); err != nil {
		return fmt.Errorf("status %d with a body that is no envelope: %.200s", r.Status, r.Body)
	}
	reason, _ := e.Error.Details["reason"].(string)
	f := fault.New(fault.Kind(e.Error.Code), reason, e.Error.Message)
	f.Details = e.Error.Details
	return f
}
