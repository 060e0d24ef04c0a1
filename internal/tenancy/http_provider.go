package tenancy

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerProviderKeys(e *httpapi.Edge) {
	const tag = "Provider keys"
	httpapi.Register(e, httpapi.Op{
		ID: "listProviderKeys", Method: http.MethodGet, Path: "/api/developer/provider-keys", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "List provider keys",
	}, s.getProviderKeys)
	httpapi.Register(e, httpapi.Op{
		ID: "createProviderKey", Method: http.MethodPost, Path: "/api/developer/provider-keys", Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true,
		Summary:     "Keep a provider's key",
		Description: "The secret is encrypted for this organization and this base URL, and no operation returns it.",
	}, s.postProviderKey)
	httpapi.Register(e, httpapi.Op{
		ID: "getProviderKey", Method: http.MethodGet, Path: "/api/developer/provider-keys/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "Get a provider key",
	}, s.getProviderKey)
	httpapi.Register(e, httpapi.Op{
		ID: "updateProviderKey", Method: http.MethodPatch, Path: "/api/developer/provider-keys/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary:     "Update a provider key",
		Description: "Changing the base URL needs the secret again: the stored one opens only for the destination that it was given for.",
	}, s.patchProviderKey)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteProviderKey", Method: http.MethodDelete, Path: "/api/developer/provider-keys/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "Delete a provider key",
	}, s.deleteProviderKey)
	httpapi.Register(e, httpapi.Op{
		ID: "testProviderKey", Method: http.MethodPost, Path: "/api/developer/provider-keys/{id}/test", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Try a provider key",
		Description: "Lists the provider's models with the key. A key that the provider refuses becomes `invalid`.",
	}, s.postProviderKeyTest)
}

// ProviderKeyPath is the path of a provider key.
type ProviderKeyPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The provider key."`
}

type listProviderKeysInput struct{ httpapi.Page }

type createProviderKeyInput struct{ Body createProviderKeyBody }

type createProviderKeyBody struct {
	Provider string   `json:"provider" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" patternDescription:"lower-case letters, digits, _ and -" example:"openai"`
	Name     string   `json:"name" minLength:"1" maxLength:"200"`
	BaseURL  string   `json:"baseUrl,omitempty" maxLength:"2000" doc:"Where the provider is called; known providers have one."`
	Secret   string   `json:"secret" minLength:"1" maxLength:"10000" pattern:"^[!-~]+$" patternDescription:"printable ASCII characters without spaces" writeOnly:"true"`
	Models   []string `json:"models,omitempty" maxItems:"200"`
}

type updateProviderKeyInput struct {
	ProviderKeyPath
	httpapi.IfMatch
	Body updateProviderKeyBody
}

type updateProviderKeyBody struct {
	Name            httpapi.Patch[keyName]        `json:"name,omitzero"`
	BaseURL         httpapi.Patch[baseURL]        `json:"baseUrl,omitzero"`
	Secret          string                        `json:"secret,omitempty" maxLength:"10000" pattern:"^[!-~]*$" patternDescription:"printable ASCII characters without spaces" writeOnly:"true"`
	Models          httpapi.Patch[[]string]       `json:"models,omitzero"`
	Status          httpapi.Patch[providerStatus] `json:"status,omitzero"`
	ExpectedVersion int64                         `json:"expectedVersion,omitzero" minimum:"1"`
}

type providerKeyBody struct {
	ID         int64             `json:"id"`
	Provider   string            `json:"provider"`
	Name       string            `json:"name"`
	BaseURL    string            `json:"base_url"`
	Last4      string            `json:"last4"`
	Models     []string          `json:"models"`
	Status     ProviderKeyStatus `json:"status" enum:"active,invalid,disabled"`
	LastUsedAt *httpapi.Time     `json:"last_used_at,omitempty"`
	CreatedAt  httpapi.Time      `json:"created_at"`
	UpdatedAt  httpapi.Time      `json:"updated_at"`
	Version    int64             `json:"version"`
}

type providerKeyOutput struct {
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     providerKeyBody
}

type listProviderKeysOutput struct{ Body listProviderKeysBody }

type listProviderKeysBody struct {
	ProviderKeys []providerKeyBody `json:"provider_keys"`
	httpapi.Paging
}

type testedOutput struct{ Body testedBody }

type testedBody struct {
	OK        bool              `json:"ok"`
	Status    ProviderKeyStatus `json:"status" enum:"active,invalid,disabled"`
	HTTP      int               `json:"http_status" doc:"What the provider answered; 0 if it did not."`
	LatencyMS int64             `json:"latency_ms"`
	Message   string            `json:"message"`
}

func (s *Service) getProviderKeys(ctx context.Context, in *listProviderKeysInput) (*listProviderKeysOutput, error) {
	keys, total, err := s.ProviderKeys(ctx, principal.From(ctx).Org, in.Limit, in.Offset)
	if err != nil {
		return nil, err
	}
	out := listProviderKeysOutput{Body: listProviderKeysBody{ProviderKeys: make([]providerKeyBody, len(keys)), Paging: in.Page.Paging(len(keys), total)}}
	for i, k := range keys {
		out.Body.ProviderKeys[i] = toProviderKeyBody(k)
	}
	return &out, nil
}

