package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

// statuses is the one place where a kind of fault becomes an HTTP status.
var statuses = map[fault.Kind]int{
	fault.Validation:           http.StatusBadRequest,
	fault.Unauthorized:         http.StatusUnauthorized,
	fault.Forbidden:            http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.Conflict:             http.StatusConflict,
	fault.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.RateLimited:          http.StatusTooManyRequests,
	fault.Internal:             http.StatusInternalServerError,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

// Faults of the edge itself.
var (
	errInternal     = fault.New(fault.Internal, "internal_error", "The server failed. Retry; if it fails again, contact support with the request id.")
	errRoute        = fault.New(fault.NotFound, "unknown_route", "This route does not exist. See /api/reference for the routes.")
	errMethod       = fault.New(fault.MethodNotAllowed, "method_not_allowed", "This route does not support the method. The Allow header lists those it supports.")
	errMediaType    = fault.New(fault.UnsupportedMediaType, "unsupported_media_type", "Send the body as application/json, in UTF-8, plain or with Content-Encoding: gzip.")
	errTooLarge     = fault.New(fault.PayloadTooLarge, "payload_too_large", "The body is too large. Split the request, or send less.")
	errInvalid      = fault.New(fault.Validation, "invalid_request", "The request is invalid. details.fields lists every problem.")
	errInvalidJSON  = shape.ErrInvalidJSON
	errBodyMissing  = fault.New(fault.Validation, "body_required", "Send a JSON body with this request.")
	errBodyCut      = shape.ErrCut
	errTimeout      = fault.New(fault.Unavailable, "timeout", "The request took too long and was stopped. Retry later.")
	errMissingKey   = fault.New(fault.Unauthorized, "missing_credentials", "Send the header Authorization: Bearer <API key>.")
	errHeader       = fault.New(fault.Unauthorized, "malformed_header", "The Authorization header must be: Bearer <API key>, or Basic with the key as the password.")
	errScope        = fault.New(fault.Unauthorized, "insufficient_scope", "The key lacks a scope that this operation needs. Use a key that has the scope in details.requiredScope.")
	errOtherOrg     = fault.New(fault.Forbidden, "organization_mismatch", "organizationId differs from the organization of the key. Leave it out, or use a key of that organization.")
	errUnavailable  = fault.New(fault.Unavailable, "not_ready", "The server is not ready; details.checks lists what does not answer.")
	errDraining     = fault.New(fault.Unavailable, "shutting_down", "This replica is shutting down. Retry, and another one answers.")
	maxFieldsListed = 100
)

// Invalid is the fault of a request that breaks rules between its fields, or nil
// if it breaks none.
func Invalid(fields ...fault.Field) error {
	if len(fields) == 0 {
		return nil
	}
	return errInvalid.WithFields(fields...)
}

// Envelope is the body of every error.
type Envelope struct {
	Body   ErrorBody `json:"error" doc:"What went wrong."`
	status int
}

// ErrorBody is the error object of the interface.
type ErrorBody struct {
	Code      string         `json:"code" doc:"The error code; there is one for each HTTP status." example:"VALIDATION_ERROR"`
	Message   string         `json:"message" doc:"What is wrong and what to do about it."`
	Details   map[string]any `json:"details" doc:"More about the error: reason is its cause, and validation errors list fields. New reasons may appear."`
	RequestID string         `json:"requestId" format:"uuid" doc:"The request id, equal to the X-Request-Id header; include it when you ask for help."`
}

// GetStatus tells the framework which status to write.
func (e *Envelope) GetStatus() int { return e.status }

// Error is the public message.
func (e *Envelope) Error() string { return e.Body.Message }

// TooLarge is the fault of a body above its limit.
func TooLarge(limit int64) error { return errTooLarge.With("limitBytes", limit) }

// Refusal is what a caller may see of an error, in any protocol.
type Refusal struct {
	Fault  *fault.Error
	Status int // of HTTP
	Body   ErrorBody
}

// Explain finds what the caller may see of any error, and sets the headers of
// the answer. What the caller may not see goes to the log, with the request id
// that the caller gets.
func Explain(ctx context.Context, err error) Refusal {
	info := request.From(ctx)
	f, ok := fault.From(err)
	switch {
	case ok && f.Kind == fault.Internal, !ok && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		slog.ErrorContext(ctx, "request failed", "request_id", info.ID, "operation", info.Operation, "error", err)
		f = errInternal
	case !ok:
		f = errTimeout
	case f.Kind == fault.Unavailable:
		slog.WarnContext(ctx, "request refused", "request_id", info.ID, "operation", info.Operation, "error", err)
	}
	r := Refusal{Fault: f, Status: statuses[f.Kind], Body: errorBody(f, info.ID)}
	r.setHeaders(info.Header)
	return r
}

// envelope turns any error into the body and the headers of its answer.
func envelope(ctx context.Context, err error) *Envelope {
	r := Explain(ctx, err)
	return &Envelope{Body: r.Body, status: r.Status}
}

func errorBody(f *fault.Error, id string) ErrorBody {
	details := map[string]any{"reason": f.Reason}
	for k, v := range f.Details {
		details[k] = v
	}
	if len(f.Fields) > 0 {
		details["fields"] = f.Fields[:min(len(f.Fields), maxFieldsListed)]
	}
	return ErrorBody{Code: string(f.Kind), Message: f.Message, Details: details, RequestID: id}
}

func (r Refusal) setHeaders(h http.Header) {
	switch f := r.Fault; f.Kind {
	case fault.Unauthorized:
		challenge := `Bearer error="invalid_token"`
		if scope, ok := f.Details["requiredScope"]; ok {
			challenge = fmt.Sprintf(`Bearer error="insufficient_scope", scope="%v"`, scope)
		} else if f.Reason == errMissingKey.Reason {
			challenge = "Bearer"
		}
		h.Set("WWW-Authenticate", challenge)
	default:
		if wait, ok := r.RetryAfter(); ok {
			h.Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
		}
	}
}

// RetryAfter is how long a caller should wait before it repeats the request, if
// repeating it can help.
func (r Refusal) RetryAfter() (wait time.Duration, ok bool) {
	switch r.Fault.Kind {
	case fault.Unavailable, fault.RateLimited, fault.Conflict:
	default:
		return 0, false
	}
	if seconds, ok := r.Fault.Details["retryAfterSeconds"].(int); ok {
		return time.Duration(seconds) * time.Second, true
	}
	return time.Second, r.Fault.Kind != fault.Conflict
}

// writeError answers a request outside the framework's handlers.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	e := envelope(r.Context(), err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	if r.Method != http.MethodHead {
		_ = json.MarshalWrite(w, e)
	}
}

// The framework's error constructors are process globals; this package owns
// them, and nothing else may set them.
func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		if status == 0 {
			return &Envelope{} // the framework asks for an example, to derive the schema
		}
		return envelope(context.Background(), frameworkError(status, msg, errs))
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return envelope(ctx.Context(), frameworkError(status, msg, errs))
	}
}

// frameworkError is the error behind a framework's refusal: what a handler
// returned. The framework itself refuses nothing that the gate has let pass; if
// it did, its words and the values it would echo would stay inside.
func frameworkError(status int, msg string, errs []error) error {
	for _, err := range errs {
		var detail *huma.ErrorDetail
		if err != nil && !errors.As(err, &detail) {
			return err
		}
	}
	if status < http.StatusInternalServerError {
		return errInvalid
	}
	return errors.New(msg)
}
