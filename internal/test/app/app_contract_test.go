package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// requestsPerOperation is the least number of bad requests that every
// operation of the route table gets.
const requestsPerOperation = 500

// evaluated lets a maker name an evaluation with a run that waits for its client,
// which only a worker brings about.
func evaluated(t *testing.T, m *specimen.Maker) {
	t.Helper()
	ctx, c := t.Context(), m.Client
	d := c.Dataset(t, testkit.NewDataset{})
	added, err := c.AddItems(ctx, d.ID, []testkit.Item{{Input: "Why?", ExpectedOutput: "Because."}, {Input: "How?", ExpectedOutput: "So."}})
	require.NoError(t, err)
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}, "externalMetrics": []any{map[string]any{"name": "politeness"}}})
	var artifacts struct {
		Artifacts []struct {
			ID string `json:"artifact_id"`
		} `json:"artifacts"`
	}
	for range 2 {
		r := waiting(t, c, e.ID)
		require.NoError(t, c.PutResults(ctx, e.ID, r.RunID, []map[string]any{{"testCaseId": added.Items[0].ID, "output": "Because."}}, true))
		c.Ended(t, r)
	}
	// Files come shortly after the end of a run.
	require.Eventually(t, func() bool {
		_, err := c.Call(ctx, http.MethodGet, "/api/evaluations/"+e.ID+"/artifacts", nil, &artifacts)
		return err == nil && len(artifacts.Artifacts) > 0
	}, 10*time.Minute, 50*time.Millisecond)
	m.Put("dataset", d.ID)
	m.Put("item", added.Items[0].ID)
	m.Put("evaluation", e.ID)
	m.Put("run", waiting(t, c, e.ID).RunID)
	m.Put("artifact", artifacts.Artifacts[0].ID)
}

// completed names the two runs of an organization that can be compared.
func completed(c *testkit.Client) string {
	ctx := context.Background()
	all, err := c.ListEvaluations(ctx, "")
	if err != nil || len(all.Evaluations) == 0 {
		return ""
	}
	runs, err := c.ListEvaluationRuns(ctx, all.Evaluations[0].ID, "status=completed")
	if err != nil || len(runs.Runs) != 2 {
		return ""
	}
	return "?baselineRunId=" + runs.Runs[1].RunID + "&candidateRunId=" + runs.Runs[0].RunID
}

// watched is a watch that stays open.
func watched(t *testing.T, c *testkit.Client, key string) string {
	t.Helper()
	j, err := c.CreateJudgeConfig(t.Context(), map[string]any{"key": key, "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	d := c.Dataset(t, testkit.NewDataset{})
	_, err = c.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "Why?", Output: "Because. [[score:1]]"}})
	require.NoError(t, err)
	w, err := c.CreateJudgeWatch(t.Context(), j.ID, map[string]any{"datasetId": d.ID})
	require.NoError(t, err)
	return w.ID
}

// cancelled cancels every run, so that nothing is in use.
func cancelled(t *testing.T, c *testkit.Client) {
	t.Helper()
	all, err := c.ListEvaluations(t.Context(), "")
	require.NoError(t, err)
	for _, e := range all.Evaluations {
		runs, err := c.ListEvaluationRuns(t.Context(), e.ID, "status=running")
		require.NoError(t, err)
		for _, r := range runs.Runs {
			_, err := c.CancelEvaluationRun(t.Context(), e.ID, r.RunID)
			require.NoError(t, err)
		}
	}
}

// waiting is a run that has begun and waits for its client.
func waiting(t *testing.T, c *testkit.Client, evaluation string) testkit.Run {
	t.Helper()
	r, err := c.StartRun(t.Context(), evaluation, nil)
	require.NoError(t, err)
	// A worker begins the run; the interface is the only place to see it.
	require.Eventually(t, func() bool {
		r, err = c.GetEvaluationRun(t.Context(), evaluation, r.RunID)
		return err == nil && r.Phase == "executing"
	}, 10*time.Minute, 50*time.Millisecond)
	return r
}

// operation is a row of the route table with what is needed to call it.
type operation struct {
	httpapi.Op
	path string // with its parameters filled in
	doc  *docOperation
	body []byte // an accepted body, nil if the operation takes none
	only []string
	// query is what an accepted request must say beyond path and body. Bad
	// requests leave it out, so that none of them can be accepted by mistake.
	query string
	// before makes the call acceptable; nil if it is.
	before func(*testing.T, *testkit.Client)
}

func (o operation) public() bool { return o.Scope == principal.Public }

