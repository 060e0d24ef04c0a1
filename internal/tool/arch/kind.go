package arch

import (
	"go/ast"
	"io/fs"
	"regexp"
	"slices"
)

// kindDir has the table of the kinds of evidence, and the names that are generated from it.
// foreignDir reads what others send: there, only what is put into a record is a field.
const (
	kindDir    = "internal/agent/evidence/kind"
	foreignDir = "internal/agent/evidence/internal/normal"
)

// keyed are the functions that take the name of a field: in foreignDir, or elsewhere.
var keyed = map[bool][]string{
	true:  {"any", "boolean", "choice", "digested", "key", "number", "text", "texts", "time"},
	false: {"Field", "Integer", "Objects", "Text", "Time", "Within"},
}

var generatedName = regexp.MustCompile(`(?m)^\t\w+ +(Name )?= "(.+)"$`)

// kindNames finds kinds and fields that are named by a text, which nobody notices if it is misspelt.
func kindNames(t *tree, bad report) {
	src, _ := fs.ReadFile(t.fsys, kindDir+"/name_gen.go")
	kinds, fields := map[string]bool{}, map[string]bool{}
	for _, m := range generatedName.FindAllStringSubmatch(string(src), -1) {
		kinds[m[2]], fields[m[2]] = m[1] != "", m[1] == ""
	}
	for _, f := range t.files {
		if f.test || f.dir == kindDir || !matches("internal/agent/...", f.dir) || matches("internal/agent/policy/internal/...", f.dir) {
			continue // the engine of policies knows no records
		}
		// A text is wrong if it is one of some names; or, where no other text can be, if it is not reported as a kind's anyway.
		name := func(e ast.Expr, wrong bool, known map[string]bool) {
			if l, ok := e.(*ast.BasicLit); ok && literalText(l) != "" && known[literalText(l)] == wrong {
				bad(f.path, t.line(l.Pos()), "names a kind or a field by a text: take what make gen writes into %s", kindDir)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				name(n, true, kinds)
			case *ast.IndexExpr:
				if s, ok := n.X.(*ast.SelectorExpr); f.dir != foreignDir || ok && s.Sel.Name == "values" {
					name(n.Index, true, fields)
				}
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Values" {
						name(e.(*ast.KeyValueExpr).Key, false, kinds)
					}
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 && slices.Contains(keyed[f.dir == foreignDir], s.Sel.Name) {
					name(n.Args[0], false, kinds)
				}
			}
			return true
		})
	}
}
