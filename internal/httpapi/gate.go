package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

// Checker is an input, or the body of one, with rules between its fields. It is
// asked once every field is valid by itself, and returns a Validation fault.
type Checker interface {
	Check(ctx context.Context) error
}

// gate stands before one operation's handler and does what every operation
// needs, in the order of the interface: scope, headers, query, body.
type gate struct {
	edge     *Edge
	op       Op
	query    queryShape
	params   []param // of path and headers
	body     *shape.Shape
	bodyType reflect.Type
	bodyAt   []int           // the input's field Body
	readOnly map[string]bool // response fields, allowed in and ignored
}

// param is a documented parameter.
type param struct {
	in, name string
	shape    *shape.Shape
	integer  bool
	required bool
}

// learn reads the registered operation's documented names.
func (g *gate) learn(api huma.API, input reflect.Type) {
	doc := findOperation(api.OpenAPI(), g.op.Method, g.op.Path)
	registry := api.OpenAPI().Components.Schemas
	missing := strings.Count(g.op.Path, "{")
	for _, p := range doc.Parameters {
		if p.In == "path" {
			missing--
		}
		if p.In != "query" {
			g.params = append(g.params, param{
				in: p.In, name: p.Name, shape: shape.Of(registry, p.Schema, nil),
				integer: p.Schema.Type == huma.TypeInteger, required: p.Required,
			})
		}
	}
	if missing != 0 {
		panic("httpapi: " + g.op.ID + " does not declare every path parameter; embedded structs must be exported")
	}
	g.query = newQueryShape(registry, doc.Parameters)
	if doc.RequestBody != nil {
		if g.op.Scope == principal.Public {
			panic("httpapi: " + g.op.ID + " is public and takes a body: memory is given to recognised callers only")
		}
		field, ok := input.FieldByName("Body")
		if !ok {
			panic("httpapi: " + g.op.ID + " has a body that is not in the field Body")
		}
		g.bodyType, g.bodyAt = field.Type, field.Index
		doc.RequestBody.Required = !g.op.OptionalBody
		g.body = shape.Of(registry, doc.RequestBody.Content["application/json"].Schema, field.Type)
	}
	g.readOnly = map[string]bool{}
	if ok := doc.Responses[strconv.Itoa(g.op.Status)]; ok != nil && ok.Content["application/json"] != nil {
		collectNames(registry, ok.Content["application/json"].Schema, g.readOnly, 0)
	}
}

// collectNames gathers the names of a response, three levels deep: a resource
// inside a collection inside an envelope.
func collectNames(r huma.Registry, s *huma.Schema, into map[string]bool, depth int) {
	if s == nil || depth > 3 {
		return
	}
	if s.Ref != "" {
		s = r.SchemaFromRef(s.Ref)
	}
	collectNames(r, s.Items, into, depth+1)
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		collectNames(r, values, into, depth+1)
	}
	for name, p := range s.Properties {
		into[name] = true
		collectNames(r, p, into, depth+1)
	}
}

