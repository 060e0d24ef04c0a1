package otlp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/otlp"
)

func TestBodies(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("some spans and more of them ", 20000))[:500_000]

	for name, send := range map[string]struct {
		body   io.Reader
		wire   int
		header string
	}{
		"plain":               {bytes.NewReader(text), len(text), "Content-Encoding: "},
		"in chunks":           {unsized{bytes.NewReader(text)}, len(text), "Content-Encoding: identity"},
		"compressed":          {bytes.NewReader(zipped(t, bytes.NewReader(text))), len(zipped(t, bytes.NewReader(text))), "Content-Encoding: gzip"},
		"compressed chunks":   {unsized{bytes.NewReader(zipped(t, bytes.NewReader(text)))}, len(zipped(t, bytes.NewReader(text))), "Content-Encoding: GZIP"},
		"compressed in parts": {bytes.NewReader(append(zipped(t, bytes.NewReader(text[:9])), zipped(t, bytes.NewReader(text[9:]))...)), len(zipped(t, bytes.NewReader(text[:9]))) + len(zipped(t, bytes.NewReader(text[9:]))), "Content-Encoding: gzip"},
	} {
		t.Run(name+" arrives whole", func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			var got otlp.Request
			k.handle = func(ctx context.Context, r *otlp.Request) (*otlp.Response, error) {
				got = *r
				require.Equal(t, r.Caller, principal.From(ctx))
				return echo(ctx, r)
			}
			a := k.post(t, "/v1/traces", send.body, send.header)
			require.Equal(t, http.StatusOK, a.code, "%s", a.body)
			require.Equal(t, protobuf, a.header.Get("Content-Type"))
			require.True(t, bytes.Equal(text, a.body))
			require.Equal(t, send.wire, got.WireBytes)
			require.Equal(t, protobuf, got.ContentType)
			require.Equal(t, k.org, got.Caller.Org)
			k.budget.settled(t)
		})
	}

	t.Run("no body is an empty one", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		for _, header := range []string{"Content-Encoding: ", "Content-Encoding: gzip"} {
			a := k.post(t, "/v1/traces", http.NoBody, header)
			require.Equal(t, http.StatusOK, a.code, header)
			require.Empty(t, a.body)
		}
	})

	t.Run("bodies of one after the other do not mix", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		for i := range 20 {
			body := bytes.Repeat([]byte{byte(i)}, (i*7919)%100_000)
			require.True(t, bytes.Equal(body, k.post(t, "/v1/traces", bytes.NewReader(body)).body))
			require.True(t, bytes.Equal(body, k.post(t, "/v1/traces", bytes.NewReader(zipped(t, bytes.NewReader(body))), "Content-Encoding: gzip").body))
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body    func(t *testing.T) io.Reader
		headers []string
		code    int
	}{
		"as much as is allowed":             {func(*testing.T) io.Reader { return io.LimitReader(zero{}, bodyLimit) }, nil, 200},
		"one byte more":                     {func(*testing.T) io.Reader { return io.LimitReader(zero{}, bodyLimit+1) }, nil, 413},
		"announced too large":               {func(*testing.T) io.Reader { return bytes.NewReader(make([]byte, bodyLimit+1)) }, nil, 413},
		"as much as is allowed, compressed": {func(t *testing.T) io.Reader { return bytes.NewReader(zipped(t, zeros(bodyLimit))) }, []string{"Content-Encoding: gzip"}, 200},
		"one byte more, compressed":         {func(t *testing.T) io.Reader { return bytes.NewReader(zipped(t, zeros(bodyLimit+1))) }, []string{"Content-Encoding: gzip"}, 413},
		"a bomb":                            {func(t *testing.T) io.Reader { return bytes.NewReader(zipped(t, zeros(16*bodyLimit))) }, []string{"Content-Encoding: gzip"}, 413},
		"nothing, compressed endlessly": {func(t *testing.T) io.Reader {
			return unsized{bytes.NewReader(bytes.Repeat(zipped(t, zeros(0)), bodyLimit/20))}
		}, []string{"Content-Encoding: gzip"}, 413},
	} {
		t.Run(name+" is "+strconv.Itoa(c.code), func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			a := k.post(t, "/v1/traces", c.body(t), c.headers...)
			require.Equal(t, c.code, a.code)
			if c.code == 413 {
				s := a.status(t)
				require.Equal(t, int32(codes.ResourceExhausted), s.GetCode())
				require.Len(t, s.GetDetails(), 1, "repeating it cannot help")
				require.Empty(t, a.header.Get("Retry-After"))
				require.EqualValues(t, bodyLimit, k.post(t, "/v1/traces", c.body(t), append(c.headers, "Content-Type: application/json")...).json(t).Error.Details["limitBytes"])
			}
			require.LessOrEqual(t, k.budget.most, bodyLimit+1, "no more memory than the limit")
			k.budget.settled(t)
		})
	}
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	text := zipped(t, strings.NewReader("some spans"))
	damaged := bytes.Clone(text)
	damaged[len(damaged)-5] ^= 1 // the checksum
	for name, c := range map[string]struct {
		body   []byte
		reason string
	}{
		"plain":                {[]byte("some spans and more of them"), "invalid_request"},
		"with a wrong sum":     {damaged, "invalid_request"},
		"with something after": {append(bytes.Clone(text), "and something else"...), "invalid_request"},
		"cut":                  {text[:len(text)-9], "body_truncated"},
		"cut in its header":    {text[:5], "body_truncated"},
	} {
		a := k.post(t, "/v1/traces", bytes.NewReader(c.body), "Content-Encoding: gzip", "Content-Type: application/json")
		require.Equal(t, http.StatusBadRequest, a.code, name)
		require.Equal(t, c.reason, a.json(t).reason(), name)
		require.Equal(t, int(codes.InvalidArgument), a.json(t).Code, name)
	}
	k.budget.settled(t)
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for header, want := range map[string]string{
		protobuf: protobuf, plainJSON: plainJSON, "application/json; charset=utf-8": plainJSON, "Application/X-Protobuf": protobuf, "application/json;charset=UTF-8": plainJSON,
	} {
		a := k.post(t, "/v1/traces", strings.NewReader("{}"), "Content-Type: "+header)
		require.Equal(t, http.StatusOK, a.code, header)
		require.Equal(t, want, a.header.Get("Content-Type"), header)
	}
	for _, header := range []string{"", "text/plain", "application/protobuf", "application/json; charset=latin1", "application/json, text/plain", "application/grpc", ";", "\xff"} {
		a := k.post(t, "/v1/traces", strings.NewReader("{}"), "Content-Type: "+header)
		require.Equal(t, http.StatusUnsupportedMediaType, a.code, header)
		require.Contains(t, a.json(t).Message, "application/x-protobuf or application/json")
	}
	for _, header := range []string{"br", "deflate", "zstd", "gzip, gzip", "*"} {
		a := k.post(t, "/v1/traces", strings.NewReader("{}"), "Content-Encoding: "+header)
		require.Equal(t, http.StatusUnsupportedMediaType, a.code, header)
		require.Equal(t, int32(codes.InvalidArgument), a.status(t).GetCode())
	}
	require.Equal(t, 5, k.budget.takes, "what is not taken is not read")
}

