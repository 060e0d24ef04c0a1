package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
)

// serving returns a client of a server that answers every request alike.
func serving(t *testing.T, status int, body string, header ...string) *client.Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+apiKey {
			t.Error("the key is not sent")
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL+"/", apiKey, nil)
	require.NoError(t, err)
	return c
}

func envelope(reason, message string) string {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"error":{"code":"X","message":%s,"details":{"reason":%q,"fields":[{"in":"query","path":"status","code":"enum","message":"must be running"}]},"requestId":"3f1c"}}`, text, reason)
}

func TestTraces(t *testing.T) {
	t.Parallel()
	c := serving(t, 200, `{"traces":[
		{"id":"4bf92f3577b34da6a3ce929d0e0e4736","trace_ref":7,"name":"ask","status":"completed","start_time":"2026-01-31T12:00:00.000Z","end_time":"2026-01-31T12:00:01.500Z",
		 "duration_ms":1500,"usage":{"input_tokens":10,"output_tokens":2,"total_tokens":12,"new":1},"cost_usd":0.25,"error_count":1,"tags":["a"],"service_name":null,"new":{"a":[1]}},
		{"id":"00000000000000000000000000000001","name":"","status":"running","start_time":"2026-01-31T11:00:00+01:00","end_time":null,"duration_ms":null,"usage":null,"cost_usd":null}],
		"limit":2,"offset":0,"has_more":true,"next_cursor":"abc","new":1}`,
		"RateLimit-Policy", `"hour";q=1000;w=3600`, "RateLimit", `"hour";r=999;t=3600`, "Date", "Sat, 31 Jan 2026 12:00:02 GMT")

	page, a, err := c.Traces(t.Context(), client.Query{Limit: 2})

	require.NoError(t, err)
	require.Equal(t, client.Answer{
		At:    time.Date(2026, 1, 31, 12, 0, 2, 0, time.UTC),
		Quota: client.Quota{Limit: 1000, Remaining: 999, Window: time.Hour, Reset: time.Hour},
	}, a)
	require.Equal(t, "abc", page.Next)
	require.Len(t, page.Traces, 2)
	first, second := page.Traces[0], page.Traces[1]
	require.JSONEq(t, `{"a":[1]}`, string(rawField(t, first.Raw, "new")), "fields that the client does not know are kept")
	require.InDelta(t, 1500, *first.DurationMs, 0)
	require.InDelta(t, 0.25, *first.CostUSD, 0)
	require.Equal(t, api.Usage{InputTokens: 10, OutputTokens: 2, TotalTokens: 12}, first.Usage)
	require.Equal(t, *first.EndTime, first.Moment())
	require.Equal(t, time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC), second.StartTime.UTC())
	require.Equal(t, second.StartTime, second.Moment())
	require.Nil(t, second.DurationMs)
	require.Nil(t, second.CostUSD)
}

func rawField(t *testing.T, raw []byte, name string) json.RawMessage {
	t.Helper()
	fields := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(raw, &fields))
	return fields[name]
}

func TestTrace(t *testing.T) {
	t.Parallel()
	body := `{"id":"4bf92f3577b34da6a3ce929d0e0e4736","name":"ask","status":"failed","start_time":"2026-01-31T12:00:00Z","spans_truncated":true,"spans":[
		{"span_id":"00f067aa0ba902b7","parent_span_id":null,"name":"chat","status":{"code":"error","message":"boom"},"start_time":"2026-01-31T12:00:00Z",
		 "tool_name":"search","attributes":{"gen_ai.tool.name":"search","n":1},"input":{"a":1},"output":"text","model":"gpt"}]}`
	c := serving(t, 200, body)

	d, err := c.Trace(t.Context(), " 4BF92F3577B34DA6A3CE929D0E0E4736 ")

	require.NoError(t, err)
	require.True(t, d.SpansTruncated)
	require.Equal(t, "ask", *d.Name)
	require.Len(t, d.Spans, 1)
	require.Equal(t, api.SpanStatus{Code: "error", Message: new("boom")}, d.Spans[0].Status)
	require.Equal(t, "search", *d.Spans[0].ToolName)
	require.Equal(t, []string{`{"a":1}`, `"text"`}, []string{string(d.Spans[0].Input), string(d.Spans[0].Output)})
	require.JSONEq(t, body, string(d.Raw))

	for _, id := range []string{"", "abc", "../keys", "4bf92f3577b34da6a3ce929d0e0e47361", "\x1b[2J"} {
		_, err := c.Trace(t.Context(), id)
		require.ErrorContains(t, err, "is not a trace ID", id)
		require.NotContains(t, err.Error(), "\x1b")
	}
	_, err = c.Trace(t.Context(), "#1042")
	require.NoError(t, err, "the number of a trace is an id, too")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		header []string
		want   string
		retry  time.Duration
	}{
		"401": {401, envelope("key_revoked", "The key was revoked."), nil, "the key in SERVICE_API_KEY was rejected: The key was revoked.", 0},
		"404": {404, envelope("trace_not_found", "There is no such trace."), nil, "There is no such trace.", 0},
		"404 of an older server": {
			404, envelope("unknown_route", "There is no such route."), nil, "/api/traces does not exist: check the URL, and that this Assay version supports traces", 0,
		},
		"400 names the fields": {400, envelope("invalid_request", "The request is not valid."), nil, "The request is not valid: status must be running", 0},
		"429":                  {429, envelope("rate_limit_exceeded", "Too many requests."), []string{"Retry-After", "36"}, "Too many requests. query status: must be running. Try again in 36s.", 36 * time.Second},
		"429 until a date": {
			429, envelope("rate_limit_exceeded", "Too many."), []string{"Date", "Sat, 31 Jan 2026 12:00:00 GMT", "Retry-After", "Sat, 31 Jan 2026 12:01:00 GMT"}, "Try again in 1m0s.", time.Minute,
		},
		"503":                         {503, envelope("not_ready", "The service is not ready."), []string{"Retry-After", "2"}, "The service is not ready. query status: must be running. (request 3f1c)", 2 * time.Second},
		"a proxy":                     {502, "<html>Bad gateway</html>", nil, "returned 502 Bad Gateway, which is not an Assay response: check the URL", 0},
		"escape codes are taken out":  {500, envelope("x", "\x1b[2Jgone\u009b1m"), nil, " [2Jgone 1m", 0},
		"a wait that is beyond sense": {503, envelope("x", "x"), []string{"Retry-After", "99999999"}, "x", time.Hour},
		"a wait that is no number":    {503, envelope("x", "x"), []string{"Retry-After", "soon"}, "x", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := serving(t, c.status, c.body, c.header...).Traces(t.Context(), client.Query{})
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), apiKey)
			var refused *client.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.status, refused.Status)
			require.Equal(t, c.retry, refused.RetryAfter)
			_, isFault := fault.From(err)
			require.True(t, isFault)
		})
	}
}

func TestAnswersThatAreNotAssays(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a page":                   `<!doctype html>`,
		"nothing":                  ``,
		"another document":         `{"data":[]}`,
		"a list of something else": `{"traces":[{"uuid":"x"}]}`,
		"a field of another type":  `{"traces":[{"id":"x","start_time":"yesterday"}]}`,
		"a cut document":           `{"traces":[{"id":"4bf9`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := serving(t, 200, body).Traces(t.Context(), client.Query{})
			require.ErrorContains(t, err, "check the URL")
		})
	}
	_, err := serving(t, 200, `{"spans":[]}`).Trace(t.Context(), strings.Repeat("a", 32))
	require.ErrorContains(t, err, "check the URL")
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	c, err := client.New("http://127.0.0.1:1", apiKey, nil)
	require.NoError(t, err)
	_, _, err = c.Traces(t.Context(), client.Query{Search: "private words"})
	require.ErrorContains(t, err, "no response from http://127.0.0.1:1: ")
	require.NotContains(t, err.Error(), "private")
}

