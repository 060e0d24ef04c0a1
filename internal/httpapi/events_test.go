package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// countdown is what the events of these tests show.
type countdown struct {
	Left    int     `json:"left"`
	Seconds float64 `json:"seconds"`
}

// newWatch is an edge with GET /watch, which shows what look finds after a time.
// Passing seconds alone are no news.
func newWatch(t *testing.T, limit time.Duration, look func(elapsed time.Duration) (countdown, bool, error)) *httpapi.Edge {
	t.Helper()
	return newWatchOf(t, limit, everybody, look)
}

func everybody(context.Context, string) (principal.Caller, error) {
	return principal.Caller{Org: principal.NewOrgID(), Scopes: principal.Scopes}, nil
}

// newWatchOf is newWatch for the callers that an authenticator knows.
func newWatchOf(t *testing.T, limit time.Duration, known httpapi.Authenticator, look func(elapsed time.Duration) (countdown, bool, error)) *httpapi.Edge {
	t.Helper()
	e := httpapi.New(httpapi.Options{
		Config:       httpapi.Config{RequestTimeout: limit, ShutdownTimeout: time.Minute},
		Authenticate: known,
	})
	start := time.Now()
	events := httpapi.Events[countdown]{
		Name: "progress", Last: "done",
		Look: func(context.Context) (countdown, bool, error) { return look(time.Since(start)) },
		News: func(c countdown) countdown { c.Seconds = 0; return c },
	}
	httpapi.Register(e, httpapi.Op{
		ID: "watch", Method: "GET", Path: "/watch", Tag: "Things", Summary: "Watch", Scope: principal.EvalRead, Status: 200, ContentType: httpapi.MediaEvents,
	}, func(ctx context.Context, _ *struct{}) (*httpapi.Stream, error) { return events.Stream(ctx) })
	e.Seal()
	return e
}

// watch streams until the end, and returns the answer and how long it took.
func watch(ctx context.Context, e http.Handler) (*httptest.ResponseRecorder, time.Duration) {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/watch", nil)
	r.Header.Set("Authorization", "Bearer all")
	w := httptest.NewRecorder()
	start := time.Now()
	e.ServeHTTP(w, r)
	return w, time.Since(start)
}

func unending(time.Duration) (countdown, bool, error) { return countdown{Left: 1}, false, nil }

func TestEvents(t *testing.T) {
	t.Parallel()

	t.Run("say what is new, and show that the stream is alive", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newWatch(t, time.Hour, func(at time.Duration) (countdown, bool, error) {
				return countdown{Left: 3 - int(at/(30*time.Second)), Seconds: at.Seconds()}, at >= 90*time.Second, nil
			})
			w, took := watch(t.Context(), e)
			require.Equal(t, 90*time.Second, took)
			require.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
			require.Equal(t, "no", w.Header().Get("X-Accel-Buffering"))
			require.True(t, w.Flushed)
			text := w.Body.String()
			require.True(t, strings.HasPrefix(text, "retry: 1000\n\nevent: progress\ndata: {\"left\":3,\"seconds\":0}\n\n"), text)
			require.Equal(t, 4, strings.Count(text, "event: progress\n"), "time that passes is no news")
			require.InDelta(t, 9, strings.Count(text, ": here\n"), 1)
			require.True(t, strings.HasSuffix(text, "event: done\ndata: {\"left\":0,\"seconds\":90}\n\n"), text)
		})
	})

	t.Run("end in order before the request may take no longer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w, took := watch(t.Context(), newWatch(t, 30*time.Second, unending))
			require.Equal(t, 27*time.Second, took)
			require.NotContains(t, w.Body.String(), "event: done")
		})
	})

	t.Run("end when the caller leaves", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(5500*time.Millisecond, cancel)
			_, took := watch(ctx, newWatch(t, time.Hour, unending))
			require.Equal(t, 5500*time.Millisecond, took)
		})
	})

	for why, then := range map[string]func() (principal.Caller, error){
		"key ends":                     func() (principal.Caller, error) { return principal.Caller{}, errThing },
		"organization is suspended":    func() (principal.Caller, error) { return principal.Caller{Suspended: true}, nil },
		"caller cannot be found again": func() (principal.Caller, error) { return principal.Caller{}, errors.New("the database is away") },
	} {
		t.Run("end when the "+why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				known := func(ctx context.Context, token string) (principal.Caller, error) {
					if time.Since(start) < 7*time.Second {
						return everybody(ctx, token)
					}
					return then()
				}
				w, took := watch(t.Context(), newWatchOf(t, time.Hour, known, unending))
				require.GreaterOrEqual(t, took, 7*time.Second)
				require.LessOrEqual(t, took, 7500*time.Millisecond)
				require.Equal(t, http.StatusOK, w.Code)
			})
		})
	}

	t.Run("end when the process shuts down", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			l, ended := newPipes(), make(chan error, 1)
			e := newWatch(t, time.Hour, unending)
			go func() { ended <- e.Run(ctx, l) }()
			transport := &http.Transport{DialContext: l.dial}
			defer transport.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://assay.test/watch", nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer all")
			res, err := transport.RoundTrip(req)
			require.NoError(t, err)
			defer func() { _ = res.Body.Close() }()
			begin := time.Now()
			stop()
			_, err = io.ReadAll(res.Body)
			require.NoError(t, err, "the response is whole")
			require.NoError(t, <-ended)
			require.Less(t, time.Since(begin), time.Second)
		})
	})

	t.Run("end early when looking fails, and the log says so", func(t *testing.T) {
		t.Parallel()
		book()
		synctest.Test(t, func(t *testing.T) {
			w, took := watch(t.Context(), newWatch(t, time.Hour, func(at time.Duration) (countdown, bool, error) {
				if at > 0 {
					return countdown{}, false, errors.New("the table is gone")
				}
				return countdown{Left: 1}, false, nil
			}))
			require.Equal(t, time.Second, took)
			require.NotContains(t, w.Body.String(), "gone")
			require.Contains(t, strings.Join(logged(w.Header().Get("X-Request-Id")), ""), "the table is gone")
		})
	})

	t.Run("an error of the first look is answered like any other", func(t *testing.T) {
		t.Parallel()
		w, _ := watch(t.Context(), newWatch(t, time.Hour, func(time.Duration) (countdown, bool, error) { return countdown{}, false, errThing }))
		require.Equal(t, http.StatusNotFound, w.Code)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	})
}
