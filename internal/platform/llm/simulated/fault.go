package simulated

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Fault is one way to misbehave.
type Fault string

// The faults. Those of the first group cost the caller nothing; those of the
// second come when the answer is written and paid for.
const (
	FaultRateLimit    Fault = "rate_limit"   // 429 with Retry-After
	FaultQuota        Fault = "quota"        // 429: no credit is left
	FaultUnauthorized Fault = "unauthorized" // 401
	FaultOverloaded   Fault = "overloaded"   // 503; 529 from Anthropic
	FaultError        Fault = "error"        // the rule's status, or 500
	FaultReflect      Fault = "reflect"      // 400 whose message repeats the key
	FaultHang         Fault = "hang"         // nothing, until the caller leaves
	FaultDisconnect   Fault = "disconnect"   // the connection ends without an answer

	FaultRefusal   Fault = "refusal"   // the model will not answer
	FaultMalformed Fault = "malformed" // half of the JSON, as if it were all
	FaultNonsense  Fault = "nonsense"  // JSON that is no answer
	FaultHTML      Fault = "html"      // a page for people, with status 200
	FaultTruncated Fault = "truncated" // the connection ends in the middle
	FaultDrip      Fault = "drip"      // a piece at a time, with the rule's pause between
	FaultEndless   Fault = "endless"   // an answer without end
)

// Faults are what goes wrong, and how long what goes right takes.
type Faults struct {
	Latency Latency `json:"latency,omitzero"`
	// Rules are tried in order; the first that hits decides.
	Rules []Rule `json:"rules,omitempty"`
}

// Latency is how long an answer takes: Fixed, and added to it a time from a
// lognormal distribution of the given median and sigma. Failures come at once.
type Latency struct {
	Fixed  time.Duration `json:"fixed,omitzero"`
	Median time.Duration `json:"median,omitzero"`
	Sigma  float64       `json:"sigma,omitzero"`
	Max    time.Duration `json:"max,omitzero"` // of the whole; zero sets none
}

// Rule says which calls suffer a fault. It hits a call that fits everything the
// rule says; a rule that says nothing hits every call.
type Rule struct {
	Fault Fault   `json:"fault"`
	Share float64 `json:"share,omitzero"` // of the calls; zero means all

	// First hits only the first so many calls of each prompt, so that trying
	// again succeeds.
	First int `json:"first,omitzero"`

	// Every and For hit in a window: of each Every, counted from when the
	// faults were set, the first For.
	Every time.Duration `json:"every,omitzero"`
	For   time.Duration `json:"for,omitzero"`

	Model    string `json:"model,omitzero"`    // only calls of this model
	Contains string `json:"contains,omitzero"` // only prompts with this text

	RetryAfter time.Duration `json:"retry_after,omitzero"` // of rate_limit and overloaded
	Status     int           `json:"status,omitzero"`      // of error
	Pause      time.Duration `json:"pause,omitzero"`       // of drip; zero means 10 ms
}

// Validate says what to change in faults that cannot be followed.
func (f Faults) Validate() error {
	var errs []error
	l := f.Latency
	if l.Fixed < 0 || l.Median < 0 || l.Max < 0 || l.Sigma < 0 || l.Sigma > 10 || math.IsNaN(l.Sigma) {
		errs = append(errs, fmt.Errorf("latency is below zero, or its sigma is not between 0 and 10"))
	}
	if l.Sigma > 0 && l.Median == 0 {
		errs = append(errs, fmt.Errorf("latency has a sigma and no median: give both"))
	}
	for i, r := range f.Rules {
		if _, ok := misbehaviours[r.Fault]; !ok {
			errs = append(errs, fmt.Errorf("rule %d has the fault %q: use %s", i+1, r.Fault, faultNames()))
		}
		if !(r.Share >= 0 && r.Share <= 1) {
			errs = append(errs, fmt.Errorf("rule %d has the share %v: give one between 0 and 1", i+1, r.Share))
		}
		if (r.Every > 0) != (r.For > 0) || r.Every < 0 || r.For < 0 || r.For > r.Every {
			errs = append(errs, fmt.Errorf("rule %d has a window that is none: give every and for, and for not above every", i+1))
		}
		if r.First < 0 || r.RetryAfter < 0 || r.Pause < 0 {
			errs = append(errs, fmt.Errorf("rule %d has a number below zero", i+1))
		}
		if r.Status != 0 && (r.Status < 400 || r.Status > 599) {
			errs = append(errs, fmt.Errorf("rule %d has the status %d: give one from 400 to 599", i+1, r.Status))
		}
	}
	return errors.Join(errs...)
}

