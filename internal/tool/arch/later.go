package arch

import (
	"go/ast"
	"path"
	"strings"
)

// later finds statements that are sent later and have an answer. The only form that it
// accepts is db.New(tx.Later()).Name(…) with a query that is :exec. A queue that is kept or
// passed on could be given any statement.
func later(t *tree, bad report) {
	kinds := map[string]string{} // of queries, by folder and name
	for _, q := range t.queries {
		kinds[path.Dir(q.file)+" "+q.name] = q.kind
	}
	for _, f := range t.files {
		if f.test || f.gen || !matches("internal/...", f.dir) {
			continue
		}
		seen := map[*ast.SelectorExpr]bool{}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr: // comes before its parts
				dir, name, queue := sentLater(f, n)
				if queue == nil {
					break
				}
				seen[queue] = true
				if kinds[dir+" "+name] != "exec" {
					bad(f.path, t.line(n.Pos()), "sends %s later, which is not an :exec query: its answer would be empty", name)
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "Later" && !seen[n] {
					bad(f.path, t.line(n.Pos()), "hides what is sent later; write db.New(tx.Later()).Name(…)")
				}
			}
			return true
		})
	}
}

// sentLater takes db.New(tx.Later()).Name(…) apart: the folder of the query's file, its
// name, and tx.Later, which is nil if the call is another one.
func sentLater(f *file, call *ast.CallExpr) (dir, name string, queue *ast.SelectorExpr) {
	query, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", "", nil
	}
	made, ok := query.X.(*ast.CallExpr)
	if !ok || len(made.Args) != 1 || spokenName(made) != "New" {
		return "", "", nil
	}
	taken, ok := made.Args[0].(*ast.CallExpr)
	if !ok || spokenName(taken) != "Later" {
		return "", "", nil
	}
	queue, _ = taken.Fun.(*ast.SelectorExpr)
	return f.queriesOf(made.Fun), query.Sel.Name, queue
}

// queriesOf is the folder of the queries that db.New is generated from; empty if it is
// another New.
func (f *file) queriesOf(e ast.Expr) string {
	made, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	for _, i := range f.imports {
		name := i.alias
		if name == "" {
			name = path.Base(i.path)
		}
		if dir, generated := strings.CutSuffix(i.ours, "/internal/db"); generated && name == spokenName(made.X) {
			return dir
		}
	}
	return ""
}
