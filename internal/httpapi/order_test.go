package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckOrder sends requests that are wrong in several ways; the answer is
// about the first of them in the order of the interface.
func TestCheckOrder(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	const (
		badBody  = `{"name":1}`
		otherOrg = `{"organizationId":"018f2f6e-7c4e-7cc0-8000-000000000000","note":"x"}`
	)
	for _, c := range []struct {
		is                   string
		method, target, body string
		headers              []string
		status               int
		reason               string
	}{
		{"no key, unknown route", "GET", "/nowhere", "", []string{"Authorization: "}, 401, "missing_credentials"},
		{"no key, wrong method", "DELETE", "/things", "", []string{"Authorization: "}, 401, "missing_credentials"},
		{"no key, bad body", "POST", "/things", badBody, []string{"Authorization: "}, 401, "missing_credentials"},
		{"no key, an escaped form of a public path", "GET", "/api/health%2Fready", "", []string{"Authorization: "}, 401, "missing_credentials"},
		{"no key, wrong method on a public path", "POST", "/api/health", "", []string{"Authorization: "}, 401, "missing_credentials"},
		{"malformed header, unknown route", "GET", "/nowhere", "", []string{"Authorization: Basic x"}, 401, "malformed_header"},
		{"unknown password, unknown route", "GET", "/nowhere", "", []string{"Authorization: Basic cHVibGljOnp6eg=="}, 401, "key_unknown"},
		{"Basic without a password, unknown route", "GET", "/nowhere", "", []string{"Authorization: Basic cHVibGljOg=="}, 401, "malformed_header"},
		{"unknown key in a header of its own, unknown route", "GET", "/nowhere", "", []string{"Authorization: ", "api_key: zzz"}, 401, "key_unknown"},
		{"unknown key, unknown route", "GET", "/nowhere", "", []string{"Authorization: Bearer zzz"}, 401, "key_unknown"},
		{"database away, unknown route", "GET", "/nowhere", "", []string{"Authorization: Bearer away"}, 503, "database_unavailable"},
		{"missing scope, unknown route", "GET", "/nowhere", "", []string{"Authorization: Bearer read"}, 404, "unknown_route"},
		{"missing scope, bad body", "POST", "/things", badBody, []string{"Authorization: Bearer read"}, 401, "insufficient_scope"},
		{"missing scope of a password, bad body", "POST", "/things", badBody, []string{"Authorization: Basic cHVibGljOnJlYWQ="}, 401, "insufficient_scope"},
		{"missing scope, wrong type of body", "POST", "/things", badBody, []string{"Authorization: Bearer read", "Content-Type: text/plain"}, 401, "insufficient_scope"},
		{"missing scope, missing object", "PATCH", "/things/9", "{}", []string{"Authorization: Bearer read"}, 401, "insufficient_scope"},
		{"missing scope, bad key for repetition", "POST", "/things", "{}", []string{"Authorization: Bearer read", "Idempotency-Key: " + strings.Repeat("x", 300)}, 401, "insufficient_scope"},
		{"bad header, bad body", "POST", "/things", badBody, []string{"Idempotency-Key: é"}, 400, "invalid_request"},
		{"wrong type of body, bad body", "POST", "/things", badBody, []string{"Content-Type: text/plain"}, 415, "unsupported_media_type"},
		{"wrong type of body, missing object", "PATCH", "/things/9", "{}", []string{"Content-Type: text/plain"}, 415, "unsupported_media_type"},
		{"bad syntax, missing object", "PATCH", "/things/9", "{", nil, 400, "body_truncated"},
		{"bad body, missing object", "PATCH", "/things/9", `{"note":1}`, nil, 400, "invalid_request"},
		{"bad If-Match, missing object", "PATCH", "/things/9", `{}`, []string{"If-Match: zzz"}, 400, "invalid_request"},
		{"bad body, other organization", "PATCH", "/things/7", strings.Replace(otherOrg, `"x"`, "1", 1), nil, 400, "invalid_request"},
		{"missing object, wrong version", "PATCH", "/things/9", `{}`, []string{`If-Match: "v3"`}, 404, "thing_not_found"},
		{"other organization, wrong version", "PATCH", "/things/7", otherOrg, []string{`If-Match: "v3"`}, 403, "organization_mismatch"},
		{"wrong version", "PATCH", "/things/7", `{}`, []string{`If-Match: "v3"`}, 409, "version_conflict"},
	} {
		t.Run(c.is, func(t *testing.T) {
			t.Parallel()
			a := k.do(t, c.method, c.target, c.body, c.headers...)
			require.Equal(t, c.status, a.Status, a.Body)
			require.Equal(t, c.reason, a.reason())
		})
	}
}

func TestUnauthorizedAnswersChallenge(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	for header, challenge := range map[string]string{
		"Authorization: ":            `Bearer`,
		"Authorization: Basic x":     `Bearer error="invalid_token"`,
		"Authorization: Bearer zzz":  `Bearer error="invalid_token"`,
		"Authorization: Bearer read": `Bearer error="insufficient_scope", scope="eval:write"`,
	} {
		a := k.do(t, "POST", "/things", "{}", header)
		require.Equal(t, http.StatusUnauthorized, a.Status)
		require.Equal(t, challenge, a.Header.Get("WWW-Authenticate"))
	}
	a := k.do(t, "POST", "/things", "{}", "Authorization: Bearer read")
	require.Equal(t, "eval:write", a.Error.Details["requiredScope"])
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())

	t.Run("a wrong method is told which methods there are", func(t *testing.T) {
		t.Parallel()
		for target, allow := range map[string]string{"/things": "GET, HEAD, POST", "/things/7": "GET, HEAD, PATCH", "/strict": "POST", "/things/7%2F8": "GET, HEAD, PATCH"} {
			for _, method := range []string{"DELETE", "OPTIONS", "TRACE", "FOO"} {
				a := k.do(t, method, target, "")
				require.Equal(t, http.StatusMethodNotAllowed, a.Status, "%s %s", method, target)
				require.Equal(t, allow, a.Header.Get("Allow"), "%s %s", method, target)
			}
		}
	})

	t.Run("an unknown route is unknown whatever the method", func(t *testing.T) {
		t.Parallel()
		for _, method := range []string{"GET", "POST", "OPTIONS", "FOO"} {
			a := k.do(t, method, "/nowhere/at/all", "")
			require.Equal(t, "unknown_route", a.reason(), method)
			require.Empty(t, a.Header.Values("Allow"))
		}
	})

	t.Run("every GET answers HEAD, with the same headers and no body", func(t *testing.T) {
		t.Parallel()
		for _, target := range []string{"/things", "/api/health", "/api/openapi.json"} {
			get, head := k.do(t, "GET", target, ""), k.do(t, "HEAD", target, "")
			require.Equal(t, get.Status, head.Status)
			require.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"))
		}
		missing := k.do(t, "HEAD", "/nowhere", "")
		require.Equal(t, http.StatusNotFound, missing.Status)
		require.Empty(t, missing.Body)
	})
}
