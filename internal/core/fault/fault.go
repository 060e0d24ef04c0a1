// Package fault is the vocabulary of errors a caller may see.
//
// A domain declares each of its faults once, as a package variable, and wraps
// it with fmt.Errorf as it travels up. The HTTP edge finds the fault with
// errors.As and writes its kind, reason, message and details; the wrapping
// text goes to the log only. An error that carries no fault is an internal
// error, and none of its words leave the process.
package fault

import (
	"errors"
	"maps"
	"strings"
)

// Kind is the machine-readable code of an error. There is one kind per HTTP
// status; the specific cause is the fault's reason.
type Kind string

// The kinds, in the order in which a request meets them.
const (
	Unauthorized         Kind = "UNAUTHORIZED"
	RateLimited          Kind = "RATE_LIMITED"
	MethodNotAllowed     Kind = "METHOD_NOT_ALLOWED"
	PayloadTooLarge      Kind = "PAYLOAD_TOO_LARGE"
	UnsupportedMediaType Kind = "UNSUPPORTED_MEDIA_TYPE"
	Validation           Kind = "VALIDATION_ERROR"
	NotFound             Kind = "NOT_FOUND"
	Forbidden            Kind = "FORBIDDEN"
	Conflict             Kind = "CONFLICT"
	Unavailable          Kind = "SERVICE_UNAVAILABLE"
	Internal             Kind = "INTERNAL_ERROR"
)

// Error is one fault. Values are immutable: With and WithFields return copies,
// so a package-level fault is safe to share.
type Error struct {
	Kind    Kind
	Reason  string
	Message string
	Details map[string]any
	Fields  []Field
}

// Field locates one violation of a request.
type Field struct {
	In      string `json:"in" enum:"body,query,path,header" doc:"The part of the request."`
	Path    string `json:"path" doc:"The JSON Pointer of a body field, or the name of a parameter or header."`
	Code    string `json:"code" doc:"The rule that is violated: required, type, enum, min, max, length, pattern, format, unknown_field, ambiguous_field, unknown_reference, mutually_exclusive, one_of_required."`
	Message string `json:"message" doc:"What to change."`
	Limit   any    `json:"limit" doc:"The bound that the value exceeds, or null."`
}

// New declares a fault. The message is a sentence for the caller: what is
// wrong and, where it can be said in general, what to do.
func New(kind Kind, reason, message string) *Error {
	return &Error{Kind: kind, Reason: reason, Message: message}
}

// Invalid is a validation fault for one field of a request.
func Invalid(in, path, code, message string) *Error {
	return New(Validation, "invalid_request", "The request is invalid.").
		WithFields(Field{In: in, Path: path, Code: code, Message: message})
}

// Error returns the public message, and names the fields if there are any.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	var b strings.Builder
	b.WriteString(e.Message)
	for _, f := range e.Fields {
		b.WriteString(" " + f.In + " " + f.Path + ": " + f.Message + ".")
	}
	return b.String()
}

// Is reports whether target is the same fault: equal kind and reason. Details
// do not take part, so a test can compare with the declared variable.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Kind == e.Kind && t.Reason == e.Reason
}

// With returns a copy that carries one more detail.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = maps.Clone(e.Details)
	if c.Details == nil {
		c.Details = map[string]any{}
	}
	c.Details[key] = value
	return &c
}

// WithFields returns a copy that carries more field violations.
func (e *Error) WithFields(fields ...Field) *Error {
	c := *e
	c.Fields = append(append([]Field(nil), e.Fields...), fields...)
	return &c
}

// From returns the fault that err carries, and whether it carries one.
func From(err error) (*Error, bool) {
	var f *Error
	ok := errors.As(err, &f)
	return f, ok
}

// IsNotFound reports whether an error says that something does not exist.
func IsNotFound(err error) bool {
	e, ok := From(err)
	return ok && e.Kind == NotFound
}
