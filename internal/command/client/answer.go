package client

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
)

// Answer is what an answer says beside its document.
type Answer struct {
	// At is the server's clock, the zero time if it did not say.
	At    time.Time
	Quota Quota
}

// Quota is where the key stands in its hour. A Limit of zero says nothing.
type Quota struct {
	Limit, Remaining int
	// Window is the hour, and Reset when the next request of it is free again.
	Window, Reset time.Duration
}

func answer(h http.Header) Answer {
	at, _ := http.ParseTime(h.Get("Date"))
	policy, standing := parameters(h.Get("RateLimit-Policy")), parameters(h.Get("RateLimit"))
	a := Answer{At: at, Quota: Quota{
		Limit: policy["q"], Window: time.Duration(policy["w"]) * time.Second,
		Remaining: standing["r"], Reset: time.Duration(standing["t"]) * time.Second,
	}}
	if _, told := standing["r"]; !told || a.Quota.Window == 0 {
		a.Quota = Quota{}
	}
	return a
}

// parameters returns the numbers of the first entry of a header such as
// "hour";r=12;t=30.
func parameters(header string) map[string]int {
	first, _, _ := strings.Cut(header, ",")
	found := map[string]int{}
	for part := range strings.SplitSeq(first, ";") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		if n, err := strconv.ParseInt(text, 10, 32); err == nil && n >= 0 {
			found[name] = int(n)
		}
	}
	return found
}

// Error is an answer that refuses. Its text says what to do about it.
type Error struct {
	Status int
	// Fault is what the server says, with an empty message if whoever answered
	// does not speak as Assay does.
	Fault     *fault.Error
	RequestID string
	// RetryAfter is when asking again can help, zero if the server did not say.
	RetryAfter time.Duration
	url        string
	keyFrom    string
}

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Fault }

// Error says what is wrong and what to do.
func (e *Error) Error() string {
	said := e.Fault.Error()
	var fields []string
	for _, f := range e.Fault.Fields {
		fields = append(fields, strings.TrimLeft(f.Path, "/")+" "+strings.TrimSuffix(f.Message, "."))
	}
	if len(fields) > 0 && e.Status == http.StatusBadRequest {
		said, _, _ = strings.Cut(e.Fault.Message, ". ") // what follows is about the fields
		said = strings.TrimSuffix(said, ".") + ": " + strings.Join(fields, "; ")
	}
	switch {
	case e.Fault.Message == "":
		said = fmt.Sprintf("%s returned %d %s, which is not an Assay response: check the URL", e.url, e.Status, http.StatusText(e.Status))
	case e.Fault.Reason == "insufficient_scope":
		scope, _ := e.Fault.Details["requiredScope"].(string)
		said = fmt.Sprintf("the key in %s lacks the scope %s: use a key that has it", e.keyFrom, plain(scope))
	case e.Status == http.StatusUnauthorized:
		said = fmt.Sprintf("the key in %s was rejected: %s", e.keyFrom, said)
	case e.Fault.Reason == "unknown_route":
		said = fmt.Sprintf("%s does not exist: check the URL, and that this Assay version supports %s", e.url, e.keeps())
	case e.Status == http.StatusTooManyRequests && e.RetryAfter > 0:
		said = fmt.Sprintf("%s Try again in %s.", said, e.RetryAfter)
	}
	if e.RequestID != "" && e.Status >= http.StatusInternalServerError {
		said += " (request " + e.RequestID + ")"
	}
	return plain(said)
}

// Checks are the engines that a server which is not ready waits for.
func (e *Error) Checks() (all []api.ReadinessCheck) {
	text, err := json.Marshal(e.Fault.Details["checks"])
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// Mistake is an error that asking again does not mend: a name, a key or an
// address that is wrong.
type Mistake struct{ text string }

// Error says what is wrong and what to do.
func (m *Mistake) Error() string { return m.text }

// NewMistake is an error that asking again does not mend.
func NewMistake(format string, args ...any) error { return mistake(format, args...) }

func mistake(format string, args ...any) error {
	return &Mistake{fmt.Sprintf(format, args...)}
}

// IsMistake reports whether the caller has to change something before asking
// again can help. Whoever answers in the place of Assay says nothing about that.
func IsMistake(err error) bool {
	var m *Mistake
	if errors.As(err, &m) {
		return true
	}
	var refused *Error
	if !errors.As(err, &refused) || refused.Fault.Message == "" {
		return false
	}
	switch refused.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge:
		return true
	case http.StatusConflict:
		return !slices.Contains([]string{"idempotency_in_progress", "run_not_ended"}, refused.Fault.Reason)
	}
	return false
}

// keeps is what the route that was asked for is about.
func (e *Error) keeps() string {
	_, rest, _ := strings.Cut(e.url, "/api/")
	noun, _, _ := strings.Cut(rest, "/")
	return strings.ReplaceAll(noun, "-", " ")
}

// refusal reads the body of an answer that is no success.
func (c *Client) refusal(res *http.Response, a Answer, body []byte) *Error {
	var envelope struct {
		Error struct {
			Code      fault.Kind     `json:"code"`
			Message   string         `json:"message"`
			Details   map[string]any `json:"details"`
			RequestID string         `json:"requestId"`
		} `json:"error"`
	}
	var fields struct {
		Error struct {
			Details struct {
				Reason string        `json:"reason"`
				Fields []fault.Field `json:"fields"`
			} `json:"details"`
		} `json:"error"`
	}
	f := &fault.Error{}
	if err := json.Unmarshal(body, &envelope); err == nil {
		f = fault.New(envelope.Error.Code, "", envelope.Error.Message)
		f.Details = envelope.Error.Details
		if json.Unmarshal(body, &fields) == nil {
			f.Reason, f.Fields = fields.Error.Details.Reason, fields.Error.Details.Fields
		}
	}
	u := *res.Request.URL
	u.RawQuery = ""
	return &Error{
		Status: res.StatusCode, Fault: f, RequestID: plain(envelope.Error.RequestID),
		RetryAfter: retryAfter(res.Header.Get("Retry-After"), a.At), url: u.String(), keyFrom: c.keyFrom,
	}
}

// maxRetryAfter is the window of the limits; nothing of ours asks for longer.
const maxRetryAfter = time.Hour

// retryAfter reads the header, which is a number of seconds or a time on the
// server's clock.
func retryAfter(header string, at time.Time) time.Duration {
	var wait time.Duration
	if n, err := strconv.ParseInt(header, 10, 32); err == nil {
		wait = time.Duration(n) * time.Second
	} else if t, err := http.ParseTime(header); err == nil && !at.IsZero() {
		wait = t.Sub(at)
	}
	return min(max(wait, 0), maxRetryAfter)
}
