package tenancy

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

func (s *Service) registerOrganization(e *httpapi.Edge) {
	const tag = tagOrganization
	httpapi.Register(e, httpapi.Op{
		ID: "getOrganization", Method: http.MethodGet, Path: "/api/organizations/current", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Get the organization",
		Description: "Returns the organization of the current key and its settings.",
	}, s.getOrganization)
	httpapi.Register(e, httpapi.Op{
		ID: "updateOrganization", Method: http.MethodPatch, Path: "/api/organizations/current", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary: "Update the organization",
		Description: "Changes the name or the settings that are sent and leaves the others as they are; null restores a setting's default. " +
			"Relaxing the separation of duties takes two people: the first request is kept as `separation_proposal`, and the setting changes when another person sends the same within seven days. A service key gets 403 `not_a_person`.",
	}, s.patchOrganization)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteOrganization", Method: http.MethodDelete, Path: "/api/organizations/current", Tag: tag, Scope: principal.AdminOrg, Status: 200, Repeatable: true,
		Summary:     "Delete the organization",
		Description: "Deletes the organization and everything in it; this cannot be undone. Every key stops working at once. The data is erased in the background, and the operator of the deployment can print a certificate of what was erased and when.",
	}, s.deleteOrganization)
}

type updateOrganizationInput struct {
	httpapi.IfMatch
	Body updateOrganizationBody
}

type updateOrganizationBody struct {
	Name               httpapi.Set[string]                  `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	RetentionDays      httpapi.Patch[int]                   `json:"retentionDays,omitzero" minimum:"1" maximum:"3650" doc:"Days that traces are kept; null restores the deployment's default."`
	SeparationOfDuties httpapi.Patch[string]                `json:"separationOfDuties,omitzero" enum:"requester,key_owner,off" doc:"Who counts as the requester of an approval and so cannot approve it; null restores requester. Less separation than now takes two people."`
	RedactionRules     httpapi.Patch[[]redactionRuleInput]  `json:"redactionRules,omitzero" maxItems:"50" doc:"Rules that remove content before it is stored, replacing all existing ones; null removes them."`
	PriceOverrides     httpapi.Patch[map[string]priceInput] `json:"priceOverrides,omitzero" doc:"Prices by model that replace the built-in ones; null removes them."`
	ModelSpendCapUSD   httpapi.Patch[float64]               `json:"modelSpendCapUsd,omitzero" minimum:"0" maximum:"1000000000" doc:"US dollars that calls of models may cost in a calendar month (UTC); null removes the cap."`
	ExpectedVersion    int64                                `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type redactionRuleInput struct {
	Name    string `json:"name" minLength:"1" maxLength:"64" doc:"Name, which replaces what is removed."`
	Key     string `json:"key,omitempty" maxLength:"200" doc:"Name of a field whose value is removed. Cannot be combined with pattern."`
	Pattern string `json:"pattern,omitempty" maxLength:"1000" doc:"RE2 expression; matching text is removed. Cannot be combined with key."`
}

type priceInput struct {
	InputPerMillion  float64 `json:"inputPerMillion" minimum:"0" maximum:"1000000" doc:"US dollars per million input tokens."`
	OutputPerMillion float64 `json:"outputPerMillion" minimum:"0" maximum:"1000000" doc:"US dollars per million output tokens."`
}

// Check refuses redaction rules that could not run.
func (b *updateOrganizationBody) Check(context.Context) error {
	var fields []fault.Field
	rules := make([]redact.Rule, len(b.RedactionRules.Value))
	for i, r := range b.RedactionRules.Value {
		rules[i] = redact.Rule(r)
		if (r.Key == "") == (r.Pattern == "") {
			fields = append(fields, fault.Field{In: "body", Path: "/redactionRules/" + strconv.Itoa(i), Code: "one_of_required", Message: "requires either key or pattern"})
		}
	}
	if len(fields) > 0 {
		return httpapi.Invalid(fields...)
	}
	var refused *redact.RuleError
	if _, err := redact.New(rules); errors.As(err, &refused) {
		return httpapi.Invalid(fault.Field{In: "body", Path: "/redactionRules/" + strconv.Itoa(refused.Rule) + "/pattern", Code: "format", Message: refused.Err.Error()})
	}
	return nil
}

type deleteOrganizationInput struct {
	Confirm string `query:"confirm" required:"true" maxLength:"64" doc:"The organization's id, as confirmation."`
}

type organizationBody struct {
	ID                 string                     `json:"id" format:"uuid" doc:"Id of the organization."`
	Name               string                     `json:"name" doc:"Name."`
	Status             Status                     `json:"status" enum:"active,suspended,deleting" doc:"A suspended organization cannot use the platform."`
	Plan               Plan                       `json:"plan" doc:"Plan, which sets the rate limit."`
	HourlyLimit        int                        `json:"hourly_limit" volatile:"true" doc:"Requests that each key may make in an hour."`
	TotalHourlyLimit   int                        `json:"total_hourly_limit" volatile:"true" doc:"Requests that all keys together may make in an hour."`
	RetentionDays      *int                       `json:"retention_days" doc:"Days that traces are kept; null for the deployment's default."`
	SeparationOfDuties string                     `json:"separation_of_duties" enum:"requester,key_owner,off" doc:"Who counts as the requester of an approval and so cannot approve it."`
	SeparationProposal httpapi.Null[proposalBody] `json:"separation_proposal" doc:"Less separation that one person has asked for and another one has to agree to."`
	RedactionRules     []redactionRuleBody        `json:"redaction_rules" doc:"Rules that remove content before it is stored."`
	PriceOverrides     map[string]priceBody       `json:"price_overrides" doc:"Prices by model that replace the built-in ones."`
	ModelSpendCapUSD   *float64                   `json:"model_spend_cap_usd" doc:"US dollars that calls of models may cost in a calendar month (UTC); null for no cap."`
	CreatedAt          httpapi.Time               `json:"created_at" doc:"When the organization was created."`
	UpdatedAt          httpapi.Time               `json:"updated_at" doc:"When the organization last changed."`
	Version            int64                      `json:"version" doc:"Counts changes of the organization; see If-Match."`
}

// Noun is what documents call it.
func (organizationBody) Noun() string { return "organization" }

type proposalBody struct {
	Value     string       `json:"value" enum:"requester,off" doc:"The setting that was asked for."`
	UserID    string       `json:"user_id" format:"uuid" doc:"Member who asked for it."`
	CreatedAt httpapi.Time `json:"created_at" doc:"When it was asked for."`
}

type redactionRuleBody struct {
	Name    string  `json:"name" doc:"Name, which replaces what is removed."`
	Key     *string `json:"key" doc:"Name of a field whose value is removed; null if the rule has a pattern."`
	Pattern *string `json:"pattern" doc:"RE2 expression; matching text is removed. Null if the rule has a key."`
}

type priceBody struct {
	InputPerMillion  float64 `json:"input_per_million" doc:"US dollars per million input tokens."`
	OutputPerMillion float64 `json:"output_per_million" doc:"US dollars per million output tokens."`
}

func (s *Service) getOrganization(ctx context.Context, _ *struct{}) (*httpapi.Output[organizationBody], error) {
	o, err := s.Organization(ctx, principal.From(ctx).Org)
	if err != nil {
		return nil, err
	}
	return toOrganizationOutput(o), nil
}

func (s *Service) patchOrganization(ctx context.Context, in *updateOrganizationInput) (*httpapi.Output[organizationBody], error) {
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.Output[organizationBody], error) {
		o, err := s.UpdateOrganizationTx(ctx, tx, expected, func(o *Organization) error {
			in.Body.apply(o)
			if !in.Body.SeparationOfDuties.Sent {
				return nil
			}
			return s.separateTx(ctx, tx, o, in.Body.SeparationOfDuties.Value)
		})
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
		return httpapi.NewDeleted(org.String()), s.DeleteOrganizationTx(ctx, tx)
	})
}

