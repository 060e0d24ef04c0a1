package otlp_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // what clients compress with
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/otlp"
)

// bytesCodec sends and receives messages as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// asIs is before a message that the client only says it has compressed.
const asIs = "as it is:"

// mischief compresses as gzip does, and lies about messages that ask for it.
type mischief struct{ encoding.Compressor }

func init() { encoding.RegisterCompressor(mischief{encoding.GetCompressor("gzip")}) }

func (m mischief) Compress(w io.Writer) (io.WriteCloser, error) { return &liar{m: m, w: w}, nil }

type liar struct {
	bytes.Buffer
	m mischief
	w io.Writer
}

func (l *liar) Close() error {
	if text, ok := bytes.CutPrefix(l.Bytes(), []byte(asIs)); ok {
		_, err := l.w.Write(text)
		return err
	}
	z, err := l.m.Compressor.Compress(l.w)
	if err != nil {
		return err
	}
	if _, err := z.Write(l.Bytes()); err != nil {
		return err
	}
	return z.Close()
}

// rpcKit is a kit that serves RPCs on the loopback.
type rpcKit struct {
	*kit
	conn  *grpc.ClientConn
	stop  context.CancelFunc
	ended chan error
}

func newRPCKit(t testing.TB, change ...func(*httpapi.Options)) *rpcKit {
	t.Helper()
	k := &rpcKit{kit: newKit(t, change...), ended: make(chan error, 1)}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	k.stop = stop
	go func() { k.ended <- otlp.Run(ctx, k.edge, l) }()
	k.conn, err = grpc.NewClient("passthrough:///"+l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		stop()
		_ = k.conn.Close()
	})
	return k
}

// reply is what an RPC answered.
type reply struct {
	body   []byte
	header metadata.MD
	err    error
}

func (r reply) code() codes.Code { return status.Code(r.err) }

// reason is the specific cause of an error, and retry when to repeat.
func (r reply) reason() (reason string, retry time.Duration) {
	for _, d := range status.Convert(r.err).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			reason = d.GetReason()
		case *errdetails.RetryInfo:
			retry = d.GetRetryDelay().AsDuration()
		}
	}
	return reason, retry
}

// invoke calls with a key that may do everything; md is names and values, and
// an empty value removes the name.
func (k *rpcKit) invoke(ctx context.Context, method string, body []byte, zip bool, md ...string) reply {
	sent := metadata.Pairs("authorization", "Bearer all")
	for i := 0; i < len(md); i += 2 {
		if sent.Set(md[i], md[i+1]); md[i+1] == "" {
			sent.Delete(md[i])
		}
	}
	var r reply
	opts := []grpc.CallOption{grpc.ForceCodecV2(bytesCodec{}), grpc.Header(&r.header), grpc.MaxCallRecvMsgSize(8 << 20)}
	if zip {
		opts = append(opts, grpc.UseCompressor("gzip"))
	}
	r.err = k.conn.Invoke(metadata.NewOutgoingContext(ctx, sent), "/"+method, body, &r.body, opts...)
	return r
}

func TestRPCBodies(t *testing.T) {
	t.Parallel()
	k := newRPCKit(t)
	wire := make(chan int, 1)
	k.handle = func(ctx context.Context, r *otlp.Request) (*otlp.Response, error) {
		wire <- r.WireBytes
		if r.ContentType != protobuf || r.Caller.Org != k.org {
			return nil, fault.New(fault.Conflict, "odd", "The request is not described.")
		}
		return echo(ctx, r)
	}
	for _, size := range []int{0, 1, 100, 16 << 10, 16<<10 + 1, 300_000, bodyLimit} {
		body := bytes.Repeat([]byte("0123456789abcdef~"), size/17+1)[:size]
		got := k.invoke(t.Context(), exportRPC, body, false)
		require.NoError(t, got.err, size)
		require.True(t, bytes.Equal(body, got.body), size)
		require.Equal(t, size, <-wire)

		got = k.invoke(t.Context(), exportRPC, body, true)
		require.NoError(t, got.err, size)
		require.True(t, bytes.Equal(body, got.body), size)
		if n := <-wire; size > 100 {
			require.Less(t, n, size/10, "it is the compressed size")
		}
	}
	k.budget.settled(t)
}