func TestASlowServerIsNotWaitedForForever(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c, err := client.New("http://assay.test", apiKey, &server{latency: time.Hour})
		require.NoError(t, err)
		began := time.Now()
		_, err = c.Trace(t.Context(), "1")
		require.ErrorContains(t, err, "no response from http://assay.test within 30s")
		require.Equal(t, 30*time.Second, time.Since(began))
	})
}

func TestFromEnviron(t *testing.T) {
	t.Parallel()
	good := "SERVICE_API_KEY=" + apiKey
	for name, c := range map[string]struct {
		url     string
		environ []string
		want    string
	}{
		"no key":                 {"", nil, "there is no API key for "},
		"an empty key":           {"", []string{"SERVICE_API_KEY= "}, "there is no API key for "},
		"a key with a line feed": {"", []string{"SERVICE_API_KEY=a\nb"}, "contains invalid characters"},
		"a URL without a scheme": {"localhost:4318", []string{good}, "invalid URL \"localhost:4318\": use one such as http://localhost:4318"},
		"a URL with a key in it": {"http://u:hunter2@h", []string{good}, "must not have a user, query or fragment"},
		"a bad ASSAY_URL":        {"", []string{good, "ASSAY_URL=ftp://h"}, "invalid URL"},
		"the flag wins":          {"http://h", []string{good, "ASSAY_URL=ftp://h"}, ""},
		"a path below a proxy":   {"https://h/assay/", []string{good}, ""},
		"the default":            {"", []string{good}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := client.FromEnviron(c.url, c.environ)
			if c.want == "" {
				require.NoError(t, err)
				require.NotContains(t, fmt.Sprintf("%v %+v %#v", got, got, got), apiKey, "printing does not show the key")
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func FuzzAnswerHeaders(f *testing.F) {
	f.Add(`"hour";q=1000;w=3600`, `"hour";r=999;t=3600`, "36")
	f.Add(`"hour";q=-1;w=99999999999`, `"hour";r=;t=x, "day";r=1`, "-1")
	f.Fuzz(func(t *testing.T, policy, standing, retry string) {
		s := &server{}
		s.intercept = func(r *http.Request) (*http.Response, error) {
			return refuse(r, 429, "x", "x", "RateLimit-Policy", policy, "RateLimit", standing, "Retry-After", retry), nil
		}
		c, err := client.New("http://assay.test", apiKey, s)
		require.NoError(t, err)
		_, a, err := c.Traces(t.Context(), client.Query{})
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		require.GreaterOrEqual(t, refused.RetryAfter, time.Duration(0))
		require.GreaterOrEqual(t, min(a.Quota.Limit, a.Quota.Remaining), 0)
		require.GreaterOrEqual(t, min(a.Quota.Window, a.Quota.Reset), time.Duration(0))
	})
}
