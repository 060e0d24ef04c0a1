package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())

	t.Run("a UUID that the caller sent is kept", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"018f2f6e-7c4e-7cc0-8000-000000000000", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"} {
			require.Equal(t, strings.ToLower(id), k.do(t, "GET", "/nowhere", "", "X-Request-Id: "+id).Error.RequestID)
		}
	})

	t.Run("anything else is replaced", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"", "1", "018f2f6e7c4e7cc08000000000000000", "{018f2f6e-7c4e-7cc0-8000-000000000000}", "urn:uuid:018f2f6e-7c4e-7cc0-8000-000000000000", "zzzzzzzz-7c4e-7cc0-8000-000000000000", "018f2f6e-7c4e-7cc0-8000-000000000000\n", "018f2f6e 7c4e 7cc0 8000 000000000000"} {
			got := k.do(t, "GET", "/nowhere", "", "X-Request-Id: "+id).Error.RequestID
			require.NotEqual(t, id, got)
			require.NoError(t, uuid.Validate(got))
		}
	})
}

func TestPanicsStayInside(t *testing.T) {
	t.Parallel()
	book()

	t.Run("a panic is a clean 500 and its story is in the log", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, config())
		k.call = func(context.Context) (*okOut, error) { panic("the secret is hunter2") }
		a := k.do(t, "GET", "/call", "")
		require.Equal(t, http.StatusInternalServerError, a.Status)
		require.Equal(t, "INTERNAL_ERROR", a.Error.Code)
		require.NotContains(t, a.Body, "hunter2")
		lines := logged(a.Error.RequestID)
		require.NotEmpty(t, lines)
		require.Contains(t, lines[0], "hunter2")
		require.Contains(t, lines[0], "serve_test.go", "the stack is in the log")
		require.Contains(t, lines[0], "operation=call")
	})

	t.Run("after the response began the connection is cut", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, config())
		k.call = func(context.Context) (*okOut, error) { return nil, errors.New("hunter2") }
		srv := httptest.NewServer(k.edge)
		defer srv.Close()
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/stream", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer all")
		res, err := srv.Client().Do(req)
		if err == nil { // whether the beginning arrives is up to the buffers
			text, readErr := io.ReadAll(res.Body)
			err = readErr
			require.NotContains(t, string(text), "error")
		}
		require.Error(t, err, "the caller can tell that the answer is not whole")
	})
}

func TestErrorsSayOnlyWhatTheyMay(t *testing.T) {
	t.Parallel()
	book()
	stock := fault.New(fault.Conflict, "out_of_stock", "There is none left.")
	for _, c := range []struct {
		is     string
		err    error
		status int
		reason string
		logged bool
	}{
		{"a plain error", errors.New("dial postgres://admin:hunter2@db"), 500, "internal_error", true},
		{"an internal fault", fault.New(fault.Internal, "odd", "hunter2"), 500, "internal_error", true},
		{"a wrapped fault", fmt.Errorf("hunter2: %w", stock), 409, "out_of_stock", false},
		{"a joined fault", errors.Join(errors.New("hunter2"), stock), 409, "out_of_stock", false},
		{"a deadline", fmt.Errorf("hunter2: %w", context.DeadlineExceeded), 503, "timeout", false},
		{"a cancellation", fmt.Errorf("hunter2: %w", context.Canceled), 503, "timeout", false},
		{"an outage", fmt.Errorf("hunter2: %w", fault.New(fault.Unavailable, "database_unavailable", "Away.")), 503, "database_unavailable", true},
	} {
		t.Run(c.is, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, config())
			k.call = func(context.Context) (*okOut, error) { return nil, c.err }
			a := k.do(t, "GET", "/call", "")
			require.Equal(t, c.status, a.Status)
			require.Equal(t, c.reason, a.reason())
			require.NotContains(t, a.Body, "hunter2")
			require.Equal(t, c.logged, len(logged(a.Error.RequestID)) > 0)
			require.Equal(t, c.status == 503, a.Header.Get("Retry-After") == "1")
		})
	}
	t.Run("an error of authentication", func(t *testing.T) {
		t.Parallel()
		a := newKit(t, config()).do(t, "GET", "/things", "", "Authorization: Bearer broken")
		require.Equal(t, http.StatusInternalServerError, a.Status)
		require.NotContains(t, a.Body, "hunter2")
	})
}

func TestRetryAfterFollowsTheFault(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.RateLimited, fault.Unavailable, fault.Conflict} {
		k := newKit(t, config())
		k.call = func(context.Context) (*okOut, error) {
			return nil, fault.New(kind, "later", "Later.").With("retryAfterSeconds", 17)
		}
		require.Equal(t, "17", k.do(t, "GET", "/call", "").Header.Get("Retry-After"), kind)
	}
}

func TestRequestsEndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, config())
		k.call = func(ctx context.Context) (*okOut, error) { <-ctx.Done(); return nil, ctx.Err() }
		start := time.Now()
		a := k.do(t, "GET", "/call", "")
		require.Equal(t, http.StatusServiceUnavailable, a.Status)
		require.Equal(t, "timeout", a.reason())
		require.Equal(t, 30*time.Second, time.Since(start))
	})
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	fine := httpapi.Check{Name: "fine", Probe: func(context.Context) error { return nil }, Advice: "none needed"}

	t.Run("names what is away and what to do, and not why", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, config(), fine, httpapi.Check{Name: "db", Probe: func(context.Context) error { return errors.New("password hunter2") }, Advice: "start it"})
		a := k.do(t, "GET", "/api/health/ready", "", "Authorization: ")
		require.Equal(t, http.StatusServiceUnavailable, a.Status)
		require.Equal(t, "1", a.Header.Get("Retry-After"))
		require.Equal(t, []any{map[string]any{"name": "fine", "ok": true, "message": nil}, map[string]any{"name": "db", "ok": false, "message": "start it"}}, a.Error.Details["checks"])
		require.NotContains(t, a.Body, "hunter2")
		require.Equal(t, http.StatusOK, k.do(t, "GET", "/api/health", "", "Authorization: ").Status, "health is about the process")
	})

	t.Run("does not wait long for an engine that hangs", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			k := newKit(t, config(), fine, httpapi.Check{Name: "db", Probe: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
			start := time.Now()
			require.Equal(t, http.StatusServiceUnavailable, k.do(t, "GET", "/api/health/ready", "").Status)
			require.Equal(t, 2*time.Second, time.Since(start))
		})
	})
}

// pipes is a listener whose connections are in memory, so that time can stand
// still around it.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// running is an edge that serves pipes, with one request in its handler.
type running struct {
	k        *kit
	client   *http.Client
	stop     context.CancelFunc
	ended    chan error
	release  chan struct{}
	answered chan *http.Response
}

// start begins with a request that waits until it is released.
func start(t *testing.T) *running {
	t.Helper()
	release := make(chan struct{})
	r := startWith(t, func(context.Context) { <-release })
	r.release = release
	return r
}

func startWith(t *testing.T, wait func(context.Context)) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := newPipes()
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(transport.CloseIdleConnections)
	r := &running{k: newKit(t, config()), client: &http.Client{Transport: transport}, stop: stop, ended: make(chan error, 1), answered: make(chan *http.Response, 1)}
	entered := make(chan struct{})
	r.k.call = func(ctx context.Context) (*okOut, error) {
		close(entered)
		wait(ctx)
		return &okOut{Body: okView{OK: true}}, nil
	}
	go func() { r.ended <- r.k.edge.Run(ctx, l) }()
	go func() { r.answered <- r.get("/call") }()
	<-entered
	return r
}

// get returns nil if there was no answer.
func (r *running) get(path string) *http.Response {
	req, err := http.NewRequest(http.MethodGet, "http://assay.test"+path, nil)
	if err != nil {
		return nil
	}
	req.Header.Set("Authorization", "Bearer all")
	res, err := r.client.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res
}

func TestShutdown(t *testing.T) {
	t.Parallel()

	t.Run("finishes what was accepted, and takes nothing new", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := start(t)
			require.Equal(t, http.StatusOK, r.get("/api/health/ready").StatusCode)
			r.stop()
			synctest.Wait()
			ready := r.k.do(t, "GET", "/api/health/ready", "")
			require.Equal(t, http.StatusServiceUnavailable, ready.Status)
			require.Equal(t, "shutting_down", ready.reason())
			require.Equal(t, "1", ready.Header.Get("Retry-After"))
			require.Nil(t, r.get("/api/health"), "a new connection is refused")
			require.Empty(t, r.ended, "it waits for the request in flight")
			close(r.release)
			require.Equal(t, http.StatusOK, (<-r.answered).StatusCode)
			require.NoError(t, <-r.ended)
		})
	})

	t.Run("waits for nobody who listens", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, func(ctx context.Context) { <-httpapi.Closing(ctx) })
			begin := time.Now()
			r.stop()
			require.NoError(t, <-r.ended)
			require.Less(t, time.Since(begin), time.Second)
			require.Equal(t, http.StatusOK, (<-r.answered).StatusCode)
		})
	})

	t.Run("gives up on a request that does not end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := start(t)
			begin := time.Now()
			r.stop()
			require.ErrorIs(t, <-r.ended, context.DeadlineExceeded)
			require.Equal(t, config().ShutdownTimeout, time.Since(begin))
			close(r.release)
			<-r.answered
		})
	})
}
