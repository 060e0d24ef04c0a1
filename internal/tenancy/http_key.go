package tenancy

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/resource"
)

var keyRoutes = resource.Routes{
	One: "API key", Many: "API keys", Tag: tagKeys, Path: "/api/developer/api-keys", Read: principal.AdminOrg, Write: principal.AdminOrg, Strict: true,
}

func (s *Service) registerKeys(e *httpapi.Edge) {
	const tag = tagKeys
	httpapi.Register(e, keyRoutes.List("listApiKeys",
		"Returns the organization's keys, newest first. Deleted keys are included only if `status=revoked` is given. Filters are "+
			"combined with AND."), s.getKeys)
	httpapi.Register(e, keyRoutes.Create("createApiKey",
		"`key` is shown in this response only. A key cannot have a scope that its creator does not have."), s.postKey)
	httpapi.Register(e, keyRoutes.Get("getApiKey", "Returns the key without its secret part, which is not stored."), s.getKey)
	httpapi.Register(e, keyRoutes.Update("updateApiKey",
		"Changes the name, scopes, expiry or the right to delete. If the key ends earlier, the personal keys that were made with "+
			"it do too. A key that has expired or was rotated cannot be changed: 409 `invalid_transition`."), s.patchKey)
	httpapi.Register(e, keyRoutes.Delete("deleteApiKey",
		"Revokes the key, and the personal keys that were made with it: they stop working at once, on other replicas within two "+
			"seconds. It stays visible in the list with `status=revoked` and in the audit log."), s.deleteKey)
	httpapi.Register(e, httpapi.Op{
		ID: "rotateApiKey", Method: http.MethodPost, Path: "/api/developer/api-keys/{id}/rotate", Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true, OptionalBody: true,
		Summary:     "Rotate an API key",
		Description: "Returns a new key with the same name and scopes. The old key keeps working for `graceSeconds`. Personal keys that were made with it end with the new one.",
	}, s.postRotate)
	httpapi.Register(e, httpapi.Op{
		ID: "getApiKeyUsage", Method: http.MethodGet, Path: "/api/developer/api-keys/{id}/usage", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Get the usage of an API key",
		Description: "Returns requests, errors and latencies of the last days, and where the key stands in its rate limit. Requests of the last seconds may be missing.",
	}, s.getUsage)
}

// KeyPath is the path of a key.
type KeyPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the API key."`
}

type listKeysInput struct {
	httpapi.CursorPage
	Status []KeyStatus `query:"status,explode" doc:"Only keys with this status; active and expired if absent. Repeat the parameter to match any of several."`
	Search string      `query:"search" maxLength:"200" doc:"Only keys whose name contains this text, ignoring case."`
	httpapi.Created
}