func TestRPCLimits(t *testing.T) {
	t.Parallel()
	k := newRPCKit(t)
	for name, c := range map[string]struct {
		method string
		size   int
		zip    bool
	}{
		"one byte more":                      {exportRPC, bodyLimit + 1, false},
		"far more":                           {exportRPC, bodyLimit + 1000, false},
		"one byte more, compressed":          {exportRPC, bodyLimit + 1, true},
		"a bomb":                             {exportRPC, 16 * bodyLimit, true},
		"more than this one takes":           {notesRPC, 1001, false},
		"a bomb for one that takes a little": {notesRPC, 100_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := k.invoke(t.Context(), c.method, make([]byte, c.size), c.zip)
			require.Equal(t, codes.ResourceExhausted, got.code(), "%v", got.err)
			_, retry := got.reason()
			require.Zero(t, retry, "repeating it cannot help")
			require.NotEmpty(t, got.header.Get("x-request-id"))
		})
	}
	t.Cleanup(func() {
		k.budget.settled(t)
		_, statuses := k.answered()
		require.Equal(t, []int{413, 413, 413, 413, 413, 413}, statuses)
	})
}

func TestRPCAdmission(t *testing.T) {
	t.Parallel()

	t.Run("a bomb is refused when the account is empty", func(t *testing.T) {
		t.Parallel()
		k := newRPCKit(t)
		k.budget.left = 300 << 10
		k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
			t.Error("the handler is not asked")
			return nil, nil
		}
		got := k.invoke(t.Context(), exportRPC, make([]byte, bodyLimit), true)
		require.Equal(t, codes.Unavailable, got.code(), "%v", got.err)
		reason, retry := got.reason()
		require.Equal(t, "memory_full", reason)
		require.Equal(t, 7*time.Second, retry)
		require.LessOrEqual(t, k.budget.most, 300<<10)
		require.GreaterOrEqual(t, k.budget.most, 256<<10, "it was paid for step by step")
		k.budget.settled(t)
	})

	t.Run("a plain message is paid for", func(t *testing.T) {
		t.Parallel()
		k := newRPCKit(t)
		k.budget.left = 100 << 10
		require.Equal(t, codes.Unavailable, k.invoke(t.Context(), exportRPC, make([]byte, 200<<10), false).code())
		require.Equal(t, codes.OK, k.invoke(t.Context(), exportRPC, make([]byte, 60<<10), false).code())
		k.budget.settled(t)
	})
}

func TestRPCMessagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	k := newRPCKit(t)
	whole := string(zipped(t, strings.NewReader("some spans")))
	for name, c := range map[string]struct {
		body   string
		reason string
	}{
		"plain":                {asIs + "some spans and more of them", "invalid_request"},
		"with something after": {asIs + whole + "and something else", "invalid_request"},
		"cut":                  {asIs + whole[:len(whole)-9], "body_truncated"},
	} {
		got := k.invoke(t.Context(), exportRPC, []byte(c.body), true)
		require.Equal(t, codes.InvalidArgument, got.code(), "%s: %v", name, got.err)
		reason, _ := got.reason()
		require.Equal(t, c.reason, reason, name)
	}

	t.Run("the mark of a compressed message says no more than that", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, codes.InvalidArgument, k.invoke(t.Context(), exportRPC, []byte("\x07some spans and more of them"), false).code())
		require.Equal(t, codes.ResourceExhausted, k.invoke(t.Context(), exportRPC, append([]byte("\x07"), zipped(t, zeros(bodyLimit+1))...), false).code())
		got := k.invoke(t.Context(), exportRPC, []byte("\x07"+whole), false)
		require.NoError(t, got.err)
		require.Equal(t, "some spans", string(got.body))
	})

	t.Run("two messages are one too many", func(t *testing.T) {
		t.Parallel()
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer all")
		s, err := k.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, "/"+exportRPC, grpc.ForceCodecV2(bytesCodec{}))
		require.NoError(t, err)
		require.NoError(t, s.SendMsg([]byte("one")))
		require.NoError(t, s.SendMsg([]byte("two")))
		require.NoError(t, s.CloseSend())
		var out []byte
		require.Equal(t, codes.Internal, status.Code(s.RecvMsg(&out)))
	})
}

