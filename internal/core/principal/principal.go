// Package principal says who is calling: the organization, the key and what
// the key may do. It is a leaf, so that the edge and the domains can both
// speak of a caller without knowing each other.
package principal

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// OrgID names an organization. It is a type of its own so that no query can be
// given another identifier in its place.
type OrgID uuid.UUID

// ParseOrgID reads the canonical text form.
func ParseOrgID(s string) (OrgID, error) {
	u, err := uuid.Parse(s)
	return OrgID(u), err
}

// NewOrgID makes a new identifier; later ones sort after earlier ones.
func NewOrgID() OrgID { return OrgID(uuid.Must(uuid.NewV7())) }

// String is the canonical text form.
func (o OrgID) String() string { return uuid.UUID(o).String() }

// IsZero reports whether o names no organization.
func (o OrgID) IsZero() bool { return o == OrgID{} }

// Value lets the database driver write o.
func (o OrgID) Value() (driver.Value, error) { return o.String(), nil }

// Scan lets the database driver read o.
func (o *OrgID) Scan(src any) error {
	var u uuid.UUID
	if err := u.Scan(src); err != nil {
		return fmt.Errorf("organization id: %w", err)
	}
	*o = OrgID(u)
	return nil
}

// MarshalText makes o a string in JSON.
func (o OrgID) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *OrgID) UnmarshalText(b []byte) error {
	id, err := ParseOrgID(string(b))
	*o = id
	return err
}

// Scope is a right that a key carries. Each operation needs exactly one, and
// no scope implies another.
type Scope string

// The scopes of the interface.
const (
	EvalRead     Scope = "eval:read"
	EvalWrite    Scope = "eval:write"
	TracesRead   Scope = "traces:read"
	TracesWrite  Scope = "traces:write"
	ReportsWrite Scope = "reports:write"
	AdminOrg     Scope = "admin:org"

	// AnyKey marks an operation that every valid key may call.
	AnyKey Scope = "*"
	// Public marks an operation that needs no key at all.
	Public Scope = ""
)

// Scopes lists what a key can be granted.
var Scopes = []Scope{EvalRead, EvalWrite, TracesRead, TracesWrite, ReportsWrite, AdminOrg}

// Caller is an authenticated caller.
type Caller struct {
	Org OrgID
	// Key is the key's number, and KeyID its public part.
	Key    int64
	KeyID  string
	Scopes []Scope
	// User is the person behind the call: the owner of a personal key, or the
	// member that an administrator's key speaks for. Nil for a service key.
	User *uuid.UUID
	// Asserted is true if the key only says that it speaks for the user: somebody else
	// made it, or the request names the user with X-On-Behalf-Of.
	Asserted bool
	// Role is the user's role; empty for a service key, which no role narrows.
	Role Role
	// OverOwners is true if the caller may decide about owners: an owner, or a
	// service key that an owner or the operator of the deployment made.
	OverOwners bool
	// NoDelete is true if the key may call no operation that deletes.
	NoDelete bool
	// Suspended is true if the organization may not use the platform for now.
	Suspended bool
	// HourlyLimit is how many requests the key may make in an hour, and
	// OrgHourlyLimit how many all keys of the organization together.
	HourlyLimit, OrgHourlyLimit int
}

// InPerson reports whether a person calls: in a session of their own, or with a key that
// they made in person. Nothing else decides who counts as a person.
func (c Caller) InPerson() bool { return c.User != nil && !c.Asserted }

// Operator reports whether nobody of an organization calls, but the operator of the
// deployment, or the platform itself.
func (c Caller) Operator() bool { return c.Key == 0 && c.User == nil }

// Has reports whether the caller's key has the scope.
func (c Caller) Has(s Scope) bool { return s == AnyKey || slices.Contains(c.Scopes, s) }

// May reports whether the caller can use the scope: its key has it, and the
// role of the key's owner, if it has one, still allows it.
func (c Caller) May(s Scope) bool {
	return c.Has(s) && (c.Role == "" || c.Role.Grants(s))
}

type contextKey struct{}

// With returns a context that carries the caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns the caller of an authenticated request. Operations that need a
// key always have one; the zero value elsewhere owns nothing and may nothing.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(contextKey{}).(Caller)
	return c
}
