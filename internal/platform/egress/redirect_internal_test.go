package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// site is a server that redirects to ?to= with status ?code=, and remembers
// what it is asked.
func site(t *testing.T, secure bool) (*httptest.Server, *atomic.Pointer[http.Request]) {
	t.Helper()
	var last atomic.Pointer[http.Request]
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r)
		q := r.URL.Query()
		if to := q.Get("to"); to != "" {
			code, _ := strconv.Atoi(q.Get("code"))
			w.Header().Set("Location", to)
			w.WriteHeader(max(code, http.StatusFound))
		}
	})
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s, &last
}

// visitor may call the given sites, and trusts their certificates.
func visitor(t *testing.T, sites ...*httptest.Server) *Client {
	t.Helper()
	var allow []string
	roots := x509.NewCertPool()
	for _, s := range sites {
		allow = append(allow, s.Listener.Addr().String())
		if s.Certificate() != nil {
			roots.AddCert(s.Certificate())
		}
	}
	c := client(t, Config{Allow: allow})
	c.secure.TLSClientConfig = &tls.Config{RootCAs: roots}
	t.Cleanup(c.Close)
	return c
}

func via(s *httptest.Server, to string, code int) string {
	return s.URL + "/?to=" + url.QueryEscape(to) + "&code=" + strconv.Itoa(code)
}

func send(t *testing.T, c *http.Client, method, target, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	require.NoError(t, err)
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Webhook-Signature", "Proxy-Authorization"} {
		r.Header.Set(name, "secret")
	}
	r.Header.Set("Accept", "application/json")
	resp, err := c.Do(r)
	if resp != nil {
		_ = resp.Body.Close()
	}
	return resp, err
}

