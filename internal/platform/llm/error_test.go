package llm_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule                simulated.Rule
		kind                llm.Kind
		openai, anthropic   int // statuses
		retryable, fatal    bool
		after               time.Duration
		openaiIs, anthropIs string // codes
		googleIs            string
	}{
		{rule: simulated.Rule{Fault: simulated.FaultRateLimit, RetryAfter: 2 * time.Second}, kind: llm.RateLimited, openai: 429, anthropic: 429, retryable: true, after: 2 * time.Second, openaiIs: "rate_limit_exceeded", anthropIs: "rate_limit_error", googleIs: "RESOURCE_EXHAUSTED"},
		{rule: simulated.Rule{Fault: simulated.FaultRateLimit, RetryAfter: 1500 * time.Millisecond}, kind: llm.RateLimited, openai: 429, anthropic: 429, retryable: true, after: 1500 * time.Millisecond, openaiIs: "rate_limit_exceeded", anthropIs: "rate_limit_error", googleIs: "RESOURCE_EXHAUSTED"},
		{rule: simulated.Rule{Fault: simulated.FaultRateLimit}, kind: llm.RateLimited, openai: 429, anthropic: 429, retryable: true, openaiIs: "rate_limit_exceeded", anthropIs: "rate_limit_error", googleIs: "RESOURCE_EXHAUSTED"},
		{rule: simulated.Rule{Fault: simulated.FaultUnauthorized}, kind: llm.Unauthorized, openai: 401, anthropic: 401, fatal: true, openaiIs: "invalid_api_key", anthropIs: "authentication_error", googleIs: "UNAUTHENTICATED"},
		{rule: simulated.Rule{Fault: simulated.FaultOverloaded, RetryAfter: time.Second}, kind: llm.Unavailable, openai: 503, anthropic: 529, retryable: true, after: time.Second, openaiIs: "overloaded", anthropIs: "overloaded_error", googleIs: "UNAVAILABLE"},
		{rule: simulated.Rule{Fault: simulated.FaultError}, kind: llm.Unavailable, openai: 500, anthropic: 500, retryable: true, openaiIs: "server_error", anthropIs: "api_error", googleIs: "INTERNAL"},
		{rule: simulated.Rule{Fault: simulated.FaultError, Status: 504}, kind: llm.Timeout, openai: 504, anthropic: 504, retryable: true, openaiIs: "server_error", anthropIs: "timeout_error", googleIs: "DEADLINE_EXCEEDED"},
		{rule: simulated.Rule{Fault: simulated.FaultError, Status: 402}, kind: llm.Exhausted, openai: 402, anthropic: 402, fatal: true, openaiIs: "invalid_request_error", anthropIs: "billing_error"},
		{rule: simulated.Rule{Fault: simulated.FaultError, Status: 413}, kind: llm.TooLarge, openai: 413, anthropic: 413, openaiIs: "invalid_request_error", anthropIs: "request_too_large"},
		{rule: simulated.Rule{Fault: simulated.FaultReflect}, kind: llm.Invalid, openai: 400, anthropic: 400, openaiIs: "", anthropIs: "invalid_request_error"},
		{rule: simulated.Rule{Fault: simulated.FaultDisconnect}, kind: llm.Unavailable, retryable: true},
		{rule: simulated.Rule{Fault: simulated.FaultMalformed}, kind: llm.Malformed, openai: 200, anthropic: 200, retryable: true},
		{rule: simulated.Rule{Fault: simulated.FaultNonsense}, kind: llm.Malformed, openai: 200, anthropic: 200, retryable: true},
		{rule: simulated.Rule{Fault: simulated.FaultHTML}, kind: llm.Malformed, openai: 200, anthropic: 200, retryable: true},
		{rule: simulated.Rule{Fault: simulated.FaultTruncated}, kind: llm.Unavailable, openai: 200, anthropic: 200, retryable: true},
		{rule: simulated.Rule{Fault: simulated.FaultEndless}, kind: llm.TooLarge, openai: 200, anthropic: 200},
		{rule: simulated.Rule{Fault: simulated.FaultRefusal}, kind: llm.Refused, openai: 200, anthropic: 200, openaiIs: "stop", anthropIs: "refusal", googleIs: "SAFETY"},
	} {
		t.Run(string(c.rule.Fault)+" "+string(c.kind), func(t *testing.T) {
			t.Parallel()
			for _, w := range ways(t, simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{c.rule}}}) {
				for _, provider := range protocols {
					reply, err := w.client.Complete(t.Context(), w.to(provider), say("hello"))
					e := failed(t, err)
					about := w.name + " " + provider + ": " + e.Error()
					status, code := c.openai, c.openaiIs
					switch provider {
					case "anthropic":
						status, code = c.anthropic, c.anthropIs
					case "google":
						code = c.googleIs
					}
					require.Equal(t, c.kind, e.Kind, about)
					require.Equal(t, status, e.Status, about)
					require.Equal(t, provider, e.Provider)
					require.Equal(t, c.retryable, e.Retryable(), about)
					require.Equal(t, c.fatal, e.Fatal(), about)
					require.Equal(t, c.after, e.RetryAfter, about)
					if status != 0 {
						require.NotEmpty(t, e.RequestID, about)
					}
					if code != "" {
						require.Equal(t, code, e.Code, about)
					}
					if c.kind == llm.Refused {
						require.Equal(t, "I cannot help with that.", reply.Text)
						require.Equal(t, llm.FinishRefused, reply.Finish)
						require.Equal(t, uint32(6), reply.Usage.Output, "a refusal is paid for")
					} else {
						require.Empty(t, reply.Text)
					}
				}
			}
		})
	}
}

