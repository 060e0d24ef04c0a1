package tenancy_test

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// filtered lists with each query and compares the names found, newest first,
// and the number of all of them.
func filtered(t *testing.T, want map[string][]string, list func(query string) (names []string, total int, err error)) {
	t.Helper()
	for query, names := range want {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			got, total, err := list(query)
			require.NoError(t, err)
			require.Equal(t, names, got)
			require.Equal(t, len(names), total)
			if len(names) > 1 {
				page, total, err := list(query + "&limit=1&offset=1")
				require.NoError(t, err)
				require.Equal(t, names[1:2], page)
				require.Equal(t, len(names), total)
			}
		})
	}
	_, _, err := list("status=gone")
	refused(t, err, fault.Validation, "invalid_request")
}

//nolint:paralleltest // it moves the clock
func TestListsOfKeysAreFiltered(t *testing.T) {
	ctx := t.Context()
	k := testkit.Moving(t)
	us := k.Org(t)
	var middle string
	for i, name := range []string{"CI one", "ci 100%", "laptop"} {
		k.Clock.Advance(time.Hour)
		n := testkit.NewKey{Name: name, Scopes: reading}
		if i == 0 {
			n.ExpiresAt = soon(k, time.Minute)
		}
		made, err := us.CreateKey(ctx, n)
		require.NoError(t, err)
		if i == 1 {
			middle = url.QueryEscape(made.CreatedAt.Format(time.RFC3339Nano))
		}
		if i == 2 {
			require.NoError(t, us.DeleteAPIKey(ctx, made.ID))
		}
	}
	filtered(t, map[string][]string{
		"":                             {"ci 100%", "CI one", "everything"},
		"status=active":                {"ci 100%", "everything"},
		"status=expired":               {"CI one"},
		"status=revoked":               {"laptop"},
		"status=revoked&status=active": {"laptop", "ci 100%", "everything"},
		"search=CI":                    {"ci 100%", "CI one"},
		"search=%25":                   {"ci 100%"},
		"createdAfter=" + middle:       {},
		"createdBefore=" + middle:      {"CI one", "everything"},
		"createdAfter=" + middle + "&status=revoked": {"laptop"},
	}, func(query string) ([]string, int, error) {
		page, err := us.ListAPIKeys(t.Context(), "includeTotal=true&"+query)
		names := []string{}
		for _, key := range page.APIKeys {
			names = append(names, key.Name)
		}
		return names, int(api.Value(page.Total)), err
	})
}

//nolint:paralleltest // it moves the clock
func TestListsOfMembersAreFiltered(t *testing.T) {
	ctx := t.Context()
	k := testkit.Moving(t)
	us := k.Org(t)
	var middle string
	for i, m := range []testkit.Member{
		{Email: "ada@example.com", Name: new("Ada"), Role: "admin"},
		{Email: "bob@example.com", Role: "viewer"},
		{Email: "cleo@other.example", Name: new("Bobby"), Role: "member"},
		{Email: "gone@example.com", Role: "viewer"},
	} {
		k.Clock.Advance(time.Hour)
		made, err := us.InviteMember(ctx, m)
		require.NoError(t, err)
		if i == 1 {
			middle = url.QueryEscape(made.CreatedAt.Format(time.RFC3339Nano))
		}
		if i == 3 {
			require.NoError(t, us.RemoveMember(ctx, made.ID))
		}
	}
	filtered(t, map[string][]string{
		"":               {"cleo@other.example", "bob@example.com", "ada@example.com", "owner@example.com"},
		"status=invited": {"cleo@other.example", "bob@example.com", "ada@example.com"},
		"status=active":  {"owner@example.com"},
		"status=active&status=invited&role=admin": {"ada@example.com"},
		"role=viewer&role=owner":                  {"bob@example.com", "owner@example.com"},
		"search=BOB":                              {"cleo@other.example", "bob@example.com"},
		"search=_":                                {},
		"createdAfter=" + middle:                  {"cleo@other.example"},
		"createdBefore=" + middle:                 {"ada@example.com", "owner@example.com"},
	}, func(query string) ([]string, int, error) {
		members, err := us.ListMembers(t.Context(), "includeTotal=true&"+query)
		emails := []string{}
		for _, m := range members.Members {
			emails = append(emails, m.Email)
		}
		return emails, int(api.Value(members.Total)), err
	})
}

// TestMembersOfOneMomentArePaged gives members the same time: their ids decide.
func TestMembersOfOneMomentArePaged(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	us := k.Org(t)
	for i := range 5 {
		_, err := us.InviteMember(ctx, testkit.NewMember{Email: "member" + strconv.Itoa(i) + "@example.com", Role: "viewer"})
		require.NoError(t, err)
	}
	_, err := k.Runtime(t, us.Org).Exec(ctx, "UPDATE members SET created_at = '2026-01-01T00:00:00.000001Z' WHERE org_id = $1", us.Org)
	require.NoError(t, err)
	whole, err := us.ListMembers(ctx, "limit=1000")
	require.NoError(t, err)
	require.Len(t, whole.Members, 6)
	var paged []testkit.Member
	for cursor, more := "", true; more; {
		page, err := us.ListMembers(ctx, "limit=2&cursor="+cursor)
		require.NoError(t, err)
		paged, cursor, more = append(paged, page.Members...), api.Value(page.NextCursor), page.HasMore
	}
	require.Equal(t, whole.Members, paged)
}