func TestErrorsAreInTheEncodingOfTheRequest(t *testing.T) {
	t.Parallel()
	book()
	for name, c := range map[string]struct {
		err   error
		http  int
		rpc   codes.Code
		after string
		says  string
	}{
		"a validation":  {fault.Invalid("body", "/spans/0", "format", "is odd"), 400, codes.InvalidArgument, "", "is odd"},
		"a refusal":     {fault.New(fault.Forbidden, "no", "No."), 403, codes.PermissionDenied, "", "No."},
		"a missing one": {fault.New(fault.NotFound, "none", "None."), 404, codes.NotFound, "", "None."},
		"a conflict":    {fault.New(fault.Conflict, "busy", "Busy."), 409, codes.FailedPrecondition, "", "Busy."},
		"a spent limit": {fault.New(fault.RateLimited, "spent", "Spent.").With("retryAfterSeconds", 42), 429, codes.ResourceExhausted, "42", "Spent."},
		"an outage":     {fault.New(fault.Unavailable, "away", "Away."), 503, codes.Unavailable, "1", "Away."},
		"a deadline":    {context.DeadlineExceeded, 503, codes.Unavailable, "1", "too long"},
		"a plain error": {errors.New("hunter2"), 500, codes.Internal, "", "The server failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) { return nil, c.err }

			a := k.post(t, "/v1/traces", strings.NewReader("x"))
			require.Equal(t, c.http, a.code)
			require.Equal(t, c.after, a.header.Get("Retry-After"))
			s := a.status(t)
			require.Equal(t, int32(c.rpc), s.GetCode())
			require.Contains(t, s.GetMessage(), c.says)
			var info errdetails.ErrorInfo
			require.NoError(t, s.GetDetails()[0].UnmarshalTo(&info))
			require.Equal(t, a.header.Get("X-Request-Id"), info.GetMetadata()["requestId"])
			if c.after != "" {
				var retry errdetails.RetryInfo
				require.NoError(t, s.GetDetails()[1].UnmarshalTo(&retry))
				require.Equal(t, c.after, strconv.FormatInt(retry.GetRetryDelay().GetSeconds(), 10))
			}

			a = k.post(t, "/v1/traces", strings.NewReader("{}"), "Content-Type: application/json")
			require.Equal(t, c.http, a.code)
			require.Equal(t, c.after, a.header.Get("Retry-After"))
			e := a.json(t)
			require.Equal(t, int(c.rpc), e.Code)
			require.Equal(t, e.Error.Message, e.Message)
			require.Equal(t, info.GetReason(), e.reason())
			require.NotContains(t, string(a.body), "hunter2")
			k.budget.settled(t)
		})
	}

	t.Run("a panic too, and its story is in the log", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) { panic("hunter2") }
		a := k.post(t, "/v1/traces", strings.NewReader("x"))
		require.Equal(t, http.StatusInternalServerError, a.code)
		require.Equal(t, int32(codes.Internal), a.status(t).GetCode())
		require.NotContains(t, string(a.body), "hunter2")
		require.Contains(t, strings.Join(logged(a.header.Get("X-Request-Id")), ""), "hunter2")
		k.budget.settled(t)
	})

	t.Run("a long message is cut", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
			return nil, fault.New(fault.Validation, "odd", strings.Repeat("€", 1000)+"\xff")
		}
		s := k.post(t, "/v1/traces", strings.NewReader("x")).status(t)
		require.LessOrEqual(t, len(s.GetMessage()), 1<<10+len("…"))
		require.True(t, strings.HasSuffix(s.GetMessage(), "€…"))
	})
}

