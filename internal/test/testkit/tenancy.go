package testkit

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
)

// At returns a client that calls another application with the same key.
func (c *Client) At(k *Kit) *Client {
	return &Client{Org: c.Org, Owner: c.Owner, Key: c.Key, base: k.URL}
}

// Person invites a member and returns them with a client that uses a personal
// key of theirs, which has every scope that the role can hold.
func (c *Client) Person(t testing.TB, role principal.Role) (Member, *Client) {
	t.Helper()
	m, err := c.Invite(t.Context(), Member{Email: random() + "@example.com", Role: string(role)})
	require.NoError(t, err)
	var scopes []string
	for _, s := range role.Scopes() {
		scopes = append(scopes, string(s))
	}
	key, err := c.CreateKey(t.Context(), NewKey{Name: "of " + m.Email, Scopes: scopes, Personal: true}, OnBehalfOf(m.ID))
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
	// Me is what the current key may do.
	Me = api.Me
	// Usage is how much a key was used.
	Usage = api.APIKeyUsage
	// UsageDay is how much a key was used on one day.
	UsageDay = api.APIKeyUsageDay
	// UsageEndpoint is how much a key was used for one operation.
	UsageEndpoint = api.APIKeyUsageEndpoint
)

// NewKey describes a key to make.
type NewKey struct {
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	Mode      string   `json:"mode,omitzero"`
	ExpiresAt string   `json:"expiresAt,omitzero"`
	Personal  bool     `json:"personal,omitzero"`
	CanDelete *bool    `json:"canDelete,omitzero"`
}

// Key is an API key as a client sees it; Key is set in the answer that made it.
type Key struct {
	ID             int64       `json:"id"`
	Name           string      `json:"name"`
	KeyPrefix      string      `json:"key_prefix"`
	Last4          string      `json:"last4"`
	Scopes         []string    `json:"scopes"`
	Mode           string      `json:"mode"`
	Status         string      `json:"status"`
	CanDelete      bool        `json:"can_delete"`
	Personal       bool        `json:"personal"`
	CreatedBy      Actor       `json:"created_by"`
	CreatedAt      string      `json:"created_at"`
	ExpiresAt      string      `json:"expires_at"`
	LastUsedAt     string      `json:"last_used_at"`
	Version        int64       `json:"version"`
	Key            secret.Text `json:"-"`
	OrganizationID string      `json:"organization_id"`
}

// Member is a member as a client sees it. A name that is null reads as empty.
type Member struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	Name      string `json:"name"`
	Role      string `json:"role"`
	Status    string `json:"status"`
	CreatedAt string `json:"created_at"`
	Version   int64  `json:"version"`
}

// KeyPage is a page of keys.
type KeyPage struct {
	APIKeys []Key `json:"api_keys"`
	Limit   int   `json:"limit"`
	Offset  int   `json:"offset"`
	HasMore bool  `json:"has_more"`
	Total   int   `json:"total"`
}

// AuditPage is a page of the audit log.
type AuditPage struct {
	AuditLogs  []AuditEntry `json:"audit_logs"`
	HasMore    bool         `json:"has_more"`
	NextCursor string       `json:"next_cursor"`
	Total      *int         `json:"total"`
}

// Organization is an organization as a client sees it.
type Organization struct {
	ID                 string `json:"id"`
	Name               string `json:"name"`
	Status             string `json:"status"`
	Plan               string `json:"plan"`
	HourlyLimit        int    `json:"hourly_limit"`
	TotalHourlyLimit   int    `json:"total_hourly_limit"`
	RetentionDays      *int   `json:"retention_days"`
	SeparationOfDuties string `json:"separation_of_duties"`
	SeparationProposal *struct {
		Value  string `json:"value"`
		UserID string `json:"user_id"`
	} `json:"separation_proposal"`
	RedactionRules   []map[string]any `json:"redaction_rules"`
	PriceOverrides   map[string]any   `json:"price_overrides"`
	ModelSpendCapUSD *float64         `json:"model_spend_cap_usd"`
	CreatedAt        string           `json:"created_at"`
	UpdatedAt        string           `json:"updated_at"`
	Version          int64            `json:"version"`
}