func TestAQuotaThatComesBackIsARateLimit(t *testing.T) {
	t.Parallel()
	c := answering(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[
			{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}`)
	})
	_, err := c.Complete(t.Context(), llm.Endpoint{Provider: "google", BaseURL: "http://x.example", Secret: key}, say("hello"))
	e := failed(t, err)
	require.Equal(t, llm.RateLimited, e.Kind)
	require.Equal(t, 34070*time.Millisecond, e.RetryAfter)
}

func TestNoCreditIsNotARateLimit(t *testing.T) {
	t.Parallel()
	w := local(t, simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultQuota}}}})
	_, err := w.client.Complete(t.Context(), w.to("openai"), say("hello"))
	e := failed(t, err)
	require.Equal(t, llm.Exhausted, e.Kind)
	require.True(t, e.Fatal())
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	hang := simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultHang}}}}

	t.Run("at the caller's deadline", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := local(t, hang)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := w.client.Complete(ctx, w.to("openai"), say("hello"))
			require.Equal(t, llm.Timeout, failed(t, err).Kind)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.True(t, failed(t, err).Retryable())
		})
	})
	t.Run("when the caller gives up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := local(t, hang)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				synctest.Wait()
				cancel()
			}()
			_, err := w.client.Complete(ctx, w.to("anthropic"), say("hello"))
			require.Equal(t, llm.Cancelled, failed(t, err).Kind)
			require.ErrorIs(t, err, context.Canceled)
			require.False(t, failed(t, err).Retryable())
		})
	})
	t.Run("at the limit of the way out", func(t *testing.T) {
		t.Parallel()
		w := network(t, hang, egress.Options{Timeout: 50 * time.Millisecond})
		_, err := w.client.Complete(t.Context(), w.to("openai"), say("hello"))
		require.Equal(t, llm.Timeout, failed(t, err).Kind)
	})
	t.Run("in the middle of an answer that drips", func(t *testing.T) {
		t.Parallel()
		drip := simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultDrip, Pause: 2 * time.Second}}}}
		w := network(t, drip, egress.Options{Timeout: 5 * time.Second})
		_, err := w.client.Complete(t.Context(), w.to("openai"), say("hello"))
		e := failed(t, err)
		require.Equal(t, llm.Timeout, e.Kind)
		require.Equal(t, 200, e.Status)
	})
	t.Run("with an answer, if it only drips", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			drip := simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultDrip, Pause: time.Second}}}}
			w := local(t, drip)
			began := time.Now()
			reply, err := w.client.Complete(t.Context(), w.to("openai"), say("hello"))
			require.NoError(t, err)
			require.Equal(t, "hello", reply.Text)
			require.Greater(t, time.Since(began), 10*time.Second)
		})
	})
}

func TestWhereWeMayNotGo(t *testing.T) {
	t.Parallel()
	out, err := egress.New(egress.Config{})
	require.NoError(t, err)
	c := llm.New(out.HTTP(egress.Options{}))
	for url, kind := range map[string]llm.Kind{
		"http://127.0.0.1:9/v1": llm.Forbidden, "https://169.254.169.254/v1": llm.Forbidden, "https://user@example.com": llm.Forbidden,
		"not a url": llm.NotFound, "": llm.NotFound, "https://%zz": llm.NotFound,
	} {
		_, err := c.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: url, Secret: key}, say("hello"))
		e := failed(t, err)
		require.Equal(t, kind, e.Kind, url)
		require.True(t, e.Fatal())
		require.NotContains(t, e.Error(), "169.254")
	}
}

func TestRequestsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := answering(func(http.ResponseWriter, *http.Request) { t.Error("a request went out") })
	r := say("hello")
	r.Params.ResponseSchema = jsontext.Value(`{"type":`)
	_, err := c.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: "http://x.example"}, r)
	require.Equal(t, llm.Invalid, failed(t, err).Kind)
}

// TestWordsOfProviders has the shapes of errors that providers send.
func TestWordsOfProviders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status        int
		body          string
		kind          llm.Kind
		code, message string
	}{
		{status: 400, body: `{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, kind: llm.TooLarge, code: "context_length_exceeded", message: "too long"},
		{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, kind: llm.TooLarge, code: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum"},
		{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, kind: llm.Exhausted, code: "invalid_request_error", message: "Your credit balance is too low to access the API."},
		{status: 400, body: `{"error":{"code":"content_filter","message":"filtered","status":400}}`, kind: llm.Refused, code: "content_filter", message: "filtered"},
		{status: 400, body: `[{"error":{"code":400,"message":"API key not valid."}}]`, kind: llm.Unauthorized},
		{status: 400, body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, kind: llm.Unauthorized, code: "INVALID_ARGUMENT"},
		{status: 400, body: `{"error":"model requires more memory"}`, kind: llm.Invalid, message: "model requires more memory"},
		{status: 400, body: `{"object":"error","message":"bad","type":"BadRequestError","param":null,"code":40001}`, kind: llm.Invalid, code: "40001", message: "bad"},
		{status: 422, body: `{"detail":[{"loc":["body"],"msg":"field required"}]}`, kind: llm.Invalid, message: `[{"loc":["body"],"msg":"field required"}]`},
		{status: 404, body: `{"error":{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, kind: llm.NotFound, code: "model_not_found", message: "no such model"},
		{status: 404, body: `<html>nothing here</html>`, kind: llm.NotFound},
		{status: 302, body: ``, kind: llm.NotFound},
		{status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-canar****cdef.","code":"invalid_api_key"}}`, kind: llm.Unauthorized, code: "invalid_api_key"},
		{status: 403, body: `{"error":{"message":"country not supported","code":"unsupported_country"}}`, kind: llm.Unauthorized, code: "unsupported_country"},
		{status: 408, body: ``, kind: llm.Timeout},
		{status: 409, body: ``, kind: llm.Unavailable},
		{status: 429, body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, kind: llm.Exhausted, code: "insufficient_quota", message: "You exceeded your current quota"},
		{status: 429, body: `slow down`, kind: llm.RateLimited, message: "slow down"},
		{status: 502, body: "<html>\n<h1>Bad gateway</h1>", kind: llm.Unavailable},
		{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, kind: llm.Unavailable, code: "overloaded_error", message: "Overloaded"},
		{status: 200, body: `{"error":{"message":"upstream failed","code":502}}`, kind: llm.Unavailable, code: "502", message: "upstream failed"},
		{status: 200, body: `{"error":{"message":"slow down","code":429}}`, kind: llm.RateLimited, code: "429", message: "slow down"},
		{status: 400, body: `{"error":{"message":"a\u0000b\n\n  c\u202e","code":"has spaces in it"}}`, kind: llm.Invalid, message: "a b c"},
		{status: 400, body: `{"error":{"message":"leaks canary-0123456789 in part","code":"c"}}`, kind: llm.Invalid, code: "c", message: "leaks ••• in part"},
	} {
		client := answering(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := client.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: "http://x.example", Secret: key}, say("?"))
		e := failed(t, err)
		require.Equal(t, c.kind, e.Kind, c.body)
		require.Equal(t, c.status, e.Status, c.body)
		require.Equal(t, c.code, e.Code, c.body)
		require.Equal(t, c.message, e.Message, c.body)
	}
}

func TestMessagesAreCut(t *testing.T) {
	t.Parallel()
	c := answering(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", strings.Repeat("x", 100))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"`+strings.Repeat("ü", 100_000)+`"}`)
	})
	_, err := c.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: "http://x.example", Secret: key}, say("?"))
	e := failed(t, err)
	require.Equal(t, strings.Repeat("ü", 98)+"…", e.Message)
	require.Empty(t, e.RequestID)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Sun, 06 Nov 1994 08:49:37 GMT"
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{http.Header{"Retry-After": {"0.5"}}, 500 * time.Millisecond},
		{http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, 250 * time.Millisecond},
		{http.Header{"Retry-After": {"Sun, 06 Nov 1994 08:50:07 GMT"}, "Date": {date}}, 30 * time.Second},
		{http.Header{"Retry-After": {"Sun, 06 Nov 1994 08:49:07 GMT"}, "Date": {date}}, 0},
		{http.Header{"Retry-After": {"Sun, 06 Nov 1994 08:50:07 GMT"}}, 0},
		{http.Header{"Retry-After": {"-1"}}, 0},
		{http.Header{"Retry-After": {"NaN"}}, 0},
		{http.Header{"Retry-After": {"Inf"}}, time.Hour},
		{http.Header{"Retry-After": {"1e300"}}, time.Hour},
		{http.Header{"Retry-After": {"soon"}}, 0},
		{nil, 0},
	} {
		client := answering(func(w http.ResponseWriter, _ *http.Request) {
			for name, values := range c.header {
				w.Header()[name] = values
			}
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := client.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: "http://x.example", Secret: key}, say("?"))
		require.Equal(t, c.want, failed(t, err).RetryAfter, "%v", c.header)
	}
}

func TestErrorReads(t *testing.T) {
	t.Parallel()
	w := local(t, simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultRateLimit}}}})
	_, err := w.client.Complete(t.Context(), w.to("anthropic"), say("hello"))
	e := failed(t, err)
	require.Equal(t, "ask anthropic: the provider limits the rate of requests (HTTP 429, rate_limit_error, request "+e.RequestID+"): Too many requests. Slow down.", err.Error())
}