func TestOrder(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
		return nil, fault.New(fault.Conflict, "handled", "The handler was asked.")
	}
	large := func() io.Reader { return io.LimitReader(zero{}, bodyLimit+1) }
	small := func() io.Reader { return strings.NewReader("{}") }
	for _, c := range []struct {
		is      string
		target  string
		body    func() io.Reader
		headers []string
		code    int
		reason  string
	}{
		{"no key, wrong type", "/v1/traces", large, []string{"Authorization: ", "Content-Type: x"}, 401, "missing_credentials"},
		{"unknown key, too large", "/v1/traces", large, []string{"Authorization: Bearer zzz"}, 401, "key_unknown"},
		{"database away", "/v1/traces", small, []string{"Authorization: Bearer away"}, 503, "database_unavailable"},
		{"missing scope, wrong type", "/v1/traces", large, []string{"Authorization: Bearer read", "Content-Type: text/plain"}, 401, "insufficient_scope"},
		{"not a member, wrong type", "/v1/traces", large, []string{"X-On-Behalf-Of: nobody", "Content-Type: text/plain"}, 403, "not_a_member"},
		{"wrong type, bad query", "/v1/traces?%zz", large, []string{"Content-Type: text/plain"}, 415, "unsupported_media_type"},
		{"bad query, too large", "/v1/traces?%zz", large, nil, 400, "invalid_request"},
		{"too large, suspended", "/v1/traces", large, []string{"Authorization: Bearer suspended"}, 413, "payload_too_large"},
		{"suspended", "/v1/traces", small, []string{"Authorization: Bearer suspended"}, 403, "organization_suspended"},
		{"a role that may not write", "/v1/traces", small, []string{"Authorization: Bearer viewer"}, 403, "role_forbids"},
		{"an annotator", "/v1/notes", small, []string{"Authorization: Bearer annotator"}, 403, "role_forbids"},
		{"spent", "/v1/notes", small, []string{"Authorization: Bearer spent"}, 429, "rate_limit_exceeded"},
		{"nothing wrong", "/v1/traces", small, nil, 409, "handled"},
	} {
		t.Run(c.is, func(t *testing.T) {
			t.Parallel()
			a := k.post(t, c.target, c.body(), append([]string{"Content-Type: application/json"}, c.headers...)...)
			require.Equal(t, c.code, a.code, "%s", a.body)
			require.Equal(t, c.reason, a.json(t).reason())
			require.Equal(t, c.code == 429 || c.code == 503, a.header.Get("Retry-After") != "")
		})
	}

	t.Run("a wrong method is told the right one", func(t *testing.T) {
		t.Parallel()
		a := k.send(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/traces", nil))
		require.Equal(t, http.StatusMethodNotAllowed, a.code)
		require.Equal(t, "POST", a.header.Get("Allow"))
	})
}

