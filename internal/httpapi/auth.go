package httpapi

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

// credential returns the API key of the values of the Authorization header: a
// bearer token, or the password of Basic authentication, whose user is not
// looked at. Clients of Langfuse send a public and a secret key in that form.
func credential(values []string) (string, error) {
	if len(values) == 0 {
		return "", errMissingKey
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if strings.EqualFold(scheme, "Basic") {
		pair, err := base64.StdEncoding.DecodeString(token)
		_, token, ok = strings.Cut(string(pair), ":")
		ok = ok && err == nil
	} else if !strings.EqualFold(scheme, "Bearer") {
		ok = false
	}
	if len(values) > 1 || !ok || token == "" || strings.ContainsAny(token, " \t,") {
		return "", errHeader
	}
	return token, nil
}

// authorization returns the values of the Authorization header of a request, or
// the key that clients of Phoenix send in a header of their own.
func authorization(h http.Header) []string {
	values := h.Values("Authorization")
	if len(values) > 0 {
		return values
	}
	for _, key := range h.Values("Api_key") {
		values = append(values, "Bearer "+key)
	}
	return values
}

// standEvery is how often a stream asks whether its caller may still read it.
// With the time that a key is remembered for it keeps the two seconds in which a
// revocation holds everywhere.
const standEvery = 400 * time.Millisecond

// stands fails if the token is no key any more, or its organization may not use
// the platform for now.
func (e *Edge) stands(ctx context.Context, token string) error {
	caller, err := e.opts.Authenticate(ctx, token)
	if err == nil && caller.Suspended {
		err = errSuspended
	}
	return err
}

// standing asks about the caller of an answer that is still being written.
func standing(ctx context.Context) error {
	if seen, ok := ctx.Value(recognisedKey{}).(*recognised); ok && seen.caller != nil {
		return seen.edge.stands(ctx, seen.token)
	}
	return nil
}

// guarded writes as long as the caller may read.
type guarded struct {
	io.Writer
	ctx   context.Context
	asked time.Time
}

func (g *guarded) Write(b []byte) (int, error) {
	if now := time.Now(); now.Sub(g.asked) >= standEvery {
		if err := standing(g.ctx); err != nil {
			return 0, err
		}
		g.asked = now
	}
	return g.Writer.Write(b)
}

// Authorize returns the context of a caller that has the scope, as the user
// that it acts for, if onBehalfOf names one. The scope is checked first: only a
// key that may call the operation learns for whom it may act.
func (e *Edge) Authorize(ctx context.Context, op Op, onBehalfOf string) (context.Context, error) {
	if op.Scope == principal.Public {
		return ctx, nil
	}
	caller := principal.From(ctx)
	for _, s := range op.scopes() {
		if !caller.Has(s) {
			return ctx, errScope.With("requiredScope", string(s))
		}
	}
	if onBehalfOf == "" || e.opts.ActFor == nil {
		return ctx, nil
	}
	caller, err := e.opts.ActFor(ctx, caller, onBehalfOf)
	return principal.With(ctx, caller), err
}