// ProviderKey is a provider key as a client sees it.
type ProviderKey struct {
	ID        int64    `json:"id"`
	Provider  string   `json:"provider"`
	Name      string   `json:"name"`
	BaseURL   string   `json:"base_url"`
	Last4     string   `json:"last4"`
	Models    []string `json:"models"`
	Status    string   `json:"status"`
	CreatedAt string   `json:"created_at"`
	Version   int64    `json:"version"`

	MonthlyCapUSD *float64 `json:"monthly_cap_usd"`
	MonthSpentUSD float64  `json:"month_spent_usd"`
}

// Tested is the result of a test of a provider key, without the time it took.
type Tested struct {
	OK      bool   `json:"ok"`
	Status  string `json:"status"`
	HTTP    *int   `json:"http_status"`
	Message string `json:"message"`
}

// With returns a client of the same organization that uses another key.
func (c *Client) With(key secret.Text) *Client {
	return &Client{Org: c.Org, Owner: c.Owner, Key: key, base: c.base}
}

// Me asks who the key is.
func (c *Client) Me(ctx context.Context) (Me, error) { return c.API().GetMe(ctx) }

// CreateKey makes a key.
func (c *Client) CreateKey(ctx context.Context, k NewKey, opts ...Option) (Key, error) {
	return c.newKey(ctx, "/api/developer/api-keys", k, opts...)
}

// RotateKey replaces a key.
func (c *Client) RotateKey(ctx context.Context, id int64, graceSeconds int) (Key, error) {
	return c.newKey(ctx, "/api/developer/api-keys/"+strconv.FormatInt(id, 10)+"/rotate", map[string]any{"graceSeconds": graceSeconds})
}

func (c *Client) newKey(ctx context.Context, path string, in any, opts ...Option) (Key, error) {
	var out struct {
		Key
		Text string `json:"key"`
	}
	_, err := c.Call(ctx, http.MethodPost, path, in, &out, opts...)
	out.Key.Key = secret.Text(out.Text)
	return out.Key, err
}

// GetKey reads a key.
func (c *Client) GetKey(ctx context.Context, id int64) (out Key, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/developer/api-keys/"+strconv.FormatInt(id, 10), nil, &out)
	return out, err
}

// ListKeys reads a page of keys, newest first.
func (c *Client) ListKeys(ctx context.Context, query string) (out KeyPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/developer/api-keys?includeTotal=true&"+query, nil, &out)
	return out, err
}

// CreateMyKey makes a personal key.
func (c *Client) CreateMyKey(ctx context.Context, k NewKey, opts ...Option) (Key, error) {
	return c.newKey(ctx, "/api/me/api-keys", k, opts...)
}

// MyKeys reads a page of the caller's own keys, newest first.
func (c *Client) MyKeys(ctx context.Context, query string, opts ...Option) (out KeyPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/me/api-keys?includeTotal=true&"+query, nil, &out, opts...)
	return out, err
}

// GetMyKey reads one of the caller's own keys.
func (c *Client) GetMyKey(ctx context.Context, id int64, opts ...Option) (out Key, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/me/api-keys/"+strconv.FormatInt(id, 10), nil, &out, opts...)
	return out, err
}

// RevokeMyKey ends one of the caller's own keys.
func (c *Client) RevokeMyKey(ctx context.Context, id int64, opts ...Option) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/me/api-keys/"+strconv.FormatInt(id, 10), nil, nil, opts...)
	return err
}

// UpdateKey changes the fields of a key that patch has.
func (c *Client) UpdateKey(ctx context.Context, id int64, patch map[string]any, opts ...Option) (out Key, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/developer/api-keys/"+strconv.FormatInt(id, 10), patch, &out, opts...)
	return out, err
}

// RevokeKey ends a key.
func (c *Client) RevokeKey(ctx context.Context, id int64) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/developer/api-keys/"+strconv.FormatInt(id, 10), nil, nil)
	return err
}

