// Package client asks a running Assay what the commands of a user show: traces
// and their spans, evaluations and their runs, over the HTTP interface and with
// the user's own key.
//
// It knows the interface as anybody outside knows it, by its documented fields,
// and ignores those that it does not know: an older command reads what a newer
// server answers.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

// The variables that a user's commands read. SERVICE_ORGANIZATION_ID, which the
// SDKs read beside them, asserts the organization of a write; reads send
// nothing of it.
const (
	EnvURL = "ASSAY_URL"
	EnvKey = "SERVICE_API_KEY"
)

// DefaultURL is where `assay all` listens on this machine.
const DefaultURL = "http://localhost:4318"

const (
	// timeout bounds one answer; a trace with large payloads takes seconds.
	timeout = 30 * time.Second
	// maxAnswer keeps whoever answers from filling the memory.
	maxAnswer = 256 << 20
)

// ErrUnanswered is inside every error of a request that nobody answered.
var ErrUnanswered = errors.New("no response")

// errFormat is an answer that no Assay gives.
var errFormat = errors.New("not an Assay response: check the URL")

// Client calls one Assay with one key.
type Client struct {
	base    string
	key     string
	keyFrom string // where the key is from, for messages
	http    *http.Client
}

// String is the URL, so that printing a client does not show its key.
func (c *Client) String() string { return c.base }

// GoString is the URL.
func (c *Client) GoString() string { return c.base }

// FromEnviron returns a client of the URL given, else of ASSAY_URL, with the key
// in ASSAY_API_KEY or SERVICE_API_KEY. What the environment does not say is that
// of the stored profile, and the URL is DefaultURL at last. A stored key is sent
// to the URL that it was stored with, and to no other.
func FromEnviron(base string, environ []string) (*Client, error) {
	if base == "" {
		base = lookup(environ, EnvURL)
	}
	key, from := environKey(environ), EnvKey
	if lookup(environ, EnvAssayKey) != "" {
		from = EnvAssayKey
	}
	if key == "" {
		name := ProfileName(environ)
		stored, err := Profiles(environ)
		p, found := stored[name]
		switch {
		case !found && lookup(environ, EnvProfile) != "":
			if err == nil {
				err = mistake("there is no profile %q: run `assay login URL --profile=%s`, or unset %s", plain(name), plain(name), EnvProfile)
			}
			return nil, err
		case err != nil || !found: // the environment says what is missing
		case base == "" || strings.TrimRight(base, "/") == strings.TrimRight(p.URL, "/"):
			base, key, from = p.URL, p.Key, "profile "+name
		}
	}
	if base == "" {
		base = DefaultURL
	}
	c, err := New(base, key, nil)
	if c != nil {
		c.keyFrom = from
	}
	return c, err
}

// Anonymous returns a client for what needs no key.
func Anonymous(base string, environ []string) (*Client, error) {
	if base == "" {
		base = lookup(environ, EnvURL)
	}
	if base == "" {
		base = DefaultURL
	}
	return New(base, "none", nil)
}

// environKey is the key that the environment has.
func environKey(environ []string) string {
	if key := lookup(environ, EnvAssayKey); key != "" {
		return key
	}
	return lookup(environ, EnvKey)
}

// lookup returns the last value of a variable, which is the one that counts.
func lookup(environ []string, name string) string {
	var value string
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// New returns a client of the Assay at base. A nil transport is the standard
// library's, which follows the proxies of the environment.
func New(base, apiKey string, transport http.RoundTripper) (*Client, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, mistake("invalid URL %q: use one such as %s or https://assay.example.com", plain(base), DefaultURL)
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api"):
		return nil, mistake("invalid URL %q: use the base URL, without /api", plain(base))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, mistake("the URL must not have a user, query or fragment: set the key in %s", EnvAssayKey)
	case apiKey == "":
		return nil, mistake("there is no API key for %s: run `assay login %s`, or set %s; `assay admin bootstrap` prints the first key", base, base, EnvAssayKey)
	case strings.ContainsFunc(apiKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, mistake("the API key contains invalid characters: copy it again, without quotes and spaces")
	}
	return &Client{
		base:    strings.TrimRight(base, "/"),
		key:     apiKey,
		keyFrom: EnvKey,
		// A redirect would take the key to another address.
		http: &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// get asks for one document and decodes it into out.
func (c *Client) get(ctx context.Context, path string, query url.Values, out any) (Answer, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return Answer{}, err
	}
	return c.do(req, out)
}

// call is one request through the generated methods, with what comes with the
// document that they return.
type call struct {
	api.Client
	answer Answer
	raw    jsontext.Value
}

// call returns a call to be made.
func (c *Client) call() *call {
	k := &call{}
	k.Send = func(ctx context.Context, method, path string, in, out any, opts []api.Option) error {
		var body io.Reader = http.NoBody
		if in != nil {
			text, err := json.Marshal(in)
			if err != nil {
				return err
			}
			body = bytes.NewReader(text)
		}
		req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
		if err != nil {
			return err
		}
		if in != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		for _, o := range opts {
			o(req)
		}
		if k.answer, err = c.do(req, &k.raw); err != nil {
			return err
		}
		return c.decode(k.raw, out)
	}
	return k
}

func (c *Client) decode(body []byte, out any) error {
	err := json.Unmarshal(body, out)
	if err != nil && !jsontext.Value(body).IsValid() {
		return fmt.Errorf("%s: %w", c.base, errFormat)
	} else if err != nil {
		return fmt.Errorf("%s: %w (%s)", c.base, errFormat, plain(err.Error()))
	}
	return nil
}

// do sends a request with the key and decodes the answer into out.
func (c *Client) do(req *http.Request, out any) (Answer, error) {
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.unanswered(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Answer{}, c.unanswered(err)
	case len(body) > maxAnswer:
		return Answer{}, fmt.Errorf("the response is larger than %d MiB", maxAnswer>>20)
	}
	a := answer(res.Header)
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		return a, c.refusal(res, a, body)
	}
	return a, c.decode(body, out)
}

// unanswered says what kept an answer from coming, without the query.
func (c *Client) unanswered(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return fmt.Errorf("%w from %s within %s", ErrUnanswered, c.base, timeout)
		}
		err = u.Err
	}
	return fmt.Errorf("%w from %s: %w", ErrUnanswered, c.base, err)
}

// plain takes control characters out of a text from elsewhere, so that it can
// be shown on a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
}
