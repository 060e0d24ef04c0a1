package arch

import (
	"go/ast"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

var (
	// analyticTable is a table in a migration of ClickHouse.
	analyticTable = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS \{\{ \.Local "(\w+)" \}\}`)
	readsFrom     = regexp.MustCompile(`(?i)\b(?:from|join)\s+(\w+)`)
)

// statementOrg finds statements of ClickHouse that read a table and do not name
// the organization after it. They are texts of Go code, put together of pieces:
// a piece that is a name counts as what its declaration says.
func statementOrg(t *tree, bad report) {
	tables := t.analyticTables()
	if len(tables) == 0 {
		return
	}
	for _, f := range t.files {
		if f.test || f.gen || !matches("internal/...", f.dir) || matches("internal/test/...", f.dir) {
			continue
		}
		for _, decl := range f.syntax.Decls {
			t.texts(f, decl, func(at token.Pos, text string) {
				for i, m := range readsFrom.FindAllStringSubmatchIndex(text, -1) {
					if !tables[text[m[2]:m[3]]] {
						continue
					}
					rest := text[m[1]:]
					if next := readsFrom.FindAllStringIndex(text, -1)[i+1:]; len(next) > 0 {
						rest = text[m[1]:next[0][0]]
					}
					if !orgColumn.MatchString(rest) {
						bad(f.path, t.line(at), "reads %s and does not name org_id after it", text[m[2]:m[3]])
					}
				}
			})
		}
	}
}

// analyticTables are the tables of ClickHouse, by the migrations.
func (t *tree) analyticTables() map[string]bool {
	all := map[string]bool{}
	names, _ := fs.Glob(t.fsys, "db/clickhouse/migrations/*.sql")
	for _, name := range names {
		src, err := fs.ReadFile(t.fsys, name)
		if err != nil {
			continue
		}
		for _, m := range analyticTable.FindAllStringSubmatch(string(src), -1) {
			all[m[1]], all[m[1]+"_local"] = true, true
		}
	}
	return all
}

// texts calls fn with every text of a declaration, whole: the pieces that + puts
// together are one.
func (t *tree) texts(f *file, decl ast.Decl, fn func(token.Pos, string)) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return true
			}
			fn(n.Pos(), t.joined(f, decl, n))
			return false
		case *ast.BasicLit:
			fn(n.Pos(), literalText(n))
		}
		return true
	})
}

// joined is the text of an expression; a piece that is not written there is
// org_id if its declaration names the column, and a blank otherwise.
func (t *tree) joined(f *file, decl ast.Decl, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return t.joined(f, decl, e.X) + t.joined(f, decl, e.Y)
	case *ast.ParenExpr:
		return t.joined(f, decl, e.X)
	case *ast.BasicLit:
		return literalText(e)
	}
	name := spokenName(e)
	value := localValue(decl, name)
	if namesOrg(value) || t.declares(f.dir, name) || t.declares(f.dir, spokenName(value)) {
		return " org_id "
	}
	return " "
}

// spokenName is the name that an expression is called by: of a value, or of what
// it calls.
func spokenName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.CallExpr:
		return spokenName(e.Fun)
	}
	return "" // no declaration has it
}

// localValue is what a declaration assigns to a name.
func localValue(decl ast.Decl, name string) (value ast.Expr) {
	ast.Inspect(decl, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok {
			for i, left := range assign.Lhs {
				if id, ok := left.(*ast.Ident); ok && id.Name == name && i < len(assign.Rhs) {
					value = assign.Rhs[i]
				}
			}
		}
		return true
	})
	return value
}

// declares reports whether a package declares a name, of a function, a method or
// a value, with org_id in its texts.
func (t *tree) declares(dir, name string) bool {
	for _, f := range t.files {
		if f.dir != dir || f.test {
			continue
		}
		for _, decl := range f.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == name && namesOrg(d.Body) {
					return true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && v.Names[0].Name == name && namesOrg(v) {
						return true
					}
				}
			}
		}
	}
	return false
}

// namesOrg reports whether a text of the code names the column.
func namesOrg(n ast.Node) (found bool) {
	if n == nil {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && orgColumn.MatchString(literalText(lit)) {
			found = true
		}
		return !found
	})
	return found
}

func literalText(lit *ast.BasicLit) string {
	text, err := strconv.Unquote(lit.Value)
	if lit.Kind != token.STRING || err != nil {
		return ""
	}
	return strings.ReplaceAll(text, "\n", " ")
}
