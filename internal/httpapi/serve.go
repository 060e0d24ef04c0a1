package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/core/request"
)

// Run serves the listener until ctx ends, then finishes what it accepted:
// readiness turns to 503 at once, new connections are refused after DrainDelay,
// and requests in flight have ShutdownTimeout to end. What has not ended by
// then is cut off.
func (e *Edge) Run(ctx context.Context, l net.Listener) error {
	// A request outlives the signal that ends the process, and not the time
	// that the shutdown gives it.
	base, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	base = context.WithValue(base, closingKey{}, ctx.Done())
	srv := &http.Server{
		Handler:           e,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       e.opts.Config.RequestTimeout,
		WriteTimeout:      e.opts.Config.RequestTimeout + 5*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	done := make(chan error, 1)
	go func() {
		limit, cancel := e.Drain(ctx)
		defer cancel()
		err := srv.Shutdown(limit)
		if err != nil {
			cutOff()
			_ = srv.Close()
		}
		done <- err
	}()
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return <-done
}

type closingKey struct{}

// Closing ends when the process begins to shut down. A handler that would wait
// for long listens to it, so that nobody waits for the handler.
func Closing(ctx context.Context) <-chan struct{} {
	done, _ := ctx.Value(closingKey{}).(<-chan struct{})
	return done
}

// identify gives the request its id, which every response carries. A UUID that
// the caller sent is kept, so that its own logs and ours meet.
func (e *Edge) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		info := e.NewInfo(r.Header.Get("X-Request-Id"), r.RemoteAddr, r.Header.Values("X-Forwarded-For"), h)
		info.Method, info.Path = r.Method, r.URL.Path
		h.Set("X-Request-Id", info.ID)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r.WithContext(request.With(r.Context(), info)))
	})
}

// NewInfo describes a request over a connection from an address, with what
// proxies say about whom they forward. Its id is the UUID that the caller sent,
// or a new one; header collects the headers of the response.
func (e *Edge) NewInfo(sentID, address string, forwarded []string, header http.Header) *request.Info {
	id, err := uuid.Parse(sentID)
	if err != nil || len(sentID) != 36 {
		id = uuid.Must(uuid.NewV7())
	}
	return &request.Info{ID: id.String(), IP: e.proxies.client(address, forwarded), Header: header}
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader takes the first status: an answer that fails half-way, because its
// caller is gone, cannot be given another.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

var (
	tracer      = otel.Tracer("github.com/assayhq/assay/internal/httpapi")
	meter       = otel.Meter("github.com/assayhq/assay/internal/httpapi")
	duration, _ = meter.Float64Histogram("http.server.request.duration",
		metric.WithUnit("s"), metric.WithDescription("Time to answer a request."),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30))
)

// observe measures requests.
func (e *Edge) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		ctx, report := e.Measure(r.Context(), propagation.HeaderCarrier(r.Header))
		defer func() { report(rec.status) }()
		next.ServeHTTP(rec, r.WithContext(ctx))
	})
}

// report says how a request was answered, in every place that asks. The names
// come from the route table, never from what the caller sent.
func (e *Edge) report(ctx context.Context, seen *recognised, status int, took time.Duration) {
	info, span := request.From(ctx), trace.SpanFromContext(ctx)
	operation := info.Operation
	if operation == "" {
		operation = "none"
	}
	if seen.caller != nil && e.opts.Observe != nil {
		e.opts.Observe(Outcome{Caller: *seen.caller, Operation: operation, Status: status, Took: took, At: e.opts.Now()})
	}
	span.SetName(operation)
	attrs := []attribute.KeyValue{
		attribute.String("operation", operation),
		attribute.Int("http.response.status_code", status),
	}
	span.SetAttributes(append(attrs, attribute.String("request_id", info.ID))...)
	duration.Record(ctx, took.Seconds(), metric.WithAttributes(attrs...))
	slog.LogAttrs(ctx, slog.LevelDebug, "request",
		slog.String("request_id", info.ID),
		slog.String("operation", operation),
		slog.String("method", info.Method),
		slog.Int("status", status),
		slog.Duration("took", took),
		slog.String("trace_id", span.SpanContext().TraceID().String()))
}

// recoverPanic turns a panic into a clean 500 and keeps its story in the log.
// A response that has begun cannot be repaired; its connection is cut.
func (e *Edge) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p) // a handler that cut its answer off has said why
			}
			logPanic(r.Context(), p)
			if rec, ok := w.(*recorder); ok && rec.status != 0 {
				panic(http.ErrAbortHandler)
			}
			writeError(w, r, errInternal)
		}()
		next.ServeHTTP(w, r)
	})
}

func logPanic(ctx context.Context, p any) {
	info := request.From(ctx)
	slog.ErrorContext(ctx, "panic", "request_id", info.ID, "operation", info.Operation, "panic", p, "stack", string(debug.Stack()))
}

// bound stops work that nobody waits for any longer.
func (e *Edge) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), e.opts.Config.RequestTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// requireKey finds the caller before the route is looked at, so that without a
// key nothing can be learnt about which routes exist, and opens its account.
func (e *Edge) requireKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		route := method + " " + routePath(r)
		if e.public[route] || strings.HasPrefix(r.URL.Path, "/app/") {
			next.ServeHTTP(w, r)
			return
		}
		ctx, err := e.Authenticate(r.Context(), authorization(r.Header), e.metered[route])
		if err != nil {
			e.refuse(w, r, route, err)
			return
		}
		ctx, done := e.Admit(ctx)
		defer done()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuse answers a request that does not reach its operation, in the form that
// the operation's errors have.
func (e *Edge) refuse(w http.ResponseWriter, r *http.Request, route string, err error) {
	if h := e.handlers[route]; h != nil {
		h.Refuse(w, r, err)
		return
	}
	writeError(w, r, err)
}
