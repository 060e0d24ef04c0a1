package llm

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/egress"
)

// unanswered is the failure of an exchange that brought no whole answer.
func unanswered(ctx context.Context, err error) *Error {
	e := &Error{Kind: Unavailable}
	var slow interface{ Timeout() bool }
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind, e.cause = Cancelled, context.Canceled
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Kind, e.cause = Timeout, context.DeadlineExceeded
	case errors.Is(err, egress.ErrForbidden), errors.Is(err, egress.ErrRedirected):
		e.Kind = Forbidden
		if f, ok := fault.From(err); ok {
			e.Message = f.Message
		}
	case errors.Is(err, egress.ErrTooLarge):
		e.Kind, e.Message = TooLarge, "the answer is longer than the limit"
	case errors.Is(err, egress.ErrUnreachable):
		f, _ := fault.From(err)
		why, _ := f.Details["cause"].(string)
		if e.Code = why; why == "timeout" {
			e.Kind = Timeout
		}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		e.Kind = Timeout
	}
	return e
}

// answered is the failure that a provider reports.
func answered(res *http.Response, body []byte) *Error {
	said := readComplaint(body)
	e := &Error{Kind: kindOf(res.StatusCode, said), Code: said.word(), Message: said.message, RetryAfter: max(RetryAfter(res.Header), said.wait)}
	if e.Kind == Unauthorized {
		e.Message = "" // providers quote parts of the key here
	}
	return e.at(res)
}

// at adds what the answer's head says.
func (e *Error) at(res *http.Response) *Error {
	e.Status = res.StatusCode
	for _, name := range []string{"X-Request-Id", "Request-Id", "Apim-Request-Id"} {
		if id := plainWord(res.Header.Get(name)); id != "" && e.RequestID == "" {
			e.RequestID = id
		}
	}
	return e
}

// of adds whom it is about, and makes the words fit to be shown.
func (e *Error) of(to Endpoint) *Error {
	e.Provider = to.Provider
	e.Code = plainWord(hidden(e.Code, to.Secret))
	e.RequestID = plainWord(hidden(e.RequestID, to.Secret))
	e.Message = excerpt(hidden(beginning(e.Message), to.Secret))
	return e
}

// complaint is what the body of an error says.
type complaint struct {
	code, kind, message string
	wait                time.Duration // what it asks to wait, at most MaxRetryAfter
}

// word is the provider's most specific word for the error.
func (c complaint) word() string {
	if c.code != "" {
		return c.code
	}
	return c.kind
}

// readComplaint finds the words of an error in the shapes that providers use:
// {"error": {"message", "type", "code"}}, {"error": "…"}, {"message", "type",
// "code"}, {"detail": …} and Google's {"error": {"message", "status", "details"}},
// whose code repeats the status of the answer. A body that is not JSON is taken as it
// stands, unless it is a page for people.
func readComplaint(body []byte) complaint {
	type words struct {
		Message jsontext.Value `json:"message"`
		Type    jsontext.Value `json:"type"`
		Code    jsontext.Value `json:"code"`
		Status  jsontext.Value `json:"status"`
		Details jsontext.Value `json:"details"`
		Detail  jsontext.Value `json:"detail"`
		Error   jsontext.Value `json:"error"`
	}
	var outer, inner words
	if json.Unmarshal(body, &outer, lenient) != nil {
		if text := strings.TrimSpace(beginning(string(body))); !strings.HasPrefix(text, "<") {
			return complaint{message: text}
		}
		return complaint{}
	}
	if outer.Error.Kind() == '{' && json.Unmarshal(outer.Error, &inner, lenient) == nil {
		if inner.Code.Kind() == '0' && inner.Status.Kind() == '"' {
			inner.Code = inner.Status
		}
		return complaint{text(inner.Code), text(inner.Type), text(inner.Message), retryDelay(inner.Details)}
	}
	c := complaint{code: text(outer.Code), kind: text(outer.Type), message: text(outer.Message)}
	for _, v := range []jsontext.Value{outer.Error, outer.Detail} {
		if c.message == "" {
			c.message = text(v)
		}
	}
	return c
}

// retryDelay finds how long Google asks to wait, which has no header for it.
func retryDelay(details jsontext.Value) time.Duration {
	var list []struct {
		Delay string `json:"retryDelay"`
	}
	if details.Kind() != '[' || json.Unmarshal(details, &list, lenient) != nil {
		return 0
	}
	for _, one := range list {
		if d, err := time.ParseDuration(one.Delay); err == nil && d > 0 {
			return min(d, MaxRetryAfter)
		}
	}
	return 0
}

// text is a JSON string's text, nothing for null, and the JSON of anything else.
func text(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s, lenient) // the value was read once already
		return s
	case 'n', 0:
		return ""
	}
	return string(v)
}

// lenient reads what providers send: text that is not UTF-8 is mended and a
// name that stands twice counts once. A paid answer is not thrown away for it.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// The words by which providers tell apart what has one status. Codes and types
// are compared whole; messages, where a provider has no code, by a piece.
var (
	exhaustedWords = []string{"insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "billing_error", "insufficient_balance"}
	largeWords     = []string{"context_length_exceeded", "string_above_max_length", "request_too_large", "tokens_limit_reached"}
	refusedWords   = []string{"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
	unknownWords   = []string{"model_not_found", "DeploymentNotFound", "not_found_error"}

	exhaustedPieces = []string{"credit balance is too low", "exceeded your current quota"}
	largePieces     = []string{"prompt is too long", "maximum context length", "context window"}
	keyPieces       = []string{"api key not valid", "api_key_invalid"}
)

// kindOf judges an error by its status, and by its words where the status
// means several things.
func kindOf(status int, said complaint) Kind {
	is := func(words []string) bool {
		for _, w := range words {
			if said.code == w || said.kind == w {
				return true
			}
		}
		return false
	}
	lower := strings.ToLower(said.message)
	says := func(pieces []string) bool {
		for _, p := range pieces {
			if strings.Contains(lower, p) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Unauthorized
	case status == http.StatusPaymentRequired:
		return Exhausted
	case status == http.StatusTooManyRequests:
		if said.wait == 0 && (is(exhaustedWords) || says(exhaustedPieces)) {
			return Exhausted
		}
		return RateLimited // a quota that is back after a while is a rate
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return Timeout
	case status == http.StatusConflict, status == http.StatusTooEarly, status == 498, status >= 500: // 498: no capacity, at Groq
		return Unavailable
	case status == http.StatusRequestEntityTooLarge, is(largeWords), says(largePieces):
		return TooLarge
	case status < 400, status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone, is(unknownWords):
		return NotFound
	case is(refusedWords):
		return Refused
	case is(exhaustedWords), says(exhaustedPieces):
		return Exhausted
	case said.code == "invalid_api_key", says(keyPieces):
		return Unauthorized
	}
	return Invalid
}

// RetryAfter reads how long an answer asks to wait, in any of three spellings.
// A date counts from the answer's own, so that clocks need not agree.
func RetryAfter(h http.Header) time.Duration {
	wait := 0.0
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = ms / 1000
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		wait = s
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		if now, err := http.ParseTime(h.Get("Date")); err == nil {
			wait = at.Sub(now).Seconds()
		}
	}
	switch {
	case wait >= MaxRetryAfter.Seconds():
		return MaxRetryAfter
	case wait > 0:
		return time.Duration(wait * float64(time.Second))
	}
	return 0 // nothing, the past, or not a number
}
