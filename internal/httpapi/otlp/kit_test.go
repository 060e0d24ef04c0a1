package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/otlp"
)

const (
	protobuf  = "application/x-protobuf"
	plainJSON = "application/json"
	bodyLimit = 1 << 20
	exportRPC = "test.v1.TraceService/Export"
	notesRPC  = "test.v1.NoteService/Add"
)

var errFull = fault.New(fault.Unavailable, "memory_full", "There is no memory left for the body.").With("retryAfterSeconds", 7)

// kit is an edge with two operations: export, which is metered, and addNote,
// which is not and takes less.
type kit struct {
	edge   *httpapi.Edge
	org    principal.OrgID
	budget *budget
	handle otlp.Handler

	mu       sync.Mutex
	counted  int
	outcomes []httpapi.Outcome
}

func newKit(t testing.TB, change ...func(*httpapi.Options)) *kit {
	t.Helper()
	k := &kit{org: principal.NewOrgID(), budget: &budget{left: 64 << 20}, handle: echo}
	opts := httpapi.Options{
		Config:       httpapi.Config{RequestTimeout: 30 * time.Second, ShutdownTimeout: 10 * time.Second},
		Authenticate: k.authenticate, Limit: k.limit, Observe: k.observe, ActFor: actFor, Admit: k.budget.admit,
		SourceHashes: map[string]string{"export": strings.Repeat("a", 64), "addNote": strings.Repeat("b", 64)},
	}
	for _, c := range change {
		c(&opts)
	}
	k.edge = httpapi.New(opts)
	serve := func(ctx context.Context, r *otlp.Request) (*otlp.Response, error) {
		return k.handle(ctx, r)
	}
	otlp.Register(k.edge, otlp.Op{
		Op: httpapi.Op{
			ID: "export", Method: "POST", Path: "/v1/traces", Tag: "Traces", Summary: "Take spans", Scope: principal.TracesWrite, Status: 200,
			BodyLimit: bodyLimit, Metered: true,
		},
		ContentTypes: []string{protobuf, plainJSON}, RPC: exportRPC, Message: "Export",
	}, serve)
	otlp.Register(k.edge, otlp.Op{
		Op: httpapi.Op{
			ID: "addNote", Method: "POST", Path: "/v1/notes", Tag: "Notes", Summary: "Add a note", Scope: principal.EvalWrite, Status: 200,
			BodyLimit: 1000,
		},
		ContentTypes: []string{protobuf, plainJSON}, RPC: notesRPC, Message: "Note",
	}, serve)
	k.edge.Seal()
	return k
}

// echo answers with a copy of the body.
func echo(_ context.Context, r *otlp.Request) (*otlp.Response, error) {
	return &otlp.Response{Body: bytes.Clone(r.Body)}, nil
}

func (k *kit) authenticate(_ context.Context, token string) (principal.Caller, error) {
	c := principal.Caller{Org: k.org, KeyID: token, Scopes: principal.Scopes}
	switch token {
	case "all", "spent":
	case "other":
		c.Org = principal.NewOrgID()
	case "read":
		c.Scopes = []principal.Scope{principal.TracesRead}
	case "viewer":
		c.Role = principal.Viewer
	case "annotator":
		c.Role = principal.Annotator
	case "suspended":
		c.Suspended = true
	case "away":
		return c, fault.New(fault.Unavailable, "database_unavailable", "The database is away.")
	case "panic":
		panic("hunter2")
	default:
		return c, fault.New(fault.Unauthorized, "key_unknown", "There is no such API key.")
	}
	return c, nil
}

func (k *kit) limit(_ context.Context, c principal.Caller) (httpapi.Quota, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counted++
	return httpapi.Quota{Allowed: c.KeyID != "spent", Limit: 10, Retry: 3 * time.Second, Window: time.Hour}, nil
}

func (k *kit) observe(o httpapi.Outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.outcomes = append(k.outcomes, o)
}

// answered lists operation and status of every observed answer.
func (k *kit) answered() (operations []string, statuses []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range k.outcomes {
		operations, statuses = append(operations, o.Operation), append(statuses, o.Status)
	}
	return operations, statuses
}

var ada = uuid.MustParse("018f2f6e-7c4e-7cc0-8000-000000000001")

func actFor(_ context.Context, c principal.Caller, user string) (principal.Caller, error) {
	if user != ada.String() {
		return c, fault.New(fault.Forbidden, "not_a_member", "There is no such member.")
	}
	c.User = &ada
	return c, nil
}

// budget is memory that bodies share.
type budget struct {
	mu                sync.Mutex
	left, taken, most int
	opened, closed    int
	takes             int
}

func (b *budget) admit(ctx context.Context, _ principal.OrgID) (context.Context, httpapi.Account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	return ctx, &account{budget: b}
}

type account struct {
	budget *budget
	taken  int
}

func (a *account) Take(n int) error {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takes++
	if n > b.left {
		return errFull
	}
	b.left -= n
	b.taken += n
	a.taken += n
	b.most = max(b.most, b.taken)
	return nil
}

func (a *account) Work(ctx context.Context, task func(pause func() error) error) error {
	return task(ctx.Err)
}

func (a *account) Close() {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += a.taken
	b.taken -= a.taken
	a.taken = 0
	b.closed++
}

// settled fails unless every account was closed exactly once.
func (b *budget) settled(t testing.TB) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Zero(t, b.taken)
	require.Equal(t, b.opened, b.closed)
}

// answer is what an operation answered.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// post sends a body with a key that may do everything; headers are given as
// "Name: value", and an empty value removes the header.
func (k *kit) post(t testing.TB, target string, body io.Reader, headers ...string) answer {
	t.Helper()
	return k.send(httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, body), headers...)
}

// send is post for a request that says more.
func (k *kit) send(req *http.Request, headers ...string) answer {
	req.Header.Set("Authorization", "Bearer all")
	req.Header.Set("Content-Type", protobuf)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
	}
	rec := httptest.NewRecorder()
	k.edge.ServeHTTP(rec, req)
	return answer{rec.Code, rec.Header(), rec.Body.Bytes()}
}

// status reads an error that came as protobuf.
func (a answer) status(t testing.TB) *spb.Status {
	t.Helper()
	require.Equal(t, protobuf, a.header.Get("Content-Type"), "%s", a.body)
	var s spb.Status
	require.NoError(t, proto.Unmarshal(a.body, &s))
	return &s
}

// jsonError is an error that came as JSON.
type jsonError struct {
	Error   httpapi.ErrorBody `json:"error"`
	Code    int               `json:"code"`
	Message string            `json:"message"`
}

func (e jsonError) reason() string { s, _ := e.Error.Details["reason"].(string); return s }

func (a answer) json(t testing.TB) jsonError {
	t.Helper()
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	var e jsonError
	require.NoError(t, json.Unmarshal(a.body, &e), "%s", a.body)
	require.Equal(t, a.header.Get("X-Request-Id"), e.Error.RequestID)
	return e
}

// zeros reads as n zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// zipped compresses a text.
func zipped(t testing.TB, text io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.Copy(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// unsized hides the length of a body, so that it is sent in chunks.
type unsized struct{ io.Reader }

// watched notes whether anyone read it.
type watched struct {
	io.Reader
	read bool
}

func (w *watched) Read(p []byte) (int, error) {
	w.read = true
	return w.Reader.Read(p)
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