func TestHandlersSeeWhoIsCalling(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.handle = func(_ context.Context, r *otlp.Request) (*otlp.Response, error) {
		require.Equal(t, &ada, r.Caller.User)
		return &otlp.Response{ContentType: "text/plain", Header: map[string]string{"X-Taken": "3"}, Body: []byte("yes")}, nil
	}
	a := k.post(t, "/v1/traces?more=1", strings.NewReader(""), "X-On-Behalf-Of: "+ada.String(), "X-Request-Id: 018f2f6e-7c4e-7cc0-8000-000000000000")
	require.Equal(t, http.StatusOK, a.code, "%s", a.body)
	require.Equal(t, "yes", string(a.body))
	require.Equal(t, "text/plain", a.header.Get("Content-Type"))
	require.Equal(t, "3", a.header.Get("X-Taken"))
	require.Equal(t, "more", a.header.Get("X-Ignored-Params"))
	require.Equal(t, "018f2f6e-7c4e-7cc0-8000-000000000000", a.header.Get("X-Request-Id"))
	operations, statuses := k.answered()
	require.Equal(t, []string{"export"}, operations)
	require.Equal(t, []int{200}, statuses)
}

func TestMeteredOperationsAreNotCounted(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	a := k.post(t, "/v1/traces", strings.NewReader("x"), "Authorization: Bearer spent")
	require.Equal(t, http.StatusOK, a.code)
	require.Zero(t, k.counted)
	for name := range a.header {
		require.NotContains(t, strings.ToLower(name), "ratelimit")
	}
	a = k.post(t, "/v1/notes", strings.NewReader("x"))
	require.Equal(t, http.StatusOK, a.code)
	require.Equal(t, 1, k.counted)
	require.Equal(t, "10", a.header.Get("X-RateLimit-Limit"))
	require.Equal(t, http.StatusTooManyRequests, k.post(t, "/v1/notes", strings.NewReader("x"), "Authorization: Bearer spent").code)
	require.Equal(t, http.StatusNotFound, k.post(t, "/v1/traces/", strings.NewReader("x")).code)
	require.Equal(t, 3, k.counted, "what only looks like it is counted")
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	bomb := func(t *testing.T) io.Reader { return bytes.NewReader(zipped(t, zeros(bodyLimit))) }
	plain := []string{"Content-Type: application/json"}
	packed := append([]string{"Content-Encoding: gzip"}, plain...)

	t.Run("a bomb is refused when the account is empty", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		k.budget.left = 300 << 10
		k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
			t.Error("the handler is not asked")
			return nil, nil
		}
		a := k.post(t, "/v1/traces", bomb(t), packed...)
		require.Equal(t, http.StatusServiceUnavailable, a.code)
		require.Equal(t, "memory_full", a.json(t).reason())
		require.Equal(t, "7", a.header.Get("Retry-After"))
		require.Equal(t, 256<<10, k.budget.most, "it was paid for step by step")
		k.budget.settled(t)
	})

	t.Run("a bomb that the account can pay is whole", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		a := k.post(t, "/v1/traces", bomb(t), packed...)
		require.Equal(t, http.StatusOK, a.code)
		require.Len(t, a.body, bodyLimit)
		require.Equal(t, bodyLimit, k.budget.most)
		k.budget.settled(t)
	})

	t.Run("an announced body is paid for before it is read", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		k.budget.left = 128 << 10
		body := &watched{Reader: bytes.NewReader(make([]byte, 200<<10))}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/traces", body)
		req.ContentLength = 200 << 10
		a := k.send(req, plain...)
		require.Equal(t, http.StatusServiceUnavailable, a.code)
		require.False(t, body.read)
		k.budget.settled(t)
	})

	t.Run("memory is held while the handler works, and not after", func(t *testing.T) {
		t.Parallel()
		k := newKit(t)
		k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
			require.Equal(t, 64<<10, k.budget.taken)
			require.Zero(t, k.budget.closed)
			return &otlp.Response{}, nil
		}
		require.Equal(t, http.StatusOK, k.post(t, "/v1/traces", strings.NewReader("x")).code)
		k.budget.settled(t)
	})
}