type createKeyBody struct {
	Name      string     `json:"name" minLength:"1" maxLength:"200" example:"CI gate" doc:"Name, unique among the organization's active keys."`
	Scopes    scopeList  `json:"scopes" doc:"What the key may do."`
	Mode      Mode       `json:"mode,omitempty" default:"live" doc:"Whether the key is for live use or for tests; it is part of the key's text."`
	ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"When the key stops working; if absent, it does not expire, or ends with the personal key that it is made with."`
	CanDelete *bool      `json:"canDelete,omitempty" doc:"Whether the key may call operations that delete; true if absent. Exporters do not need it."`
	Personal  bool       `json:"personal,omitzero" doc:"Whether the key belongs to you and ends with your membership. Requires a personal key or X-On-Behalf-Of."`
}

// Check refuses a personal key without a person.
func (b *createKeyBody) Check(ctx context.Context) error {
	if b.Personal && principal.From(ctx).User == nil {
		return fault.Invalid("body", "/personal", "unknown_reference", "requires a person: use a personal key, or X-On-Behalf-Of")
	}
	return nil
}

type updateKeyInput struct {
	KeyPath
	httpapi.IfMatch
	Body updateKeyBody
}

type updateKeyBody struct {
	Name            httpapi.Set[string]         `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name, unique among the organization's active keys."`
	Scopes          httpapi.Set[scopeList]      `json:"scopes,omitzero" doc:"New scopes, replacing all existing ones."`
	ExpiresAt       httpapi.Patch[httpapi.Time] `json:"expiresAt,omitzero" doc:"New expiry; null removes it. A personal key does not outlive the one that it was made with."`
	CanDelete       httpapi.Set[bool]           `json:"canDelete,omitzero" doc:"Whether the key may call operations that delete."`
	ExpectedVersion int64                       `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type rotateInput struct {
	KeyPath
	Body rotateBody
}

type rotateBody struct {
	GraceSeconds int `json:"graceSeconds,omitzero" minimum:"0" maximum:"86400" doc:"Seconds that the old key keeps working; 0 ends it at once."`
}

// KeyFields is a key on the wire.
type KeyFields struct {
	ID         int64                      `json:"id" doc:"Id of the key."`
	Name       string                     `json:"name" doc:"Name, unique among the organization's active keys."`
	KeyPrefix  string                     `json:"key_prefix" example:"asy_live_7Gq2mZ0aKc4T" doc:"The beginning of the key, which may be shown."`
	Last4      string                     `json:"last4" doc:"The last four characters of the key."`
	Scopes     scopeNames                 `json:"scopes" doc:"What the key may do. The role of a personal key's owner may allow less."`
	Mode       Mode                       `json:"mode" doc:"Whether the key is for live use or for tests."`
	CanDelete  bool                       `json:"can_delete" doc:"Whether the key may call operations that delete."`
	Personal   bool                       `json:"personal" doc:"Whether the key belongs to a member and ends with the membership."`
	CreatedBy  httpapi.Actor              `json:"created_by" doc:"Who created or rotated the key."`
	CreatedAt  httpapi.Time               `json:"created_at" doc:"When the key was created."`
	ExpiresAt  httpapi.Null[httpapi.Time] `json:"expires_at" doc:"When the key stops working; null if it does not expire."`
	LastUsedAt httpapi.Null[httpapi.Time] `json:"last_used_at" volatile:"true" doc:"When the key was last used, to the minute; null if it never was."`
	Status     KeyStatus                  `json:"status" volatile:"true" doc:"Whether the key works; revoked keys were deleted."`
	Version    int64                      `json:"version" doc:"Counts changes of the key; see If-Match."`
}

// Noun is what documents call it.
func (KeyFields) Noun() string { return "key" }

type createdKeyOutput httpapi.Made[createdKeyBody]

// Noun is what documents call it.
func (createdKeyOutput) Noun() string { return "key" }

type createdKeyBody struct {
	KeyFields
	Key            string `json:"key" doc:"The key itself. It is shown once; the response to a repeated request has it redacted."`
	OrganizationID string `json:"organization_id" format:"uuid" doc:"Id of the organization that the key belongs to."`
}

// WithoutSecrets is what is remembered of the answer: the key stays unread.
func (o *createdKeyOutput) WithoutSecrets() any {
	c := *o
	c.Body.Key = c.Body.KeyPrefix + "_•••"
	return &c
}

type listKeysBody struct {
	APIKeys []KeyFields `json:"api_keys" doc:"The keys of this page, newest first."`
	httpapi.CursorPaging
}

func (s *Service) keys() resource.Noun[Key, KeyFields] {
	return resource.Noun[Key, KeyFields]{
		Routes: keyRoutes, Log: s.log, Missing: ErrKeyNotFound, Cursor: "api keys",
		ID:   func(k Key) int64 { return k.ID },
		Show: resource.By(s, func(k Key) principal.Actor { return k.CreatedBy }, s.toKeyBody),
	}
}

func (s *Service) getKeys(ctx context.Context, in *listKeysInput) (*httpapi.Body[listKeysBody], error) {
	return s.keyList(ctx, in, "api keys", s.Keys)
}

// keyList reads a page of keys with one of the service's methods. The list's
// cursors are its own.
func (s *Service) keyList(
	ctx context.Context, in *listKeysInput, list httpapi.IDCursor,
	read func(context.Context, principal.OrgID, KeyFilter) ([]Key, int64, error),
) (*httpapi.Body[listKeysBody], error) {
	f := KeyFilter{Status: in.Status, Search: in.Search}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	keys := s.keys()
	keys.Cursor = list
	shown, paging, err := keys.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Key, int64, error) {
		f.Page = p
		return read(ctx, principal.From(ctx).Org, f)
	})
	return httpapi.NewBody(listKeysBody{shown, paging}), err
}

func (s *Service) postKey(ctx context.Context, in *httpapi.Body[createKeyBody]) (*createdKeyOutput, error) {
	return s.createKey(ctx, in.Body, keyRoutes.Path)
}

// createKey makes a key that is then found below a path.
func (s *Service) createKey(ctx context.Context, b createKeyBody, below string) (*createdKeyOutput, error) {
	if b.ExpiresAt != nil && !b.ExpiresAt.After(s.now()) {
		return nil, fault.Invalid("body", "/expiresAt", "min", "must be in the future")
	}
	return commit(ctx, s, func(tx postgres.Tx) (*createdKeyOutput, error) {
		k, text, err := s.CreateKeyTx(ctx, tx, NewKey{Name: b.Name, Mode: b.Mode, Scopes: b.Scopes.scopes(), ExpiresAt: b.ExpiresAt, Personal: b.Personal, NoDelete: b.CanDelete != nil && !*b.CanDelete})
		if err != nil {
			return nil, err
		}
		return s.toCreatedKeyTx(ctx, tx, k, text, below)
	})
}

func (s *Service) getKey(ctx context.Context, in *KeyPath) (*httpapi.Output[KeyFields], error) {
	k, err := s.Key(ctx, principal.From(ctx).Org, in.ID)
	if err != nil {
		return nil, err
	}
	return s.keys().Answer(ctx, nil, k)
}

func (s *Service) patchKey(ctx context.Context, in *updateKeyInput) (*httpapi.Output[KeyFields], error) {
	if at := in.Body.ExpiresAt; at.Sent && !at.Null && !time.Time(at.Value).After(s.now()) {
		return nil, fault.Invalid("body", "/expiresAt", "min", "must be in the future")
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.Output[KeyFields], error) {
		k, err := s.UpdateKeyTx(ctx, tx, in.ID, expected, in.Body.apply)
		if err != nil {
			return nil, err
		}
		return s.keys().Answer(ctx, &tx, k)
	})
}

func (s *Service) deleteKey(ctx context.Context, in *KeyPath) (*httpapi.DeletedOutput[int64], error) {
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.DeletedOutput[int64], error) {
		return httpapi.NewDeleted(in.ID), s.RevokeKeyTx(ctx, tx, in.ID)
	})
}

func (s *Service) postRotate(ctx context.Context, in *rotateInput) (*createdKeyOutput, error) {
	return commit(ctx, s, func(tx postgres.Tx) (*createdKeyOutput, error) {
		k, text, err := s.RotateKeyTx(ctx, tx, in.ID, time.Duration(in.Body.GraceSeconds)*time.Second)
		if err != nil {
			return nil, err
		}
		return s.toCreatedKeyTx(ctx, tx, k, text, keyRoutes.Path)
	})
}

// apply makes the sent changes.
func (b updateKeyBody) apply(k *Key) {
	b.Name.Apply(&k.Name)
	if b.Scopes.Sent {
		k.Scopes = b.Scopes.Value.scopes()
	}
	if b.CanDelete.Sent {
		k.NoDelete = !b.CanDelete.Value
	}
	if b.ExpiresAt.Sent {
		k.ExpiresAt = nil
		if !b.ExpiresAt.Null {
			at := time.Time(b.ExpiresAt.Value)
			k.ExpiresAt = &at
		}
	}
}

func (s *Service) toCreatedKeyTx(ctx context.Context, tx postgres.Tx, k Key, text secret.Text, below string) (*createdKeyOutput, error) {
	shown, err := s.keys().Answer(ctx, &tx, k)
	if err != nil {
		return nil, err
	}
	return &createdKeyOutput{
		ETag: shown.ETag, Location: below + "/" + strconv.FormatInt(k.ID, 10),
		Body: createdKeyBody{KeyFields: shown.Body, Key: text.Reveal(), OrganizationID: tx.Org.String()},
	}, nil
}

// Shown is the key as getApiKey shows it, without the secret.
func (k Key) Shown() any { return toKeyBody(k, KeyActive, httpapi.ToActor(k.CreatedBy, "")) }

// Revision counts changes of the key.
func (k Key) Revision() int64 { return k.Version }

func (s *Service) toKeyBody(k Key, creator httpapi.Actor) KeyFields {
	return toKeyBody(k, k.StatusAt(s.now()), creator)
}

func toKeyBody(k Key, status KeyStatus, creator httpapi.Actor) KeyFields {
	return KeyFields{
		ID: k.ID, Name: k.Name, KeyPrefix: k.Prefix(), Last4: k.Last4, Scopes: fromScopes(k.Scopes), Mode: k.Mode,
		CanDelete: !k.NoDelete, Personal: k.Owner != nil, CreatedBy: creator, CreatedAt: httpapi.Time(k.CreatedAt), ExpiresAt: httpapi.NullTime(k.ExpiresAt), LastUsedAt: httpapi.NullTime(k.LastUsedAt),
		Status: status, Version: k.Version,
	}
}

// scopeList is the scopes of a key in a request.
type scopeList []string

// Schema lists the scopes, of which a key has at least one.
func (scopeList) Schema(r huma.Registry) *huma.Schema {
	least, most := 1, len(principal.Scopes)
	s := scopeNames{}.Schema(r)
	s.MinItems, s.MaxItems, s.UniqueItems = &least, &most, true
	return s
}

// scopeNames are scopes in a response.
type scopeNames []string

// Schema lists the scopes.
func (scopeNames) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: httpapi.Enum(principal.Scopes...)}
}

func (l scopeList) scopes() []principal.Scope { return toScopes(l) }
