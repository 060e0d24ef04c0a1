package main

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// matrix holds every operation of an edge against the rules. What breaks one
// is a finding; the matrix itself stops at none.
type matrix struct {
	world   *world
	edge    *httpapi.Edge
	rules   map[string]rule
	callers []caller

	doc      document
	checks   int
	findings []string
}

// check counts one comparison and keeps it if it failed.
func (m *matrix) check(ok bool, format string, args ...any) {
	m.checks++
	if !ok {
		m.findings = append(m.findings, fmt.Sprintf(format, args...))
	}
}

// run walks the whole matrix.
func (m *matrix) run(t testing.TB) {
	t.Helper()
	m.doc = parseDocument(t, m.edge.OpenAPI())
	before := m.world.snapshot(t)
	for _, name := range names(m.edge.Ops()) {
		r, ok := m.rules[name]
		m.check(ok, "%s: no rule says who may call it; add it to testdata/operations.tsv", name)
		if !ok {
			continue
		}
		m.seeded(name)
		for _, c := range m.callers {
			m.try(t, r, c)
		}
		m.identifiers(t, r)
	}
	after := m.world.snapshot(t)
	for table, digest := range before {
		m.check(after[table] == digest, "%s: the victim's rows were %s and are now %s", table, digest, after[table])
	}
}

// seeded fails for an operation that the matrix could not really call: one
// with a path parameter of no known kind, or a body that nobody wrote.
func (m *matrix) seeded(name string) {
	method, path, _ := strings.Cut(name, " ")
	for _, upTo := range specimen.Params(path) {
		what := kind(upTo)
		m.check(what != "" && len(m.world.theirs[what]) == perKind, "%s: no noun for the parameter of %s; add one to its area in testkit/specimen", name, upTo)
	}
	m.check(specimen.OfRoute(name).Body != "" || len(m.doc.Paths[path][strings.ToLower(method)].RequestBody.Content) == 0, "%s: takes a body; add one to its area in testkit/specimen", name)
}

// try sends one caller's request and compares the answer with the oracle's.
func (m *matrix) try(t testing.TB, r rule, c caller) {
	t.Helper()
	req := m.request(t, r.name(), func(upTo string) string {
		if c.facts.foreign {
			return middle(m.world.own[kind(upTo)]) // ours, and so not the caller's
		}
		return specimen.Absent(kind(upTo))
	})
	req.headers = c.headers
	got := send(t.Context(), t, m.edge, req)
	w := expect(r, c.facts, strings.Contains(specimen.Chosen(r.path), "{"))
	m.check(matches(got, w), "%s by %s: want %s, got %d %s %s", r.name(), c.name, w, got.status, got.reason(), got.header.Get("WWW-Authenticate"))
	shown := got.has(m.world.tells())
	m.check(shown == "", "%s by %s: the answer shows %q of the victim", r.name(), c.name, shown)
}

func (w want) String() string {
	if w.status == 0 {
		return "neither 401 nor 403"
	}
	return fmt.Sprintf("%d %s %s", w.status, w.reason, w.scope)
}

// codes are the codes of the refusals, one per status.
var codes = map[int]string{
	http.StatusBadRequest: "VALIDATION_ERROR", http.StatusUnauthorized: "UNAUTHORIZED",
	http.StatusForbidden: "FORBIDDEN", http.StatusNotFound: "NOT_FOUND",
}

func matches(a answer, w want) bool {
	if w.status == 0 {
		return a.status != http.StatusUnauthorized && a.status != http.StatusForbidden && a.status < http.StatusInternalServerError
	}
	e := a.envelope().Error
	if a.status != w.status || e.Code != codes[w.status] || w.reason != "" && a.reason() != w.reason {
		return false
	}
	challenge := a.header.Get("WWW-Authenticate")
	if w.status != http.StatusUnauthorized {
		return challenge == ""
	}
	if w.scope != "" {
		return e.Details["requiredScope"] == w.scope && challenge == `Bearer error="insufficient_scope", scope="`+w.scope+`"`
	}
	return strings.HasPrefix(challenge, "Bearer")
}

// TestMatrix finds no hole in the application.
func TestMatrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := &matrix{world: w, edge: w.kit.App.Edge, rules: readRules(t), callers: w.people(t)}
	m.run(t)
	m.sharedKeys(t)

	operations := m.edge.Ops()
	require.GreaterOrEqual(t, len(m.callers), 20)
	for _, f := range m.findings {
		t.Log(f)
	}
	// The sum goes to the standard output as it is, without a test's prefix.
	_, err := fmt.Fprintf(os.Stdout, "access holes %d operations %d callers %d checks %d\n", len(m.findings), len(operations), len(m.callers), m.checks)
	require.NoError(t, err)
	require.Empty(t, m.findings)
}

// sharedKeys repeats the victim's request with the victim's Idempotency-Key:
// what is remembered for one organization answers no other.
func (m *matrix) sharedKeys(t testing.TB) {
	t.Helper()
	got := send(t.Context(), t, m.edge, call{
		method: "POST", target: "/api/datasets", body: `{"name":"` + marker + ` for a moment"}`,
		headers: []header{bearer(m.world.home.Key.Reveal()), {"Idempotency-Key", "shared"}},
	})
	m.check(got.status == http.StatusCreated && got.header.Get("Idempotent-Replayed") == "", "another organization's Idempotency-Key replays: %d", got.status)
}

// callersNamed are the callers with the given names.
func callersNamed(all []caller, wanted ...string) []caller {
	return slices.DeleteFunc(slices.Clone(all), func(c caller) bool { return !slices.Contains(wanted, c.name) })
}
