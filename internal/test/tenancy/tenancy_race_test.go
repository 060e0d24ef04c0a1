package tenancy_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// atOnce does the same thing ten times at the same time and returns how many
// succeeded; the others were refused for one of the reasons.
func atOnce(t testing.TB, do func(i int) error, reasons ...string) int {
	t.Helper()
	errs := make([]error, 10)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
			continue
		}
		f, ok := fault.From(err)
		require.True(t, ok, "%v", err)
		require.Contains(t, reasons, f.Reason, "%v", err)
		if f.Reason == "invalid_transition" {
			require.NotEmpty(t, f.Details["currentState"])
		}
	}
	return done
}

func TestOnlyOneIsFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	us := k.Org(t)
	key := func(name string) testkit.Key {
		made, err := us.CreateKey(ctx, testkit.NewKey{Name: name, Scopes: reading})
		require.NoError(t, err)
		return made
	}

	require.Equal(t, 1, atOnce(t, func(int) error {
		_, err := us.CreateKey(ctx, testkit.NewKey{Name: "wanted", Scopes: reading})
		return err
	}, "already_exists"))
	rotated := key("rotated")
	require.Equal(t, 1, atOnce(t, func(int) error {
		_, err := us.RotateKey(ctx, rotated.ID, 60)
		return err
	}, "invalid_transition", "already_exists"))
	revoked := key("revoked")
	require.Equal(t, 1, atOnce(t, func(int) error { return us.DeleteAPIKey(ctx, revoked.ID) }, "api_key_not_found"))
	require.Equal(t, 1, atOnce(t, func(i int) error {
		_, err := us.InviteMember(ctx, testkit.NewMember{Email: []string{"ada@example.com", "ADA@example.com"}[i%2], Role: "viewer"})
		return err
	}, "already_exists"))

	// The first secrets of an organization agree on its data key.
	const hiddenSecret = "sk-very-hidden-0123456789abcdef"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+hiddenSecret {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer srv.Close()
	ids := make([]int64, 10)
	require.Equal(t, 10, atOnce(t, func(i int) error {
		made, err := us.CreateProviderKey(ctx, map[string]any{"provider": "custom", "name": strconv.Itoa(i), "secret": hiddenSecret, "baseUrl": srv.URL + "/v1"})
		ids[i] = made.ID
		return err
	}))
	for _, id := range ids {
		got, err := us.TestProviderKey(ctx, id)
		require.NoError(t, err)
		require.True(t, got.OK)
	}
	require.Equal(t, 1, atOnce(t, func(int) error { return us.DeleteProviderKey(ctx, ids[0]) }, "provider_key_not_found"))

	// The log tells of each thing once.
	for action, want := range map[string]int{"api_key.rotated": 1, "api_key.revoked": 1, "provider_key.deleted": 1, "provider_key.created": 10} {
		log, err := us.ListAuditLogs(ctx, "action="+action)
		require.NoError(t, err)
		require.Len(t, log.AuditLogs, want, action)
	}

	require.Equal(t, 1, atOnce(t, func(int) error {
		_, err := us.Call(ctx, http.MethodDelete, "/api/organizations/current?confirm="+us.Org.String(), nil, nil)
		return err
	}, "invalid_transition", "key_revoked"))
}
