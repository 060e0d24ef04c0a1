package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// quick are limits for tests that wait for them to be reached, patient ones are
// for tests of what is answered: the machine may be busy.
var (
	quick   = limits{connect: time.Second, answer: 150 * time.Millisecond, call: time.Second, stall: 150 * time.Millisecond, backoff: time.Millisecond, attempts: 3, rate: 1 << 20}
	patient = limits{connect: time.Minute, answer: time.Minute, call: time.Minute, stall: time.Minute, backoff: time.Millisecond, attempts: 3, rate: 1}
)

// storeAt is a bucket of a store that a test plays.
func storeAt(t *testing.T, l limits, h http.HandlerFunc) *Store {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return storeOn(t, l, server.URL)
}

func storeOn(t *testing.T, l limits, endpoint string) *Store {
	t.Helper()
	b, err := openBucket(t.Context(), target{bucket: "bucket", region: "us-east-1", endpoint: endpoint, pathStyle: true}, l)
	require.NoError(t, err)
	return &Store{b}
}

// refuse answers as S3 does. A HEAD has no body.
func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
		}
	}
}

// every calls each operation and returns its errors by name.
func every(ctx context.Context, s *Store) map[string]error {
	errs := map[string]error{"put": s.Put(ctx, "a", []byte("x")), "delete": s.Delete(ctx, "a"), "ping": s.Ping(ctx)}
	_, errs["put new"] = s.PutNew(ctx, "a", []byte("x"))
	_, errs["get"] = s.Get(ctx, "a")
	_, errs["open"] = s.NewReader(ctx, "a")
	_, errs["list"] = s.List(ctx, "", "", 1)
	return errs
}

func TestAStoreThatIsAway(t *testing.T) {
	t.Parallel()

	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"refuses for a while": refuse(http.StatusServiceUnavailable, "ServiceUnavailable"),
		"is overrun":          refuse(http.StatusServiceUnavailable, "SlowDown"),
		"counts requests":     refuse(http.StatusTooManyRequests, "TooManyRequests"),
		"is broken":           refuse(http.StatusInternalServerError, "InternalError"),
		"is hidden by a gateway": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>bad gateway", http.StatusBadGateway)
		},
		"takes requests in silence": hang,
		"cuts connections":          cut,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storeAt(t, quick, h)
			for op, err := range every(t.Context(), s) {
				require.ErrorIs(t, err, ErrUnavailable, op)
				require.NotErrorIs(t, err, ErrNotFound, op)
			}
		})
	}
	t.Run("is not there", func(t *testing.T) {
		t.Parallel()
		for op, err := range every(t.Context(), storeOn(t, quick, "http://127.0.0.1:1")) {
			require.ErrorIs(t, err, ErrUnavailable, op)
		}
	})
	t.Run("takes no connection", func(t *testing.T) {
		t.Parallel()
		// An address of a network that is set aside for documentation.
		err := storeOn(t, limits{connect: 50 * time.Millisecond, answer: time.Second, call: 5 * time.Second, attempts: 2, rate: 1}, "http://192.0.2.1").Ping(t.Context())
		require.ErrorIs(t, err, ErrUnavailable)
	})
}

func TestWhatTheStoreSaysIsNotAway(t *testing.T) {
	t.Parallel()

	t.Run("forbidden", func(t *testing.T) {
		t.Parallel()
		for op, err := range every(t.Context(), storeAt(t, patient, refuse(http.StatusForbidden, "AccessDenied"))) {
			require.Error(t, err, op)
			require.NotErrorIs(t, err, ErrUnavailable, op)
			require.NotErrorIs(t, err, ErrNotFound, op)
		}
	})
	t.Run("a missing bucket is no missing object", func(t *testing.T) {
		t.Parallel()
		for op, err := range every(t.Context(), storeAt(t, patient, refuse(http.StatusNotFound, "NoSuchBucket"))) {
			require.ErrorContains(t, err, `there is no bucket "bucket": create it, or change blob.url`, op)
			require.NotErrorIs(t, err, ErrUnavailable, op)
			require.NotErrorIs(t, err, ErrNotFound, op)
		}
	})
	t.Run("a page that is not S3 is no missing object", func(t *testing.T) {
		t.Parallel()
		for op, err := range every(t.Context(), storeAt(t, patient, http.NotFound)) {
			require.Error(t, err, op)
			require.NotErrorIs(t, err, ErrNotFound, op)
		}
	})
}