func (g *gate) serve(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	info := request.From(r.Context())
	info.Operation = g.op.ID
	user := r.Header.Get("X-On-Behalf-Of")
	acting, err := g.edge.Authorize(r.Context(), g.op, user)
	if user != "" {
		r = r.WithContext(acting)
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

// read checks everything that the request says and returns it with the query in
// documented form, and with its body decoded in the context. All violations are
// reported together.
func (g *gate) read(r *http.Request, info *request.Info) (*http.Request, error) {
	var violations []fault.Field
	if g.op.Mutates() {
		key, bad := idempotencyKey(r)
		info.IdempotencyKey = key
		violations = append(violations, bad...)
	}
	violations = append(violations, g.checkParams(r)...)
	query, bad, err := g.readQuery(r, info)
	if err != nil {
		return r, err
	}
	violations = append(violations, bad...)
	ctx := r.Context()
	var body []byte
	if g.body != nil {
		read, value, err := g.readBody(r, info)
		if err == nil && len(read.Violations)+len(violations) > 0 {
			err = errInvalid.WithFields(append(violations, read.Violations...)...)
		}
		if err != nil {
			return r, err
		}
		if value != nil {
			ctx = context.WithValue(ctx, bodyKey{}, *value)
		}
		for _, asserted := range read.Organizations {
			if !sameOrganization(asserted, principal.From(ctx).Org) {
				ctx = context.WithValue(ctx, otherOrgKey{}, true)
			}
		}
		if info.IdempotencyKey != "" && value != nil {
			body = read.Sent
		}
	}
	if len(violations) > 0 {
		return r, errInvalid.WithFields(violations...)
	}
	if info.IdempotencyKey != "" {
		info.Fingerprint = fingerprint(r, g.op.ID, query, body)
	}
	u := *r.URL
	u.RawQuery = query
	r = r.WithContext(ctx)
	r.URL = &u
	r.Body = io.NopCloser(strings.NewReader(decodedBody))
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

// decodedBody stands in for a body on its way through the framework, which
// would otherwise copy and decode it once more; hand puts the value in place.
const decodedBody = "{}"

// bodyKey carries the decoded body through the framework to the handler.
type bodyKey struct{}

// hand gives the handler's input its body.
func (g *gate) hand(ctx context.Context, input reflect.Value) {
	if g.body == nil {
		return
	}
	field := input.FieldByIndex(g.bodyAt)
	field.SetZero() // the framework sets defaults in what it takes for the body
	if value, ok := ctx.Value(bodyKey{}).(reflect.Value); ok {
		field.Set(value.Elem())
	}
}

func (g *gate) readQuery(r *http.Request, info *request.Info) (string, []fault.Field, error) {
	query, ignored, violations, err := g.query.normalize(r.URL.RawQuery)
	if len(ignored) > 0 {
		info.Header.Set("X-Ignored-Params", headerList(ignored))
	}
	return query, violations, err
}

// checkParams checks the path and the headers. An integer in the path has one
// form, without 01 or +1: one object has one address.
func (g *gate) checkParams(r *http.Request) []fault.Field {
	var found []fault.Field
	for _, p := range g.params {
		value := r.PathValue(p.name)
		if p.in == "header" {
			value = r.Header.Get(p.name)
		}
		_, isID := ParseID(value)
		switch {
		case p.in == "path" && p.integer && !isID:
			found = append(found, fault.Field{In: p.in, Path: p.name, Code: "type", Message: "must be a positive integer in plain digits"})
		case p.in == "path" && strings.ContainsRune(value, 0):
			// Nothing stored has such a name: the operation answers not found.
		case value != "":
			found = append(found, p.shape.CheckParam(p.in, p.name, value)...)
		case p.required:
			found = append(found, fault.Field{In: p.in, Path: p.name, Code: "required", Message: "is required"})
		}
	}
	return found
}

// readBody returns the body in documented form and its value, a pointer to the
// type of the input's field Body. The value is nil if there is no body, or an
// invalid one.
func (g *gate) readBody(r *http.Request, info *request.Info) (shape.Result, *reflect.Value, error) {
	body, err := readBody(r, g.op.BodyLimit)
	if err != nil {
		return shape.Result{}, nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		if !g.op.OptionalBody {
			return shape.Result{}, nil, errBodyMissing
		}
		return shape.Result{}, nil, nil
	}
	var refuses func(string) bool
	if g.op.Strict {
		refuses = g.refuses
	}
	if len(body) <= quickBody {
		return g.decode(r.Context(), body, refuses, info, func() error { return nil })
	}
	var read shape.Result
	var value *reflect.Value
	err = Admitted(r.Context()).Work(r.Context(), func(pause func() error) error {
		var err error
		read, value, err = g.decode(r.Context(), body, refuses, info, pause)
		return err
	})
	return read, value, err
}

// quickBody is read in less time than it takes to wait for a turn.
const quickBody = 64 << 10

// decode checks a body and returns it with its value; see readBody.
func (g *gate) decode(ctx context.Context, body []byte, refuses func(string) bool, info *request.Info, pause func() error) (shape.Result, *reflect.Value, error) {
	read, err := g.body.Read(body, refuses)
	if err != nil {
		return read, nil, err
	}
	if len(read.Ignored) > 0 {
		info.Ignored = read.Ignored
		info.Header.Set("X-Ignored-Fields", headerList(read.Ignored))
	}
	if len(read.Violations) > 0 {
		return read, nil, nil
	}
	if err := pause(); err != nil {
		return read, nil, err
	}
	value := reflect.New(g.bodyType)
	if read.Violations = shape.Decode(read.Body, value.Interface()); len(read.Violations) > 0 {
		return read, nil, nil
	}
	if c, ok := value.Interface().(Checker); ok {
		if err := c.Check(ctx); err != nil {
			f, isFault := fault.From(err)
			if !isFault || f.Kind != fault.Validation || len(f.Fields) == 0 {
				return read, nil, err
			}
			read.Violations = f.Fields
		}
	}
	if info.IdempotencyKey != "" {
		if err := pause(); err != nil {
			return read, nil, err
		}
		read.Sent = g.body.Named(body)
	}
	return read, &value, nil
}

// refuses says whether a strict operation refuses an undocumented field. A
// field of the response is ignored, so that a resource can be read, edited and
// sent back.
func (g *gate) refuses(name string) bool { return !g.readOnly[name] }

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

// otherOrgKey marks a request that asserts another organization than its
// key's, until validation is done and it can be refused.
type otherOrgKey struct{}
