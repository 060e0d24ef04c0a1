package principal

import "slices"

// Role is what a person is in an organization. Keys have scopes; the role of a
// personal key's owner narrows them at every use.
type Role string

// The roles.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Member    Role = "member"
	Annotator Role = "annotator"
	Viewer    Role = "viewer"
)

// Roles lists every role, the mightiest first.
var Roles = []Role{Owner, Admin, Member, Annotator, Viewer}

// roleScopes is what each role can hold.
var roleScopes = map[Role][]Scope{
	Owner:     Scopes,
	Admin:     Scopes,
	Member:    {EvalRead, EvalWrite, TracesRead, TracesWrite},
	Annotator: {EvalRead, EvalWrite},
	Viewer:    {EvalRead, TracesRead},
}

// Scopes is what the role can hold.
func (r Role) Scopes() []Scope { return roleScopes[r] }

// Grants reports whether the role can hold the scope.
func (r Role) Grants(s Scope) bool { return s == AnyKey || slices.Contains(roleScopes[r], s) }

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return slices.Contains(Roles, r) }
