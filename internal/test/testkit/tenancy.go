package testkit

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy/account"
)

// At returns a client that calls another application with the same key.
func (c *Client) At(k *Kit) *Client {
	return newClient(Client{Org: c.Org, Owner: c.Owner, Key: c.Key, base: k.URL, kit: k})
}

// Password is everybody's.
const Password = "correct horse battery staple"

// Person adds a member, who accepts the operator's invitation, and returns them with a client
// that uses a key which they made in the session that began: a person. The key has every scope
// that the role can hold.
func (c *Client) Person(t testing.TB, role principal.Role) (Member, *Client) {
	t.Helper()
	m, err := c.InviteMember(t.Context(), NewMember{Email: random() + "@example.com", Role: string(role)})
	require.NoError(t, err)
	return m, c.Enter(t, m.ID)
}

// InPerson returns a client that uses a key of the organization's owner, who is a person.
func (c *Client) InPerson(t testing.TB) *Client {
	t.Helper()
	c.kit.entering.Lock()
	defer c.kit.entering.Unlock()
	if c.kit.owners[c.Org] == "" {
		c.kit.owners[c.Org] = c.Enter(t, c.Owner.String()).Key
	}
	return c.With(c.kit.owners[c.Org])
}

// Enter lets a member in and returns a client that uses a key of theirs.
func (c *Client) Enter(t testing.TB, member string) *Client {
	t.Helper()
	s := c.SignedIn(t, member)
	key, err := c.kit.App.Account.FirstKey(principal.With(t.Context(), s.Caller), member)
	require.NoError(t, err)
	return c.With(key)
}

// SignedIn lets a member in and returns their session.
func (c *Client) SignedIn(t testing.TB, member string) account.Session {
	t.Helper()
	a := c.kit.App.Account
	made, err := a.Invite(t.Context(), c.Org, uuid.MustParse(member))
	require.NoError(t, err)
	s, err := a.Accept(t.Context(), TokenOf(made.Link.Reveal()), Password)
	require.NoError(t, err)
	return s
}

// LetIn adds a member, who accepts an invitation of a client's person, and returns them with a
// client that uses a key of theirs.
func LetIn(t testing.TB, c *Client, role principal.Role) (Member, *Client) {
	t.Helper()
	m, err := c.InviteMember(t.Context(), NewMember{Email: random() + "@example.com", Role: string(role)})
	require.NoError(t, err)
	link, err := c.CreateInvitation(t.Context(), m.ID)
	require.NoError(t, err)
	s, err := c.kit.App.Account.Accept(t.Context(), TokenOf(link.URL), Password)
	require.NoError(t, err)
	key, err := c.kit.App.Account.FirstKey(principal.With(t.Context(), s.Caller), m.Email)
	require.NoError(t, err)
	return m, c.With(key)
}

// TokenOf is the token of an invitation's link.
func TokenOf(link string) string {
	_, token, _ := strings.Cut(link, "?token=")
	return token
}

// Minted adds a member and returns them with a client that uses a personal key which this
// client made for them: that is nobody in person.
func (c *Client) Minted(t testing.TB, role principal.Role) (Member, *Client) {
	t.Helper()
	m, err := c.InviteMember(t.Context(), NewMember{Email: random() + "@example.com", Role: string(role)})
	require.NoError(t, err)
	return m, MintFor(t, c, m.ID, role)
}

// MintFor returns a client that uses a personal key which a client made for a member.
func MintFor(t testing.TB, c *Client, member string, role principal.Role) *Client {
	t.Helper()
	var scopes []string
	for _, s := range role.Scopes() {
		scopes = append(scopes, string(s))
	}
	key, err := c.CreateKey(t.Context(), NewKey{Name: "minted " + random(), Scopes: scopes, Personal: new(true)}, OnBehalfOf(member))
	require.NoError(t, err)
	return c.With(key.Key)
}

// Agent returns a client that uses a service key which this one made, with every scope.
func (c *Client) Agent(t testing.TB) *Client {
	t.Helper()
	var scopes []string
	for _, s := range principal.Owner.Scopes() {
		scopes = append(scopes, string(s))
	}
	key, err := c.CreateKey(t.Context(), NewKey{Name: "agent " + random(), Scopes: scopes})
	require.NoError(t, err)
	return c.With(key.Key)
}

// AgeKeys brings the expiry of an organization's keys so much nearer: the
// database's clock decides about it, and no test can move that.
func (k *Kit) AgeKeys(t testing.TB, org principal.OrgID, by time.Duration) {
	t.Helper()
	k.Exec(t, org, "UPDATE api_keys SET expires_at = expires_at - make_interval(secs => $1) WHERE org_id = $2", by.Seconds(), org)
	k.Clock.Advance(2 * time.Second) // what the replica remembers of the keys is older than it may be
}

// OnBehalfOf makes a request speak for a member.
func OnBehalfOf(user string) Option { return Header("X-On-Behalf-Of", user) }

type (
	// Actor is who did something.
	Actor = api.Actor
	// AuditEntry is an entry of the audit log.
	AuditEntry = api.AuditLogEntry
	// Usage is how much a key was used.
	Usage = api.APIKeyUsage
	// UsageDay is how much a key was used on one day.
	UsageDay = api.APIKeyUsageDay
	// NewKey is a key to make.
	NewKey = api.CreateAPIKey
	// Member is a member.
	Member = api.Member
	// NewMember is a member to invite.
	NewMember = api.InviteMember
	// Organization is an organization.
	Organization = api.Organization
	// ProviderKey is a key of a provider of models.
	ProviderKey = api.ProviderKey
	// UsageEndpoint is how much a key was used for one operation.
	UsageEndpoint = api.APIKeyUsageEndpoint
)

// Key is an API key that was made.
type Key struct {
	api.APIKey
	OrganizationID string
	Key            secret.Text
}

// With returns a client of the same organization that uses another key.
func (c *Client) With(key secret.Text) *Client {
	return newClient(Client{Org: c.Org, Owner: c.Owner, Key: key, base: c.base, kit: c.kit})
}

// CreateKey makes a key.
func (c *Client) CreateKey(ctx context.Context, k NewKey, opts ...Option) (Key, error) {
	return made(c.CreateAPIKey(ctx, k, opts...))
}

// CreateMyKey makes a personal key.
func (c *Client) CreateMyKey(ctx context.Context, k NewKey, opts ...Option) (Key, error) {
	return made(c.CreateMyAPIKey(ctx, k, opts...))
}

// RotateKey replaces a key.
func (c *Client) RotateKey(ctx context.Context, id int64, graceSeconds int) (Key, error) {
	return made(c.RotateAPIKey(ctx, id, map[string]any{"graceSeconds": graceSeconds}))
}

// made keeps the text of a key out of what failures print.
func made(k api.CreatedAPIKey, err error) (Key, error) {
	return Key{OrganizationID: k.OrganizationID, Key: secret.Text(k.Key), APIKey: api.APIKey{
		CanDelete: k.CanDelete, CreatedAt: k.CreatedAt, CreatedBy: k.CreatedBy, ExpiresAt: k.ExpiresAt, ID: k.ID, KeyPrefix: k.KeyPrefix,
		Last4: k.Last4, LastUsedAt: k.LastUsedAt, Mode: k.Mode, Name: k.Name, Personal: k.Personal, Scopes: k.Scopes, Status: k.Status, Version: k.Version,
	}}, err
}
