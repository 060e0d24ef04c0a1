package provider

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/resource"
	"github.com/assayhq/assay/internal/tenancy"
)

var routes = resource.Routes{
	One: "provider key", Many: "provider keys", Tag: "Provider keys", Path: "/api/developer/provider-keys",
	Read: principal.AdminOrg, Write: principal.AdminOrg, Strict: true,
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(routes.Tag, "Credentials for model providers, stored encrypted.")
	httpapi.Register(e, routes.List("listProviderKeys",
		"Returns the organization's provider keys without their secrets, newest first. Filters are combined with AND."), s.getProviderKeys)
	httpapi.Register(e, routes.Create("createProviderKey",
		"The secret is encrypted for this organization and this base URL, and no operation returns it."), s.postProviderKey)
	httpapi.Register(e, routes.Get("getProviderKey", "Returns the provider key without its secret."), s.getProviderKey)
	httpapi.Register(e, routes.Update("updateProviderKey",
		"Changes the fields that are sent and leaves the others as they are. Changing the base URL requires the secret again, "+
			"because the stored one can only be used for the destination that it was given for."), s.patchProviderKey)
	httpapi.Register(e, routes.Delete("deleteProviderKey",
		"Deletes the provider key and its secret; this cannot be undone."), s.deleteProviderKey)
	httpapi.Register(e, httpapi.Op{
		ID: "testProviderKey", Method: http.MethodPost, Path: routes.Path + "/{id}/test", Tag: routes.Tag, Scope: principal.AdminOrg, Status: 200, Repeatable: true,
		Summary:     "Test a provider key",
		Description: "Calls the provider, listing its models. A key that the provider refuses becomes `invalid`, and one that it accepts `active`; a disabled key stays disabled.",
	}, s.postProviderKeyTest)
}

// KeyPath is the path of a provider key.
type KeyPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the provider key."`
}

type listProviderKeysInput struct {
	httpapi.CursorPage
	Status   []KeyStatus `query:"status,explode" doc:"Only provider keys with this status. Repeat the parameter to match any of several."`
	Provider string      `query:"provider" maxLength:"64" doc:"Only keys of this provider."`
	Search   string      `query:"search" maxLength:"200" doc:"Only provider keys whose name contains this text, ignoring case."`
	httpapi.Created
}

type createProviderKeyBody struct {
	Provider string     `json:"provider" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" patternDescription:"lower-case letters, digits, _ and -" example:"openai" doc:"Provider, such as openai or anthropic."`
	Name     string     `json:"name" minLength:"1" maxLength:"200" doc:"Name, unique among the organization's provider keys."`
	BaseURL  string     `json:"baseUrl,omitempty" maxLength:"2000" doc:"URL below which the provider is called; required unless the provider is openai, anthropic or google."`
	Secret   secretText `json:"secret" writeOnly:"true" doc:"The provider's key itself."`
	Models   []string   `json:"models,omitempty" maxItems:"200" doc:"Models that the key is meant for."`

	MonthlyCapUSD *float64 `json:"monthlyCapUsd,omitempty" minimum:"0" maximum:"1000000000" doc:"US dollars that calls with the key may cost in a calendar month (UTC); absent for no cap."`
}

type updateProviderKeyInput struct {
	KeyPath
	httpapi.IfMatch
	Body updateProviderKeyBody
}

