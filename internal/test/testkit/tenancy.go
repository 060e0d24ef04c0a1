package testkit

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
)

// At returns a client that calls another application with the same key.
func (c *Client) At(k *Kit) *Client {
	return newClient(Client{Org: c.Org, Owner: c.Owner, Key: c.Key, base: k.URL})
}

// Person invites a member and returns them with a client that uses a personal
// key of theirs, which has every scope that the role can hold.
func (c *Client) Person(t testing.TB, role principal.Role) (Member, *Client) {
	t.Helper()
	m, err := c.InviteMember(t.Context(), NewMember{Email: random() + "@example.com", Role: string(role)})
	require.NoError(t, err)
	var scopes []string
	for _, s := range role.Scopes() {
		scopes = append(scopes, string(s))
	}
	key, err := c.CreateKey(t.Context(), NewKey{Name: "of " + m.Email, Scopes: scopes, Personal: new(true)}, OnBehalfOf(m.ID))
	require.NoError(t, err)
	return m, c.With(key.Key)
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
	return newClient(Client{Org: c.Org, Owner: c.Owner, Key: key, base: c.base})
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