// raw operations speak OTLP, whose JSON is not as strict as ours.
func (o operation) raw() bool { return o.Raw }

// operations fills in the whole route table for one organization.
func operations(t *testing.T, k *testkit.Kit, c *testkit.Client, d *document) []operation {
	t.Helper()
	rows, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	defer func() { _ = rows.Close(context.WithoutCancel(t.Context())) }()
	newMaker := func() *specimen.Maker {
		m := specimen.NewMaker(c, rows, "Contract")
		m.InPerson = true
		m.Put("provider", provider().URL)
		return m
	}
	// Evaluations have a dataset of their own, which they keep from being deleted.
	others, evaluations := newMaker(), newMaker()
	evaluated(t, evaluations)
	others.Put("judge watch", watched(t, c, "watched"))
	methods := map[string][]string{}
	for _, op := range k.App.Edge.Ops() {
		for _, other := range k.App.Edge.Ops() {
			if leadsTo(other.Path, op.Path) {
				methods[op.Path] = append(methods[op.Path], other.Method)
			}
		}
	}
	var out []operation
	for _, op := range k.App.Edge.Ops() {
		m := others
		if strings.HasPrefix(op.Path, "/api/evaluations/") || strings.Contains(specimen.OfRoute(op.Method+" "+op.Path).Query, "{run}") {
			m = evaluations
		}
		call := m.Call(t, specimen.OfRoute(op.Method+" "+op.Path))
		o := operation{Op: op, path: call.Path, query: call.Query, doc: d.operation(t, op), only: methods[op.Path]}
		switch op.ID {
		case "compareEvaluationRuns":
			o.query = completed(c)
		case "decideEvaluationRun":
			runs, err := url.ParseQuery(strings.TrimPrefix(completed(c), "?"))
			require.NoError(t, err)
			o.path = "/api/evaluations/" + m.ID(t, "evaluation") + "/runs/" + runs.Get("candidateRunId") + "/decisions"
		case "addEvaluationRunScores":
			evaluation := m.ID(t, "evaluation")
			r := waiting(t, c, evaluation)
			require.NoError(t, c.PutResults(t.Context(), evaluation, r.RunID, []map[string]any{{"testCaseId": m.ID(t, "item"), "output": "Because."}}, false))
			o.path = "/api/evaluations/" + evaluation + "/runs/" + r.RunID + "/results/" + m.ID(t, "item") + "/scores"
		case "cancelEvaluationRun":
			// Sending results ends the other run.
			evaluation := m.ID(t, "evaluation")
			o.path = "/api/evaluations/" + evaluation + "/runs/" + waiting(t, c, evaluation).RunID + "/cancel"
		case "checkJudgeWatch", "stopJudgeWatch":
			// A watch of a dataset without items ends by itself.
			o.path = strings.Replace(op.Path, "{id}", watched(t, c, strings.ToLower(op.ID)), 1)
		case "cancelJudgeBackfill":
			o.path = "/api/llm-judge/rules/" + m.ID(t, "judge rule") + "/backfills/" + m.ID(t, "quiet backfill") + "/cancel"
		case "cancelJudgeProbe":
			o.path = "/api/llm-judge/probes/" + m.ID(t, "quiet probe") + "/cancel"
		case "updateAdjudicationItem", "assignAdjudicationItem", "decideAdjudicationItem", "createGroundTruth", "addAdjudicationItemToCalibration", "promoteAdjudicationItemToGolden":
			o.path = strings.Replace(op.Path, "{id}", adjudicated(t, m.Fork(), op.ID), 1)
		case "deleteEvaluation":
			o.before = cancelled
		}
		if o.doc.body != nil {
			require.NotEmpty(t, call.Body, "%s takes a body; add one to its area in testkit/specimen", op.ID)
			o.body = []byte(call.Body)
		}
		if op.ID == "createJudgeWatch" { // which keeps its dataset from being deleted
			o.body = []byte(`{"datasetId":"` + c.Dataset(t, testkit.NewDataset{}).ID + `"}`)
		}
		out = append(out, o)
	}
	require.Len(t, out, len(k.App.Edge.Ops()), "every operation is covered")
	return out
}

// adjudicated is an item of its own for an operation, as far as the operation needs it.
func adjudicated(t *testing.T, m *specimen.Maker, operation string) string {
	t.Helper()
	id := m.Make(t, "adjudication item")
	number, err := strconv.ParseInt(id, 10, 64)
	require.NoError(t, err)
	switch operation {
	case "createGroundTruth", "addAdjudicationItemToCalibration", "promoteAdjudicationItemToGolden":
		_, err = m.Client.DecideAdjudicationItem(t.Context(), number, map[string]any{"decision": "pass", "rationale": "As it should be."})
		require.NoError(t, err)
		if operation != "createGroundTruth" {
			_, err = m.Client.CreateGroundTruth(t.Context(), number, map[string]any{})
			require.NoError(t, err)
		}
	}
	return id
}