func TestRPCCallersAreHeldToTheSameRules(t *testing.T) {
	t.Parallel()
	book()
	k := newRPCKit(t)
	for _, c := range []struct {
		is     string
		method string
		md     []string
		code   codes.Code
		reason string
		retry  time.Duration
	}{
		{"no key", exportRPC, []string{"authorization", ""}, codes.Unauthenticated, "missing_credentials", 0},
		{"no key, unknown method", "test.v1.TraceService/Import", []string{"authorization", ""}, codes.Unauthenticated, "missing_credentials", 0},
		{"malformed", exportRPC, []string{"authorization", "Basic x"}, codes.Unauthenticated, "malformed_header", 0},
		{"unknown key", exportRPC, []string{"authorization", "Bearer zzz"}, codes.Unauthenticated, "key_unknown", 0},
		{"database away", exportRPC, []string{"authorization", "Bearer away"}, codes.Unavailable, "database_unavailable", time.Second},
		{"unknown method", "test.v1.TraceService/Import", nil, codes.Unimplemented, "method_not_allowed", 0},
		{"unknown service", "test.v1.Other/Export", nil, codes.Unimplemented, "method_not_allowed", 0},
		{"missing scope", exportRPC, []string{"authorization", "Bearer read"}, codes.Unauthenticated, "insufficient_scope", 0},
		{"not a member", exportRPC, []string{"x-on-behalf-of", "nobody"}, codes.PermissionDenied, "not_a_member", 0},
		{"suspended", exportRPC, []string{"authorization", "Bearer suspended"}, codes.PermissionDenied, "organization_suspended", 0},
		{"a role that may not write", exportRPC, []string{"authorization", "Bearer viewer"}, codes.PermissionDenied, "role_forbids", 0},
		{"an annotator", notesRPC, []string{"authorization", "Bearer annotator"}, codes.PermissionDenied, "role_forbids", 0},
		{"spent", notesRPC, []string{"authorization", "Bearer spent"}, codes.ResourceExhausted, "rate_limit_exceeded", 3 * time.Second},
		{"spent, metered", exportRPC, []string{"authorization", "Bearer spent"}, codes.OK, "", 0},
		{"a panic", exportRPC, []string{"authorization", "Bearer panic"}, codes.Internal, "internal_error", 0},
	} {
		t.Run(c.is, func(t *testing.T) {
			t.Parallel()
			got := k.invoke(t.Context(), c.method, []byte("x"), false, c.md...)
			require.Equal(t, c.code, got.code(), "%v", got.err)
			reason, retry := got.reason()
			require.Equal(t, c.reason, reason)
			require.Equal(t, c.retry, retry)
			require.NoError(t, uuid.Validate(strings.Join(got.header.Get("x-request-id"), ",")))
			require.NotContains(t, status.Convert(got.err).Message(), "hunter2")
		})
	}
	t.Run("two keys", func(t *testing.T) {
		t.Parallel()
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer all", "authorization", "Bearer all")
		var out []byte
		err := k.conn.Invoke(ctx, "/"+exportRPC, []byte{}, &out, grpc.ForceCodecV2(bytesCodec{}))
		require.Equal(t, codes.Unauthenticated, status.Code(err))
	})
}

func TestRPCAnswers(t *testing.T) {
	t.Parallel()
	k := newRPCKit(t)

	k.handle = func(_ context.Context, r *otlp.Request) (*otlp.Response, error) {
		return &otlp.Response{Header: map[string]string{"X-Taken": r.Caller.User.String()}}, nil
	}
	const id = "018f2f6e-7c4e-7cc0-8000-000000000000"
	got := k.invoke(t.Context(), notesRPC, []byte("x"), false, "x-request-id", id, "x-on-behalf-of", ada.String())
	require.NoError(t, got.err)
	require.Empty(t, got.body)
	require.Equal(t, []string{id}, got.header.Get("x-request-id"))
	require.Equal(t, []string{ada.String()}, got.header.Get("x-taken"))
	require.Equal(t, []string{"10"}, got.header.Get("x-ratelimit-limit"))

	k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
		return nil, fault.New(fault.RateLimited, "too_much", "Too much.").With("retryAfterSeconds", 5)
	}
	got = k.invoke(t.Context(), exportRPC, []byte("x"), true)
	require.Equal(t, codes.ResourceExhausted, got.code())
	_, retry := got.reason()
	require.Equal(t, 5*time.Second, retry)
	require.Equal(t, []string{"5"}, got.header.Get("retry-after"))

	k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) { panic("hunter2") }
	got = k.invoke(t.Context(), exportRPC, []byte("x"), false)
	require.Equal(t, codes.Internal, got.code())

	k.invoke(t.Context(), "test.v1.Other/Export", nil, false)
	require.Eventually(t, func() bool { _, s := k.answered(); return len(s) == 4 }, 3*time.Minute, time.Millisecond)
	operations, statuses := k.answered()
	require.Equal(t, []string{"addNote", "export", "export", "none"}, operations)
	require.Equal(t, []int{200, 429, 500, 405}, statuses)
	k.budget.settled(t)
}

