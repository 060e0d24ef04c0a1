package egress_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/platform/egress"
)

// open starts a server and a client that may call it and nothing else inside.
func open(t *testing.T, h http.HandlerFunc, allow ...string) (*egress.Client, *httptest.Server) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := egress.New(egress.Config{Allow: append(allow, s.Listener.Addr().String())})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c, s
}

func get(t *testing.T, c *http.Client, target string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	require.NoError(t, err)
	resp, err := c.Do(r)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	hello := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }
	s := httptest.NewServer(http.HandlerFunc(hello))
	t.Cleanup(s.Close)
	at, err := url.Parse(s.URL)
	require.NoError(t, err)

	for _, c := range []struct {
		allow, host string
		reached     bool
	}{
		{"", "127.0.0.1", false},
		{"127.0.0.0/8", "127.0.0.1", true},
		{"127.0.0.0/8", "localhost", true},
		{"127.0.0.1:" + at.Port(), "127.0.0.1", true},
		{"127.0.0.1:" + at.Port(), "localhost", true}, // it leads to the listed address
		{"localhost:" + at.Port(), "localhost", true},
		{"LocalHost:" + at.Port(), "LOCALHOST", true},
		{"localhost:" + at.Port(), "127.0.0.1", false},
		{"localhost:1", "localhost", false},
		{"127.0.0.1:1", "127.0.0.1", false},
		{"10.0.0.0/8", "127.0.0.1", false},
		{"10.0.0.0/8", "localhost", false},
	} {
		t.Run(c.allow+" opens "+c.host, func(t *testing.T) {
			t.Parallel()
			var allow []string
			if c.allow != "" {
				allow = []string{c.allow}
			}
			client, err := egress.New(egress.Config{Allow: allow})
			require.NoError(t, err)
			t.Cleanup(client.Close)
			resp, err := get(t, client.HTTP(egress.Options{}), "http://"+c.host+":"+at.Port())
			if !c.reached {
				require.ErrorIs(t, err, egress.ErrForbidden)
				return
			}
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, "hello", string(body))
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for entry, words := range map[string]string{
		"judge.internal":       "add the port, for example judge.internal:443",
		"judge.internal:0":     "number from 1 to 65535",
		"judge.internal:https": "number from 1 to 65535",
		"10.0.0.1":             "10.1.2.3/32",
		"fd00::1":              "[fd00::1]:443",
		"10.0.0.1/8":           "write 10.0.0.0/8",
		"10.0.0.0/33":          "for example 10.0.0.0/8",
		"0.0.0.0/0":            "list the ranges that you need",
		"::/0":                 "list the ranges that you need",
		"::ffff:10.0.0.0/104":  "without the ::ffff: prefix",
		"[fe80::1%eth0]:443":   "without a zone",
		"https://a.internal":   "address and length",
		"*.internal:443":       "plain ASCII",
		"0x7f.1:443":           "plain ASCII",
		"bücher.internal:443":  "plain ASCII",
	} {
		require.ErrorContains(t, egress.Config{Allow: []string{entry}}.Validate(), words, entry)
	}
	require.ErrorContains(t, egress.Config{Ports: []string{"https"}}.Validate(), "443,8443")
	require.ErrorContains(t, egress.Config{Allow: []string{"x", "y"}}.Validate(), "\n", "all problems at once")
	require.NoError(t, egress.Config{Allow: []string{"10.0.0.0/8", "fd00::/8", "judge.internal:443", "[::1]:80"}}.Validate())
	_, err := egress.New(egress.Config{Allow: []string{"x"}})
	require.Error(t, err)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	var all struct {
		Egress egress.Config `setting:"egress"`
	}
	_, err := config.Load(&all, nil, []string{"ASSAY_EGRESS_ALLOW=10.0.0.0/8, judge.internal:443"})
	require.NoError(t, err)
	require.Equal(t, egress.Config{Allow: []string{"10.0.0.0/8", "judge.internal:443"}, Ports: []string{"443", "8443"}}, all.Egress)
	_, err = config.Load(&all, nil, []string{"ASSAY_EGRESS_ALLOW=10.0.0.1/8"})
	require.ErrorContains(t, err, "egress.allow (ASSAY_EGRESS_ALLOW) has")
}

func TestBodyIsCapped(t *testing.T) {
	t.Parallel()
	c, s := open(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/exact":
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
		case "/declared":
			w.Header().Set("Content-Length", "1001")
			_, _ = io.WriteString(w, strings.Repeat("x", 1001))
		case "/streamed":
			for range 1001 {
				_, _ = io.WriteString(w, "x")
				w.(http.Flusher).Flush()
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 10<<20))
			_ = z.Close()
		}
	})
	read := func(path string) (string, error) {
		resp, err := get(t, c.HTTP(egress.Options{MaxBytes: 1000}), s.URL+path)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	body, err := read("/exact")
	require.NoError(t, err)
	require.Len(t, body, 1000)
	for _, path := range []string{"/declared", "/streamed", "/bomb"} {
		body, err = read(path)
		require.ErrorIs(t, err, egress.ErrTooLarge, path)
		require.LessOrEqual(t, len(body), 1000, path)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	c, s := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	})
	_, err := get(t, c.HTTP(egress.Options{Timeout: 20 * time.Millisecond}), s.URL)
	require.ErrorIs(t, err, egress.ErrUnreachable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	resp, err := get(t, c.HTTP(egress.Options{Timeout: 5 * time.Second}), s.URL+"/body")
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, egress.ErrUnreachable)
	require.NotContains(t, err.Error(), "127.0.0.1")
}

func TestUnreachableHidesTheAddress(t *testing.T) {
	t.Parallel()
	c, s := open(t, func(http.ResponseWriter, *http.Request) {}, "localhost:1")
	s.Close()
	_, err := get(t, c.HTTP(egress.Options{}), "http://localhost:1/")
	require.ErrorIs(t, err, egress.ErrUnreachable)
	require.NotContains(t, err.Error(), "127.0.0.1")
	f, _ := fault.From(err)
	require.Equal(t, "connect", f.Details["cause"])
}

func TestTrace(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	c, s := open(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header })
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	state, err := trace.ParseTraceState("vendor=secret")
	require.NoError(t, err)
	ctx := trace.ContextWithSpanContext(t.Context(), span.WithTraceState(state))
	for wanted, o := range map[string]egress.Options{
		"": {}, "00-01000000000000000000000000000000-0200000000000000-01": {Trace: true},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		resp, err := c.HTTP(o).Do(r)
		require.NoError(t, err)
		_ = resp.Body.Close()
		h := <-got
		require.Equal(t, wanted, h.Get("traceparent"))
		require.Empty(t, h.Get("tracestate"))
		require.Empty(t, r.Header, "the caller's request is not changed")
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	t.Parallel()
	c, s := open(t, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Host = "other.example.com" },
		func(r *http.Request) { r.Method = http.MethodConnect },
		func(r *http.Request) { r.Method = http.MethodTrace },
		func(r *http.Request) { r.URL.User = url.User("name") },
		func(r *http.Request) { r.URL.Opaque = "//127.0.0.1/" },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader("body"))
		require.NoError(t, err)
		change(r)
		_, err = c.HTTP(egress.Options{}).Do(r)
		require.ErrorIs(t, err, egress.ErrForbidden)
	}
}
