package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/request"
)

// Op is one row of the route table. Router, OpenAPI, reference page and the
// tests that walk every operation all come from these rows, and Register and
// RegisterRaw are the only ways to add one: a route outside the table cannot
// exist.
type Op struct {
	ID          string // camelCase verb and noun, unique
	Method      string
	Path        string
	Tag         string // the area of the interface, for documents
	Summary     string // a short line
	Description string // what a caller must know beyond the types

	// Scope is the one scope that a key needs. principal.Public needs no key.
	Scope principal.Scope
	// Also is a second scope that a key needs, for operations that copy from one
	// scope's data into another's.
	Also principal.Scope
	// Status is the success status.
	Status int
	// Again is the success status of a repetition that changes nothing, zero if
	// it is the same. The output then has a field Status.
	Again int
	// BodyLimit bounds the decompressed body; zero means DefaultBodyLimit.
	BodyLimit int64
	// Strict refuses unknown body fields instead of ignoring them; governance
	// writes use it, where a misspelt field must not pass in silence.
	Strict bool
	// OptionalBody allows the body to be absent.
	OptionalBody bool
	// Repeatable marks a write that has the same effect however often it is
	// made, such as telemetry; it takes no Idempotency-Key.
	Repeatable bool
	// Annotators lets members whose role is annotator call a write.
	Annotators bool
	// ContentType of the response, if it is not JSON; */* if it depends on the
	// resource.
	ContentType string
	// Metered leaves the operation out of the hourly limit of requests: its
	// handler measures what it takes in, and refuses with a RateLimited fault.
	Metered bool

	// The rest is for RegisterRaw.

	// ContentTypes are the media types that a raw body may have.
	ContentTypes []string
	// Message names what is sent: the document calls the bodies of request and
	// response by it, with Request and Response behind it.
	Message string
	// RPC is the gRPC method that serves the same operation, in the form
	// package.Service/Method; empty for none. Its messages are handed over as
	// application/x-protobuf.
	RPC string
	// Admit opens the account of a body's memory before the body is read; nil
	// bounds nothing. announced is the body's length on the wire, or -1.
	Admit func(ctx context.Context, caller principal.Caller, announced int64) (Admission, error)
}

// raw reports whether the handler reads the body itself.
func (op Op) raw() bool { return len(op.ContentTypes) > 0 }

// Mutates reports whether the operation takes an Idempotency-Key.
func (op Op) Mutates() bool {
	if op.raw() || op.Repeatable {
		return false
	}
	return op.Method == http.MethodPost || op.Method == http.MethodPut || op.Method == http.MethodPatch
}

// Register adds an operation. The handler's input and output types are its
// contract: parameters, body, bounds and documentation are read from them.
func Register[I, O any](e *Edge, op Op, handler func(context.Context, *I) (*O, error)) {
	if op.raw() || op.RPC != "" || op.Admit != nil {
		panic("httpapi: " + op.ID + " has fields of a raw operation; add it with RegisterRaw")
	}
	if op.BodyLimit == 0 {
		op.BodyLimit = DefaultBodyLimit
	}
	d := huma.Operation{
		OperationID:   op.ID,
		Method:        op.Method,
		Path:          op.Path,
		Summary:       op.Summary,
		Description:   op.Description,
		Tags:          []string{op.Tag},
		DefaultStatus: op.Status,
		MaxBodyBytes:  -1, // the edge has read the body by then
	}
	if op.ContentType != "" {
		d.Responses = map[string]*huma.Response{strconv.Itoa(op.Status): {
			Content: map[string]*huma.MediaType{op.ContentType: {Schema: contentSchema(e.api.OpenAPI().Components.Schemas, op.ContentType)}},
		}}
	}
	d.Security = op.security()
	if op.Mutates() {
		d.Parameters = append(d.Parameters, idempotencyParam())
	}
	gate := &gate{edge: e, op: op}
	d.Middlewares = huma.Middlewares{gate.serve}
	huma.Register(e.api, d, func(ctx context.Context, in *I) (*O, error) {
		if otherOrg, _ := ctx.Value(otherOrgKey{}).(bool); otherOrg {
			return nil, errOtherOrg // what the request says is valid; now whether it may
		}
		if err := op.permit(request.From(ctx), principal.From(ctx)); err != nil {
			return nil, err
		}
		return handler(ctx, in)
	})
	if op.Again != 0 {
		responses := findOperation(e.api.OpenAPI(), op.Method, op.Path).Responses
		again := *responses[strconv.Itoa(op.Status)]
		again.Description = http.StatusText(op.Again)
		responses[strconv.Itoa(op.Again)] = &again
	}
	gate.learn(e.api)
	e.add(op)
}