func (s *Service) postProviderKey(ctx context.Context, in *createProviderKeyInput) (*providerKeyOutput, error) {
	b := in.Body
	return commit(ctx, s, func(tx postgres.Tx) (*providerKeyOutput, error) {
		k, err := s.CreateProviderKeyTx(ctx, tx, ProviderKey{Provider: b.Provider, Name: b.Name, BaseURL: b.BaseURL, Models: httpapi.OrEmpty(b.Models)}, secret.Text(b.Secret))
		if err != nil {
			return nil, err
		}
		out := toProviderKeyOutput(k)
		out.Location = "/api/developer/provider-keys/" + strconv.FormatInt(k.ID, 10)
		return out, nil
	})
}

func (s *Service) getProviderKey(ctx context.Context, in *ProviderKeyPath) (*providerKeyOutput, error) {
	k, err := s.ProviderKey(ctx, principal.From(ctx).Org, in.ID)
	if err != nil {
		return nil, err
	}
	return toProviderKeyOutput(k), nil
}

func (s *Service) patchProviderKey(ctx context.Context, in *updateProviderKeyInput) (*providerKeyOutput, error) {
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*providerKeyOutput, error) {
		k, err := s.UpdateProviderKeyTx(ctx, tx, in.ID, expected, secret.Text(in.Body.Secret), in.Body.apply)
		if err != nil {
			return nil, err
		}
		return toProviderKeyOutput(k), nil
	})
}

func (s *Service) deleteProviderKey(ctx context.Context, in *ProviderKeyPath) (*httpapi.DeletedOutput[int64], error) {
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.DeletedOutput[int64], error) {
		if err := s.DeleteProviderKeyTx(ctx, tx, in.ID); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(in.ID), nil
	})
}

// postProviderKeyTest calls the provider outside any transaction, and then
// records what it said of the key.
func (s *Service) postProviderKeyTest(ctx context.Context, in *ProviderKeyPath) (*testedOutput, error) {
	org := principal.From(ctx).Org
	k, err := s.ProviderKey(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	code, took, err := s.probe(ctx, org, k)
	out := testedOutput{Body: testedBody{Status: k.Status, HTTP: code, LatencyMS: took.Milliseconds()}}
	switch {
	case errors.Is(err, egress.ErrUnreachable):
		out.Body.Message = "The provider could not be reached."
	case err != nil:
		return nil, err
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		out.Body.Status, out.Body.Message = ProviderKeyInvalid, "The provider refuses the key."
	case code >= http.StatusBadRequest:
		out.Body.Message = "The provider answered with an error; the key was not judged."
	default:
		out.Body.OK, out.Body.Status, out.Body.Message = true, ProviderKeyActive, "The provider accepts the key."
	}
	if k.Status == ProviderKeyDisabled {
		out.Body.Status = k.Status // a person's decision stands
	}
	if out.Body.Status == k.Status {
		return &out, nil
	}
	tested, err := commit(ctx, s, func(tx postgres.Tx) (*testedOutput, error) {
		_, err := s.UpdateProviderKeyTx(ctx, tx, k.ID, k.Version, "", func(k *ProviderKey) { k.Status = out.Body.Status })
		return &out, err
	})
	if errors.Is(err, ErrVersionConflict) {
		// The key was changed while it was tried: what was learnt is about the
		// old one.
		out.Body.Status = k.Status
		return &out, nil
	}
	return tested, err
}

// probe lists the provider's models.
func (s *Service) probe(ctx context.Context, org principal.OrgID, k ProviderKey) (int, time.Duration, error) {
	url := strings.TrimSuffix(k.BaseURL, "/") + "/models"
	text, err := s.ProviderSecret(ctx, org, k, url)
	if err != nil {
		return 0, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, 0, err
	}
	if k.Provider == "anthropic" {
		req.Header.Set("X-Api-Key", text.Reveal())
		req.Header.Set("Anthropic-Version", "2023-06-01")
	} else {
		req.Header.Set("Authorization", "Bearer "+text.Reveal())
	}
	began := s.now()
	res, err := s.egress.HTTP(egress.Options{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return 0, s.now().Sub(began), err
	}
	return res.StatusCode, s.now().Sub(began), res.Body.Close()
}

func (b updateProviderKeyBody) apply(k *ProviderKey) {
	if b.Name.Sent && !b.Name.Null {
		k.Name = string(b.Name.Value)
	}
	if b.BaseURL.Sent && !b.BaseURL.Null {
		k.BaseURL = string(b.BaseURL.Value)
	}
	if b.Models.Sent {
		k.Models = httpapi.OrEmpty(b.Models.Value)
	}
	if b.Status.Sent && !b.Status.Null {
		k.Status = ProviderKeyStatus(b.Status.Value)
	}
}

func toProviderKeyOutput(k ProviderKey) *providerKeyOutput {
	return &providerKeyOutput{ETag: httpapi.ETag(k.Version), Body: toProviderKeyBody(k)}
}

func toProviderKeyBody(k ProviderKey) providerKeyBody {
	return providerKeyBody{
		ID: k.ID, Provider: k.Provider, Name: k.Name, BaseURL: k.BaseURL, Last4: k.Last4, Models: k.Models, Status: k.Status,
		LastUsedAt: toTime(k.LastUsedAt), CreatedAt: httpapi.Time(k.CreatedAt), UpdatedAt: httpapi.Time(k.UpdatedAt), Version: k.Version,
	}
}

type (
	baseURL        string
	providerStatus string
)

// Schema bounds a URL.
func (baseURL) Schema(huma.Registry) *huma.Schema {
	least, most := 1, 2000
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}
}

// Schema lists the statuses that a person can set.
func (providerStatus) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{string(ProviderKeyActive), string(ProviderKeyDisabled)}}
}