type updateProviderKeyBody struct {
	Name            httpapi.Set[string]     `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name, unique among the organization's provider keys."`
	BaseURL         httpapi.Set[string]     `json:"baseUrl,omitzero" minLength:"1" maxLength:"2000" doc:"New base URL; requires the secret again."`
	Secret          httpapi.Set[secretText] `json:"secret,omitzero" writeOnly:"true" doc:"New secret."`
	Models          httpapi.Patch[[]string] `json:"models,omitzero" maxItems:"200" doc:"New models, replacing all existing ones; null removes them."`
	Status          httpapi.Set[KeyStatus]  `json:"status,omitzero" enum:"active,disabled" doc:"disabled stops evaluations from using the key; active allows it again."`
	MonthlyCapUSD   httpapi.Patch[float64]  `json:"monthlyCapUsd,omitzero" minimum:"0" maximum:"1000000000" doc:"New monthly cap in US dollars; null removes it."`
	ExpectedVersion int64                   `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type providerKeyBody struct {
	ID         int64                      `json:"id" doc:"Id of the provider key."`
	Provider   string                     `json:"provider" doc:"Provider, such as openai or anthropic."`
	Name       string                     `json:"name" doc:"Name, unique among the organization's provider keys."`
	BaseURL    string                     `json:"base_url" doc:"URL below which the provider is called."`
	Last4      string                     `json:"last4" doc:"The last four characters of the secret; dots if it is short."`
	Models     []string                   `json:"models" doc:"Models that the key is meant for."`
	Status     KeyStatus                  `json:"status" doc:"Whether the key can be used; an invalid one was refused by the provider."`
	LastUsedAt httpapi.Null[httpapi.Time] `json:"last_used_at" volatile:"true" doc:"When the key was last used; null if it never was."`
	MonthlyCap *float64                   `json:"monthly_cap_usd" doc:"US dollars that calls with the key may cost in a calendar month (UTC); null for no cap."`
	MonthSpent float64                    `json:"month_spent_usd" volatile:"true" doc:"US dollars that calls with the key have cost in this calendar month (UTC), as of a few seconds ago. A call whose model has no price is not counted."`
	CreatedAt  httpapi.Time               `json:"created_at" doc:"When the provider key was created."`
	UpdatedAt  httpapi.Time               `json:"updated_at" doc:"When the provider key last changed."`
	Version    int64                      `json:"version" doc:"Counts changes of the provider key; see If-Match."`
}

// Noun is what documents call it.
func (providerKeyBody) Noun() string { return "provider key" }

type listProviderKeysBody struct {
	ProviderKeys []providerKeyBody `json:"provider_keys" doc:"The provider keys of this page, newest first."`
	httpapi.CursorPaging
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"CreateProviderKey": createProviderKeyBody{},
	"ProviderKey":       providerKeyBody{},
	"ProviderKeyList":   listProviderKeysBody{},
	"ProviderKeyTest":   testedBody{},
	"UpdateProviderKey": updateProviderKeyBody{},
}

type testedBody struct {
	OK         bool      `json:"ok" doc:"Whether the provider accepted the key."`
	Status     KeyStatus `json:"status" doc:"Status of the provider key after the test."`
	HTTPStatus *int      `json:"http_status" doc:"HTTP status of the provider's response; null if there was none."`
	LatencyMS  float64   `json:"latency_ms" doc:"Milliseconds that the call took."`
	Message    string    `json:"message" doc:"The result in words."`
}

func (s *Service) keys() resource.Noun[Key, providerKeyBody] {
	return resource.Noun[Key, providerKeyBody]{
		Routes: routes, Log: s.log, Missing: ErrKeyNotFound, Cursor: "provider keys",
		ID:   func(k Key) int64 { return k.ID },
		Show: resource.Each(toKeyBody),
	}
}

func (s *Service) getProviderKeys(ctx context.Context, in *listProviderKeysInput) (*httpapi.Body[listProviderKeysBody], error) {
	f := KeyFilter{Status: in.Status, Provider: in.Provider, Search: in.Search}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	shown, paging, err := s.keys().Page(ctx, in.CursorPage, func(p postgres.Page) ([]Key, int64, error) {
		f.Page = p
		return s.List(ctx, principal.From(ctx).Org, f)
	})
	return httpapi.NewBody(listProviderKeysBody{shown, paging}), err
}

func (s *Service) postProviderKey(ctx context.Context, in *httpapi.Body[createProviderKeyBody]) (*httpapi.Made[providerKeyBody], error) {
	b := in.Body
	return s.keys().Create(ctx, func(tx postgres.Tx) (Key, error) {
		return s.CreateTx(ctx, tx, Key{
			Provider: b.Provider, Name: b.Name, BaseURL: b.BaseURL, Models: httpapi.OrEmpty(b.Models), MonthlyCapNanoUSD: nanoOf(b.MonthlyCapUSD),
		}, secret.Text(b.Secret))
	})
}

func (s *Service) getProviderKey(ctx context.Context, in *KeyPath) (*httpapi.Output[providerKeyBody], error) {
	k, err := s.Find(ctx, principal.From(ctx).Org, in.ID)
	if err != nil {
		return nil, err
	}
	return s.keys().Answer(ctx, nil, k)
}

func (s *Service) patchProviderKey(ctx context.Context, in *updateProviderKeyInput) (*httpapi.Output[providerKeyBody], error) {
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return s.keys().Change(ctx, func(tx postgres.Tx) (Key, error) {
		return s.UpdateTx(ctx, tx, in.ID, expected, secret.Text(in.Body.Secret.Value), in.Body.apply)
	})
}

func (s *Service) deleteProviderKey(ctx context.Context, in *KeyPath) (*httpapi.DeletedOutput[int64], error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[int64], error) {
		return httpapi.NewDeleted(in.ID), s.DeleteTx(ctx, tx, in.ID)
	})
}

// postProviderKeyTest calls the provider outside any transaction, and then
// records what it learnt about the key.
func (s *Service) postProviderKeyTest(ctx context.Context, in *KeyPath) (*httpapi.Body[testedBody], error) {
	org := principal.From(ctx).Org
	k, err := s.Find(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	code, took, err := s.probe(ctx, org, k)
	out := httpapi.Body[testedBody]{Body: testedBody{Status: k.Status, HTTPStatus: httpapi.OrNull(code), LatencyMS: float64(took.Microseconds()) / 1000}}
	switch {
	case errors.Is(err, errUnreachable):
		out.Body.Message = "The provider could not be reached."
	case err != nil:
		return nil, err
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		out.Body.Status, out.Body.Message = KeyInvalid, "The provider refused the key."
	case code >= http.StatusBadRequest:
		out.Body.Message = "The provider returned an error that does not concern the key."
	default:
		out.Body.OK, out.Body.Status, out.Body.Message = true, KeyActive, "The provider accepted the key."
	}
	if k.Status == KeyDisabled {
		out.Body.Status = k.Status // a person's decision stands
	}
	if out.Body.Status == k.Status {
		return &out, nil
	}
	tested, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Body[testedBody], error) {
		_, err := s.UpdateTx(ctx, tx, k.ID, k.Version, "", func(k *Key) { k.Status = out.Body.Status })
		return &out, err
	})
	if errors.Is(err, tenancy.ErrVersionConflict) {
		// The key was changed while it was tried: what was learnt is about the
		// old one.
		out.Body.Status = k.Status
		return &out, nil
	}
	return tested, err
}

func (b updateProviderKeyBody) apply(k *Key) {
	b.Name.Apply(&k.Name)
	b.BaseURL.Apply(&k.BaseURL)
	b.Status.Apply(&k.Status)
	if b.MonthlyCapUSD.Sent {
		k.MonthlyCapNanoUSD = nanoOf(b.MonthlyCapUSD.Pointer())
	}
	if b.Models.Sent {
		k.Models = httpapi.OrEmpty(b.Models.Value)
	}
}

// Shown is the provider key as getProviderKey shows it.
func (k Key) Shown() any { return toKeyBody(k) }

// Revision counts changes of the provider key.
func (k Key) Revision() int64 { return k.Version }

func toKeyBody(k Key) providerKeyBody {
	return providerKeyBody{
		ID: k.ID, Provider: k.Provider, Name: k.Name, BaseURL: k.BaseURL, Last4: k.Last4, Models: k.Models, Status: k.Status,
		MonthlyCap: usdOf(k.MonthlyCapNanoUSD), MonthSpent: float64(k.MonthSpentNanoUSD) / 1e9,
		LastUsedAt: httpapi.NullTime(k.LastUsedAt), CreatedAt: httpapi.Time(k.CreatedAt), UpdatedAt: httpapi.Time(k.UpdatedAt), Version: k.Version,
	}
}

func nanoOf(usd *float64) *uint64 {
	if usd == nil {
		return nil
	}
	nano := NanoUSD(*usd)
	return &nano
}

func usdOf(nano *uint64) *float64 {
	if nano == nil {
		return nil
	}
	usd := float64(*nano) / 1e9
	return &usd
}

// Schema lists the statuses.
func (KeyStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(KeyActive, KeyInvalid, KeyDisabled)
}

// secretText is the secret of a provider key in a request.
type secretText string

// Schema bounds a secret.
func (secretText) Schema(huma.Registry) *huma.Schema {
	least, most := 1, 10000
	return &huma.Schema{
		Type: huma.TypeString, MinLength: &least, MaxLength: &most,
		Pattern: "^[!-~]+$", PatternDescription: "printable ASCII characters without spaces",
	}
}
