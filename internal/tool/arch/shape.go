package arch

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxMethods is how many methods a type may have, maxFunction how many lines a function, and
// maxColumns how many characters a line.
const (
	maxMethods  = 40
	maxFunction = 80
	maxColumns  = 140
)

// methods finds types that do everything.
func methods(t *tree, bad report) {
	found := t.methods()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if limit := max(maxMethods, manyMethods[name]); found[name] > limit {
			dir, _, _ := strings.Cut(name, ".")
			bad(dir, 0, "%s has %d methods, more than %d: give a part of it a type of its own", name, found[name], limit)
		}
	}
}

// methods counts the methods of each type, by folder and name.
func (t *tree) methods() map[string]int {
	counted := map[string]int{}
	for _, f := range t.files {
		if f.test || f.gen || !matches("internal/...", f.dir) {
			continue
		}
		for _, d := range f.syntax.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil {
				counted[f.dir+"."+receiver(m.Recv.List[0].Type)]++
			}
		}
	}
	return counted
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// functions finds functions that do not fit on a screen.
func functions(t *tree, bad report) {
	for _, f := range t.files {
		if f.test || f.gen || !matches("internal/...", f.dir) || matches("internal/test/...", f.dir) {
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := t.line(fn.End()) - t.line(fn.Pos())
			if lines > max(maxFunction, longFunctions[f.dir+"."+fn.Name.Name]) {
				bad(f.path, t.line(fn.Pos()), "%s has %d lines, more than %d: name its steps", fn.Name.Name, lines, maxFunction)
			}
		}
	}
}

// columns finds lines that do not fit beside each other on a screen.
func columns(t *tree, bad report) {
	for dir, lines := range t.wide() {
		if len(lines) <= wideLines[dir] {
			continue
		}
		for _, l := range lines {
			bad(l.file, l.line, "has %d columns, its longest text apart, more than %d: break it, or name a part of it", l.columns, maxColumns)
		}
	}
}

// wideLine is a line of more than maxColumns.
type wideLine struct {
	file          string
	line, columns int
}

// wide returns the lines of each folder that are too long. The longest string on a line does not
// count: a message or a tag stays in one piece, so that a search finds it.
func (t *tree) wide() map[string][]wideLine {
	found := map[string][]wideLine{}
	for _, f := range t.files {
		if f.test || f.gen || !matches("internal/...", f.dir) {
			continue
		}
		src, err := fs.ReadFile(t.fsys, f.path)
		if err != nil {
			continue // it was there when the tree was loaded
		}
		longest := map[int]int{}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				line := t.line(s.Pos())
				longest[line] = max(longest[line], utf8.RuneCountInString(s.Value))
			}
			return true
		})
		for i, text := range strings.Split(string(src), "\n") {
			if n := utf8.RuneCountInString(text) - longest[i+1]; n > maxColumns {
				found[f.dir] = append(found[f.dir], wideLine{f.path, i + 1, n})
			}
		}
	}
	return found
}
