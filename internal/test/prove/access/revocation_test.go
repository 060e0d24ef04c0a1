package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/test/testkit"
)

// promised is how long a revoked key may work on other replicas.
const promised = 2 * time.Second

// TestRevocationReachesEveryReplica ends keys on one replica while others have
// just used them.
func TestRevocationReachesEveryReplica(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	clock := &testkit.Clock{}
	here, there := testkit.NewAt(t, cfg, clock), testkit.NewAt(t, cfg, clock)
	// What this replica knows of a key never becomes too old: its clock stands.
	stopped := stand(t, cfg)
	us := here.Org(t)

	//nolint:paralleltest // the cases share the clock that they move
	for name, end := range map[string]func(t *testing.T, id int64, user string){
		"deleting the key": func(t *testing.T, id int64, _ string) {
			t.Helper()
			require.NoError(t, us.DeleteAPIKey(t.Context(), id))
		},
		"rotating it without grace": func(t *testing.T, id int64, _ string) {
			t.Helper()
			_, err := us.RotateKey(t.Context(), id, 0)
			require.NoError(t, err)
		},
		"removing its owner": func(t *testing.T, _ int64, user string) {
			t.Helper()
			require.NoError(t, us.RemoveMember(t.Context(), user))
		},
		"taking its scopes": func(t *testing.T, id int64, _ string) {
			t.Helper()
			_, err := us.Call(t.Context(), "PATCH", "/api/developer/api-keys/"+strconv.FormatInt(id, 10), map[string]any{"scopes": []string{"traces:read"}}, nil)
			require.NoError(t, err)
		},
		"demoting its owner": func(t *testing.T, _ int64, user string) {
			t.Helper()
			_, err := us.UpdateMember(t.Context(), user, map[string]any{"role": "viewer"})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := us.InviteMember(t.Context(), testkit.NewMember{Email: strings.ReplaceAll(name, " ", ".") + "@example.com", Role: "admin"})
			require.NoError(t, err)
			key, err := us.CreateKey(t.Context(), testkit.NewKey{Name: name, Scopes: allScopes, Personal: new(true)}, testkit.Header("X-On-Behalf-Of", m.ID))
			require.NoError(t, err)
			asks := func(h http.Handler) int {
				return send(t.Context(), t, h, call{method: "GET", target: "/api/audit-logs", headers: []header{bearer(key.Key.Reveal())}}).status
			}
			for _, h := range []http.Handler{here.App.Edge, there.App.Edge, stopped.Edge} {
				require.Equal(t, http.StatusOK, asks(h))
			}

			end(t, key.ID, m.ID)

			// A key that a smaller role narrows is known, and may not: 403.
			refused := []int{http.StatusUnauthorized, http.StatusForbidden}
			require.Contains(t, refused, asks(here.App.Edge), "at once where it was ended")
			clock.Advance(promised)
			require.Contains(t, refused, asks(there.App.Edge), "elsewhere after %s", promised)
			require.Equal(t, http.StatusOK, asks(stopped.Edge), "the age of what is remembered is what protects")
		})
	}
}

// TestRevocationInRealTime waits as a person would.
func TestRevocationInRealTime(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	here, there := testkit.NewAt(t, cfg, &testkit.Clock{}), testkit.NewAt(t, cfg, &testkit.Clock{})
	us := here.Org(t)
	key, err := us.CreateKey(t.Context(), testkit.NewKey{Name: "ends", Scopes: allScopes})
	require.NoError(t, err)
	ask := func() int {
		return send(t.Context(), t, there.App.Edge, call{method: "GET", target: "/api/me", headers: []header{bearer(key.Key.Reveal())}}).status
	}
	require.Equal(t, http.StatusOK, ask())
	require.NoError(t, us.DeleteAPIKey(t.Context(), key.ID))
	ended := time.Now()
	require.Eventually(t, func() bool {
		began := time.Now()
		status := ask()
		require.True(t, status == http.StatusUnauthorized || began.Sub(ended) <= promised, "the key still works after %s", began.Sub(ended))
		return status == http.StatusUnauthorized
	}, 3*time.Minute, 10*time.Millisecond)
}

// stand starts a replica whose clock does not go.
func stand(t *testing.T, cfg app.Config) *app.App {
	t.Helper()
	at := time.Now()
	a, err := app.New(context.WithoutCancel(t.Context()), cfg, "test", func() time.Time { return at })
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	return a
}
