package httpapi

import (
	"net/http"
	"strings"

	"github.com/assayhq/assay/internal/principal"
)

// bearer returns the token of the Authorization header.
func bearer(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", errMissingKey
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return "", errHeader
	}
	return token, nil
}

// authorize returns the request of a caller that has the scope, as the person
// whom it speaks for. The scope comes first: whom a key may speak for is a
// question only to a key that may call the operation.
func (g *gate) authorize(r *http.Request) (*http.Request, error) {
	if g.op.Scope == principal.Public {
		return r, nil
	}
	caller := principal.From(r.Context())
	if !caller.Has(g.op.Scope) {
		return r, errScope.With("requiredScope", string(g.op.Scope))
	}
	user := r.Header.Get("X-On-Behalf-Of")
	if user == "" || g.edge.opts.Speak == nil {
		return r, nil
	}
	caller, err := g.edge.opts.Speak(r.Context(), caller, user)
	return r.WithContext(principal.With(r.Context(), caller)), err
}
