package httpapi

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/request"
)

// The media types that raw operations know.
const (
	mediaProtobuf = "application/x-protobuf"
	mediaJSON     = "application/json"
)

// RawRequest is a request whose body the handler reads itself. It and its body
// are valid until the handler returns: the memory is used again.
type RawRequest struct {
	Caller principal.Caller
	// ContentType is one of the operation's ContentTypes, without parameters.
	ContentType string
	// Body is decompressed.
	Body []byte
	// WireBytes is how long the body was on the wire, as the caller sent it.
	WireBytes int
}

// RawResponse is what a raw operation answers.
type RawResponse struct {
	// ContentType is the request's if it is empty.
	ContentType string
	// Body must share no memory with the body of the request.
	Body []byte
	// Header has further headers; an RPC sends them as metadata.
	Header map[string]string
}

// Admission is the account of the memory that one body uses. The edge pays for
// memory before it uses it, so a body that grows as it is decompressed is
// refused when the account is empty, and not when the memory is.
type Admission interface {
	// Take asks for n more bytes. Its error refuses the request.
	Take(n int) error
	// Release gives everything back. It is called once, when the handler has
	// returned or the request was refused.
	Release()
}

// RawHandler serves a raw operation, over HTTP and as an RPC alike.
type RawHandler = func(context.Context, *RawRequest) (*RawResponse, error)

// RegisterRaw adds an operation whose handler reads the body itself. The caller,
// its scope and role, the limits and the place in the documents are the same as
// for any other operation. Errors are in the form of the OpenTelemetry protocol.
func RegisterRaw(e *Edge, op Op, handler RawHandler) {
	if op.BodyLimit == 0 {
		op.BodyLimit = DefaultBodyLimit
	}
	o := &rawOp{Op: op, edge: e, handler: handler}
	o.check()
	o.unsupported = fault.New(fault.UnsupportedMediaType, errMediaType.Reason,
		"Send the body as "+strings.Join(op.ContentTypes, " or ")+", plain or with Content-Encoding: gzip.")
	o.document()
	e.add(op)
	e.raws = append(e.raws, o)
	e.router.Method(op.Method, op.Path, http.HandlerFunc(o.serve))
}

// rawOp is a raw operation with all that serves it.
type rawOp struct {
	Op
	edge        *Edge
	handler     RawHandler
	unsupported *fault.Error
}

// check ends the process for a row that cannot work.
func (o *rawOp) check() {
	switch {
	case !o.raw():
		panic("httpapi: " + o.ID + " is raw and names no ContentTypes")
	case o.Message == "":
		panic("httpapi: " + o.ID + " is raw and does not name its Message")
	case o.Scope == principal.Public:
		panic("httpapi: " + o.ID + " is raw and public: memory is given to recognised callers only")
	case o.Method != http.MethodPost || strings.Contains(o.Path, "{"):
		panic("httpapi: " + o.ID + " is raw: it must be a POST, without path parameters")
	case o.RPC == "":
		return
	case !slices.Contains(o.ContentTypes, mediaProtobuf):
		panic("httpapi: " + o.ID + " has an RPC and does not take " + mediaProtobuf)
	}
	if service, method, ok := strings.Cut(o.RPC, "/"); !ok || service == "" || method == "" || strings.Contains(method, "/") {
		panic("httpapi: the RPC of " + o.ID + " is " + o.RPC + ": write package.Service/Method")
	}
	for _, other := range o.edge.raws {
		if other.RPC == o.RPC {
			panic("httpapi: " + o.ID + " and " + other.ID + " have the same RPC")
		}
	}
}

// serve answers over HTTP.
func (o *rawOp) serve(w http.ResponseWriter, r *http.Request) {
	request.From(r.Context()).Operation = o.ID
	media := o.media(r.Header.Get("Content-Type"))
	res, err := o.receive(r, media)
	if err != nil {
		writeRawError(w, r, media, err)
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

// receive does what every operation needs, in the order of the interface, and
// calls the handler.
func (o *rawOp) receive(r *http.Request, media string) (res *RawResponse, err error) {
	defer rescue(r.Context(), &err)
	ctx, err := o.edge.authorize(r.Context(), o.Op, r.Header.Get("X-On-Behalf-Of"))
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
	_, ignored, _, err := queryShape{}.normalize(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	if len(ignored) > 0 {
		request.From(ctx).Header.Set("X-Ignored-Params", headerList(ignored))
	}
	if r.ContentLength > o.BodyLimit {
		return nil, errTooLarge.With("limitBytes", o.BodyLimit)
	}
	in, err := o.admit(ctx, r.ContentLength)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := in.readStream(r.Body, zipped, int(r.ContentLength)); err != nil {
		return nil, cmp.Or(ctx.Err(), err) // what ends the request ends its body
	}
	in.req.ContentType = media
	return o.call(ctx, in)
}

// call runs the handler on a body that is in memory, if the caller may. HTTP
// and RPC meet here.
func (o *rawOp) call(ctx context.Context, in *intake) (*RawResponse, error) {
	in.req.Caller = principal.From(ctx)
	if err := o.permit(request.From(ctx), in.req.Caller); err != nil {
		return nil, err
	}
	res, err := o.handler(ctx, &in.req)
	if res == nil {
		res = &RawResponse{}
	}
	return res, err
}

// media returns the operation's name of a media type, or "" if the operation
// does not take it.
func (o *rawOp) media(header string) string {
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

// rescue turns a panic into the error that the caller may see, and keeps its
// story in the log.
func rescue(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		logPanic(ctx, p)
		*err = errInternal
	}
}
