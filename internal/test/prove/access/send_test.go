package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// header is a header of a request; a name may come twice.
type header struct{ name, value string }

func bearer(key string) header { return header{"Authorization", "Bearer " + key} }

// call is one request.
type call struct {
	method, target, body string
	headers              []header
}

// answer is one response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send serves a request in this process.
func send(ctx context.Context, t testing.TB, h http.Handler, c call) answer {
	t.Helper()
	var body io.Reader = http.NoBody
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, "http://assay.test"+c.target, body)
	require.NoError(t, err)
	req.RemoteAddr = "192.0.2.1:1"
	if strings.Contains(c.target, "/v1/") {
		req.Header.Set("Content-Type", "application/json") // OTLP takes no body without a type
	}
	for _, h := range c.headers {
		req.Header.Add(h.name, h.value)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return answer{status: rec.Code, header: rec.Header(), body: rec.Body.Bytes()}
}

// envelope reads an error answer; one that is none has no reason.
func (a answer) envelope() testkit.Envelope {
	var e testkit.Envelope
	_ = json.Unmarshal(a.body, &e)
	return e
}

func (a answer) reason() string {
	text, _ := a.envelope().Error.Details["reason"].(string)
	return text
}

var requestID = regexp.MustCompile(`"requestId":"[^"]*"`)

// shape is everything of an answer that does not change from one request to
// the next: two answers of one shape tell a caller the same.
func (a answer) shape() string {
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if name == "X-Request-Id" || name == "Ratelimit" || strings.HasPrefix(name, "X-Ratelimit-") {
			continue
		}
		fmt.Fprintln(&b, name, a.header[name])
	}
	b.Write(requestID.ReplaceAll(a.body, nil))
	return b.String()
}

// has reports whether the answer shows one of the texts.
func (a answer) has(texts []string) string {
	for _, text := range texts {
		if bytes.Contains(a.body, []byte(text)) {
			return text
		}
	}
	return ""
}
