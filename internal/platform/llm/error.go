package llm

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kind is what went wrong, in the terms of what to do about it.
type Kind string

// The kinds. Those of the first group may succeed when tried again; those of
// the second concern one request; those of the third concern the endpoint, so
// that no other request would fare better.
const (
	RateLimited Kind = "rate_limited" // too many requests or tokens for now
	Unavailable Kind = "unavailable"  // overloaded, broken, or not there
	Timeout     Kind = "timeout"      // no whole answer within the time allowed
	Malformed   Kind = "malformed"    // an answer that is not one

	Refused   Kind = "refused"   // the model or a filter would not answer
	Invalid   Kind = "invalid"   // the provider does not accept the request
	TooLarge  Kind = "too_large" // the prompt, or the answer, is beyond a limit
	Cancelled Kind = "cancelled" // the caller gave up

	Unauthorized Kind = "unauthorized" // the credential is not accepted, or may not do this
	Exhausted    Kind = "exhausted"    // the account has no credit left
	NotFound     Kind = "not_found"    // no such model, or nothing at this URL
	Forbidden    Kind = "forbidden"    // our own rules refuse the destination
)

var kindWords = map[Kind]string{
	RateLimited: "the provider limits the rate of requests", Unavailable: "the provider is not available",
	Timeout: "the provider did not answer in time", Malformed: "the provider's answer cannot be read",
	Refused: "the model refused to answer", Invalid: "the provider does not accept the request",
	TooLarge: "the prompt or the answer is larger than a limit", Cancelled: "the call was cancelled",
	Unauthorized: "the provider does not accept the key", Exhausted: "the account at the provider has no credit left",
	NotFound: "the provider has no such model, or the base URL is not a provider's", Forbidden: "the base URL may not be called",
}

// Error is a call that failed. Every error of Client.Complete is one. Its words
// may be shown to whoever owns the provider key: they hold no secret, no
// address, and at most a short piece of what the provider said.
type Error struct {
	Kind       Kind
	Provider   string
	Status     int           // what was answered; 0 if nothing was
	Code       string        // the provider's own word for the error, if it has one
	Message    string        // at most MaxExcerpt of the provider's, in one line
	RequestID  string        // to ask the provider about
	RetryAfter time.Duration // what the provider asks to wait, at most MaxRetryAfter; 0 if it does not say

	cause error
}

// MaxExcerpt is how much of a provider's message an Error carries, in bytes.
const MaxExcerpt = 200

// MaxRetryAfter bounds what a provider can make a caller wait.
const MaxRetryAfter = time.Hour

// Error says what happened, to whom, and in the provider's words why.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("ask " + e.Provider + ": " + kindWords[e.Kind])
	var facts []string
	if e.Status != 0 {
		facts = append(facts, "HTTP "+strconv.Itoa(e.Status))
	}
	if e.Code != "" {
		facts = append(facts, e.Code)
	}
	if e.RequestID != "" {
		facts = append(facts, "request "+e.RequestID)
	}
	if len(facts) > 0 {
		b.WriteString(" (" + strings.Join(facts, ", ") + ")")
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	return b.String()
}

// Unwrap gives context.Canceled or context.DeadlineExceeded where they are the
// cause.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimited, Unavailable, Timeout, Malformed:
		return true
	}
	return false
}

// Overload reports whether the provider asks for fewer calls at once, rather than
// having failed with this one.
func (e *Error) Overload() bool {
	switch e.Kind {
	case RateLimited:
		return true
	case Unavailable:
		return e.Status == http.StatusServiceUnavailable || e.Status == 529 || e.Status == 498 || e.Code == "overloaded_error"
	}
	return false
}

// Fatal reports whether no other request to the same endpoint and model would
// fare better, so that a run may as well stop.
func (e *Error) Fatal() bool {
	switch e.Kind {
	case Unauthorized, Exhausted, NotFound, Forbidden:
		return true
	}
	return false
}