func TestRPCsEndInTime(t *testing.T) {
	t.Parallel()
	k := newRPCKit(t, func(o *httpapi.Options) { o.Config.RequestTimeout = 50 * time.Millisecond })
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer all")

	t.Run("a caller that sends nothing", func(t *testing.T) {
		t.Parallel()
		s, err := k.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, "/"+exportRPC, grpc.ForceCodecV2(bytesCodec{}))
		require.NoError(t, err)
		var out []byte
		require.Equal(t, codes.DeadlineExceeded, status.Code(s.RecvMsg(&out)))
	})

	t.Run("a handler that goes on", func(t *testing.T) {
		t.Parallel()
		k := newRPCKit(t, func(o *httpapi.Options) { o.Config.RequestTimeout = 2 * time.Second })
		k.handle = func(ctx context.Context, _ *otlp.Request) (*otlp.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		got := k.invoke(t.Context(), exportRPC, []byte("x"), false)
		require.Equal(t, codes.Unavailable, got.code())
		reason, _ := got.reason()
		require.Equal(t, "timeout", reason)
	})
}

// TestFewMessagesAreReceivedAtOnce opens more streams than may be read at once
// and sends nothing on them.
func TestFewMessagesAreReceivedAtOnce(t *testing.T) {
	t.Parallel()
	k := newRPCKit(t)
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer all"))
	defer cancel()
	var open []grpc.ClientStream
	for range 40 {
		s, err := k.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, "/"+exportRPC, grpc.ForceCodecV2(bytesCodec{}))
		require.NoError(t, err)
		open = append(open, s)
	}
	// Until all that may be read are being read.
	require.Eventually(t, func() bool {
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return k.invoke(short, exportRPC, []byte("x"), false).code() == codes.DeadlineExceeded
	}, 3*time.Minute, time.Millisecond, "the organization has its share")
	for range 20 {
		require.NoError(t, k.invoke(t.Context(), exportRPC, []byte("x"), false, "authorization", "Bearer other").err)
	}
	// Those that wait are read when others have been, and none is lost.
	for _, s := range open {
		require.NoError(t, s.SendMsg([]byte("late")))
		require.NoError(t, s.CloseSend())
	}
	for _, s := range open {
		var out []byte
		require.NoError(t, s.RecvMsg(&out))
		require.Equal(t, "late", string(out))
	}
}

func TestRPCShutdown(t *testing.T) {
	t.Parallel()

	// begin is a kit with one call in its handler.
	begin := func(t *testing.T, patience time.Duration) (k *rpcKit, release chan struct{}, answered chan reply) {
		k = newRPCKit(t, func(o *httpapi.Options) { o.Config.ShutdownTimeout = patience })
		entered, release := make(chan struct{}), make(chan struct{})
		k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
			close(entered)
			<-release
			return &otlp.Response{Body: []byte("done")}, nil
		}
		answered = make(chan reply, 1)
		go func() { answered <- k.invoke(context.WithoutCancel(t.Context()), exportRPC, []byte("x"), false) }()
		<-entered
		return k, release, answered
	}

	t.Run("finishes what was accepted, and takes nothing new", func(t *testing.T) {
		t.Parallel()
		k, release, answered := begin(t, 30*time.Second)
		k.stop()
		require.Eventually(t, func() bool {
			return k.invoke(t.Context(), exportRPC, []byte("x"), false, "authorization", "").code() == codes.Unavailable
		}, 3*time.Minute, 5*time.Millisecond, "a new call is refused")
		require.Empty(t, k.ended, "it waits for the call in flight")
		close(release)
		got := <-answered
		require.NoError(t, got.err)
		require.Equal(t, "done", string(got.body))
		require.NoError(t, <-k.ended)
	})

	t.Run("gives up on a call that does not end", func(t *testing.T) {
		t.Parallel()
		k, release, answered := begin(t, 50*time.Millisecond)
		k.stop()
		require.ErrorIs(t, <-k.ended, context.DeadlineExceeded)
		require.Equal(t, codes.Unavailable, (<-answered).code())
		close(release)
	})
}

// BenchmarkRPC takes one message of a typical export in, over and over.
func BenchmarkRPC(b *testing.B) {
	k := newRPCKit(b)
	k.handle = func(context.Context, *otlp.Request) (*otlp.Response, error) {
		return &otlp.Response{}, nil
	}
	text := bytes.Repeat([]byte("some spans, and more of them, and attributes "), 6000)
	for _, zip := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "gzip"}[zip], func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if got := k.invoke(b.Context(), exportRPC, text, zip); got.err != nil {
					b.Fatal(got.err)
				}
			}
		})
	}
}
