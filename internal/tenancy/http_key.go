package tenancy

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerKeys(e *httpapi.Edge) {
	const tag = "API keys"
	httpapi.Register(e, httpapi.Op{
		ID: "listAPIKeys", Method: http.MethodGet, Path: "/api/developer/api-keys", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "List API keys",
	}, s.getKeys)
	httpapi.Register(e, httpapi.Op{
		ID: "createAPIKey", Method: http.MethodPost, Path: "/api/developer/api-keys", Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true,
		Summary:     "Create an API key",
		Description: "`key` is shown in this answer and never again. A key cannot get a scope that its creator lacks.",
	}, s.postKey)
	httpapi.Register(e, httpapi.Op{
		ID: "getAPIKey", Method: http.MethodGet, Path: "/api/developer/api-keys/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "Get an API key",
	}, s.getKey)
	httpapi.Register(e, httpapi.Op{
		ID: "updateAPIKey", Method: http.MethodPatch, Path: "/api/developer/api-keys/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary: "Rename an API key, or change its scopes or expiry",
	}, s.patchKey)
	httpapi.Register(e, httpapi.Op{
		ID: "revokeAPIKey", Method: http.MethodDelete, Path: "/api/developer/api-keys/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Revoke an API key",
		Description: "The key stops working at once; on other replicas within two seconds.",
	}, s.deleteKey)
	httpapi.Register(e, httpapi.Op{
		ID: "rotateAPIKey", Method: http.MethodPost, Path: "/api/developer/api-keys/{id}/rotate", Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true, OptionalBody: true,
		Summary:     "Replace an API key",
		Description: "Returns a new key with the same name and scopes. The old one works on for `graceSeconds`.",
	}, s.postRotate)
	httpapi.Register(e, httpapi.Op{
		ID: "getAPIKeyUsage", Method: http.MethodGet, Path: "/api/developer/api-keys/{id}/usage", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "What an API key was used for",
	}, s.getUsage)
}

// KeyPath is the path of a key.
type KeyPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The API key."`
}

type listKeysInput struct{ httpapi.Page }

type createKeyInput struct{ Body createKeyBody }

type createKeyBody struct {
	Name        string      `json:"name" minLength:"1" maxLength:"200" example:"CI gate"`
	Scopes      scopeList   `json:"scopes" doc:"What the key may do."`
	Environment Environment `json:"environment,omitempty" enum:"live,test" default:"live"`
	ExpiresAt   *time.Time  `json:"expiresAt,omitempty" doc:"When the key stops working; absent means never."`
	Personal    bool        `json:"personal,omitzero" doc:"The key ends with your membership. Needs a caller who is a person."`
}

// Resolve refuses an expiry in the past and a personal key without a person.
func (b *createKeyBody) Resolve(ctx huma.Context) []error {
	var errs []error
	if b.Personal && principal.From(ctx.Context()).User == nil {
		errs = append(errs, fault.Invalid("body", "/personal", "unknown_reference", "needs a person: use a personal key, or X-On-Behalf-Of"))
	}
	return errs
}

type updateKeyInput struct {
	KeyPath
	Body updateKeyBody
}

type updateKeyBody struct {
	Name      httpapi.Patch[keyName]      `json:"name,omitzero"`
	Scopes    httpapi.Patch[scopeList]    `json:"scopes,omitzero"`
	ExpiresAt httpapi.Patch[httpapi.Time] `json:"expiresAt,omitzero"`
}

type rotateInput struct {
	KeyPath
	Body rotateBody
}

type rotateBody struct {
	GraceSeconds int `json:"graceSeconds,omitzero" minimum:"0" maximum:"86400" doc:"How long the old key works on; 0 ends it at once."`
}

// KeyFields is a key on the wire.
type KeyFields struct {
	ID          int64         `json:"id"`
	Name        string        `json:"name"`
	KeyPrefix   string        `json:"key_prefix" example:"asy_live_7Gq2mZ0aKc4T"`
	Last4       string        `json:"last4"`
	Scopes      []string      `json:"scopes"`
	Environment Environment   `json:"environment" enum:"live,test"`
	Personal    bool          `json:"personal"`
	CreatedBy   *string       `json:"created_by" format:"uuid" nullable:"true"`
	CreatedAt   httpapi.Time  `json:"created_at"`
	ExpiresAt   *httpapi.Time `json:"expires_at,omitempty"`
	LastUsedAt  *httpapi.Time `json:"last_used_at,omitempty" doc:"To the minute."`
	Status      KeyStatus     `json:"status" enum:"active,expired,revoked"`
}

type keyOutput struct{ Body KeyFields }

type createdKeyOutput struct {
	Location string `header:"Location"`
	Body     createdKeyBody
}

type createdKeyBody struct {
	KeyFields
	Key            string `json:"key" doc:"The key itself, shown once. A repeated request gets it redacted."`
	OrganizationID string `json:"organization_id" format:"uuid"`
}

// WithoutSecrets is what is remembered of the answer: the key stays unread.
func (o *createdKeyOutput) WithoutSecrets() any {
	c := *o
	c.Body.Key = c.Body.KeyPrefix + "_•••"
	return &c
}

type listKeysOutput struct{ Body listKeysBody }

type listKeysBody struct {
	APIKeys []KeyFields `json:"api_keys"`
	httpapi.Paging
}

func (s *Service) getKeys(ctx context.Context, in *listKeysInput) (*listKeysOutput, error) {
	keys, total, err := s.Keys(ctx, principal.From(ctx).Org, in.Limit, in.Offset)
	if err != nil {
		return nil, err
	}
	out := listKeysOutput{Body: listKeysBody{APIKeys: make([]KeyFields, len(keys)), Paging: in.Page.Paging(len(keys), total)}}
	for i, k := range keys {
		out.Body.APIKeys[i] = s.toKeyBody(k)
	}
	return &out, nil
}