// An allowed site redirects to each of the hostile URLs.
func TestRedirectsToForbiddenPlaces(t *testing.T) {
	t.Parallel()
	live, inert := rows()
	first, _ := site(t, false)
	for _, check := range []bool{true, false} {
		g := newGround(t, defences{check: check, control: true}, answers())
		g.home = netip.MustParseAddrPort(first.Listener.Addr().String())
		g.client.policy.ranges = []reach{{netip.PrefixFrom(g.home.Addr(), 32), g.home.Port()}}
		refused := 0
		for _, text := range append(live, inert...) {
			for _, code := range []int{301, 302, 303, 307, 308} {
				_, err := send(t, g.client.HTTP(Options{Redirects: 3}), http.MethodGet, via(first, g.at(text), code), "")
				if err != nil { // a Location that is a path leads back to the first site
					refused++
				}
			}
		}
		require.Zero(t, g.forbidden())
		require.GreaterOrEqual(t, refused, 5*len(live))
		t.Logf("egress redirects %d forbidden connections %d", 5*(len(live)+len(inert)), g.forbidden())
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()

	t.Run("none is followed unless asked for", func(t *testing.T) {
		t.Parallel()
		here, _ := site(t, false)
		there, atThere := site(t, false)
		resp, err := send(t, visitor(t, here, there).HTTP(Options{}), http.MethodGet, via(here, there.URL, 302), "")
		require.NoError(t, err)
		require.Equal(t, http.StatusFound, resp.StatusCode)
		require.Nil(t, atThere.Load())
	})

	t.Run("the same origin keeps the headers", func(t *testing.T) {
		t.Parallel()
		here, atHere := site(t, false)
		_, err := send(t, visitor(t, here).HTTP(Options{Redirects: 1}), http.MethodPost, via(here, "/next", 307), "body")
		require.NoError(t, err)
		require.Equal(t, "/next", atHere.Load().URL.Path)
		require.Equal(t, "secret", atHere.Load().Header.Get("X-Api-Key"))
		require.Empty(t, atHere.Load().Header.Get("Referer"))
	})

	t.Run("another origin gets no credential", func(t *testing.T) {
		t.Parallel()
		here, _ := site(t, false)
		there, atThere := site(t, false)
		_, err := send(t, visitor(t, here, there).HTTP(Options{Redirects: 1}), http.MethodGet, via(here, there.URL, 302), "")
		require.NoError(t, err)
		got := atThere.Load().Header
		got.Del("Accept-Encoding")
		require.Equal(t, http.Header{"Accept": {"application/json"}, "User-Agent": {"Go-http-client/1.1"}}, got)
	})

	t.Run("coming back does not bring the credentials back", func(t *testing.T) {
		t.Parallel()
		here, atHere := site(t, false)
		there, _ := site(t, false)
		_, err := send(t, visitor(t, here, there).HTTP(Options{Redirects: 2}), http.MethodGet, via(here, via(there, here.URL+"/back", 302), 302), "")
		require.NoError(t, err)
		require.Equal(t, "/back", atHere.Load().URL.Path)
		require.Empty(t, atHere.Load().Header.Get("Authorization"))
		require.Empty(t, atHere.Load().Header.Get("X-Api-Key"))
	})

	t.Run("a body does not follow to another origin", func(t *testing.T) {
		t.Parallel()
		here, _ := site(t, false)
		there, atThere := site(t, false)
		for _, code := range []int{307, 308} {
			_, err := send(t, visitor(t, here, there).HTTP(Options{Redirects: 1}), http.MethodPost, via(here, there.URL, code), "body")
			require.ErrorIs(t, err, ErrRedirected)
			require.Nil(t, atThere.Load())
		}
	})

	t.Run("https does not become http, the other way is fine", func(t *testing.T) {
		t.Parallel()
		secure, atSecure := site(t, true)
		there, atThere := site(t, false)
		c := visitor(t, secure, there).HTTP(Options{Redirects: 1})
		_, err := send(t, c, http.MethodGet, via(secure, there.URL, 302), "")
		require.ErrorIs(t, err, ErrRedirected)
		require.Nil(t, atThere.Load())
		_, err = send(t, c, http.MethodGet, via(there, secure.URL+"/next", 302), "")
		require.NoError(t, err)
		require.Equal(t, "/next", atSecure.Load().URL.Path)
	})

	t.Run("there is an end", func(t *testing.T) {
		t.Parallel()
		here, _ := site(t, false)
		c := visitor(t, here)
		chain := "/end"
		for range MaxRedirects {
			chain = via(here, chain, 302)
		}
		_, err := send(t, c.HTTP(Options{Redirects: MaxRedirects - 1}), http.MethodGet, chain, "")
		require.ErrorIs(t, err, ErrRedirected)
		_, err = send(t, c.HTTP(Options{Redirects: MaxRedirects}), http.MethodGet, chain, "")
		require.NoError(t, err)
		_, err = send(t, c.HTTP(Options{Redirects: 1000}), http.MethodGet, via(here, chain, 302), "")
		require.ErrorIs(t, err, ErrRedirected)
	})
}

// Every hop alone is in time; together they are not.
func TestHopsShareOneDeadline(t *testing.T) {
	t.Parallel()
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond)
		if r.URL.Path != "/xxxxx" {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}
	}))
	t.Cleanup(slow.Close)
	c := visitor(t, slow)
	_, err := send(t, c.HTTP(Options{Redirects: 5, Timeout: 400 * time.Millisecond}), http.MethodGet, slow.URL+"/", "")
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = send(t, c.HTTP(Options{Redirects: 5}), http.MethodGet, slow.URL+"/", "")
	require.NoError(t, err)
}

func TestCertificateIsVerified(t *testing.T) {
	t.Parallel()
	secure, at := site(t, true)
	c := client(t, Config{Allow: []string{secure.Listener.Addr().String()}})
	_, err := send(t, c.HTTP(Options{}), http.MethodGet, secure.URL, "")
	require.ErrorIs(t, err, ErrUnreachable)
	require.Nil(t, at.Load())
}

// A proxy would resolve the name and choose the address; HTTP/2 could carry
// requests for one name over the connection of another.
func TestTransportTakesNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	c := client(t, Config{})
	for _, transport := range []*http.Transport{c.secure, c.plain} {
		require.Nil(t, transport.Proxy)
		require.False(t, transport.Protocols.HTTP2())
		require.False(t, transport.Protocols.UnencryptedHTTP2())
		require.Nil(t, transport.DialTLSContext)
	}
}
