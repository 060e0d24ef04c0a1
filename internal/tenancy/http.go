package tenancy

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "getMe", Method: http.MethodGet, Path: "/api/me", Tag: "Access", Scope: principal.AnyKey, Status: 200,
		Summary:     "Who the key is",
		Description: "The organization, the key and what it may do. Every valid key may ask.",
	}, s.getMe)
	httpapi.Register(e, httpapi.Op{
		ID: "createMyAPIKey", Method: http.MethodPost, Path: "/api/me/api-keys", Tag: "Access", Scope: principal.AnyKey, Status: 201, Strict: true, Annotators: true,
		Summary:     "Create a personal API key",
		Description: "For a person, whatever their role: the key has at most what its owner has now, and ends with the membership. `key` is shown in this answer and never again.",
	}, s.postMyKey)
	s.registerKeys(e)
	s.registerOrganization(e)
	s.registerMembers(e)
	s.registerAudit(e)
	s.registerProviderKeys(e)
}

// LearnRoutes tells the service how operations are called. It is told when the
// route table is complete.
func (s *Service) LearnRoutes(ops []httpapi.Op) {
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

type meOutput struct {
	Body meBody
}

type meBody struct {
	OrganizationID   string   `json:"organization_id" format:"uuid"`
	OrganizationName string   `json:"organization_name"`
	Plan             Plan     `json:"plan" enum:"free,pro,enterprise,self_hosted"`
	APIKeyID         int64    `json:"api_key_id"`
	KeyPrefix        string   `json:"key_prefix" doc:"The part of the key that may be shown."`
	Scopes           []string `json:"scopes" doc:"What the key may do now: its scopes, narrowed by its owner's role."`
	UserID           *string  `json:"user_id" format:"uuid" nullable:"true" doc:"The owner of a personal key; null for a service key."`
	Role             *string  `json:"role" enum:"owner,admin,member,annotator,viewer" nullable:"true"`
	HourlyLimit      int      `json:"hourly_limit" doc:"Requests that the key may make in an hour."`
}

func (s *Service) getMe(ctx context.Context, _ *struct{}) (*meOutput, error) {
	c := principal.From(ctx)
	o, err := s.Organization(ctx, c.Org)
	if err != nil {
		return nil, err
	}
	k, err := s.Key(ctx, c.Org, c.Key)
	if err != nil {
		return nil, err
	}
	b := meBody{
		OrganizationID: c.Org.String(), OrganizationName: o.Name, Plan: o.Plan, APIKeyID: c.Key, KeyPrefix: k.Prefix(),
		Scopes: []string{}, HourlyLimit: c.HourlyLimit,
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
	if c.Role != "" {
		role := string(c.Role)
		b.Role = &role
	}
	return &meOutput{Body: b}, nil
}
