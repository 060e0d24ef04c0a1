package tenancy_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestAProxysCallersAreHeldOffOneByOne has callers behind one proxy: the one that
// guesses is held off, whatever it pretends to be, and its neighbour is not.
func TestAProxysCallersAreHeldOffOneByOne(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	cfg.Key.FailuresMinute, cfg.Pages.AttemptsMinute = 3, 2
	cfg.HTTP.TrustedProxies = []string{"127.0.0.0/8"}
	k := testkit.NewWith(t, cfg)
	us := k.Org(t)
	guess := func(forwarded string) *testkit.Response {
		res, err := us.With("asy_live_nonsense").Send(t.Context(), http.MethodGet, "/api/me", nil, testkit.Header("X-Forwarded-For", forwarded))
		require.NoError(t, err)
		return res
	}
	for range 3 {
		require.Equal(t, http.StatusUnauthorized, guess("203.0.113.5").Status)
	}
	held := guess("198.51.100.1, 203.0.113.5")
	require.Equal(t, http.StatusTooManyRequests, held.Status)
	require.Contains(t, string(held.Body), `"reason":"too_many_failed_sign_ins"`)
	require.NotEmpty(t, held.Header.Get("Retry-After"))
	require.Equal(t, http.StatusUnauthorized, guess("203.0.113.6").Status)

	_, err := us.CreateKey(t.Context(), testkit.NewKey{Name: "audited", Scopes: reading}, testkit.Header("X-Forwarded-For", "203.0.113.9"))
	require.NoError(t, err)
	log, err := us.ListAuditLogs(t.Context(), "action=api_key.created&limit=1")
	require.NoError(t, err)
	require.Equal(t, "203.0.113.9", *log.AuditLogs[0].IP, "the audit log has the caller's address")
	passwordsAreNotGuessed(t, k, us)
}
