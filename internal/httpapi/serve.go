package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/request"
)

// drain remembers that the process is going away.
type drain struct{ on atomic.Bool }

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
		<-ctx.Done()
		e.draining.on.Store(true)
		slog.Info("shutting down", "grace", e.opts.Config.ShutdownTimeout.String())
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opts.Config.ShutdownTimeout)
		defer cancel()
		select {
		case <-time.After(e.opts.Config.DrainDelay):
		case <-limit.Done():
		}
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
		id := requestID(r.Header.Get("X-Request-Id"))
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		info := &request.Info{ID: id, Method: r.Method, Path: r.URL.Path, IP: host(r.RemoteAddr), Header: h}
		next.ServeHTTP(w, r.WithContext(request.With(r.Context(), info)))
	})
}

// requestID is the UUID that the caller sent, or a new one.
func requestID(sent string) string {
	id, err := uuid.Parse(sent)
	if err != nil || len(sent) != 36 {
		id = uuid.Must(uuid.NewV7())
	}
	return id.String()
}

// host is an address without its port.
func host(address string) string {
	ip, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return ip
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
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

// observe makes the span, the measurement and the log line of a request.
func (e *Edge) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ctx := otel.GetTextMapPropagator().Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		rec := &recorder{ResponseWriter: w}
		seen := &recognised{}
		ctx = context.WithValue(ctx, recognisedKey{}, seen)
		next.ServeHTTP(rec, r.WithContext(ctx))
		e.report(ctx, seen, rec.status, time.Since(start))
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

// authenticate finds the caller before the route is looked at, so that without
// a key nothing can be learnt about which routes exist.
func (e *Edge) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		route := method + " " + routePath(r)
		if e.public[route] {
			next.ServeHTTP(w, r)
			return
		}
		token, err := bearer(r.Header.Values("Authorization"))
		if err != nil {
			e.refuse(w, r, route, err)
			return
		}
		caller, err := e.opts.Authenticate(r.Context(), token)
		if err != nil {
			e.refuse(w, r, route, err)
			return
		}
		if seen, ok := r.Context().Value(recognisedKey{}).(*recognised); ok {
			seen.caller = &caller
		}
		if !e.metered[route] {
			if err := e.spend(r.Context(), w.Header(), caller); err != nil {
				e.refuse(w, r, route, err)
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(principal.With(r.Context(), caller)))
	})
}

// refuse answers a request that does not reach its operation, in the form that
// the operation's errors have.
func (e *Edge) refuse(w http.ResponseWriter, r *http.Request, route string, err error) {
	for _, o := range e.raws {
		if route == o.Method+" "+o.Path {
			writeRawError(w, r, o.media(r.Header.Get("Content-Type")), err)
			return
		}
	}
	writeError(w, r, err)
}
