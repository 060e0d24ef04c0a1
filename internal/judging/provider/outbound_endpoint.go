package provider

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/secret"
)

const (
	// defaultTimeout is how long an endpoint may take for one answer.
	defaultTimeout = 60 * time.Second
	// maxAnswer is the largest answer, in bytes.
	maxAnswer = 4 << 20
)

// EndpointConfig is which endpoint is asked.
type EndpointConfig struct {
	URL     string
	KeyID   int64         // of the key that is sent; zero for none
	Timeout time.Duration // of one call; zero for the default
}

// endpoint is a service of the team's own that takes and answers JSON.
type endpoint struct {
	// who names it at the start of a message; failure is the code when it cannot
	// be asked.
	who, failure string
	client       *http.Client
	url          string
	secret       secret.Text
	scrub        *scrubber
}

// endpoint prepares to ask. An *Unusable means that nothing can be asked.
func (s *Service) endpoint(ctx context.Context, org principal.OrgID, who, failure string, c EndpointConfig) (endpoint, error) {
	e := endpoint{who: who, failure: failure, url: c.URL}
	if err := s.egress.CheckURL(c.URL); err != nil {
		return e, &Unusable{failure, who + " has a URL that may not be called: " + err.Error()}
	}
	e.client = s.egress.HTTP(egress.Options{Timeout: cmp.Or(max(0, c.Timeout), defaultTimeout)})
	if c.KeyID == 0 {
		return e, nil
	}
	var err error
	if _, e.secret, err = s.openKey(ctx, org, c.KeyID, c.URL); err != nil {
		return e, err
	}
	e.scrub = newScrubber(e.secret.Reveal())
	return e, nil
}

// post sends a body once and returns what came with status 2xx. An error is a
// *Failure, or the end of ctx.
func (e *endpoint) post(ctx context.Context, body []byte, header http.Header) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, &Failure{Code: e.failure, Message: e.who + " has a URL that cannot be called.", Stop: true}
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	if text := e.secret.Reveal(); text != "" {
		req.Header.Set("Authorization", "Bearer "+text)
	}
	res, err := e.client.Do(req)
	if err != nil {
		return 0, nil, e.unreachable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return 0, nil, e.unreachable(ctx, err)
	}
	return res.StatusCode, text, e.refusal(res, len(text))
}

func (e *endpoint) unreachable(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, egress.ErrForbidden):
		return &Failure{Code: e.failure, Message: e.who + " has an address that may not be called.", Stop: true}
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Code: CodeTimeout, Message: e.who + " did not answer in time.", Retry: true}
	default:
		return &Failure{Code: e.failure, Message: e.who + " cannot be reached.", Retry: true, Down: true}
	}
}

// refusal is why a response of so many bytes has no answer; nil if it may have one.
func (e *endpoint) refusal(res *http.Response, size int) error {
	switch status := res.StatusCode; {
	case status == http.StatusTooManyRequests || status >= 500:
		return &Failure{
			Code: e.failure, Message: fmt.Sprintf("%s answered with status %d.", e.who, status), Retry: true, Wait: llm.RetryAfter(res.Header),
			Down: status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout,
		}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &Failure{Code: e.failure, Message: fmt.Sprintf("%s does not accept the call: status %d.", e.who, status), Stop: true}
	case status/100 != 2:
		return &Failure{Code: "refused", Message: fmt.Sprintf("%s answered with status %d.", e.who, status)}
	case size > maxAnswer:
		return &Failure{Code: "too_large", Message: fmt.Sprintf("%s answered with more than %d bytes.", e.who, maxAnswer)}
	}
	return nil
}

// malformed is the failure of a response without what was asked for. Asking again
// would be paid for again, and the answer would be the same.
func (e *endpoint) malformed(status int, wanted string, text []byte) error {
	return &Failure{Code: "malformed", Message: fmt.Sprintf(`%s answered with status %d, but not with %s. It answered: %s`, e.who, status, wanted, snippet(e.scrub.quoted(text)))}
}

// snippet is the beginning of a text, on one line, for a message.
func snippet(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if text == "" {
		return "nothing."
	}
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
