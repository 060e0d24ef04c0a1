package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// The interface of these tests: a small domain of things.

var errThing = fault.New(fault.NotFound, "thing_not_found", "There is no such thing.")

type innerBody struct {
	InnerName string         `json:"innerName,omitempty" maxLength:"5"`
	Labels    httpapi.Object `json:"labels,omitempty"`
}

type thingBody struct {
	Name       string          `json:"name" minLength:"1" maxLength:"10"`
	MaxCount   int             `json:"maxCount,omitempty" minimum:"1" maximum:"9"`
	DatasetID  httpapi.IDInput `json:"datasetId,omitzero"`
	StartsAt   httpapi.Time    `json:"startsAt,omitzero"`
	Inner      *innerBody      `json:"inner,omitempty"`
	InnerList  []innerBody     `json:"innerList,omitempty"`
	Metadata   httpapi.Object  `json:"metadata,omitempty"`
	SomeOutput httpapi.JSON    `json:"someOutput,omitzero"`
}

type createThing struct {
	DryRun int `query:"dryRun" minimum:"0" maximum:"1"`
	Body   thingBody
}

type thingOut struct {
	ETag string `header:"ETag"`
	Body thingView
}

type thingView struct {
	ID         httpapi.ID     `json:"id"`
	Name       string         `json:"name"`
	MaxCount   int            `json:"max_count"`
	DatasetID  httpapi.ID     `json:"dataset_id,omitzero"`
	StartsAt   httpapi.Time   `json:"starts_at,omitzero"`
	InnerNames []string       `json:"inner_names"`
	Metadata   httpapi.Object `json:"metadata,omitempty"`
	SomeOutput httpapi.JSON   `json:"some_output,omitzero"`
	Patched    map[string]any `json:"patched,omitempty"`
	CreatedAt  httpapi.Time   `json:"created_at"`
}

type listThings struct {
	httpapi.CursorPage
	SortBy string                  `query:"sortBy" enum:"name,age"`
	Colour []string                `query:"colour,explode" enum:"red,green,blue"`
	Broken httpapi.Filter[bool]    `query:"isBroken"`
	Weight httpapi.Filter[float64] `query:"minWeight"`
}

const thingCursor = httpapi.IDCursor("things")

type thingsOut struct {
	Body thingsView
}

type thingsView struct {
	After  int64    `json:"after"`
	Colour []string `json:"colour"`
	Broken *bool    `json:"broken"`
	httpapi.CursorPaging
}

type patchThing struct {
	ThingPath
	httpapi.IfMatch
	Body patchBody
}

// ThingPath is exported because the framework reads exported fields only.
type ThingPath struct {
	ID string `path:"id" maxLength:"32"`
}

type patchBody struct {
	Name            httpapi.Set[string]   `json:"name,omitzero"`
	Note            httpapi.Patch[string] `json:"note,omitzero"`
	MaxCount        httpapi.Patch[int]    `json:"maxCount,omitzero"`
	ExpectedVersion int64                 `json:"expectedVersion,omitzero" minimum:"1"`
}

type okOut struct {
	Body okView
}

type okView struct {
	OK     bool  `json:"ok"`
	Status int64 `json:"status,omitzero"`
}

// kit is an edge with the things; call is what the handler of GET /call does.
type kit struct {
	edge *httpapi.Edge
	org  principal.OrgID
	call func(context.Context) (*okOut, error)

	budget budget
}

func config() httpapi.Config {
	return httpapi.Config{RequestTimeout: 30 * time.Second, ShutdownTimeout: 10 * time.Second}
}

func newKit(t testing.TB, cfg httpapi.Config, checks ...httpapi.Check) *kit {
	t.Helper()
	k := &kit{org: principal.NewOrgID(), budget: budget{left: 64 << 20}}
	k.edge = httpapi.New(httpapi.Options{Config: cfg, Build: "test", Ready: checks, Authenticate: k.authenticate, Admit: k.budget.admit})
	op := func(id, method, path string, scope principal.Scope, status int) httpapi.Op {
		return httpapi.Op{ID: id, Method: method, Path: path, Tag: "Things", Scope: scope, Status: status, Summary: id}
	}
	httpapi.Register(k.edge, op("listThings", "GET", "/things", principal.EvalRead, 200), func(_ context.Context, in *listThings) (*thingsOut, error) {
		after, err := thingCursor.Below(in.Cursor)
		if err != nil {
			return nil, err
		}
		return &thingsOut{Body: thingsView{After: after, Colour: httpapi.OrEmpty(in.Colour), Broken: in.Broken.OrNil(), CursorPaging: in.Paging("", 0)}}, nil
	})
	httpapi.Register(k.edge, op("createThing", "POST", "/things", principal.EvalWrite, 201), create)
	strict := op("createStrict", "POST", "/strict", principal.AdminOrg, 201)
	strict.Strict = true
	httpapi.Register(k.edge, strict, create)
	httpapi.Register(k.edge, op("getThing", "GET", "/things/{id}", principal.EvalRead, 200), func(context.Context, *ThingPath) (*okOut, error) {
		return nil, errThing
	})
	patch := op("updateThing", "PATCH", "/things/{id}", principal.EvalWrite, 200)
	patch.OptionalBody = true
	httpapi.Register(k.edge, patch, update)
	httpapi.Register(k.edge, op("call", "GET", "/call", principal.AnyKey, 200), func(ctx context.Context, _ *struct{}) (*okOut, error) {
		return k.call(ctx)
	})
	httpapi.Register(k.edge, op("stream", "GET", "/stream", principal.AnyKey, 200), func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			_, _ = io.WriteString(ctx.BodyWriter(), "the beginning")
			_, err := k.call(ctx.Context())
			panic(err)
		}}, nil
	})
	again := op("again", "POST", "/again", principal.EvalWrite, 200)
	again.Repeatable = true
	httpapi.Register(k.edge, again, nothing)
	both := op("copy", "POST", "/copy", principal.EvalWrite, 200)
	both.Also = principal.TracesRead
	httpapi.Register(k.edge, both, nothing)
	k.edge.Tag("Things", "What these tests are about.")
	k.edge.Seal()
	return k
}

