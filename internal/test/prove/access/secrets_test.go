package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

const (
	providerSecret = "sk-provider-secret-of-the-walk-4f1c9a"
	refusedSecret  = "sk-refused-secret-of-the-walk-77d2b0"
)

// TestSecretsStayInside walks over every operation, with and without success,
// and reads everything that came out: answers, log, prints and tables.
//
//nolint:paralleltest // it takes the process's log and standard output
func TestSecretsStayInside(t *testing.T) {
	// The provider tells whoever calls it what it was told.
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		status, _ := strconv.Atoi(r.URL.Path[1:4])
		w.WriteHeader(status)
		_, _ = fmt.Fprintln(w, r.Header)
	}))
	t.Cleanup(provider.Close)
	w := newWorld(t, func(c *app.Config) {
		u, err := url.Parse(provider.URL)
		require.NoError(t, err)
		c.Egress.Allow = []string{net.JoinHostPort(u.Hostname(), u.Port())}
	})
	s := newScanner()
	done := s.capture(t)
	cfg := w.kit.App.Config
	s.guard("the pepper", cfg.Key.Pepper.Reveal())
	s.guard("the master key", cfg.Secret.MasterKey.Reveal())
	s.guard("a provider's secret", providerSecret)
	s.guard("a provider's secret that was refused", refusedSecret)
	s.guard("the first key", w.home.Key.Reveal())
	h := s.watch(w.kit.App.Edge)

	people := w.people(t)
	for _, c := range people {
		for _, header := range c.headers {
			if key, ok := strings.CutPrefix(header.value, "Bearer "); ok && len(key) > 30 {
				s.guard("the key of "+c.name, key)
			}
		}
	}
	m := &matrix{world: w}
	asked := map[string]call{}
	w.walk(t, h, people, func(name string) call {
		asked[name] = m.request(t, name, func(upTo string) string { return specimen.Absent(kind(upTo)) })
		return asked[name]
	})
	w.misuse(t, h)
	w.provide(t, h, provider.URL)
	w.kit.App.Tenancy.FlushMeter(t.Context())
	w.look(t, w.home)
	s.dump(t, w)

	// Without its engines the application complains, in the log and out loud.
	require.NoError(t, w.kit.App.Close())
	w.walk(t, h, callersNamed(people, "all scopes", "live key", "truncated key"), func(name string) call { return asked[name] })
	done()

	for _, where := range []string{"the log", "the answers", "table idempotency_keys", "table outbox", "table events", "table audit_logs", "table provider_keys"} {
		require.NotZero(t, s.seen[where].Len(), where)
	}
	require.Greater(t, len(s.secrets), 50)
	require.Empty(t, s.leaks())

	t.Run("what is let out is found", func(t *testing.T) {
		for name, leak := range map[string]func(s *scanner, text string){
			"logged":  func(_ *scanner, text string) { slog.Info("key created", "key", text) },
			"printed": func(_ *scanner, text string) { _, _ = fmt.Fprintln(os.Stderr, "key", text) },
			"stored":  func(s *scanner, text string) { s.see("table outbox", fmt.Sprintf("(1,\"\\\\x%x\")", "payload "+text)) },
			"answered": func(s *scanner, text string) {
				echo := s.watch(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Debug", text) }))
				send(t.Context(), t, echo, call{method: "GET", target: "/"})
			},
		} {
			s := newScanner()
			s.guard("a key", w.home.Key.Reveal())
			done := s.capture(t)
			leak(s, w.home.Key.Reveal())
			done()
			require.NotEmpty(t, s.leaks(), name)
		}
	})
}

// walk calls every operation as every caller, with and without a body that
// fits.
func (w *world) walk(t *testing.T, h http.Handler, callers []caller, request func(name string) call) {
	t.Helper()
	for _, name := range names(w.kit.App.Edge.Ops()) {
		for i, c := range callers {
			req := request(name)
			req.headers = append(c.headers, header{"Idempotency-Key", name + strconv.Itoa(i)})
			send(t.Context(), t, h, req)
			if i%8 == 0 {
				req.body = `{"secret":["` + refusedSecret + `"],"name":{"` + "x" + `":"` + refusedSecret + `"}}`
				send(t.Context(), t, h, req)
			}
		}
	}
}

