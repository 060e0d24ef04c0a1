package main

import (
	"bufio"
	"cmp"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/httpapi"
)

// The scopes of the tables that are no scopes of keys.
const (
	public = "public"
	anyKey = "any"
)

// rule is what the interface promises of one operation: a row of the table.
type rule struct {
	method, path string
	scope        string
	also         string // a second scope, for what copies from one area into another
	annotators   bool   // annotators may call it although it writes
	people       bool   // only a person may call it, not a service key
	self         bool   // only a person may call it, with a key of their own
}

// scopes are the scopes that a key needs.
func (r rule) scopes() []string {
	switch {
	case r.scope == public || r.scope == anyKey:
		return nil
	case r.also != "":
		return []string{r.scope, r.also}
	}
	return []string{r.scope}
}

func (r rule) name() string { return r.method + " " + r.path }

func (r rule) writes() bool { return r.method != http.MethodGet }

func readTable(t testing.TB, file string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var rows [][]string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	require.NoError(t, lines.Err())
	return rows
}

// readRules is the table of every operation, by "METHOD path".
func readRules(t testing.TB) map[string]rule {
	t.Helper()
	out := map[string]rule{}
	for _, row := range readTable(t, "operations.tsv") {
		require.Len(t, row, 5)
		r := rule{method: row[0], path: row[1], annotators: row[3] == "yes", people: row[4] == "people", self: row[4] == "self"}
		r.scope, r.also, _ = strings.Cut(row[2], "+")
		require.NotContains(t, out, r.name())
		out[r.name()] = r
	}
	return out
}

// document is the part of the OpenAPI document that the matrix reads.
type document struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name     string `json:"name"`
			In       string `json:"in"`
			Required bool   `json:"required"`
			Schema   schema `json:"schema"`
		} `json:"parameters"`
		RequestBody struct {
			Required bool `json:"required"`
			Content  map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
		Security []map[string][]string `json:"security"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type schema struct {
	Type       any               `json:"type"`
	Ref        string            `json:"$ref"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	OneOf      []schema          `json:"oneOf"`
	AnyOf      []schema          `json:"anyOf"`
}

func parseDocument(t testing.TB, text []byte) document {
	t.Helper()
	var d document
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// TestScopes holds the route table against the committed tables: each
// operation has the scope that was promised, or the two.
func TestScopes(t *testing.T) {
	t.Parallel()
	text, err := app.Document()
	require.NoError(t, err)
	d := parseDocument(t, text)
	rules := readRules(t)

	served := map[string]string{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			require.LessOrEqual(t, len(op.Security), 1, "%s %s", method, path)
			scope := public
			for _, alternative := range op.Security {
				require.Len(t, alternative, 1)
				scope = cmp.Or(strings.Join(alternative["apiKey"], "+"), anyKey)
			}
			served[strings.ToUpper(method)+" "+path] = scope
		}
	}
	for name, scope := range served {
		require.Contains(t, rules, name, "%s is in no table: add it to testdata/operations.tsv", name)
		r := rules[name]
		require.Equal(t, cmp.Or(strings.Join(r.scopes(), "+"), r.scope), scope, name)
	}
	require.Len(t, rules, len(served), "the table names operations that do not exist")

	open := []string{}
	for name, scope := range served {
		if scope == public {
			open = append(open, name)
		}
	}
	slices.Sort(open)
	require.Equal(t, []string{"GET /api/health", "GET /api/health/ready", "GET /api/openapi.json", "GET /api/reference"}, open, "what needs no key")

	base := 0
	for _, row := range readTable(t, "base.tsv") {
		if scope, ok := served[row[0]+" "+row[1]]; ok {
			require.Equal(t, row[2], scope, "%s %s", row[0], row[1])
			base++
		}
	}
	require.Positive(t, base)
}

// names are the operations of an edge as "METHOD path".
func names(ops []httpapi.Op) []string {
	out := make([]string, len(ops))
	for i, op := range ops {
		out[i] = op.Method + " " + op.Path
	}
	return out
}