// scopes are the scopes that a key needs.
func (op Op) scopes() []principal.Scope {
	if op.Also == "" {
		return []principal.Scope{op.Scope}
	}
	return []principal.Scope{op.Scope, op.Also}
}

// security is what the document says about the key that the operation needs.
func (op Op) security() []map[string][]string {
	if op.Scope == principal.Public {
		return nil
	}
	scopes := []string{}
	for _, s := range op.scopes() {
		if s != principal.AnyKey {
			scopes = append(scopes, string(s))
		}
	}
	return []map[string][]string{{"apiKey": scopes}}
}

// gate stands before one operation's handler and does what every operation
// needs, in the order of the interface: scope, headers, query, body.
type gate struct {
	edge     *Edge
	op       Op
	query    queryShape
	integers []string // path parameters that are integers
	body     *shape
	hasBody  bool
	readOnly map[string]bool // response fields, allowed in and ignored
}

// learn reads the registered operation's documented names.
func (g *gate) learn(api huma.API) {
	doc := findOperation(api.OpenAPI(), g.op.Method, g.op.Path)
	missing := strings.Count(g.op.Path, "{")
	for _, p := range doc.Parameters {
		if p.In == "path" {
			missing--
			if p.Schema.Type == huma.TypeInteger {
				g.integers = append(g.integers, p.Name)
			}
		}
	}
	if missing != 0 {
		panic("httpapi: " + g.op.ID + " does not declare every path parameter; embedded structs must be exported")
	}
	g.query = newQueryShape(doc.Parameters)
	registry := api.OpenAPI().Components.Schemas
	if doc.RequestBody != nil {
		g.hasBody = true
		doc.RequestBody.Required = !g.op.OptionalBody
		g.body = newShape(registry, doc.RequestBody.Content["application/json"].Schema)
	}
	g.readOnly = map[string]bool{}
	if ok := doc.Responses[strconv.Itoa(g.op.Status)]; ok != nil && ok.Content["application/json"] != nil {
		collectNames(newShape(registry, ok.Content["application/json"].Schema), g.readOnly, 0)
	}
}

// collectNames gathers the names of a response, three levels deep: a resource
// inside a collection inside an envelope.
func collectNames(s *shape, into map[string]bool, depth int) {
	if s == nil || depth > 3 {
		return
	}
	collectNames(s.elements, into, depth+1)
	collectNames(s.values, into, depth+1)
	for name, f := range s.fields {
		into[name] = true
		collectNames(f, into, depth+1)
	}
}

