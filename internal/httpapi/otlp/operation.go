// Package otlp serves operations in the way of the OpenTelemetry protocol: over
// HTTP and as an RPC of gRPC, with a body that the handler decodes itself, with
// memory that is paid for before it is used, and with errors that exporters
// understand. Callers, limits, route table and document are the edge's.
package otlp

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// The media types that operations know.
const (
	mediaProtobuf = "application/x-protobuf"
	mediaJSON     = "application/json"
)

// Request is what the handler gets. It and its body are valid until the handler
// returns: the memory is used again.
type Request struct {
	Caller principal.Caller
	// ContentType is one of the operation's ContentTypes, without parameters.
	ContentType string
	// Body is decompressed.
	Body []byte
	// WireBytes is how long the body was on the wire, as the caller sent it.
	WireBytes int
}

// Response is what an operation answers.
type Response struct {
	// ContentType is the request's if it is empty.
	ContentType string
	// Body must share no memory with the body of the request.
	Body []byte
	// Header has further headers; an RPC sends them as metadata.
	Header map[string]string
}

// Op is a row of the route table with what this protocol adds.
type Op struct {
	httpapi.Op
	// ContentTypes are the media types that a body may have.
	ContentTypes []string
	// Message names what is sent: the document calls the bodies of request and
	// response by it, with Request and Response behind it.
	Message string
	// RPC is the gRPC method that serves the same operation, in the form
	// package.Service/Method; empty for none. Its messages are handed over as
	// application/x-protobuf.
	RPC string
}

// Handler serves an operation, over HTTP and as an RPC alike.
type Handler = func(context.Context, *Request) (*Response, error)

// Register adds an operation whose handler reads the body itself. The caller,
// its scope and role, the limits and the place in the documents are the same as
// for any other operation. Errors are in the form of the OpenTelemetry protocol.
func Register(e *httpapi.Edge, op Op, handler Handler) {
	if op.BodyLimit == 0 {
		op.BodyLimit = httpapi.DefaultBodyLimit
	}
	o := &operation{Op: op, edge: e, handler: handler}
	o.check()
	o.unsupported = fault.New(fault.UnsupportedMediaType, "unsupported_media_type",
		"Send the body as "+strings.Join(op.ContentTypes, " or ")+", plain or with Content-Encoding: gzip.")
	e.Name(schemas)
	e.Handle(op.Op, o)
}

// operation is an operation with everything that serves it.
type operation struct {
	Op
	edge        *httpapi.Edge
	handler     Handler
	unsupported *fault.Error
}

// registered returns the operations that Register added to the edge.
func registered(e *httpapi.Edge) []*operation {
	var all []*operation
	for _, h := range e.Handlers() {
		if o, ok := h.(*operation); ok {
			all = append(all, o)
		}
	}
	return all
}

// check ends the process for a row that cannot work.
func (o *operation) check() {
	switch {
	case len(o.ContentTypes) == 0:
		panic("otlp: " + o.ID + " names no ContentTypes")
	case o.Message == "":
		panic("otlp: " + o.ID + " does not name its Message")
	case o.Scope == principal.Public:
		panic("otlp: " + o.ID + " is public: memory is given to recognised callers only")
	case o.Method != http.MethodPost || strings.Contains(o.Path, "{"):
		panic("otlp: " + o.ID + " must be a POST, without path parameters")
	case o.RPC == "":
		return
	case !slices.Contains(o.ContentTypes, mediaProtobuf):
		panic("otlp: " + o.ID + " has an RPC and does not take " + mediaProtobuf)
	}
	if service, method, ok := strings.Cut(o.RPC, "/"); !ok || service == "" || method == "" || strings.Contains(method, "/") {
		panic("otlp: the RPC of " + o.ID + " is " + o.RPC + ": write package.Service/Method")
	}
	for _, other := range registered(o.edge) {
		if other.RPC == o.RPC {
			panic("otlp: " + o.ID + " and " + other.ID + " have the same RPC")
		}
	}
}

// ServeHTTP answers over HTTP.
func (o *operation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	media := o.media(r.Header.Get("Content-Type"))
	res, err := o.receive(r, media)
	if err != nil {
		writeError(w, r, media, err)
		return
	}
	if res.ContentType != "" {
		media = res.ContentType
	}
	h := w.Header()
	for name, value := range res.Header {
		h.Set(name, value)
	}
	h.Set("Content-Type", media)
	w.WriteHeader(o.Status)
	_, _ = w.Write(res.Body)
}

// Refuse answers a request that the edge has refused.
func (o *operation) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	writeError(w, r, o.media(r.Header.Get("Content-Type")), err)
}

// receive does what every operation needs, in the order of the interface, and
// calls the handler.
func (o *operation) receive(r *http.Request, media string) (res *Response, err error) {
	defer httpapi.Rescue(r.Context(), &err)
	ctx, err := o.edge.Authorize(r.Context(), o.Op.Op, r.Header.Get("X-On-Behalf-Of"))
	if err != nil {
		return nil, err
	}
	if media == "" {
		return nil, o.unsupported
	}
	zipped := false
	switch coding := strings.TrimSpace(r.Header.Get("Content-Encoding")); {
	case coding == "", strings.EqualFold(coding, "identity"):
	case strings.EqualFold(coding, "gzip"):
		zipped = true
	default:
		return nil, o.unsupported.With("contentEncoding", "only gzip is taken")
	}
	if err := httpapi.IgnoreQuery(r); err != nil {
		return nil, err
	}
	if r.ContentLength > o.BodyLimit {
		return nil, httpapi.TooLarge(o.BodyLimit)
	}
	in := o.newIntake(ctx)
	defer in.close()
	if err := in.readStream(r.Body, zipped, int(r.ContentLength)); err != nil {
		return nil, cmp.Or(ctx.Err(), err) // what ends the request ends its body
	}
	in.req.ContentType = media
	return o.call(ctx, in)
}

// call runs the handler on a body that is in memory, if the caller may. HTTP
// and RPC meet here.
func (o *operation) call(ctx context.Context, in *intake) (*Response, error) {
	in.req.Caller = principal.From(ctx)
	if err := o.Permit(ctx); err != nil {
		return nil, err
	}
	res, err := o.handler(ctx, &in.req)
	if res == nil {
		res = &Response{}
	}
	return res, err
}

// media returns the operation's name of a media type, or "" if the operation
// does not take it.
func (o *operation) media(header string) string {
	for _, t := range o.ContentTypes {
		if header == t {
			return t // as nearly every client writes it
		}
	}
	media, params, err := mime.ParseMediaType(header)
	if charset, ok := params["charset"]; err != nil || ok && !strings.EqualFold(charset, "utf-8") {
		return ""
	}
	if i := slices.Index(o.ContentTypes, media); i >= 0 {
		return o.ContentTypes[i]
	}
	return ""
}