// leadsTo reports whether a path of the route table matches another one: the
// path of one trace matches the path of the traces' metrics too.
func leadsTo(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(a, b, func(a, b string) bool { return a == b || strings.HasPrefix(a, "{") && !strings.HasPrefix(b, "{") })
}

// TestContract holds every operation of the route table against the rules
// that all of them share.
//
// It is not parallel: it reads the log of the process, which others write too.
func TestContract(t *testing.T) {
	logs := captureLogs()
	k := testkit.Own(t, "its streams end when its requests do", func(cfg *app.Config) { cfg.HTTP.RequestTimeout = 30 * time.Second })
	k.Work(t)
	d := readDocument(t)

	t.Run("the answers of a walk through every operation match the document", func(t *testing.T) {
		t.Parallel()
		walk(t, k, d)
	})

	t.Run("every bad request is refused in the documented form", func(t *testing.T) {
		t.Parallel()
		c := person(t, k)
		keys := weakKeys(t, k, c)
		ops := operations(t, k, c, d)
		var total atomic.Int64
		t.Run("operation", func(t *testing.T) {
			for _, op := range ops {
				t.Run(op.ID, func(t *testing.T) {
					t.Parallel()
					h := fnv.New64a()
					_, _ = io.WriteString(h, op.ID)
					g := &generator{rng: rand.New(rand.NewPCG(h.Sum64(), 1)), doc: d, op: op, key: c.Key.Reveal(), weak: keys}
					n := g.attack(t, k.App.Edge)
					total.Add(int64(n))
					t.Logf("%s: %d bad requests", op.ID, n)
				})
			}
		})
		t.Logf("%d bad requests to %d operations", total.Load(), len(ops))
		require.GreaterOrEqual(t, int(total.Load()), len(ops)*requestsPerOperation)
		require.Empty(t, logs.bad(), "a bad request is no reason for an error in the log")
	})
}

// provider answers as a model provider would whose key is good.
var provider = sync.OnceValue(func() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
	}))
})

// weakKey is a key that must not open an operation.
type weakKey struct {
	text   string
	scopes []principal.Scope
}

// weakKeys are keys that are real but lack something.
func weakKeys(t *testing.T, k *testkit.Kit, c *testkit.Client) []weakKey {
	t.Helper()
	var keys []weakKey
	for _, s := range principal.Scopes {
		others := slices.DeleteFunc(slices.Clone(principal.Scopes), func(o principal.Scope) bool { return o == s })
		keys = append(keys, weakKey{k.Key(t, c, others...).Key.Reveal(), others})
	}
	return keys
}

// attack sends the bad requests and returns how many there were.
func (g *generator) attack(t *testing.T, edge http.Handler) int {
	t.Helper()
	own, others := g.doc.envelope(t, g.op.raw()), g.doc.envelope(t, false)
	var problems []string
	requests := g.all()
	for _, b := range requests {
		envelope := own
		if path, _, _ := strings.Cut(b.target, "?"); path != g.op.path || b.method != g.op.Method {
			envelope = others // the request is not one of the operation
		}
		if text := g.check(edge, envelope, b); text != "" && len(problems) < 30 {
			problems = append(problems, text)
		}
	}
	require.Empty(t, problems, strings.Join(problems, "\n"))
	require.GreaterOrEqual(t, len(requests), requestsPerOperation)
	return len(requests)
}