func (g *gate) serve(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	info := request.From(r.Context())
	info.Operation = g.op.ID
	user := r.Header.Get("X-On-Behalf-Of")
	spoken, err := g.edge.authorize(r.Context(), g.op, user)
	if user != "" {
		r = r.WithContext(spoken)
	}
	if err == nil {
		r, err = g.read(r, info)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	next(humachi.NewContext(ctx.Operation(), r, w))
}

// read returns the request with query and body in documented form.
func (g *gate) read(r *http.Request, info *request.Info) (*http.Request, error) {
	if g.op.Mutates() {
		key, err := idempotencyKey(r)
		if err != nil {
			return r, err
		}
		info.IdempotencyKey = key
	}
	if err := g.checkIntegers(r); err != nil {
		return r, err
	}
	query, ignored, err := g.query.normalize(r.URL.RawQuery)
	if err != nil {
		return r, err
	}
	if len(ignored) > 0 {
		info.Header.Set("X-Ignored-Params", headerList(ignored))
	}
	var n normalized
	if g.hasBody {
		if n, err = g.readBody(r, info); err != nil {
			return r, err
		}
	}
	if info.IdempotencyKey != "" {
		info.Fingerprint = fingerprint(r, g.op.ID, query, n.body)
	}

	u := *r.URL
	u.RawQuery = query
	ctx := r.Context()
	if n.ambiguous != nil {
		ctx = context.WithValue(ctx, ambiguousKey{}, n.ambiguous)
	}
	for _, asserted := range n.organizations {
		if !sameOrganization(asserted, principal.From(ctx).Org) {
			ctx = context.WithValue(ctx, otherOrgKey{}, true)
		}
	}
	r = r.WithContext(ctx)
	r.URL = &u
	r.Body = io.NopCloser(bytes.NewReader(n.body))
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

// checkIntegers refuses an integer in the path that is not written as we write
// it, such as 01 or +1: one object has one address.
func (g *gate) checkIntegers(r *http.Request) error {
	var fields []fault.Field
	for _, name := range g.integers {
		if _, ok := ParseID(r.PathValue(name)); !ok {
			fields = append(fields, fault.Field{In: "path", Path: name, Code: "type", Message: "must be a positive integer in plain digits"})
		}
	}
	if len(fields) > 0 {
		return errInvalid.WithFields(fields...)
	}
	return nil
}

func (g *gate) readBody(r *http.Request, info *request.Info) (normalized, error) {
	body, err := readBody(r, g.op.BodyLimit)
	if err != nil {
		return normalized{}, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		if !g.op.OptionalBody {
			return normalized{}, errBodyMissing
		}
		return normalized{}, nil
	}
	if err := checkJSON(body); err != nil {
		return normalized{}, err
	}
	n, err := g.body.normalize(body, g.drops)
	if err != nil {
		return normalized{}, errInvalidJSON
	}
	if len(n.unstorable) > 0 {
		var fields []fault.Field
		for _, at := range n.unstorable {
			fields = append(fields, fault.Field{In: "body", Path: at, Code: "format", Message: "contains U+0000, which cannot be stored"})
		}
		return normalized{}, errInvalid.WithFields(fields...)
	}
	if len(n.ignored) > 0 {
		info.Header.Set("X-Ignored-Fields", headerList(n.ignored))
	}
	return n, nil
}

// drops says whether an undocumented field is ignored rather than refused: any
// field on ordinary operations, and on strict ones a field of the response,
// so that a resource can be read, edited and sent back.
func (g *gate) drops(name string) bool {
	return !g.op.Strict || g.readOnly[name]
}

// sameOrganization compares the asserted organization with the key's. A value
// that is no organization's id is just as wrong as another organization's.
func sameOrganization(asserted jsontext.Value, org principal.OrgID) bool {
	if asserted.Kind() != '"' {
		return false
	}
	text, err := jsontext.AppendUnquote(nil, asserted)
	if err != nil {
		return false
	}
	id, err := principal.ParseOrgID(string(text))
	return err == nil && id == org
}

// fingerprint names what a request asks for, under which condition and as whom.
// The key does not count: a repetition may come with its successor. Neither do
// the order of members and white space: a client may encode in another way.
func fingerprint(r *http.Request, operation, query string, body []byte) []byte {
	canonical := jsontext.Value(bytes.Clone(body))
	if len(canonical) > 0 && canonical.Canonicalize() != nil {
		canonical = body
	}
	sum := sha256.New()
	person := ""
	if user := principal.From(r.Context()).User; user != nil {
		person = user.String()
	}
	_, _ = io.WriteString(sum, operation+"\n"+query+"\n"+r.Header.Get("If-Match")+"\n"+person+"\n")
	sum.Write(canonical)
	return sum.Sum(nil)
}

// ambiguousKey carries the fields that normalization could not settle to the
// place where violations are listed.
type ambiguousKey struct{}

// otherOrgKey marks a request that asserts another organization than its
// key's, until validation is done and it can be refused.
type otherOrgKey struct{}

// idempotencyKey reads the header: at most 255 printable ASCII characters.
func idempotencyKey(r *http.Request) (string, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	bad := strings.IndexFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
	if len(values) > 1 || key == "" || len(key) > 255 || bad >= 0 {
		return "", errInvalid.WithFields(fault.Field{In: "header", Path: "Idempotency-Key", Code: "format", Message: "must be given once, with 1 to 255 printable ASCII characters"})
	}
	return key, nil
}

func idempotencyParam() *huma.Param {
	limit := 255
	return &huma.Param{
		Name: "Idempotency-Key", In: "header",
		Description: "Makes the request safe to retry: repeating it with the same key and content within 24 hours has no further effect and returns the first response, with the header Idempotent-Replayed: true.",
		Schema:      &huma.Schema{Type: huma.TypeString, MaxLength: &limit},
	}
}