func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()

	counted := func(t *testing.T, h http.HandlerFunc) (*Store, *atomic.Int32) {
		var count atomic.Int32
		return storeAt(t, patient, func(w http.ResponseWriter, r *http.Request) { count.Add(1); h(w, r) }), &count
	}
	t.Run("three, and not more", func(t *testing.T) {
		t.Parallel()
		s, count := counted(t, refuse(http.StatusServiceUnavailable, "SlowDown"))
		require.ErrorIs(t, s.Put(t.Context(), "a", []byte("x")), ErrUnavailable)
		require.EqualValues(t, 3, count.Load())
	})
	t.Run("one for what waiting does not mend", func(t *testing.T) {
		t.Parallel()
		s, count := counted(t, refuse(http.StatusForbidden, "AccessDenied"))
		require.Error(t, s.Put(t.Context(), "a", []byte("x")))
		require.EqualValues(t, 1, count.Load())
	})
	t.Run("the whole object goes out again", func(t *testing.T) {
		t.Parallel()
		content := bytes.Repeat([]byte("0123456789"), 100_000)
		var bodies [][]byte
		s := storeAt(t, patient,
			func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if bodies = append(bodies, body); len(bodies) < 3 {
					refuse(http.StatusInternalServerError, "InternalError")(w, r)
				}
			})
		require.NoError(t, s.Put(t.Context(), "a", content))
		require.Len(t, bodies, 3)
		for _, body := range bodies {
			require.True(t, bytes.Equal(content, body), "an attempt sent %d bytes", len(body))
		}
	})
	t.Run("a large object is one request, of which no parts can be left", func(t *testing.T) {
		t.Parallel()
		var requests []string
		s := storeAt(t, patient, func(_ http.ResponseWriter, r *http.Request) {
			size, _ := io.Copy(io.Discard, r.Body)
			requests = append(requests, fmt.Sprint(r.Method, " ", r.URL.Path, " ", size))
		})
		require.NoError(t, s.Put(t.Context(), "a", make([]byte, 20<<20)))
		require.Equal(t, []string{fmt.Sprint("PUT /bucket/a ", 20<<20)}, requests)
	})
	t.Run("again for a key that another writer is at", func(t *testing.T) {
		t.Parallel()
		var count atomic.Int32
		s := storeAt(t, patient, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") != "*" {
				refuse(http.StatusBadRequest, "InvalidRequest")(w, r)
				return
			}
			switch count.Add(1) {
			case 1:
				refuse(http.StatusConflict, busyKey)(w, r)
			default:
				refuse(http.StatusPreconditionFailed, "PreconditionFailed")(w, r)
			}
		})
		created, err := s.PutNew(t.Context(), "a", []byte("x"))
		require.NoError(t, err)
		require.False(t, created)
		require.EqualValues(t, 2, count.Load())
	})
}

func TestAnObjectThatBreaksOff(t *testing.T) {
	t.Parallel()

	answer := func(then func(http.ResponseWriter, *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
			_ = http.NewResponseController(w).Flush()
			then(w, r)
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"is cut":   answer(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		"is short": answer(func(http.ResponseWriter, *http.Request) {}),
		"stalls":   answer(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := patient
			l.stall = quick.stall
			s := storeAt(t, l, h)
			_, err := s.Get(t.Context(), "a")
			require.ErrorIs(t, err, ErrUnavailable)

			r, err := s.NewReader(t.Context(), "a")
			require.NoError(t, err)
			content, err := io.ReadAll(r)
			require.ErrorIs(t, err, ErrUnavailable)
			require.LessOrEqual(t, len(content), 1000)
			require.NoError(t, r.Close())
		})
	}

	t.Run("a reader that takes its time is not cut", func(t *testing.T) {
		t.Parallel()
		l := patient
		l.stall, l.call = 2*time.Second, 3*time.Second
		released := make(chan struct{})
		s := storeAt(t, l, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2")
			_, _ = io.WriteString(w, "1")
			_ = http.NewResponseController(w).Flush()
			<-released
			_, _ = io.WriteString(w, "2")
		})
		r, err := s.NewReader(t.Context(), "a")
		require.NoError(t, err)
		<-time.After(l.call * 11 / 10) // the reader is busy elsewhere
		one := make([]byte, 1)
		_, err = io.ReadFull(r, one)
		require.NoError(t, err)
		<-time.After(l.stall * 11 / 10)
		close(released)
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, "2", string(rest))
		require.NoError(t, r.Close())
	})
}

func TestAnUploadThatNobodyTakesIsGivenUp(t *testing.T) {
	t.Parallel()
	// The server takes connections and reads nothing, so the request never ends
	// and no answer is due.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	l := quick
	l.call = 300 * time.Millisecond
	l.rate = 1 << 30
	s := storeOn(t, l, "http://"+silent.Addr().String())
	err = s.Put(t.Context(), "a", make([]byte, 32<<20))
	require.ErrorIs(t, err, ErrUnavailable)
}

func TestTheCallersEndIsNotTheStores(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 10)
	s := storeAt(t, patient, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	})
	reason := errors.New("the caller went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		cancel(reason)
	}()
	_, err := s.Get(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrUnavailable)
}

func TestAListSkipsWhatIsNoKey(t *testing.T) {
	t.Parallel()
	s := storeAt(t, patient, func(w http.ResponseWriter, r *http.Request) {
		entry := func(key string) string {
			return "<Contents><Key>" + key + "</Key><Size>1</Size><LastModified>2026-01-02T03:04:05Z</LastModified></Contents>"
		}
		w.Header().Set("Content-Type", "application/xml")
		switch q := r.URL.Query(); {
		case q.Get("start-after") == "0" && q.Get("continuation-token") == "":
			fmt.Fprint(w, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>`+entry("folder/")+entry("Not a key")+`</ListBucketResult>`)
		case q.Get("continuation-token") == "more" && q.Get("start-after") == "":
			fmt.Fprint(w, `<ListBucketResult><IsTruncated>false</IsTruncated>`+entry("folder/a")+entry("folder/b")+`</ListBucketResult>`)
		default:
			refuse(http.StatusBadRequest, "InvalidArgument")(w, r)
		}
	})
	objects, err := s.List(t.Context(), "", "0", 2)
	require.NoError(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, []Object{{"folder/a", 1, at}, {"folder/b", 1, at}}, objects)
}
