package main

import (
	"net/http"
	"slices"

	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// facts are what the test itself did to make a caller. The oracle knows
// nothing else and asks the product nothing.
type facts struct {
	refused   string   // why the credential is none; empty if it is one
	scopes    []string // what the key was given
	role      string   // of the owner now; empty for a service key
	person    bool     // the owner made the key, after signing in
	suspended bool     // the organization is
	foreign   bool     // of another organization than the objects it asks for
	speaks    speaking // for whom the key says that it acts
}

// speaking is whom X-On-Behalf-Of names.
type speaking int

const (
	forItself speaking = iota
	forMember
	forStranger // nobody, or nobody of this organization
)

var allScopes = []string{"eval:read", "eval:write", "traces:read", "traces:write", "reports:write", "admin:org"}

// roleScopes is what each role can hold.
var roleScopes = map[string][]string{
	"owner":     allScopes,
	"admin":     allScopes,
	"member":    {"eval:read", "eval:write", "traces:read", "traces:write"},
	"annotator": {"eval:read", "eval:write"},
	"viewer":    {"eval:read", "traces:read"},
}

// want is the answer that the rules ask for. Status zero means that the caller
// may: any answer but 401 and 403 is right.
type want struct {
	status int
	reason string
	scope  string // details.requiredScope
}

// expect applies the rules in their order: credential, scope, permission, and
// last that another organization's object is not there.
func expect(r rule, f facts, hasID bool) want {
	switch {
	case r.scope == public:
		return want{}
	case f.refused != "":
		return want{status: http.StatusUnauthorized, reason: f.refused}
	case f.lacks(r) != "":
		return want{status: http.StatusUnauthorized, reason: "insufficient_scope", scope: f.lacks(r)}
	case f.speaks != forItself && !f.holds("admin:org"):
		return want{status: http.StatusForbidden, reason: "on_behalf_of_forbidden"}
	case f.speaks == forStranger:
		return want{status: http.StatusForbidden, reason: "not_a_member"}
	case f.suspended:
		return want{status: http.StatusForbidden, reason: "organization_suspended"}
	case !f.holdsAll(r):
		return want{status: http.StatusForbidden, reason: "role_forbids"}
	case f.role == "annotator" && r.writes() && !r.annotators:
		return want{status: http.StatusForbidden, reason: "role_forbids"}
	case r.people && f.role == "" && f.speaks != forMember:
		return want{status: http.StatusForbidden, reason: "not_a_person"}
	case r.self && (!f.person || f.speaks == forMember):
		return want{status: http.StatusForbidden, reason: "not_a_person"}
	case specimen.OfRoute(r.name()).Grants != "" && !f.holds(specimen.OfRoute(r.name()).Grants):
		return want{status: http.StatusForbidden, reason: "scope_escalation"}
	case f.foreign && hasID:
		return want{status: http.StatusNotFound}
	}
	return want{}
}

// lacks is the first scope of the operation that the key was not given; empty
// if it was given all.
func (f facts) lacks(r rule) string {
	for _, scope := range r.scopes() {
		if !slices.Contains(f.scopes, scope) {
			return scope
		}
	}
	return ""
}

// holdsAll reports whether the key holds every scope of the operation.
func (f facts) holdsAll(r rule) bool {
	return !slices.ContainsFunc(r.scopes(), func(scope string) bool { return !f.holds(scope) })
}

// holds reports whether the key has the scope and its owner's role can hold
// it: a role narrows a personal key at every use.
func (f facts) holds(scope string) bool {
	return slices.Contains(f.scopes, scope) && (f.role == "" || slices.Contains(roleScopes[f.role], scope))
}
