package httpapi

import (
	"context"
	"strings"

	"github.com/assayhq/assay/internal/principal"
)

// bearer returns the token of the values of the Authorization header.
func bearer(values []string) (string, error) {
	if len(values) == 0 {
		return "", errMissingKey
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return "", errHeader
	}
	return token, nil
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