func create(_ context.Context, in *createThing) (*thingOut, error) {
	b := in.Body
	out := &thingOut{ETag: httpapi.ETag(1), Body: thingView{
		ID: 7, Name: b.Name, MaxCount: b.MaxCount, DatasetID: httpapi.ID(b.DatasetID), StartsAt: b.StartsAt, Metadata: b.Metadata,
		SomeOutput: b.SomeOutput, InnerNames: []string{}, CreatedAt: httpapi.Time(time.Unix(1e9, 123456789)),
	}}
	if b.Inner != nil {
		out.Body.InnerNames = append(out.Body.InnerNames, b.Inner.InnerName)
	}
	for _, i := range b.InnerList {
		out.Body.InnerNames = append(out.Body.InnerNames, i.InnerName)
	}
	return out, nil
}

func update(_ context.Context, in *patchThing) (*thingOut, error) {
	version, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	if in.ThingPath.ID != "7" {
		return nil, errThing
	}
	if version > 1 {
		return nil, fault.New(fault.Conflict, "version_conflict", "The thing has changed.")
	}
	note, count := "before", 5
	in.Body.Name.Apply(&note)
	in.Body.Note.Apply(&note)
	in.Body.MaxCount.Apply(&count)
	return &thingOut{Body: thingView{ID: 7, Name: note, MaxCount: count, InnerNames: []string{}}}, nil
}

// authenticate knows a few keys by name.
func (k *kit) authenticate(_ context.Context, token string) (principal.Caller, error) {
	switch token {
	case "all":
		return principal.Caller{Org: k.org, Scopes: principal.Scopes}, nil
	case "write":
		return principal.Caller{Org: k.org, Scopes: []principal.Scope{principal.EvalWrite}}, nil
	case "read":
		return principal.Caller{Org: k.org, Scopes: []principal.Scope{principal.EvalRead}}, nil
	case "away":
		return principal.Caller{}, fault.New(fault.Unavailable, "database_unavailable", "The database is away.")
	case "broken":
		return principal.Caller{}, errors.New("password is hunter2")
	}
	return principal.Caller{}, fault.New(fault.Unauthorized, "key_unknown", "There is no such API key.")
}

// answer is what the edge said.
type answer struct {
	Status int
	Header http.Header
	Body   string
	Error  struct {
		Code      string         `json:"code"`
		Message   string         `json:"message"`
		Details   map[string]any `json:"details"`
		RequestID string         `json:"requestId"`
	} `json:"error"`
}

func (a answer) reason() string { s, _ := a.Error.Details["reason"].(string); return s }

// fields lists the violations as "in path code".
func (a answer) fields() []string {
	var out []string
	list, _ := a.Error.Details["fields"].([]any)
	for _, f := range list {
		m := f.(map[string]any)
		out = append(out, m["in"].(string)+" "+m["path"].(string)+" "+m["code"].(string))
	}
	return out
}

// do sends a request with a key that may do everything; headers are given as
// "Name: value", and an empty value removes the header.
func (k *kit) do(t testing.TB, method, target, body string, headers ...string) answer {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequestWithContext(t.Context(), method, target, r)
	req.Header.Set("Authorization", "Bearer all")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
	}
	rec := httptest.NewRecorder()
	k.edge.ServeHTTP(rec, req)
	a := answer{Status: rec.Code, Header: rec.Header(), Body: rec.Body.String()}
	if rec.Code >= 400 && method != http.MethodHead {
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &a), a.Body)
		require.Equal(t, rec.Header().Get("X-Request-Id"), a.Error.RequestID)
		require.NotEmpty(t, a.reason())
	}
	return a
}

// logged returns the lines that were logged with a word in them.
func logged(word string) []string { return book().find(word) }

type logBook struct {
	slog.Handler
	mu  sync.Mutex
	buf bytes.Buffer
}

var book = sync.OnceValue(func() *logBook {
	b := &logBook{}
	b.Handler = slog.NewTextHandler(&b.buf, nil)
	slog.SetDefault(slog.New(b))
	return b
})

func (b *logBook) Handle(ctx context.Context, r slog.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Handler.Handle(ctx, r)
}

func (b *logBook) find(word string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for line := range strings.Lines(b.buf.String()) {
		if strings.Contains(line, word) {
			out = append(out, line)
		}
	}
	return out
}