func (b updateOrganizationBody) apply(o *Organization) {
	b.Name.Apply(&o.Name)
	b.RetentionDays.Apply(&o.Settings.RetentionDays)
	if b.RedactionRules.Sent {
		o.Settings.RedactionRules = nil
		for _, r := range b.RedactionRules.Value {
			o.Settings.RedactionRules = append(o.Settings.RedactionRules, RedactionRule(r))
		}
	}
	if b.ModelSpendCapUSD.Sent {
		o.Settings.ModelSpendCapUSD = b.ModelSpendCapUSD.Pointer()
	}
	if b.PriceOverrides.Sent {
		o.Settings.PriceOverrides = nil
		if len(b.PriceOverrides.Value) > 0 {
			o.Settings.PriceOverrides = map[string]Price{}
		}
		for model, p := range b.PriceOverrides.Value {
			o.Settings.PriceOverrides[model] = Price(p)
		}
	}
}

// Shown is the organization as getOrganization shows it.
func (o Organization) Shown() any { return toOrganizationBody(o) }

// Revision counts changes of the organization.
func (o Organization) Revision() int64 { return o.Version }

func toOrganizationOutput(o Organization) *httpapi.Output[organizationBody] {
	return &httpapi.Output[organizationBody]{ETag: httpapi.ETag(o.Version), Body: toOrganizationBody(o)}
}

func toOrganizationBody(o Organization) organizationBody {
	b := organizationBody{
		ID: o.ID.String(), Name: o.Name, Status: o.Status, Plan: o.Plan, HourlyLimit: o.HourlyLimit, TotalHourlyLimit: orgFactor * o.HourlyLimit,
		RetentionDays: httpapi.OrNull(o.Settings.RetentionDays), SeparationOfDuties: o.Settings.Separation(),
		RedactionRules: make([]redactionRuleBody, len(o.Settings.RedactionRules)), PriceOverrides: map[string]priceBody{},
		ModelSpendCapUSD: o.Settings.ModelSpendCapUSD,
		CreatedAt:        httpapi.Time(o.CreatedAt), UpdatedAt: httpapi.Time(o.UpdatedAt), Version: o.Version,
	}
	if p := o.Settings.SeparationProposal; p != nil {
		b.SeparationProposal = httpapi.NullOf(&proposalBody{Value: p.Value, UserID: p.By.String(), CreatedAt: httpapi.Time(p.At)})
	}
	for i, r := range o.Settings.RedactionRules {
		b.RedactionRules[i] = redactionRuleBody{Name: r.Name, Key: httpapi.OrNull(r.Key), Pattern: httpapi.OrNull(r.Pattern)}
	}
	for model, p := range o.Settings.PriceOverrides {
		b.PriceOverrides[model] = priceBody(p)
	}
	return b
}

// parseUser reads a user's id from a path; any other text is the id of no one.
func parseUser(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.UUID{}, ErrMemberNotFound
	}
	return id, nil
}
