package tenancy

import (
	"context"
	"net/http"
	"regexp"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerOrganization(e *httpapi.Edge) {
	const tag = "Organization"
	httpapi.Register(e, httpapi.Op{
		ID: "getOrganization", Method: http.MethodGet, Path: "/api/organizations/current", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "Get the organization and its settings",
	}, s.getOrganization)
	httpapi.Register(e, httpapi.Op{
		ID: "updateOrganization", Method: http.MethodPatch, Path: "/api/organizations/current", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary:     "Rename the organization or change its settings",
		Description: "A setting that is absent stays as it is; null sets it back to the deployment's default.",
	}, s.patchOrganization)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteOrganization", Method: http.MethodDelete, Path: "/api/organizations/current", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Delete the organization and everything in it",
		Description: "Cannot be undone. Every key stops working at once; the data is erased in the background, and the operator of the deployment holds a certificate of what was erased and when. `confirm` must be the organization's id.",
	}, s.deleteOrganization)
}

type updateOrganizationInput struct {
	httpapi.IfMatch
	Body updateOrganizationBody
}

type updateOrganizationBody struct {
	Name               httpapi.Patch[keyName]          `json:"name,omitzero"`
	RetentionDays      httpapi.Patch[retentionDays]    `json:"retentionDays,omitzero"`
	SeparationOfDuties httpapi.Patch[dutySeparation]   `json:"separationOfDuties,omitzero"`
	RedactionRules     httpapi.Patch[[]RedactionRule]  `json:"redactionRules,omitzero"`
	PriceOverrides     httpapi.Patch[map[string]Price] `json:"priceOverrides,omitzero"`
	ExpectedVersion    int64                           `json:"expectedVersion,omitzero" minimum:"1"`
}

// Resolve refuses redaction rules that could not run.
func (b *updateOrganizationBody) Resolve(huma.Context) []error {
	var errs []error
	for i, r := range b.RedactionRules.Value {
		at := "/redactionRules/" + strconv.Itoa(i)
		if (r.Key == "") == (r.Pattern == "") {
			errs = append(errs, fault.Invalid("body", at, "one_of_required", "needs either key or pattern"))
		}
		if _, err := regexp.Compile(r.Pattern); err != nil {
			errs = append(errs, fault.Invalid("body", at+"/pattern", "format", "is not a regular expression of the RE2 syntax"))
		}
	}
	return errs
}

type deleteOrganizationInput struct {
	Confirm string `query:"confirm" required:"true" maxLength:"64" doc:"The organization's id, to show that this is meant."`
}

type organizationOutput struct {
	ETag string `header:"ETag"`
	Body organizationBody
}

type organizationBody struct {
	ID                 string           `json:"id" format:"uuid"`
	Name               string           `json:"name"`
	Status             Status           `json:"status" enum:"active,suspended,deleting"`
	Plan               Plan             `json:"plan" enum:"free,pro,enterprise,self_hosted"`
	HourlyLimit        int              `json:"hourly_limit"`
	RetentionDays      *int             `json:"retention_days" nullable:"true" doc:"How long traces are kept; null means the deployment's default."`
	SeparationOfDuties string           `json:"separation_of_duties" enum:"requester,key_owner,off"`
	RedactionRules     []RedactionRule  `json:"redaction_rules"`
	PriceOverrides     map[string]Price `json:"price_overrides"`
	CreatedAt          httpapi.Time     `json:"created_at"`
	UpdatedAt          httpapi.Time     `json:"updated_at"`
	Version            int64            `json:"version"`
}

func (s *Service) getOrganization(ctx context.Context, _ *struct{}) (*organizationOutput, error) {
	o, err := s.Organization(ctx, principal.From(ctx).Org)
	if err != nil {
		return nil, err
	}
	return toOrganizationOutput(o), nil
}

func (s *Service) patchOrganization(ctx context.Context, in *updateOrganizationInput) (*organizationOutput, error) {
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*organizationOutput, error) {
		o, err := s.UpdateOrganizationTx(ctx, tx, expected, in.Body.apply)
		if err != nil {
			return nil, err
		}
		return toOrganizationOutput(o), nil
	})
}

func (s *Service) deleteOrganization(ctx context.Context, in *deleteOrganizationInput) (*httpapi.DeletedOutput[string], error) {
	org := principal.From(ctx).Org
	if id, err := principal.ParseOrgID(in.Confirm); err != nil || id != org {
		return nil, fault.Invalid("query", "confirm", "enum", "must be the organization's id")
	}
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		if err := s.DeleteOrganizationTx(ctx, tx); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(org.String()), nil
	})
}

func (b updateOrganizationBody) apply(o *Organization) {
	if b.Name.Sent && !b.Name.Null {
		o.Name = string(b.Name.Value)
	}
	if b.RetentionDays.Sent {
		o.Settings.RetentionDays = int(b.RetentionDays.Value)
	}
	if b.SeparationOfDuties.Sent {
		o.Settings.SeparationOfDuties = string(b.SeparationOfDuties.Value)
	}
	if b.RedactionRules.Sent {
		o.Settings.RedactionRules = b.RedactionRules.Value
	}
	if b.PriceOverrides.Sent {
		o.Settings.PriceOverrides = b.PriceOverrides.Value
	}
}

func toOrganizationOutput(o Organization) *organizationOutput {
	b := organizationBody{
		ID: o.ID.String(), Name: o.Name, Status: o.Status, Plan: o.Plan, HourlyLimit: o.HourlyLimit,
		SeparationOfDuties: o.Settings.SeparationOfDuties, RedactionRules: o.Settings.RedactionRules, PriceOverrides: o.Settings.PriceOverrides,
		CreatedAt: httpapi.Time(o.CreatedAt), UpdatedAt: httpapi.Time(o.UpdatedAt), Version: o.Version,
	}
	if o.Settings.RetentionDays > 0 {
		b.RetentionDays = &o.Settings.RetentionDays
	}
	if b.SeparationOfDuties == "" {
		b.SeparationOfDuties = "requester"
	}
	if b.RedactionRules == nil {
		b.RedactionRules = []RedactionRule{}
	}
	if b.PriceOverrides == nil {
		b.PriceOverrides = map[string]Price{}
	}
	return &organizationOutput{ETag: httpapi.ETag(o.Version), Body: b}
}

type (
	retentionDays  int
	dutySeparation string
)

// Schema bounds the retention: ten years at most.
func (retentionDays) Schema(huma.Registry) *huma.Schema {
	low, high := 1.0, 3650.0
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &low, Maximum: &high}
}

// Schema lists the rules that there are.
func (dutySeparation) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"requester", "key_owner", "off"}}
}

// parseUser reads a user's id from a path; another text names nobody.
func parseUser(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.UUID{}, ErrMemberNotFound
	}
	return id, nil
}
