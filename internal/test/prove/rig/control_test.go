package rig_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/prove/rig"
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
			if g := guard(n); g.In != "" {
				found++
				_, err := rig.Removable("../../..", []rig.Guard{g}, nil)
				require.NoError(t, err, file)
			}
			return true
		})
	}
	require.GreaterOrEqual(t, found, 40)
}

// guard is the guard that a literal is, if it has a name, a place and a text.
func guard(n ast.Node) (g rig.Guard) {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return g
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
		switch key.Name {
		case "Name":
			g.Name = plain
		case "In":
			g.In = plain
		case "Text":
			g.Text = plain
		}
	}
	if g.Name == "" || g.Text == "" {
		return rig.Guard{}
	}
	return g
}