// check sends one bad request and says what is wrong with its answer.
func (g *generator) check(edge http.Handler, envelope *jsonschema.Schema, b bad) string {
	rec := httptest.NewRecorder()
	r, err := b.request()
	if err != nil {
		return fmt.Sprintf("%s: the request cannot be made: %v", b.kind, err)
	}
	edge.ServeHTTP(rec, r)
	say := func(format string, args ...any) string {
		return fmt.Sprintf("%s %s %.120q %v %.120q → %d %.300s: ", b.kind, b.method, b.target, b.header, b.body, rec.Code, rec.Body) + fmt.Sprintf(format, args...)
	}
	if !slices.Contains(b.want, rec.Code) {
		return say("status must be one of %v", b.want)
	}
	if got := rec.Header().Get("Content-Type"); got != "application/json" {
		return say("content type is %q", got)
	}
	var e testkit.Envelope
	if err := json.Unmarshal(rec.Body.Bytes(), &e); err != nil {
		return say("is no envelope: %v", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(rec.Body.Bytes()))
	if err != nil {
		return say("is no JSON: %v", err)
	}
	if err := envelope.Validate(value); err != nil {
		return say("does not match the document: %v", err)
	}
	reason, _ := e.Error.Details["reason"].(string)
	switch {
	case e.Error.Code != codes[rec.Code]:
		return say("code must be %s", codes[rec.Code])
	case e.Error.Message == "" || reason == "":
		return say("message and reason must say something")
	case e.Error.RequestID == "" || e.Error.RequestID != rec.Header().Get("X-Request-Id"):
		return say("request id differs from the header %q", rec.Header().Get("X-Request-Id"))
	case rec.Code == http.StatusUnauthorized && !strings.HasPrefix(rec.Header().Get("WWW-Authenticate"), "Bearer"):
		return say("there is no challenge")
	case rec.Code == http.StatusMethodNotAllowed && !slices.Contains(strings.Split(rec.Header().Get("Allow"), ", "), g.op.Method):
		return say("Allow is %q", rec.Header().Get("Allow"))
	}
	whole := fmt.Sprint(rec.Body, strings.ReplaceAll(fmt.Sprint(rec.Header()), "map[", ""))
	if word := leak.FindString(whole); word != "" {
		return say("leaks %q", word)
	}
	for _, secret := range append(b.secrets, canary, g.key) {
		if strings.Contains(whole, secret) {
			return say("repeats what was sent")
		}
	}
	return ""
}

// codes is the interface's table of statuses.
var codes = map[int]string{
	400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 409: "CONFLICT",
	413: "PAYLOAD_TOO_LARGE", 415: "UNSUPPORTED_MEDIA_TYPE", 429: "RATE_LIMITED", 503: "SERVICE_UNAVAILABLE",
}

// leak finds words that belong to the inside.
var leak = regexp.MustCompile(`(?i)pgx|sql|goroutine|json:|\bhuma\b|panic|runtime error|\.go\b|github\.com|/work/|/usr/|/home/|strconv|jsontext|reflect|interface \{|\bmap\[|int64|float64|\*?httpapi\.|time\.Time|0x[0-9a-f]{6}`)

// bad is a request that must be refused.
type bad struct {
	kind    string
	method  string
	target  string
	header  http.Header
	body    []byte
	stream  io.Reader // instead of body, of unknown length
	declare int64     // a Content-Length to claim
	want    []int
	secrets []string
}

func (b bad) request() (*http.Request, error) {
	u, err := url.ParseRequestURI(b.target)
	if err != nil {
		return nil, err
	}
	r := &http.Request{
		Method: b.method, URL: u, RequestURI: b.target, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: b.header, Host: "assay.test", RemoteAddr: "192.0.2.1:1234", Body: http.NoBody,
	}
	switch {
	case b.stream != nil:
		r.Body, r.ContentLength = io.NopCloser(b.stream), -1
	case b.declare != 0:
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b.body)), b.declare
	case b.body != nil:
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b.body)), int64(len(b.body))
	}
	return r.WithContext(context.Background()), nil
}

// logBook keeps what the process logs at the level of errors.
type logBook struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

var captureLogs = sync.OnceValue(func() *logBook {
	b := &logBook{Handler: slog.Default().Handler()}
	slog.SetDefault(slog.New(b))
	return b
})

// Handle keeps errors and everything that smells of a panic. What a worker does is no
// answer to a request.
func (b *logBook) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	if strings.Contains(line, "ActivityType=") {
		return nil
	}
	if r.Level >= slog.LevelError || strings.Contains(line, "panic") || strings.Contains(line, "goroutine ") {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lines = append(b.lines, line)
	}
	return nil
}

// WithAttrs keeps one book for every logger.
func (b *logBook) WithAttrs([]slog.Attr) slog.Handler { return b }

func (b *logBook) bad() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.lines)
}

// person is a client that may call everything: an owner in person.
func person(t *testing.T, k *testkit.Kit) *testkit.Client {
	t.Helper()
	c := k.Org(t).InPerson(t)
	var scopes []string
	for _, s := range principal.Scopes {
		scopes = append(scopes, string(s))
	}
	key, err := c.CreateMyKey(t.Context(), testkit.NewKey{Name: "owner", Scopes: scopes, Mode: new("test")})
	require.NoError(t, err)
	return c.With(key.Key)
}
