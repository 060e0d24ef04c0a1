package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const userKey = "SERVICE_API_KEY=asy_test_0123456789ab_0123456789abcdef0123456789abcdef_0a1b2c"

// assay is a server that answers the n-th request with the n-th answer, and
// refuses the key after that.
func assay(t *testing.T, answers ...string) (url string, asked *[]string) {
	t.Helper()
	var n atomic.Int64
	asked = &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := int(n.Add(1)) - 1
		*asked = append(*asked, r.URL.String()) // requests come one after the other
		w.Header().Set("Content-Type", "application/json")
		if i >= len(answers) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"code":"UNAUTHORIZED","message":"The key was revoked.","details":{"reason":"key_revoked"},"requestId":"1"}}`))
			return
		}
		_, _ = w.Write([]byte(answers[i]))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func listOf(traces ...string) string {
	return `{"traces":[` + strings.Join(traces, ",") + `],"limit":100,"offset":0,"has_more":false}`
}

const (
	firstTrace  = "00000000000000000000000000000001"
	secondTrace = "00000000000000000000000000000002"
)

func TestTailCommand(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(time.Hour).UTC() // after every tail below has begun
	moment := func(d time.Duration) string { return began.Add(d).Format(time.RFC3339Nano) }
	running := fmt.Sprintf(`{"id":%q,"name":"ask","status":"running","start_time":%q,"agent_name":"support","usage":{},"cost_usd":null,"new":"\u001b"}`, firstTrace, moment(0))
	failed := fmt.Sprintf(`{"id":%q,"name":"ask","status":"failed","start_time":%q,"end_time":%q,"duration_ms":1500,"agent_name":"support","service_name":"api","usage":{"total_tokens":1234},"cost_usd":0.5,"error_count":2}`, firstTrace, moment(0), moment(1500*time.Millisecond))
	other := fmt.Sprintf(`{"id":%q,"name":"other","status":"completed","start_time":%q,"end_time":%q,"duration_ms":7,"service_name":"api","usage":null,"cost_usd":null}`, secondTrace, moment(time.Second), moment(1007*time.Millisecond))

	t.Run("prints a line for each trace that begins and ends", func(t *testing.T) {
		t.Parallel()
		url, asked := assay(t, listOf(), listOf(running), listOf(other, failed))
		got := run([]string{userKey}, "tail", "--url", url, "--environment=prod", "--agent=support", "--user=u", "--status=failed", "--errors", "--search=two words")

		require.Equal(t, 1, got.Code)
		require.Equal(t, "assay: the key in SERVICE_API_KEY was rejected: The key was revoked.\n", got.Err)
		lines := strings.Split(strings.TrimSpace(got.Out), "\n")
		require.Len(t, lines, 3)
		require.Regexp(t, `^\d\d:\d\d:\d\d ▸ +ask +… +support +`+firstTrace+`$`, lines[0])
		require.Regexp(t, `^\d\d:\d\d:\d\d ✓ +other +7ms +api +`+secondTrace+`$`, lines[1])
		require.Regexp(t, `^\d\d:\d\d:\d\d ✗2 +ask +1\.50s +1\.2k +\$0\.5000 support +`+firstTrace+`$`, lines[2])
		require.Contains(t, (*asked)[1], "agentName=support&environment=prod&hasError=true&limit=1000&search=two+words&startAfter=")
		require.Contains(t, (*asked)[1], "&status=failed&userId=u")
	})

	t.Run("prints JSON as the server wrote it", func(t *testing.T) {
		t.Parallel()
		url, _ := assay(t, listOf(), listOf(running))
		got := run([]string{userKey, "ASSAY_URL=" + url}, "tail", "--json")

		require.Equal(t, 1, strings.Count(got.Out, "\n"))
		require.JSONEq(t, running, got.Out)
		require.NotContains(t, got.Out, "\x1b")
	})

	t.Run("--since shows what was there", func(t *testing.T) {
		t.Parallel()
		old := fmt.Sprintf(`{"id":%q,"name":"old","status":"completed","start_time":%q,"end_time":%q,"duration_ms":1}`, firstTrace, moment(-65*time.Minute), moment(-65*time.Minute))
		url, _ := assay(t, listOf(), listOf(old))
		require.Contains(t, run([]string{userKey}, "tail", "--url", url, "--since=10m").Out, "old")
		url, _ = assay(t, listOf(), listOf(old))
		require.Empty(t, run([]string{userKey}, "tail", "--url", url).Out)
	})

	t.Run("says what it needs", func(t *testing.T) {
		t.Parallel()
		got := run(nil, "tail")
		require.Equal(t, 1, got.Code)
		require.Contains(t, got.Err, "there is no API key for ")
		for _, args := range [][]string{{"tail", "--since=-1m"}, {"tail", "--status=done"}, {"tail", "--since=yesterday"}, {"traces"}, {"traces", "get"}} {
			got := run([]string{userKey}, args...)
			require.Equal(t, 2, got.Code, args)
			require.NotEmpty(t, got.Err)
		}
	})
}

func TestTracesGetCommand(t *testing.T) {
	t.Parallel()
	detail := `{"id":"` + firstTrace + `","trace_ref":7,"name":"ask","status":"failed","start_time":"2026-01-31T12:00:00.000Z","end_time":"2026-01-31T12:00:02.000Z","duration_ms":2000,
		"environment":"prod","usage":{"input_tokens":10,"output_tokens":2,"total_tokens":12},"cost_usd":0.25,"span_count":3,"error_count":1,"tags":["a"],"spans_truncated":true,"spans":[
		{"span_id":"00000000000000a1","name":"ask","start_time":"2026-01-31T12:00:00.000Z","end_time":"2026-01-31T12:00:02.000Z","duration_ms":2000,"status":{"code":"error","message":"no answer"}},
		{"span_id":"00000000000000a2","parent_span_id":"00000000000000a1","name":"chat","primitive_type":"model_call","model":"gpt","start_time":"2026-01-31T12:00:00.000Z","end_time":"2026-01-31T12:00:01.000Z","status":{"code":"ok"},
		 "usage":{"input_tokens":10,"output_tokens":2},"cost_usd":0.25,"input":[{"role":"user","content":"Hi."}],"output":"Hello."}]}`

	t.Run("draws the tree", func(t *testing.T) {
		t.Parallel()
		url, asked := assay(t, detail)
		got := run([]string{userKey, "COLUMNS=60"}, "traces", "get", firstTrace, "--url", url)

		require.Zero(t, got.Code, got.Err)
		require.Equal(t, []string{"/api/traces/" + firstTrace}, *asked)
		for _, want := range []string{
			"ask  ✗ failed\n", firstTrace + "  #7\n", ", took 2.00s\n", "environment prod · tags a\n", "3 spans, 1 error · 10→2 tokens · $0.2500\n",
			"│  no answer\n", "└─ chat  gpt", "1.00s  10→2  $0.2500\n", "Showing the first 2 of 3 spans.\n",
		} {
			require.Contains(t, got.Out, want)
		}
		require.NotContains(t, got.Out, "Hello.")
	})

	t.Run("draws the payloads", func(t *testing.T) {
		t.Parallel()
		url, _ := assay(t, detail)
		got := run([]string{userKey}, "traces", "get", "7", "--payload", "--url", url)
		require.Zero(t, got.Code, got.Err)
		require.Contains(t, got.Out, "out Hello.\n")
		require.Contains(t, got.Out, "in  user: Hi.\n")
	})

	t.Run("prints JSON", func(t *testing.T) {
		t.Parallel()
		url, _ := assay(t, detail)
		got := run([]string{userKey}, "traces", "get", firstTrace, "--json", "--url", url)
		require.Zero(t, got.Code, got.Err)
		require.True(t, json.Valid([]byte(got.Out)))
		require.JSONEq(t, detail, got.Out)
	})

	t.Run("says what is wrong", func(t *testing.T) {
		t.Parallel()
		url, asked := assay(t)
		got := run([]string{userKey}, "traces", "get", "my-trace", "--url", url)
		require.Equal(t, result{1, "", "assay: \"my-trace\" is not a trace ID: use its 32 hexadecimal digits, or the trace number\n"}, got)
		require.Empty(t, *asked)
		got = run([]string{userKey}, "traces", "get", firstTrace, "--url", url)
		require.Equal(t, result{1, "", "assay: the key in SERVICE_API_KEY was rejected: The key was revoked.\n"}, got)
	})
}

func TestDoctorSaysThatTelemetryWaits(t *testing.T) {
	t.Parallel()
	url, _ := assay(t,
		`{"status":"ok","service":"assay","version":"1","uptime_seconds":60}`,
		`{"status":"ready","checks":[]}`,
		`{"key_prefix":"asy_test_0123456789ab","organization_name":"Acme","scopes":["traces:read"]}`,
		strings.TrimSuffix(listOf(), "}")+`,"deferred_since":"2026-01-31T12:00:00.000Z"}`)
	got := run([]string{userKey}, "doctor", "--url", url)
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Out, "is stored and cannot be read yet, because ClickHouse does not take it")
}
