package llm

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// Doer makes an HTTP request. The client of egress is one, and so is a
// provider that lives in the process.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// MaxReply is how long an answer may be, in bytes after decompression. The
// longest that a model writes today, about 128,000 tokens, is half of it.
const MaxReply = 1 << 20

// Client asks models. It is safe for concurrent use.
type Client struct {
	outside Doer
	inside  map[string]Doer
}

// Option shapes a Client.
type Option func(*Client)

// Inside makes a provider live in the process: calls to it go to d, which knows
// no network, and their Endpoint needs neither base URL nor secret.
func Inside(provider string, d Doer) Option {
	return func(c *Client) { c.inside[provider] = d }
}

// New prepares a client that goes out through outside, whose limits of time
// and address hold.
func New(outside Doer, options ...Option) *Client {
	c := &Client{outside: outside, inside: map[string]Doer{}}
	for _, o := range options {
		o(c)
	}
	return c
}

// IsInside reports whether a provider lives in the process.
func (c *Client) IsInside(provider string) bool { return c.inside[provider] != nil }

// Complete asks once and waits for the whole answer, or for the end of ctx.
//
// An error is always an *Error. With Refused, and where it can be read with
// Malformed, the reply holds what was said and what it took: it is paid for.
func (c *Client) Complete(ctx context.Context, to Endpoint, r Request) (Reply, error) {
	p, doer := protocolOf(to), c.outside
	if d := c.inside[to.Provider]; d != nil {
		doer, to.BaseURL, to.Secret = d, "http://inside.invalid/v1", "inside"
	}
	req, problem := request(ctx, p, to, r)
	if problem != nil {
		return Reply{}, problem.of(to)
	}
	res, err := doer.Do(req)
	if err != nil {
		return Reply{}, unanswered(ctx, err).of(to)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxReply+1))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		// The status says enough if the body cannot be read.
		return Reply{}, answered(res, body).of(to)
	}
	if err != nil {
		return Reply{}, unanswered(ctx, err).at(res).of(to)
	}
	if len(body) > MaxReply {
		return Reply{}, (&Error{Kind: TooLarge, Message: "the answer is longer than 1 MiB"}).at(res).of(to)
	}
	reply, problem := p.decode(body)
	reply.hide(to.Secret)
	if problem != nil {
		return reply, problem.at(res).of(to)
	}
	return reply, nil
}

// request builds the HTTP request.
func request(ctx context.Context, p protocol, to Endpoint, r Request) (*http.Request, *Error) {
	body, err := p.encode(to, r)
	if err != nil {
		return nil, &Error{Kind: Invalid, Message: "the request cannot be written as JSON: check the schemas and the arguments of tools"}
	}
	target, err := url.Parse(to.BaseURL)
	if err != nil || target.Host == "" {
		return nil, &Error{Kind: NotFound, Message: "the base URL is not a URL with a host"}
	}
	base := *target
	target.Path, target.RawPath = strings.TrimRight(base.Path, "/")+p.path(r), ""
	if e, ok := p.(escaping); ok {
		target.RawPath = strings.TrimRight(base.EscapedPath(), "/") + e.escapedPath(r)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Kind: NotFound, Message: "the base URL is not a URL with a host"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	p.authorize(req.Header, to)
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if parent := carrier.Get("traceparent"); parent != "" {
		req.Header.Set("Traceparent", parent)
	}
	if r.IdempotencyKey != "" {
		// In small letters the standard transport does not see it. It would
		// take the header for leave to send the request twice, and providers
		// that ignore the header would charge for both.
		req.Header["idempotency-key"] = []string{r.IdempotencyKey}
	}
	if s, ok := p.(signing); ok && s.sign(req, body, to) != nil {
		return nil, &Error{Kind: Unauthorized, Message: "the request cannot be signed with the key"}
	}
	return req, nil
}

// protocol is how providers of one family are spoken to.
type protocol interface {
	path(r Request) string // below the base URL
	authorize(h http.Header, to Endpoint)
	encode(to Endpoint, r Request) ([]byte, error)
	// decode reads a successful answer. The reply holds what could be read,
	// also if there is a problem.
	decode(body []byte) (Reply, *Error)
}

// escaping is a protocol whose path has parts that are escaped.
type escaping interface{ escapedPath(r Request) string }

// signing is a protocol whose requests are signed when they are complete.
type signing interface {
	sign(req *http.Request, body []byte, to Endpoint) error
}

// protocolOf is how an endpoint is spoken to. Google and Amazon have some that speak
// OpenAI's words, below paths of their own, and OpenAI has two ways to speak.
func protocolOf(to Endpoint) protocol {
	switch {
	case to.Provider == "bedrock" && !strings.Contains(to.BaseURL, "/openai/"):
		return bedrock{}
	case isResponses(to) && to.Provider != "anthropic" && to.Provider != "google":
		return responses{}
	case to.Provider == "anthropic":
		return messages{}
	case to.Provider == "google" && !strings.HasSuffix(strings.TrimRight(to.BaseURL, "/"), "/openai"):
		return generate{}
	case isDeployments(to):
		return deployments{}
	}
	return chat{}
}
