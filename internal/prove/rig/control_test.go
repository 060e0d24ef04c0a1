package rig_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuardsAreWhereControlsExpectThem reads the controls of every proof. A change
// that moves a guard says so here, and not in the proof an hour later.
func TestGuardsAreWhereControlsExpectThem(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/control.go")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 4)
	found := 0
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if name, where, text := guard(n); text != "" {
				found++
				source, err := os.ReadFile(filepath.Join("../../..", where))
				require.NoError(t, err, "%s: %s", file, name)
				require.Equal(t, 1, strings.Count(string(source), text), "%s: the guard of %s is not once in %s: adapt the control to\n%s", file, name, where, text)
			}
			return true
		})
	}
	require.GreaterOrEqual(t, found, 16)
}

// guard is the name, file and text of a literal that has all three.
func guard(n ast.Node) (name, file, text string) {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return "", "", ""
	}
	for _, e := range literal.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, isName := pair.Key.(*ast.Ident)
		value, isText := pair.Value.(*ast.BasicLit)
		if !isName || !isText || value.Kind != token.STRING {
			continue
		}
		plain, err := strconv.Unquote(value.Value)
		if err != nil {
			continue
		}
		switch strings.ToLower(key.Name) {
		case "name":
			name = plain
		case "file":
			file = plain
		case "text":
			text = plain
		}
	}
	if name == "" || file == "" {
		return "", "", ""
	}
	return name, file, text
}
