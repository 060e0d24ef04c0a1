package judging_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

const hiddenSecret = "sk-very-hidden-0123456789abcdef"

// aProvider answers like a provider that accepts one key.
func aProvider(t testing.TB, accept func(*http.Request) bool) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet || r.URL.Path != "/v1/models":
			w.WriteHeader(http.StatusNotFound)
		case !accept(r):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(`{"data":[]}`))
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

func bearerIs(text string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+text }
}

func TestProviderKeys(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("a deployment without a master key keeps none", func(t *testing.T) {
		t.Parallel()
		us := testkit.Own(t, "it has no master key", func(cfg *app.Config) { cfg.Secret.MasterKey = "" }).Org(t)
		_, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": "x", "secret": hiddenSecret})
		require.ErrorIs(t, err, provider.ErrNoMasterKey)
		refused(t, err, fault.Conflict, "precondition_missing")
	})

	t.Run("the secret is nowhere to be read", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		made, err := us.CreateProviderKey(ctx, map[string]any{"provider": "openai", "name": "judge", "secret": hiddenSecret, "models": []string{"gpt-5"}})
		require.NoError(t, err)
		require.Equal(t, testkit.ProviderKey{
			ID: made.ID, Provider: "openai", Name: "judge", BaseURL: "https://api.openai.com/v1", Last4: "cdef", Models: []string{"gpt-5"}, Status: "active", CreatedAt: made.CreatedAt, UpdatedAt: made.UpdatedAt, Version: 1,
		}, made)
		_, err = us.UpdateProviderKey(ctx, made.ID, map[string]any{"name": "renamed"})
		require.NoError(t, err)
		for _, path := range []string{"/api/developer/provider-keys", "/api/audit-logs"} {
			res := get(t, us, path)
			require.Equal(t, http.StatusOK, res.Status)
			require.NotContains(t, string(res.Body), "hidden")
			require.NotContains(t, string(res.Body), "secret\"")
		}
		conn := k.Runtime(t, us.Org)
		for table := range tableColumns(t, conn) {
			require.Zero(t, scalar[int](t, conn, "SELECT count(*) FROM "+table+" r WHERE r::text LIKE '%hidden%'"), table)
		}
		sealed := scalar[[]byte](t, conn, "SELECT secret FROM provider_keys WHERE id = $1", made.ID)
		require.NotEmpty(t, sealed)
		require.False(t, bytes.Contains(sealed, []byte("hidden")))

		short, err := us.CreateProviderKey(ctx, map[string]any{"provider": "openai", "name": "short", "secret": "0123456789"})
		require.NoError(t, err)
		require.Equal(t, "••••", short.Last4, "the end of a short secret would be much of it")

		require.NoError(t, us.DeleteProviderKey(ctx, made.ID))
		require.Empty(t, scalar[[]byte](t, conn, "SELECT secret FROM provider_keys WHERE id = $1", made.ID))
		require.ErrorIs(t, us.DeleteProviderKey(ctx, made.ID), provider.ErrKeyNotFound)
		_, err = us.TestProviderKey(ctx, made.ID)
		require.ErrorIs(t, err, provider.ErrKeyNotFound)
		_, err = us.CreateProviderKey(ctx, map[string]any{"provider": "openai", "name": "renamed", "secret": hiddenSecret})
		require.NoError(t, err, "the name is free")
	})

	t.Run("a request that makes no sense is refused", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := testkit.Own(t, "it calls only what is public", func(cfg *app.Config) { cfg.Egress.Allow = nil }).Org(t)
		create := func(change map[string]any) error {
			body := map[string]any{"provider": "custom", "name": "x", "secret": hiddenSecret, "baseUrl": "https://example.com/v1"}
			for name, value := range change {
				body[name] = value
			}
			_, err := us.CreateProviderKey(ctx, body)
			return err
		}
		for _, url := range []string{"http://example.com/v1", "https://10.0.0.1/v1", "https://169.254.169.254/", "https://[::1]/", "ftp://example.com", "https://user:hunter2@example.com/", "nothing"} {
			err := create(map[string]any{"baseUrl": url})
			f, ok := fault.From(err)
			require.True(t, ok, url)
			require.Equal(t, fault.Validation, f.Kind, url)
			require.NotContains(t, f.Message, "hunter2", url)
		}
		refused(t, create(map[string]any{"baseUrl": "https://10.0.0.1/v1"}), fault.Validation, "destination_not_allowed")
		refused(t, create(map[string]any{"baseUrl": "http://example.com/v1"}), fault.Validation, "destination_not_allowed")
		invalid(t, create(map[string]any{"baseUrl": ""}), "/baseUrl", "required")
		invalid(t, create(map[string]any{"provider": "Open AI"}), "/provider", "pattern")
		invalid(t, create(map[string]any{"secret": ""}), "/secret", "length")
		invalid(t, create(map[string]any{"apiKey": "x"}), "/apiKey", "unknown_field")
		require.NoError(t, create(nil))
		require.ErrorIs(t, create(nil), provider.ErrKeyNameTaken)
	})

	t.Run("a new destination needs the secret again", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		was, is := aProvider(t, bearerIs(hiddenSecret)), aProvider(t, bearerIs("another-secret-0123456789"))
		made, err := us.CreateProviderKey(ctx, map[string]any{"provider": "custom", "name": "x", "secret": hiddenSecret, "baseUrl": was.URL + "/v1"})
		require.NoError(t, err)

		_, err = us.UpdateProviderKey(ctx, made.ID, map[string]any{"baseUrl": is.URL + "/v1"})
		invalid(t, err, "/secret", "required")
		_, err = us.UpdateProviderKey(ctx, made.ID, map[string]any{"baseUrl": "https://192.168.0.1/", "secret": "x"})
		refused(t, err, fault.Validation, "destination_not_allowed")
		got, err := us.TestProviderKey(ctx, made.ID)
		require.NoError(t, err)
		require.True(t, got.OK, "a refused change changed nothing")

		moved, err := us.UpdateProviderKey(ctx, made.ID, map[string]any{"baseUrl": is.URL + "/v1", "secret": "another-secret-0123456789"})
		require.NoError(t, err)
		require.EqualValues(t, 2, moved.Version)
		require.Equal(t, "6789", moved.Last4)
		got, err = us.TestProviderKey(ctx, made.ID)
		require.NoError(t, err)
		require.True(t, got.OK)
		_, err = us.UpdateProviderKey(ctx, made.ID, map[string]any{"name": "y", "expectedVersion": 1})
		require.ErrorIs(t, err, tenancy.ErrVersionConflict)
	})

	t.Run("another organization's key is not found", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us, them := k.Org(t), k.Org(t)
		id, err := strconv.ParseInt(providerKey(t, them, "https://api.openai.com/v1"), 10, 64)
		require.NoError(t, err)
		_, err = us.UpdateProviderKey(ctx, id, map[string]any{"name": "ours"})
		require.ErrorIs(t, err, provider.ErrKeyNotFound)
		_, err = us.TestProviderKey(ctx, id)
		require.ErrorIs(t, err, provider.ErrKeyNotFound)
		require.ErrorIs(t, us.DeleteProviderKey(ctx, id), provider.ErrKeyNotFound)
		require.JSONEq(t, `{"provider_keys":[],"limit":50,"offset":0,"has_more":false,"next_cursor":null,"total":null}`, string(get(t, us, "/api/developer/provider-keys").Body))
	})
}