// Usage asks what a key was used for.
func (c *Client) Usage(ctx context.Context, id int64) (Usage, error) {
	return c.API().GetAPIKeyUsage(ctx, strconv.FormatInt(id, 10), nil)
}

// AuditLog reads a page of the audit log, newest first.
func (c *Client) AuditLog(ctx context.Context, query string) ([]AuditEntry, error) {
	var page struct {
		AuditLogs []AuditEntry `json:"audit_logs"`
	}
	_, err := c.Call(ctx, http.MethodGet, "/api/audit-logs?"+query, nil, &page)
	return page.AuditLogs, err
}

// AuditPage reads a page of the audit log with its paging.
func (c *Client) AuditPage(ctx context.Context, query string) (out AuditPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/audit-logs?"+query, nil, &out)
	return out, err
}

// Organization reads the organization.
func (c *Client) Organization(ctx context.Context) (out Organization, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/organizations/current", nil, &out)
	return out, err
}

// UpdateOrganization changes the fields of the organization that patch has.
func (c *Client) UpdateOrganization(ctx context.Context, patch map[string]any, opts ...Option) (out Organization, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/organizations/current", patch, &out, opts...)
	return out, err
}

// DeleteOrganization deletes the organization.
func (c *Client) DeleteOrganization(ctx context.Context, confirm string) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/organizations/current?confirm="+confirm, nil, nil)
	return err
}

// CreateProviderKey keeps a provider's key.
func (c *Client) CreateProviderKey(ctx context.Context, k map[string]any) (out ProviderKey, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/developer/provider-keys", k, &out)
	return out, err
}

// UpdateProviderKey changes the fields of a provider key that patch has.
func (c *Client) UpdateProviderKey(ctx context.Context, id int64, patch map[string]any) (out ProviderKey, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/developer/provider-keys/"+strconv.FormatInt(id, 10), patch, &out)
	return out, err
}

// DeleteProviderKey removes a provider key.
func (c *Client) DeleteProviderKey(ctx context.Context, id int64) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/developer/provider-keys/"+strconv.FormatInt(id, 10), nil, nil)
	return err
}

// TestProviderKey tries a provider key.
func (c *Client) TestProviderKey(ctx context.Context, id int64) (out Tested, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/developer/provider-keys/"+strconv.FormatInt(id, 10)+"/test", nil, &out)
	return out, err
}

// ListProviderKeys reads a page of provider keys, newest first, and the number
// of all of them.
func (c *Client) ListProviderKeys(ctx context.Context, query string) (out []ProviderKey, total int, err error) {
	var page struct {
		ProviderKeys []ProviderKey `json:"provider_keys"`
		Total        int           `json:"total"`
	}
	_, err = c.Call(ctx, http.MethodGet, "/api/developer/provider-keys?includeTotal=true&"+query, nil, &page)
	return page.ProviderKeys, page.Total, err
}

// Members lists members, newest first.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	out, _, err := c.ListMembers(ctx, "limit=1000")
	return out, err
}

// ListMembers reads a page of members, newest first, and the number of all of
// them.
func (c *Client) ListMembers(ctx context.Context, query string) (out []Member, total int, err error) {
	var page struct {
		Members []Member `json:"members"`
		Total   int      `json:"total"`
	}
	_, err = c.Call(ctx, http.MethodGet, "/api/organizations/current/members?includeTotal=true&"+query, nil, &page)
	return page.Members, page.Total, err
}

// Invite adds a member.
func (c *Client) Invite(ctx context.Context, m Member) (out Member, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/organizations/current/members", map[string]any{"email": m.Email, "name": m.Name, "role": m.Role}, &out)
	return out, err
}

// UpdateMember changes a member.
func (c *Client) UpdateMember(ctx context.Context, user string, patch map[string]any, opts ...Option) (out Member, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/organizations/current/members/"+user, patch, &out, opts...)
	return out, err
}

// RemoveMember takes a member out.
func (c *Client) RemoveMember(ctx context.Context, user string) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/organizations/current/members/"+user, nil, nil)
	return err
}