func TestOperationsAreInTheRouteTable(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ops := k.edge.Ops()
	export := ops[len(ops)-2]
	require.Equal(t, "export", export.ID)
	require.False(t, export.Mutates(), "it takes no Idempotency-Key")
	require.EqualValues(t, 1000, ops[len(ops)-1].BodyLimit)
}

func TestOperationsAreDocumented(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths      map[string]map[string]map[string]any `json:"paths"`
		Components struct {
			Responses map[string]any `json:"responses"`
			Schemas   map[string]any `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(newKit(t).edge.OpenAPI(), &doc))
	op := doc.Paths["/v1/traces"]["post"]
	content := func(message string) map[string]any {
		return map[string]any{
			protobuf:  map[string]any{"schema": map[string]any{"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}},
			plainJSON: map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/" + message}},
		}
	}
	require.Equal(t, map[string]any{"required": true, "content": content("ExportRequest")}, op["requestBody"])
	require.Equal(t, []any{"ExportRequest"}, op["x-request-validators"])
	responses := op["responses"].(map[string]any)
	require.Equal(t, content("ExportResponse"), responses["200"].(map[string]any)["content"])
	require.Len(t, responses, 9)
	for status, name := range map[string]string{"400": "OtlpValidationError", "401": "OtlpUnauthorized", "403": "OtlpForbidden", "404": "OtlpNotFound", "409": "OtlpConflict", "429": "OtlpRateLimited", "500": "OtlpInternalError", "default": "OtlpTransportError"} {
		require.Equal(t, map[string]any{"$ref": "#/components/responses/" + name}, responses[status])
		require.Contains(t, doc.Components.Responses, name)
	}
	require.Contains(t, doc.Components.Schemas, "OtlpError")
	require.Equal(t, []any{map[string]any{"apiKey": []any{"traces:write"}}}, op["security"])
	require.Equal(t, "sha256:"+strings.Repeat("a", 64), op["x-source-hash"])
	require.Regexp(t, "^sha256:[0-9a-f]{64}$", op["x-contract-hash"])
	require.Equal(t, exportRPC, op["x-grpc-method"])
	require.NotContains(t, op, "parameters")

	plain := httpapi.New(httpapi.Options{})
	plain.Seal()
	require.NotContains(t, string(plain.OpenAPI()), "Otlp", "a document without such operations does not mention them")
}

func TestRegisterRefusesMistakes(t *testing.T) {
	t.Parallel()
	good := otlp.Op{Op: httpapi.Op{ID: "odd", Method: "POST", Path: "/odd", Tag: "Odd", Scope: principal.TracesWrite, Status: 200}, ContentTypes: []string{protobuf}, Message: "Odd", RPC: "a.B/C"}
	register := func(ops ...otlp.Op) func() {
		return func() {
			e := httpapi.New(httpapi.Options{})
			for _, op := range ops {
				otlp.Register(e, op, echo)
			}
		}
	}
	require.NotPanics(t, register(good))
	for says, change := range map[string]func(*otlp.Op){
		"httpapi: odd needs the scope traces:writ, which no key can have": func(op *otlp.Op) { op.Scope = "traces:writ" },
		"otlp: odd is public: memory is given to recognised callers only": func(op *otlp.Op) { op.Scope = principal.Public },
		"otlp: odd does not name its Message":                             func(op *otlp.Op) { op.Message = "" },
		"otlp: odd names no ContentTypes":                                 func(op *otlp.Op) { op.ContentTypes = nil },
		"otlp: odd has an RPC and does not take application/x-protobuf":   func(op *otlp.Op) { op.ContentTypes = []string{plainJSON} },
		"otlp: the RPC of odd is /a.B/C: write package.Service/Method":    func(op *otlp.Op) { op.RPC = "/a.B/C" },
		"otlp: odd must be a POST, without path parameters":               func(op *otlp.Op) { op.Path = "/odd/{id}" },
	} {
		op := good
		change(&op)
		require.PanicsWithValue(t, says, register(op))
	}
	again := good
	again.ID, again.Path = "even", "/even"
	require.PanicsWithValue(t, "otlp: even and odd have the same RPC", register(good, again))
}

// BenchmarkHTTP takes one body of a typical export in, over and over.
func BenchmarkHTTP(b *testing.B) {
	k := newKit(b)
	k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
		return &otlp.Response{}, nil
	}
	text := bytes.Repeat([]byte("some spans, and more of them, and attributes "), 6000)
	small := zipped(b, bytes.NewReader(text))
	for name, c := range map[string]struct {
		body   []byte
		header string
	}{"plain": {text, "Content-Encoding: "}, "gzip": {small, "Content-Encoding: gzip"}, "tiny": {text[:100], "Content-Encoding: "}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			if name == "tiny" {
				b.SetBytes(100)
			}
			for b.Loop() {
				if a := k.post(b, "/v1/traces", bytes.NewReader(c.body), c.header); a.code != http.StatusOK {
					b.Fatal(a.code)
				}
			}
		})
	}
}

// TestRefusedTelemetryIsAnsweredInItsOwnForm shows that an exporter can read why
// its key was refused, although that is decided before the operation is reached.
func TestRefusedTelemetryIsAnsweredInItsOwnForm(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	refused := k.post(t, "/v1/traces", strings.NewReader("{}"), "Content-Type: "+plainJSON, "Authorization: ")
	require.Equal(t, http.StatusUnauthorized, refused.code)
	require.Equal(t, 16, refused.json(t).Code)
	refused = k.post(t, "/v1/traces", strings.NewReader(""), "Content-Type: "+protobuf, "Authorization: ")
	require.Equal(t, int32(16), refused.status(t).GetCode())
}
