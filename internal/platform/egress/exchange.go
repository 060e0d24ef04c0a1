package egress

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"
)

// The limits of an exchange that asks for none.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 10 << 20 // a long answer of a model is below 1 MiB
)

// Options shape the exchanges of one caller. The zero value follows no
// redirect, which is right for webhooks and judges: their URL is the final one.
type Options struct {
	Timeout   time.Duration // of the whole exchange, body included
	MaxBytes  int64         // of the body, after decompression
	Redirects int           // how many are followed, at most MaxRedirects
	Trace     bool          // send traceparent, so that the callee's spans join ours
}

// HTTP returns a client with the rules of this package, for libraries that want
// one. It shares connections with every other one. Its transport and redirect
// rule are not to be replaced; a law of the repository watches that.
func (c *Client) HTTP(o Options) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return &http.Client{
		Transport:     &exchange{client: c, options: o},
		CheckRedirect: follow(c, min(o.Redirects, MaxRedirects)),
	}
}

// exchange is one request and its answer. A redirect is another exchange, so
// the rules hold for each hop.
type exchange struct {
	client  *Client
	options Options
}

// RoundTrip refuses what the rules refuse before anything is resolved.
func (e *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := e.refuse(r); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // the contract of RoundTripper; nothing was sent
		}
		return nil, err
	}
	r, cancel := e.prepare(r)
	over := e.client.secure
	if r.URL.Scheme == "http" {
		over = e.client.plain
	}
	resp, err := over.RoundTrip(r)
	if err != nil {
		err = conceal(r.Context(), r.URL.Host, err)
		cancel()
		return nil, err
	}
	body := &capped{body: resp.Body, left: e.options.MaxBytes, request: r, cancel: cancel}
	if resp.ContentLength > e.options.MaxBytes && r.Method != http.MethodHead {
		_ = body.Close()
		return nil, ErrTooLarge
	}
	resp.Body = body
	return resp, nil
}

// prepare returns a copy of the request with its deadline and trace. A hop has
// the deadline of the hop before. The deadline is not the standard client's,
// which would replace the fault by an error of its own. Only the first hop
// joins the trace: the others were chosen by the callee.
func (e *exchange) prepare(r *http.Request) (*http.Request, context.CancelFunc) {
	first := r.Response == nil
	deadline := time.Now().Add(e.options.Timeout)
	if !first {
		if d, ok := r.Response.Request.Context().Deadline(); ok {
			deadline = d
		}
	}
	ctx, cancel := context.WithDeadline(r.Context(), deadline)
	r = r.Clone(ctx)
	if e.options.Trace && first {
		carrier := propagation.MapCarrier{}
		propagation.TraceContext{}.Inject(ctx, carrier)
		if parent := carrier.Get("traceparent"); parent != "" {
			r.Header.Set("Traceparent", parent)
		}
	}
	return r, cancel
}

// refuse checks the request as a caller built it. A Host header that is not the
// URL's would reach another tenant of the same server, and CONNECT and TRACE
// ask a server to be a proxy or an echo of the credentials.
func (e *exchange) refuse(r *http.Request) error {
	if r.Host != "" && !strings.EqualFold(r.Host, r.URL.Host) {
		return forbidden("The request names another host than its URL. Use the URL of the host that is meant.")
	}
	if r.Method == http.MethodConnect || r.Method == http.MethodTrace {
		return forbidden("The method may not be sent. Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.")
	}
	return e.client.check(r.URL)
}

// capped is a body that ends with ErrTooLarge where the limit is passed. It
// counts what the caller reads, so compression does not get around it.
type capped struct {
	body    io.ReadCloser
	left    int64
	request *http.Request
	cancel  context.CancelFunc
}

func (b *capped) Read(p []byte) (int, error) {
	// One byte more than is left tells a body of exactly the limit from a
	// longer one.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		n = int(b.left)
		b.left = 0
		return n, ErrTooLarge
	}
	b.left -= int64(n)
	if err != nil && err != io.EOF { //nolint:errorlint // Read returns io.EOF bare, by contract
		err = conceal(b.request.Context(), b.request.URL.Host, err)
	}
	return n, err
}

// Close ends the exchange.
func (b *capped) Close() error {
	defer b.cancel()
	return b.body.Close()
}