//nolint:paralleltest // it moves the clock
func TestListsOfProviderKeysAreFiltered(t *testing.T) {
	ctx := t.Context()
	k := testkit.Moving(t)
	us := k.Org(t)
	var middle string
	for i, provider := range []string{"openai", "anthropic", "openai", "openai"} {
		k.Clock.Advance(time.Hour)
		made, err := us.CreateProviderKey(ctx, map[string]any{"provider": provider, "name": "Key " + strconv.Itoa(i), "secret": "sk-abcdefghijklmnopqrst"})
		require.NoError(t, err)
		switch i {
		case 1:
			middle = url.QueryEscape(made.CreatedAt.Format(time.RFC3339Nano))
		case 2:
			_, err = us.UpdateProviderKey(ctx, made.ID, map[string]any{"status": "disabled"})
			require.NoError(t, err)
		case 3:
			require.NoError(t, us.DeleteProviderKey(ctx, made.ID))
		}
	}
	filtered(t, map[string][]string{
		"":                              {"Key 2", "Key 1", "Key 0"},
		"status=disabled":               {"Key 2"},
		"status=active&status=disabled": {"Key 2", "Key 1", "Key 0"},
		"status=invalid":                {},
		"provider=openai":               {"Key 2", "Key 0"},
		"provider=openai&status=active": {"Key 0"},
		"provider=open":                 {},
		"search=kEY+1":                  {"Key 1"},
		"createdAfter=" + middle:        {"Key 2"},
		"createdBefore=" + middle:       {"Key 0"},
	}, func(query string) ([]string, int, error) {
		keys, err := us.ListProviderKeys(t.Context(), "includeTotal=true&"+query)
		names := []string{}
		for _, key := range keys.ProviderKeys {
			names = append(names, key.Name)
		}
		return names, int(api.Value(keys.Total)), err
	})
}

func TestVersionsOfKeysAndMembers(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)

	for name, make := range map[string]func(t *testing.T) (path string){
		"a key": func(t *testing.T) string {
			t.Helper()
			return "/api/developer/api-keys/" + someKey(t, us)
		},
		"a member": func(t *testing.T) string {
			t.Helper()
			m, _ := us.Person(t, principal.Member)
			return "/api/organizations/current/members/" + m.ID
		},
		"a provider key": func(t *testing.T) string {
			t.Helper()
			return "/api/developer/provider-keys/" + providerKey(t, us, "https://api.openai.com/v1")
		},
	} {
		t.Run(name+" has a version that an update can ask for", func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			path := make(t)
			type versioned struct {
				Name    string `json:"name"`
				Version int64  `json:"version"`
			}
			var before, after versioned
			res, err := us.Call(ctx, "GET", path, nil, &before)
			require.NoError(t, err)
			require.EqualValues(t, 1, before.Version)
			require.Equal(t, `"v1"`, res.Header.Get("ETag"))

			second := map[string]any{"name": "second of " + path}
			res, err = us.Call(ctx, "PATCH", path, second, &after, testkit.Header("If-Match", `"v1"`))
			require.NoError(t, err)
			require.Equal(t, `"v2"`, res.Header.Get("ETag"))
			require.Equal(t, versioned{Name: "second of " + path, Version: 2}, after)
			res, err = us.Call(ctx, "PATCH", path, second, nil, testkit.Header("If-Match", `"v2"`))
			require.NoError(t, err)
			require.Equal(t, `"v2"`, res.Header.Get("ETag"), "what changes nothing is not counted")

			_, byHeader := us.Call(ctx, "PATCH", path, map[string]any{"name": "third"}, nil, testkit.Header("If-Match", `"v1"`))
			_, byBody := us.Call(ctx, "PATCH", path, map[string]any{"name": "third", "expectedVersion": 1}, nil)
			for _, err := range []error{byHeader, byBody} {
				require.EqualValues(t, 2, refused(t, err, fault.Conflict, "version_conflict")["currentVersion"])
			}
			var now versioned
			_, err = us.Call(ctx, "GET", path, nil, &now)
			require.NoError(t, err)
			require.Equal(t, after, now)

			// What was read can be sent back.
			var read map[string]any
			_, err = us.Call(ctx, "GET", path, nil, &read)
			require.NoError(t, err)
			res, err = us.Call(ctx, "PATCH", path, read, nil)
			require.NoError(t, err)
			require.Equal(t, `"v2"`, res.Header.Get("ETag"))
		})
	}
}

func TestRequiredFieldsCannotBeNull(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	m, _ := us.Person(t, principal.Member)
	for path, names := range map[string][]string{
		"/api/organizations/current":                                              {"name"},
		"/api/organizations/current/members/" + m.ID:                              {"role"},
		"/api/developer/api-keys/" + someKey(t, us):                               {"name", "scopes"},
		"/api/developer/provider-keys/" + providerKey(t, us, "https://x.example"): {"name", "baseUrl", "secret", "status"},
	} {
		for _, name := range names {
			_, err := us.Call(t.Context(), "PATCH", path, map[string]any{name: nil}, nil)
			list, _ := refused(t, err, fault.Validation, "invalid_request")["fields"].([]any)
			require.Len(t, list, 1, path)
			first, _ := list[0].(map[string]any)
			require.Equal(t, "/"+name, first["path"])
			require.Equal(t, "type", first["code"])
		}
	}
}
