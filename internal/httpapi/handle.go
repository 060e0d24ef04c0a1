package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
)

// This file is what a protocol needs that shares the interface's callers,
// limits, route table and document, and reads and writes its messages itself.

// Handler serves an operation that reads its body and writes its answer itself.
type Handler interface {
	http.Handler
	// Refuse answers a request that the edge refuses before the operation is
	// reached, such as one without a key, in the form of the operation's errors.
	Refuse(w http.ResponseWriter, r *http.Request, err error)
	// Describe adds bodies, responses and errors to the operation's place in
	// the document.
	Describe(registry huma.Registry, op *huma.Operation)
}

// Handle adds an operation that h serves. When h is called, the caller is
// authenticated and counted, and the request is measured, bounded in time and
// has an account.
// To authorize the caller with Authorize and Permit is up to h.
func (e *Edge) Handle(op Op, h Handler) {
	op.Raw = true
	d := &huma.Operation{
		OperationID: op.ID,
		Method:      op.Method,
		Path:        op.Path,
		Summary:     op.Summary,
		Description: op.Description,
		Tags:        []string{op.Tag},
		Security:    op.security(),
		Responses:   map[string]*huma.Response{},
	}
	doc := e.api.OpenAPI()
	doc.AddOperation(d)
	h.Describe(doc.Components.Schemas, d)
	e.add(op)
	e.handlers[op.route()] = h
	e.router.Method(op.Method, op.Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request.From(r.Context()).Operation = op.ID
		h.ServeHTTP(w, r)
	}))
}

// Handlers returns what Handle added, in the order of registration.
func (e *Edge) Handlers() []Handler {
	var all []Handler
	for _, op := range e.ops {
		if h := e.handlers[op.route()]; h != nil {
			all = append(all, h)
		}
	}
	return all
}

// DeclareErrors gives an operation the errors of every operation, in a form of
// its own: the document shows them with this content, under names that have the
// prefix.
func (e *Edge) DeclareErrors(op *huma.Operation, prefix string, content map[string]*huma.MediaType) {
	if !slices.Contains(e.errorPrefixes, prefix) {
		e.errorPrefixes = append(e.errorPrefixes, prefix)
	}
	responses := e.api.OpenAPI().Components.Responses
	for _, d := range declaredErrors {
		responses[prefix+d.name] = &huma.Response{Description: d.description, Content: content}
	}
	referToErrors(op, prefix)
}

// Authenticate finds the caller by the values of the Authorization header and,
// unless the operation is metered, counts the request against the caller's
// limit. The context that it returns carries the caller.
func (e *Edge) Authenticate(ctx context.Context, authorization []string, metered bool) (context.Context, error) {
	token, err := credential(authorization)
	if err != nil {
		return ctx, err
	}
	caller, err := e.opts.Authenticate(ctx, token)
	if err != nil {
		return ctx, err
	}
	if seen, ok := ctx.Value(recognisedKey{}).(*recognised); ok {
		seen.caller, seen.token, seen.edge = &caller, token, e
	}
	if !metered {
		if err := e.spend(ctx, request.From(ctx).Header, caller); err != nil {
			return ctx, err
		}
	}
	return principal.With(ctx, caller), nil
}

// IgnoreQuery lists the query's parameters in X-Ignored-Params, for an operation
// that has none. A query that cannot be read is an error.
func IgnoreQuery(r *http.Request) error {
	_, ignored, _, err := queryShape{}.normalize(r.URL.RawQuery)
	if len(ignored) > 0 {
		request.From(r.Context()).Header.Set("X-Ignored-Params", headerList(ignored))
	}
	return err
}

// Measure begins the span of a request; the carrier has the trace that the
// request belongs to. The function that it returns ends the span and makes the
// measurement and the log line, given the HTTP status that the answer has or
// stands for. It must be deferred, because a stream that is cut off ends in a
// panic.
func (e *Edge) Measure(ctx context.Context, carrier propagation.TextMapCarrier) (context.Context, func(status int)) {
	start := time.Now()
	ctx = otel.GetTextMapPropagator().Extract(ctx, carrier)
	ctx, span := tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	seen := &recognised{}
	return context.WithValue(ctx, recognisedKey{}, seen), func(status int) {
		e.report(ctx, seen, status, time.Since(start))
		span.End()
	}
}

// RequestTimeout is the time that a request may take.
func (e *Edge) RequestTimeout() time.Duration { return e.opts.Config.RequestTimeout }

// Drain waits until ctx ends, turns readiness to 503 and lets DrainDelay pass, in
// which a server still accepts requests. The context that it returns ends when
// ShutdownTimeout is over, and with it the patience for accepted requests.
func (e *Edge) Drain(ctx context.Context) (context.Context, context.CancelFunc) {
	<-ctx.Done()
	if !e.draining.Swap(true) {
		slog.Info("shutting down", "grace", e.opts.Config.ShutdownTimeout.String())
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opts.Config.ShutdownTimeout)
	select {
	case <-time.After(e.opts.Config.DrainDelay):
	case <-limit.Done():
	}
	return limit, cancel
}

// Rescue turns a panic into an error that tells the caller nothing, and logs
// the panic with its stack. It must be deferred.
func Rescue(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		logPanic(ctx, p)
		*err = errInternal
	}
}
