package tenancy

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// myKeysPath is where people find their own keys.
const myKeysPath = "/api/me/api-keys"

// registerMyKeys adds what a member does with their own keys, whatever their
// role.
func (s *Service) registerMyKeys(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listMyApiKeys", Method: http.MethodGet, Path: myKeysPath, Tag: tagAccess, Scope: principal.AnyKey, Status: 200,
		Summary:     "List your personal API keys",
		Description: "Returns the personal keys of the person behind the current key, newest first. Deleted keys are included only if `status=revoked` is given. A service key gets 403 `not_a_person`.",
	}, s.getMyKeys)
	httpapi.Register(e, httpapi.Op{
		ID: "createMyApiKey", Method: http.MethodPost, Path: myKeysPath, Tag: tagAccess, Scope: principal.AnyKey, Status: 201, Strict: true, Annotators: true,
		Summary:     "Create a personal API key",
		Description: "Creates a key that belongs to you, whatever your role: it may do at most what you may do now, and ends with your membership, and with the personal key that you make it with: it cannot expire later. A member has at most 20 keys that work. `key` is shown in this response only. A service key gets 403 `not_a_person`.",
	}, s.postMyKey)
	httpapi.Register(e, httpapi.Op{
		ID: "getMyApiKey", Method: http.MethodGet, Path: myKeysPath + "/{id}", Tag: tagAccess, Scope: principal.AnyKey, Status: 200,
		Summary:     "Get a personal API key",
		Description: "Returns one of your own personal keys; for any other key the response is 404. A service key gets 403 `not_a_person`.",
	}, s.getMyKey)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteMyApiKey", Method: http.MethodDelete, Path: myKeysPath + "/{id}", Tag: tagAccess, Scope: principal.AnyKey, Status: 200, Annotators: true,
		Summary:     "Delete a personal API key",
		Description: "Revokes one of your own personal keys, which may be the current one, and those that were made with it; for any other key the response is 404. A service key gets 403 `not_a_person`.",
	}, s.deleteMyKey)
}

func (s *Service) getMyKeys(ctx context.Context, in *listKeysInput) (*httpapi.Body[listKeysBody], error) {
	return s.keyList(ctx, in, "my api keys", s.MyKeys)
}

func (s *Service) postMyKey(ctx context.Context, in *httpapi.Body[createKeyBody]) (*createdKeyOutput, error) {
	if _, err := person(ctx); err != nil {
		return nil, err
	}
	in.Body.Personal = true
	return s.createKey(ctx, in.Body, myKeysPath)
}

func (s *Service) getMyKey(ctx context.Context, in *KeyPath) (*httpapi.Output[KeyFields], error) {
	k, err := s.MyKey(ctx, principal.From(ctx).Org, in.ID)
	if err != nil {
		return nil, err
	}
	return s.keys().Answer(ctx, nil, k)
}

func (s *Service) deleteMyKey(ctx context.Context, in *KeyPath) (*httpapi.DeletedOutput[int64], error) {
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.DeletedOutput[int64], error) {
		return httpapi.NewDeleted(in.ID), s.RevokeMyKeyTx(ctx, tx, in.ID)
	})
}