func faultNames() string {
	names := []string{}
	for _, f := range slices.Sorted(maps.Keys(misbehaviours)) {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// fault returns the first rule that hits a call.
func (s *state) fault(seed uint64, p *prompt, attempt uint32) (Rule, bool) {
	for i, r := range s.faults.Rules {
		switch {
		case r.Model != "" && r.Model != p.model,
			r.First > 0 && attempt > uint32(r.First),
			r.Every > 0 && time.Since(s.since)%r.Every >= r.For,
			r.Share > 0 && draw(seed, uint64(i)+1, p.hash, uint64(attempt)) >= r.Share,
			r.Contains != "" && !p.contains(r.Contains):
			continue
		}
		return r, true
	}
	return Rule{}, false
}

// of is how long the answer of a call takes.
func (l Latency) of(seed uint64, p *prompt, attempt uint32) time.Duration {
	d := float64(l.Fixed)
	if l.Median > 0 {
		u := draw(seed, latencyDraw, p.hash, uint64(attempt))
		z := math.Sqrt2 * math.Erfinv(2*u-1)
		d += float64(l.Median) * math.Exp(l.Sigma*z)
	}
	if l.Max > 0 {
		d = min(d, float64(l.Max))
	}
	return time.Duration(min(d, float64(24*time.Hour))) // u may be 0: the quickest; never 1
}

// wait reports whether the time passed while the caller was still there.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// misbehaviour is what a fault does: something instead of an answer, or
// something to an answer. A refusal is neither; it is another answer.
type misbehaviour struct {
	// instead returns what to fail with, or nothing to end the connection.
	instead func(d dialect, r Rule, key string) *failure
	spoil   func(w http.ResponseWriter, r *http.Request, rule Rule, body []byte)
}

func nothing(dialect, Rule, string) *failure { return nil }

var misbehaviours = map[Fault]misbehaviour{
	FaultRateLimit: {instead: func(_ dialect, r Rule, _ string) *failure {
		return &failure{http.StatusTooManyRequests, "rate_limit_exceeded", "Too many requests. Slow down.", r.RetryAfter}
	}},
	FaultQuota: {instead: func(dialect, Rule, string) *failure {
		return &failure{http.StatusTooManyRequests, "insufficient_quota", "The account has no credit left.", 0}
	}},
	FaultUnauthorized: {instead: func(dialect, Rule, string) *failure {
		return &failure{http.StatusUnauthorized, "invalid_api_key", "The key is not accepted.", 0}
	}},
	FaultOverloaded: {instead: func(d dialect, r Rule, _ string) *failure {
		return &failure{d.overloaded(), "overloaded", "The provider is overloaded. Try again later.", r.RetryAfter}
	}},
	FaultError: {instead: func(_ dialect, r Rule, _ string) *failure {
		if r.Status == 0 {
			r.Status = http.StatusInternalServerError
		}
		return &failure{r.Status, "", "The provider failed, as it was told to.", r.RetryAfter}
	}},
	FaultReflect: {instead: func(_ dialect, _ Rule, key string) *failure {
		return &failure{http.StatusBadRequest, key, "The key " + key + " was sent with a request that is not accepted.", 0}
	}},
	FaultHang:       {instead: nothing},
	FaultDisconnect: {instead: nothing},

	FaultRefusal: {},
	FaultMalformed: {spoil: func(w http.ResponseWriter, _ *http.Request, _ Rule, body []byte) {
		send(w, http.StatusOK, contentType(w), body[:len(body)/2])
	}},
	FaultNonsense: {spoil: func(w http.ResponseWriter, _ *http.Request, _ Rule, _ []byte) {
		send(w, http.StatusOK, jsonType, []byte(`{"answer":42}`))
	}},
	FaultHTML: {spoil: func(w http.ResponseWriter, _ *http.Request, _ Rule, _ []byte) {
		send(w, http.StatusOK, "text/html; charset=utf-8", []byte("<!doctype html><title>Sign in</title><p>Sign in to the network to continue."))
	}},
	FaultTruncated: {spoil: truncate},
	FaultDrip:      {spoil: drip},
	FaultEndless:   {spoil: endless},
}