// misuse puts a key where it does not belong.
func (w *world) misuse(t *testing.T, h http.Handler) {
	t.Helper()
	key := w.home.Key.Reveal()
	for _, c := range []call{
		{method: "GET", target: "/api/developer/api-keys/" + key},
		{method: "GET", target: "/api/datasets/" + key},
		{method: "GET", target: "/" + key},
		{method: "DELETE", target: "/api/organizations/current?confirm=" + key},
		{method: "GET", target: "/api/audit-logs?userId=" + key},
		{method: "GET", target: "/api/audit-logs?apiKey=" + key + "&limit=" + key},
		{method: "GET", target: "/api/datasets?createdAfter=" + key},
		{method: "GET", target: "/api/me", headers: []header{{"X-On-Behalf-Of", key}}},
		{method: "GET", target: "/api/me", headers: []header{{"X-Request-Id", key}}},
		{method: "PATCH", target: "/api/organizations/current", body: "{}", headers: []header{{"If-Match", key}}},
		{method: "POST", target: "/api/datasets", body: `{"name":"` + key},
		{method: "POST", target: "/api/datasets", body: key, headers: []header{{"Content-Type", "text/plain"}}},
		{method: "POST", target: "/api/developer/api-keys", body: `{"name":"x","scopes":["` + key + `"],"expiresAt":"` + key + `"}`},
		{method: "POST", target: "/api/organizations/current/members", body: `{"email":"` + key + `","role":"` + key + `"}`},
	} {
		c.headers = append(c.headers, bearer(key))
		got := send(t.Context(), t, h, c)
		require.NotEqual(t, http.StatusInternalServerError, got.status, c.target)
	}
	// A request that its caller gave up ends somewhere in the middle.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	send(ctx, t, h, call{method: "GET", target: "/api/me", headers: []header{bearer(key)}})
}

// provide keeps, changes, tries and deletes provider keys, with providers that
// answer in every way.
func (w *world) provide(t *testing.T, h http.Handler, base string) {
	t.Helper()
	us := func(method, target, body string, extra ...header) answer {
		return send(t.Context(), t, h, call{method: method, target: target, body: body, headers: append(extra, bearer(w.home.Key.Reveal()))})
	}
	const keys = "/api/developer/provider-keys"
	tried := 0
	for i, status := range []int{200, 302, 401, 403, 429, 500} {
		body := fmt.Sprintf(`{"provider":"custom","name":"walk %d","baseUrl":"%s/%d","secret":"%s"}`, i, base, status, providerSecret)
		for range 2 { // the second time is a repetition
			require.Equal(t, http.StatusCreated, us("POST", keys, body, header{"Idempotency-Key", strconv.Itoa(i)}).status)
		}
	}
	var page struct {
		ProviderKeys []struct {
			ID      int64  `json:"id"`
			BaseURL string `json:"base_url"`
		} `json:"provider_keys"`
	}
	_, err := w.home.Call(t.Context(), "GET", keys, nil, &page)
	require.NoError(t, err)
	for _, k := range page.ProviderKeys {
		at := keys + "/" + strconv.FormatInt(k.ID, 10)
		if len(k.BaseURL) > len(base) && k.BaseURL[:len(base)] == base {
			require.Equal(t, http.StatusOK, us("POST", at+"/test", "").status)
			tried++
		}
		us("PATCH", at, `{"secret":"`+providerSecret+`","name":"again `+strconv.FormatInt(k.ID, 10)+`"}`)
		us("PATCH", at, `{"baseUrl":"https://user:`+refusedSecret+`@example.com"}`)
		us("PATCH", at, `{"baseUrl":"https://10.0.0.1/?key=`+refusedSecret+`","secret":"`+refusedSecret+`"}`)
		us("PATCH", at, `{"secret":"`+refusedSecret+`\u0000"}`, header{"If-Match", `"v999"`})
		us("DELETE", at, "")
	}
	require.Equal(t, 6, tried)
	made, err := w.home.CreateKey(t.Context(), testkit.NewKey{Name: "to be rotated", Scopes: allScopes})
	require.NoError(t, err)
	rotate := "/api/developer/api-keys/" + strconv.FormatInt(made.ID, 10) + "/rotate"
	for range 2 {
		require.Equal(t, http.StatusCreated, us("POST", rotate, `{"graceSeconds":60}`, header{"Idempotency-Key", "rotate"}).status)
	}
}
