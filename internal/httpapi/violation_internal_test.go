package httpapi

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
)

// verbs finds the places of a message that are filled in.
var verbs = regexp.MustCompile(`%[a-z]`)

func TestEveryFrameworkMessageHasItsCode(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		t.Run(r.text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, r.text, *r.message, "the framework uses our words")
			message := verbs.ReplaceAllStringFunc(r.text, func(verb string) string {
				if verb == "%d" || r.code == "min" || r.code == "max" {
					return "17"
				}
				return "filled"
			})
			f := toField(&huma.ErrorDetail{Message: message, Location: "body.list[2].inner", Value: "canary"})
			require.Equal(t, r.code, f.Code)
			require.Equal(t, "body", f.In)
			require.True(t, strings.HasPrefix(f.Path, "/list/2/inner"), f.Path)
			require.NotContains(t, fmt.Sprint(f), "canary")
			switch r.code {
			case "min", "max", "length":
				require.InDelta(t, 17.0, f.Limit, 0)
			case "format":
				require.NotContains(t, f.Message, "filled", "a parser's words stay inside")
			}
		})
	}
}

func TestNoFrameworkMessageIsForgotten(t *testing.T) {
	t.Parallel()
	pkg, err := build.Import("github.com/danielgtaylor/huma/v2/validation", ".", build.FindOnly)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(pkg.Dir, "*.go"))
	require.NoError(t, err)
	found := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Msg") {
				found += len(spec.Names)
			}
			return true
		})
	}
	require.Len(t, rules, found)
}

func TestNoMessageBeginsAnother(t *testing.T) {
	t.Parallel()
	for i, a := range rules {
		head, rest, verb := strings.Cut(a.text, "%")
		for j, b := range rules {
			if i != j && (verb || rest != "") {
				require.False(t, strings.HasPrefix(b.text, head), "%q begins %q", a.text, b.text)
			}
			require.True(t, i == j || a.text != b.text)
		}
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	for loc, want := range map[string][2]string{
		"body":                   {"body", ""},
		"body.name":              {"body", "/name"},
		"body.items[3].weight":   {"body", "/items/3/weight"},
		"body[3].weight":         {"body", "/3/weight"},
		"body.matrix[1][2]":      {"body", "/matrix/1/2"},
		"body.a/b":               {"body", "/a~1b"},
		"query.limit":            {"query", "limit"},
		"query.status[1]":        {"query", "status"},
		"path.id":                {"path", "id"},
		"header.If-Match":        {"header", "If-Match"},
		"query":                  {"query", ""},
		"body.inner.inner[0].x~": {"body", "/inner/inner/0/x~0"},
	} {
		in, path := location(loc)
		require.Equal(t, want, [2]string{in, path}, loc)
	}
}
