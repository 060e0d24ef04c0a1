package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
)

// errRate is what a caller sees whose limit is spent.
var errRate = fault.New(fault.RateLimited, "rate_limit_exceeded", "The hourly limit of the key, or that of all keys of the organization together, is reached. Wait as long as Retry-After says.")

// Quota is where a key stands after a request was counted.
type Quota struct {
	Allowed   bool
	Limit     int
	Remaining int
	// Reset is when the quota is whole again, and Retry when the next request
	// is free.
	Reset, Retry time.Duration
	Window       time.Duration
}

// Outcome is one answered request of a recognised caller.
type Outcome struct {
	Caller    principal.Caller
	Operation string
	Status    int
	Took      time.Duration
	At        time.Time
}

// spend counts the request and sets the headers that say where the key stands.
func (e *Edge) spend(ctx context.Context, h http.Header, caller principal.Caller) error {
	if e.opts.Limit == nil {
		return nil
	}
	q, err := e.opts.Limit(ctx, caller)
	if err != nil {
		return err
	}
	q.set(h)
	if !q.Allowed {
		return errRate.With("retryAfterSeconds", max(1, seconds(q.Retry)))
	}
	return nil
}

// quotaHeaders are the names of the headers in the form that a header map has,
// so that setting them rewrites no name.
var quotaHeaders = [...]string{
	http.CanonicalHeaderKey("RateLimit-Policy"), http.CanonicalHeaderKey("RateLimit"),
	http.CanonicalHeaderKey("X-RateLimit-Limit"), http.CanonicalHeaderKey("X-RateLimit-Remaining"), http.CanonicalHeaderKey("X-RateLimit-Reset"),
}

// set writes the values into one text and cuts it: every response has them.
func (q Quota) set(h http.Header) {
	var buf [96]byte
	var ends [5]int
	b := append(strconv.AppendInt(append(buf[:0], `"hour";q=`...), int64(q.Limit), 10), ";w="...)
	b = strconv.AppendInt(b, int64(q.Window/time.Second), 10)
	ends[0] = len(b)
	b = append(strconv.AppendInt(append(b, `"hour";r=`...), int64(q.Remaining), 10), ";t="...)
	b = strconv.AppendInt(b, int64(seconds(q.Reset)), 10)
	ends[1] = len(b)
	for i, n := range [...]int{q.Limit, q.Remaining, seconds(q.Reset)} {
		b = strconv.AppendInt(b, int64(n), 10)
		ends[2+i] = len(b)
	}
	text, values, from := string(b), make([]string, len(ends)), 0
	for i, to := range ends {
		values[i] = text[from:to]
		h[quotaHeaders[i]] = values[i : i+1 : i+1]
		from = to
	}
}

// seconds rounds up: a caller that waits this long is not refused again.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// recognised remembers the caller for the measurement of its request, which
// is made where the caller is not yet known, and how it was recognised, for an
// answer that takes long.
type recognised struct {
	caller *principal.Caller
	token  string
	edge   *Edge
}

type recognisedKey struct{}

// InPerson is an input whose contents decide whether a person must send it: an
// operation with several shapes may have one that is a decision of a person.
type InPerson interface {
	InPerson() bool
}

// inPerson refuses a caller that is not a person where only a person may decide.
func (op Op) inPerson(ctx context.Context, input any) error {
	if shaped, ok := input.(InPerson); !op.Person || ok && !shaped.InPerson() {
		return nil
	}
	return principal.RequirePerson(ctx)
}

// Permit is the last check before a handler: what the key could do, but its
// organization or its owner's role does not allow. It comes after validation,
// so that the answer says nothing about what exists.
func (op Op) Permit(ctx context.Context) error {
	method, caller := request.From(ctx).Method, principal.From(ctx)
	switch {
	case op.Scope == principal.Public:
		return nil
	case caller.Suspended:
		return errSuspended
	case !caller.May(op.Scope), op.Also != "" && !caller.May(op.Also):
		return errRole.With("role", caller.Role)
	case caller.NoDelete && method == http.MethodDelete:
		return errNoDelete
	case caller.Role == principal.Annotator && method != http.MethodGet && method != http.MethodHead && !op.Annotators:
		return errRole.With("role", caller.Role)
	}
	return nil
}

var (
	errSuspended = fault.New(fault.Forbidden, "organization_suspended", "The organization is suspended. Contact the operator of this deployment.")
	errNoDelete  = fault.New(fault.Forbidden, "key_may_not_delete", "This key was made without the right to delete. Use a key that has can_delete.")
	errRole      = fault.New(fault.Forbidden, "role_forbids", "The role of this key's owner does not allow the operation.")
)

// Require refuses a caller whose key lacks a scope, where an operation needs it for
// some requests only.
func Require(ctx context.Context, s principal.Scope) error {
	switch caller := principal.From(ctx); {
	case !caller.Has(s):
		return errScope.With("requiredScope", string(s))
	case !caller.May(s):
		return errRole.With("role", caller.Role)
	}
	return nil
}