func TestProviderKeyTrial(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("an accepted key is active and a refused one invalid", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		good := true
		srv := aProvider(t, func(r *http.Request) bool { return good && bearerIs(hiddenSecret)(r) })
		made, err := us.CreateProviderKey(ctx, map[string]any{"provider": "openai", "name": "x", "secret": hiddenSecret, "baseUrl": srv.URL + "/v1/"})
		require.NoError(t, err)
		for _, step := range []struct {
			good bool
			want api.ProviderKeyTest
		}{
			{true, api.ProviderKeyTest{OK: true, Status: "active", HTTPStatus: new(int64(200)), Message: "The provider accepted the key."}},
			{false, api.ProviderKeyTest{OK: false, Status: "invalid", HTTPStatus: new(int64(401)), Message: "The provider refused the key."}},
			{true, api.ProviderKeyTest{OK: true, Status: "active", HTTPStatus: new(int64(200)), Message: "The provider accepted the key."}},
		} {
			good = step.good
			got, err := us.TestProviderKey(ctx, made.ID)
			require.NoError(t, err)
			got.LatencyMs = 0 // the time it took
			require.Equal(t, step.want, got)
			stored, err := us.UpdateProviderKey(ctx, made.ID, map[string]any{})
			require.NoError(t, err)
			require.Equal(t, step.want.Status, stored.Status)
		}
		// A key that a person disabled stays so, whatever the provider says.
		_, err = us.UpdateProviderKey(ctx, made.ID, map[string]any{"status": "disabled"})
		require.NoError(t, err)
		got, err := us.TestProviderKey(ctx, made.ID)
		require.NoError(t, err)
		require.True(t, got.OK)
		require.Equal(t, "disabled", got.Status)
		_, err = us.UpdateProviderKey(ctx, made.ID, map[string]any{"status": "invalid"})
		invalid(t, err, "/status", "enum")
	})

	t.Run("one provider wants its own headers", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		srv := aProvider(t, func(r *http.Request) bool {
			return r.Header.Get("X-Api-Key") == hiddenSecret && r.Header.Get("Anthropic-Version") != "" && r.Header.Get("Authorization") == ""
		})
		made, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": "anthropic", "name": "x", "secret": hiddenSecret, "baseUrl": srv.URL + "/v1"})
		require.NoError(t, err)
		got, err := us.TestProviderKey(t.Context(), made.ID)
		require.NoError(t, err)
		require.True(t, got.OK, got.Message)
	})

	t.Run("a provider that is away or broken judges nothing", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		srv := aProvider(t, bearerIs(hiddenSecret))
		made, err := us.CreateProviderKey(ctx, map[string]any{"provider": "custom", "name": "x", "secret": hiddenSecret, "baseUrl": srv.URL + "/v2"})
		require.NoError(t, err)
		got, err := us.TestProviderKey(ctx, made.ID)
		require.NoError(t, err)
		got.LatencyMs = 0 // the time it took
		require.Equal(t, api.ProviderKeyTest{Status: "active", HTTPStatus: new(int64(404)), Message: "The provider returned an error that does not concern the key."}, got)
		srv.Close()
		got, err = us.TestProviderKey(ctx, made.ID)
		require.NoError(t, err)
		got.LatencyMs = 0
		require.Equal(t, api.ProviderKeyTest{Status: "active", Message: "The provider could not be reached."}, got)
	})

	t.Run("sealed bytes open only where they were sealed", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us, them := k.Org(t), k.Org(t)
		srv := aProvider(t, func(*http.Request) bool { return true })
		var ids []int64
		for i, c := range []*testkit.Client{us, us, them} {
			made, err := c.CreateProviderKey(ctx, map[string]any{"provider": "custom", "name": "key " + strconv.Itoa(i), "secret": hiddenSecret, "baseUrl": srv.URL + "/v1"})
			require.NoError(t, err)
			got, err := c.TestProviderKey(ctx, made.ID)
			require.NoError(t, err)
			require.True(t, got.OK)
			ids = append(ids, made.ID)
		}
		ours, theirs := k.Runtime(t, us.Org), k.Runtime(t, them.Org)
		sealed := scalar[[]byte](t, ours, "SELECT secret FROM provider_keys WHERE id = $1", ids[0])
		_, err := ours.Exec(ctx, "UPDATE provider_keys SET secret = $1 WHERE id = $2", sealed, ids[1])
		require.NoError(t, err)
		_, err = theirs.Exec(ctx, "UPDATE provider_keys SET secret = $1 WHERE id = $2", sealed, ids[2])
		require.NoError(t, err)
		// Or pointed elsewhere in the database.
		_, err = ours.Exec(ctx, "UPDATE provider_keys SET base_url = 'https://attacker.example.com/v1' WHERE id = $1", ids[0])
		require.NoError(t, err)
		for i, c := range []*testkit.Client{us, us, them} {
			_, err := c.TestProviderKey(ctx, ids[i])
			refused(t, err, fault.Internal, "internal_error")
		}
	})
}
