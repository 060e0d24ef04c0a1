package tenancy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy/account"
	"github.com/assayhq/assay/internal/test/testkit"
)

// browser is what a person has.
type browser struct {
	t       testing.TB
	base    string
	cookies map[string]*http.Cookie
}

// browse returns a browser without cookies. It believes that it comes over TLS.
func browse(t testing.TB, k *testkit.Kit) *browser {
	t.Helper()
	return &browser{t, k.URL, map[string]*http.Cookie{}}
}

// RoundTrip sends a request with the cookies that were set.
func (b *browser) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Del("Cookie")
	for _, c := range b.cookies {
		req.AddCookie(c)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		for _, c := range res.Cookies() {
			b.cookies[c.Name] = c
			if c.MaxAge < 0 {
				delete(b.cookies, c.Name)
			}
		}
	}
	return res, err
}

// send sends a form, or asks for a page if there is none, and returns where that leads.
func (b *browser) send(path string, form url.Values, headers ...string) (status int, at, body string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	require.NoError(b.t, err)
	if form != nil {
		req, err = http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, strings.NewReader(form.Encode()))
		require.NoError(b.t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Client{Transport: b}).Do(req)
	require.NoError(b.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	require.Contains(b.t, res.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.NotContains(b.t, string(text), "<script")
	require.Equal(b.t, "no-store", res.Header.Get("Cache-Control"))
	return res.StatusCode, res.Request.URL.Path, string(text)
}

var keyText = regexp.MustCompile(`asy_live_\w+`)

func TestAPersonComesInAndMakesAKey(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	ctx, us := t.Context(), k.Org(t)
	m, link := invite(t, k, us, "admin")
	b := browse(t, k)

	status, at, body := b.send("/app/keys", nil)
	require.Equal(t, "200 /app/sign-in", fmt.Sprint(status, " ", at), "without a session")
	require.Contains(t, body, "Sign in")
	status, _, body = b.send(link, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, m.Email)
	status, _, _ = b.send(link, url.Values{"password": {testkit.Password}, "again": {"another password"}})
	require.Equal(t, http.StatusBadRequest, status)
	status, at, _ = b.send(link, url.Values{"password": {testkit.Password}, "again": {testkit.Password}})
	require.Equal(t, "200 /app/keys", fmt.Sprint(status, " ", at))

	_, _, body = b.send("/app/keys", url.Values{"name": {"laptop"}, "scope": {"eval:read", "admin:org"}, "days": {"30"}})
	text := keyText.FindString(body)
	require.NotEmpty(t, text, "the key is shown")
	mine := us.With(secret.Text(text))
	me, err := mine.GetMe(ctx)
	require.NoError(t, err)
	require.Equal(t, m.ID, *me.UserID)
	require.ElementsMatch(t, []string{"eval:read", "admin:org"}, me.Scopes)
	_, err = mine.UpdateOrganization(ctx, map[string]any{"separationOfDuties": "off"})
	require.NoError(t, err, "it is a person's")
	_, _, body = b.send("/app/keys", nil)
	require.NotContains(t, body, text, "it is shown once")
	require.Contains(t, body, "laptop")

	keys, err := mine.ListMyAPIKeys(ctx, "")
	require.NoError(t, err)
	require.Len(t, keys.APIKeys, 1)
	_, _, body = b.send(fmt.Sprintf("/app/keys/%d/revoke", keys.APIKeys[0].ID), url.Values{})
	require.NotContains(t, body, "laptop")
	_, err = mine.GetMe(ctx)
	require.Error(t, err)

	_, at, _ = b.send("/app/sign-out", url.Values{})
	require.Equal(t, "/app/sign-in", at)
	_, at, _ = b.send("/app/keys", nil)
	require.Equal(t, "/app/sign-in", at)
	form := url.Values{"organization": {us.Org.String()}, "email": {m.Email}, "password": {"wrong wrong wrong"}}
	status, _, _ = b.send("/app/sign-in", form)
	require.Equal(t, http.StatusUnauthorized, status)
	form.Set("password", testkit.Password)
	_, at, _ = b.send("/app/sign-in", form)
	require.Equal(t, "/app/keys", at)

	log, err := us.ListAuditLogs(ctx, "resourceType=member&resourceId="+m.ID)
	require.NoError(t, err)
	var actions []string
	for _, e := range log.AuditLogs {
		actions = append(actions, e.Action)
	}
	require.Equal(t, []string{"member.signed_in", "member.signed_out", "member.accepted", "member.invited", "member.added"}, actions)
}

func TestASessionIsForPagesOnly(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	_, link := invite(t, k, us, "admin")
	b := browse(t, k)
	_, at, _ := b.send(link, url.Values{"password": {testkit.Password}, "again": {testkit.Password}})
	require.Equal(t, "/app/keys", at)
	res, err := (&http.Client{Transport: b}).Get(k.URL + "/api/me")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)

	for _, from := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		status, _, _ := b.send("/app/keys", url.Values{"name": {"stolen"}, "scope": {"admin:org"}}, from...)
		require.Equal(t, http.StatusForbidden, status, "%v", from)
	}
	_, _, body := b.send("/app/keys", nil)
	require.NotContains(t, body, "stolen")
	status, _, _ := b.send("/app/elsewhere", nil)
	require.Equal(t, http.StatusNotFound, status)
}

func TestCookiesAreKeptFromScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	_, link := invite(t, k, k.Org(t), "member")
	b := browse(t, k)
	b.send(link, url.Values{"password": {testkit.Password}, "again": {testkit.Password}})
	require.Len(t, b.cookies, 1)
	c := b.cookies["__Host-assay"]
	require.True(t, c.Secure && c.HttpOnly && c.Path == "/" && c.Domain == "" && c.SameSite == http.SameSiteLaxMode)
}

//nolint:paralleltest // it moves the clock
func TestASessionEnds(t *testing.T) {
	k := testkit.Moving(t)
	ctx, us := t.Context(), k.Org(t)
	a := k.App.Account
	begin := func() (testkit.Member, string) {
		m, err := us.InviteMember(ctx, testkit.NewMember{Email: "s-" + uuid.NewString() + "@example.com", Role: "admin"})
		require.NoError(t, err)
		return m, us.SignedIn(t, m.ID).Token.Reveal()
	}
	works := func(token string) bool {
		_, err := a.Find(ctx, token)
		if err != nil {
			require.ErrorIs(t, err, account.ErrNoSession)
		}
		return err == nil
	}
	m, idle := begin()
	require.True(t, works(idle))
	k.Clock.Advance(11 * time.Hour)
	require.True(t, works(idle))
	k.Clock.Advance(13 * time.Hour)
	require.False(t, works(idle), "nobody used it for half a day")

	_, busy := begin()
	for range 15 {
		require.True(t, works(busy))
		k.Clock.Advance(11 * time.Hour)
	}
	k.Clock.Advance(4 * time.Hour)
	require.False(t, works(busy), "it is a week old")

	_, first := begin()
	gone, err := a.Find(ctx, first)
	require.NoError(t, err)
	_, err = us.UpdateMember(ctx, gone.User.String(), map[string]any{"role": "viewer"})
	require.NoError(t, err)
	now, err := a.Find(ctx, first)
	require.NoError(t, err)
	require.Equal(t, principal.Viewer, now.Role)
	require.NoError(t, us.RemoveMember(ctx, gone.User.String()))
	require.False(t, works(first), "the membership has ended")

	again, err := a.SignIn(ctx, us.Org, m.Email, testkit.Password, "")
	require.NoError(t, err)
	other, err := a.SignIn(ctx, us.Org, m.Email, testkit.Password, again.Token.Reveal())
	require.NoError(t, err)
	require.False(t, works(again.Token.Reveal()), "signing in anew ends the session of the same browser")
	require.True(t, works(other.Token.Reveal()))
	us.SignedIn(t, m.ID)
	require.False(t, works(other.Token.Reveal()), "a new password ends all sessions")
}
