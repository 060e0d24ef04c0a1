package tenancy

import (
	"context"
	"errors"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tagAccess, "What the current key may do, and the personal keys of the person behind it.")
	e.Tag(tagKeys, "Keys that applications and people use to call this interface.")
	e.Tag(tagOrganization, "The organization that a key belongs to, and its settings.")
	e.Tag(tagMembers, "The people in an organization and their roles.")
	e.Tag(tagAudit, "A record of every change: who made it, when, and to what.")
	httpapi.Register(e, httpapi.Op{
		ID: "getMe", Method: http.MethodGet, Path: "/api/me", Tag: tagAccess, Scope: principal.AnyKey, Status: 200,
		Summary:     "Describe the current key",
		Description: "Returns the organization, the key and what the key may do. Any valid key may call this.",
	}, s.getMe)
	s.registerNouns(e)
}

// The areas of the domain's operations.
const (
	tagAccess       = "Access"
	tagKeys         = "API keys"
	tagOrganization = "Organization"
	tagMembers      = "Members"
	tagAudit        = "Audit log"
)

// SetRoutes lets the service know how operations are called, once the route table
// is complete.
func (s *Service) SetRoutes(ops []httpapi.Op) {
	for _, op := range ops {
		s.routes[op.ID] = route{Method: op.Method, Path: op.Path}
	}
}

// commit makes a change and then lets this replica forget what it knew of the
// organization's keys, so that the change holds at once.
func commit[T any](ctx context.Context, s *Service, fn func(postgres.Tx) (*T, error)) (*T, error) {
	out, err := change.Do(ctx, s.log, fn)
	s.cache.forgetOrg(principal.From(ctx).Org)
	return out, err
}

type meBody struct {
	OrganizationID   string                 `json:"organization_id" format:"uuid" doc:"Id of the organization that the key belongs to."`
	OrganizationName string                 `json:"organization_name" doc:"Name of the organization."`
	Plan             Plan                   `json:"plan" doc:"Plan of the organization."`
	APIKeyID         int64                  `json:"api_key_id" doc:"Id of the key."`
	KeyPrefix        string                 `json:"key_prefix" example:"asy_live_7Gq2mZ0aKc4T" doc:"The part of the key that may be shown."`
	Mode             Mode                   `json:"mode" doc:"Whether the key is for live use or for tests."`
	Scopes           scopeNames             `json:"scopes" doc:"What the key may do now: its scopes, limited by the role of its owner."`
	UserID           *string                `json:"user_id" format:"uuid" doc:"Id of the member who owns the key; null for a service key."`
	Role             httpapi.Null[roleText] `json:"role" doc:"Role of the key's owner; null for a service key."`
	HourlyLimit      int                    `json:"hourly_limit" doc:"Requests that the key may make in an hour."`
}

func (s *Service) getMe(ctx context.Context, _ *struct{}) (*httpapi.Body[meBody], error) {
	c := principal.From(ctx)
	o, err := s.Organization(ctx, c.Org)
	if err != nil {
		return nil, err
	}
	k, err := s.Key(ctx, c.Org, c.Key)
	if errors.Is(err, ErrKeyNotFound) {
		return nil, ErrKeyRevoked // a moment ago
	}
	if err != nil {
		return nil, err
	}
	b := meBody{
		OrganizationID: c.Org.String(), OrganizationName: o.Name, Plan: o.Plan, APIKeyID: c.Key, KeyPrefix: k.Prefix(), Mode: k.Mode,
		Scopes: scopeNames{}, HourlyLimit: c.HourlyLimit,
	}
	for _, scope := range c.Scopes {
		if c.May(scope) {
			b.Scopes = append(b.Scopes, string(scope))
		}
	}
	if c.User != nil {
		id := c.User.String()
		b.UserID = &id
	}
	b.Role = httpapi.NullOf(httpapi.OrNull(roleText(c.Role)))
	return httpapi.NewBody(b), nil
}