func (s *Service) postKey(ctx context.Context, in *createKeyInput) (*createdKeyOutput, error) {
	b := in.Body
	if b.ExpiresAt != nil && !b.ExpiresAt.After(s.now()) {
		return nil, fault.Invalid("body", "/expiresAt", "min", "must be in the future")
	}
	return commit(ctx, s, func(tx postgres.Tx) (*createdKeyOutput, error) {
		k, text, err := s.CreateKeyTx(ctx, tx, NewKey{Name: b.Name, Environment: b.Environment, Scopes: b.Scopes.scopes(), ExpiresAt: b.ExpiresAt, Personal: b.Personal})
		if err != nil {
			return nil, err
		}
		return s.toCreatedKey(tx.Org, k, text.Reveal()), nil
	})
}

// postMyKey lets a member without admin:org make a key of their own.
func (s *Service) postMyKey(ctx context.Context, in *createKeyInput) (*createdKeyOutput, error) {
	if principal.From(ctx).User == nil {
		return nil, ErrNotAPerson
	}
	in.Body.Personal = true
	return s.postKey(ctx, in)
}

func (s *Service) getKey(ctx context.Context, in *KeyPath) (*keyOutput, error) {
	k, err := s.Key(ctx, principal.From(ctx).Org, in.ID)
	if err != nil {
		return nil, err
	}
	return &keyOutput{Body: s.toKeyBody(k)}, nil
}

func (s *Service) patchKey(ctx context.Context, in *updateKeyInput) (*keyOutput, error) {
	if at := in.Body.ExpiresAt; at.Sent && !at.Null && !time.Time(at.Value).After(s.now()) {
		return nil, fault.Invalid("body", "/expiresAt", "min", "must be in the future")
	}
	return commit(ctx, s, func(tx postgres.Tx) (*keyOutput, error) {
		k, err := s.UpdateKeyTx(ctx, tx, in.ID, in.Body.apply)
		if err != nil {
			return nil, err
		}
		return &keyOutput{Body: s.toKeyBody(k)}, nil
	})
}

func (s *Service) deleteKey(ctx context.Context, in *KeyPath) (*httpapi.DeletedOutput[int64], error) {
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.DeletedOutput[int64], error) {
		if err := s.RevokeKeyTx(ctx, tx, in.ID); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(in.ID), nil
	})
}

func (s *Service) postRotate(ctx context.Context, in *rotateInput) (*createdKeyOutput, error) {
	return commit(ctx, s, func(tx postgres.Tx) (*createdKeyOutput, error) {
		k, text, err := s.RotateKeyTx(ctx, tx, in.ID, time.Duration(in.Body.GraceSeconds)*time.Second)
		if err != nil {
			return nil, err
		}
		return s.toCreatedKey(tx.Org, k, text.Reveal()), nil
	})
}

// apply makes the sent changes; a name and scopes cannot be cleared.
func (b updateKeyBody) apply(k *Key) {
	if b.Name.Sent && !b.Name.Null {
		k.Name = string(b.Name.Value)
	}
	if b.Scopes.Sent && !b.Scopes.Null {
		k.Scopes = b.Scopes.Value.scopes()
	}
	if b.ExpiresAt.Sent {
		k.ExpiresAt = nil
		if !b.ExpiresAt.Null {
			at := time.Time(b.ExpiresAt.Value)
			k.ExpiresAt = &at
		}
	}
}

func (s *Service) toKeyBody(k Key) KeyFields {
	b := KeyFields{
		ID: k.ID, Name: k.Name, KeyPrefix: k.Prefix(), Last4: k.Last4, Scopes: fromScopes(k.Scopes), Environment: k.Environment,
		Personal: k.Owner != nil, CreatedAt: httpapi.Time(k.CreatedAt), ExpiresAt: toTime(k.ExpiresAt), LastUsedAt: toTime(k.LastUsedAt),
		Status: k.StatusAt(s.now()),
	}
	if k.CreatedBy != nil {
		by := k.CreatedBy.String()
		b.CreatedBy = &by
	}
	return b
}

func (s *Service) toCreatedKey(org principal.OrgID, k Key, text string) *createdKeyOutput {
	return &createdKeyOutput{
		Location: "/api/developer/api-keys/" + strconv.FormatInt(k.ID, 10),
		Body:     createdKeyBody{KeyFields: s.toKeyBody(k), Key: text, OrganizationID: org.String()},
	}
}

func toTime(t *time.Time) *httpapi.Time {
	if t == nil {
		return nil
	}
	out := httpapi.Time(*t)
	return &out
}

// scopeList is the scopes of a key in a request.
type scopeList []string

// Schema lists the scopes that there are.
func (scopeList) Schema(huma.Registry) *huma.Schema {
	least, most := 1, len(principal.Scopes)
	known := make([]any, len(principal.Scopes))
	for i, s := range principal.Scopes {
		known[i] = string(s)
	}
	return &huma.Schema{
		Type: huma.TypeArray, MinItems: &least, MaxItems: &most, UniqueItems: true,
		Items: &huma.Schema{Type: huma.TypeString, Enum: known},
	}
}

func (l scopeList) scopes() []principal.Scope { return toScopes(l) }

// keyName bounds the name of a key in partial updates.
type keyName string

// Schema bounds the name.
func (keyName) Schema(huma.Registry) *huma.Schema {
	least, most := 1, 200
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}
}
