package arch

import (
	"go/ast"
	"maps"
	"slices"
)

// maxKnot is how many lines the files may have that all need each other: whoever changes one
// has to know them all.
const maxKnot = 1500

// knots finds files of a package that reach each other by the names that they use, and are
// too much for a reader. An exported method, and one that two types have or that a field is called
// like, is left out: which one is meant, only types say.
func knots(t *tree, bad report) {
	found := t.knots()
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if limit := max(maxKnot, knotted[dir]); found[dir] > limit {
			bad(dir, 0, "has files of %d lines that all need each other, more than %d: find a part that the others need and that needs none of them", found[dir], limit)
		}
	}
}

// knots returns the lines of the largest knot of each folder.
func (t *tree) knots() map[string]int {
	packages, lines := map[string][]*file{}, map[string]int{}
	for _, f := range t.files {
		if !f.test && !f.gen && matches("internal/...", f.dir) {
			packages[f.dir] = append(packages[f.dir], f)
		}
	}
	for dir, files := range packages {
		lines[dir] = knotOf(files)
	}
	return lines
}

// knotOf returns the lines of the largest set of files that reach each other.
func knotOf(files []*file) int {
	declared, called, fields := map[string]int{}, map[string]int{}, map[string]bool{}
	note := func(names map[string]int, name string, at int) {
		if other, twice := names[name]; twice && other != at {
			at = several
		}
		names[name] = at
	}
	for i, f := range files {
		for _, d := range f.syntax.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && !m.Name.IsExported() {
				note(called, m.Name.Name, i)
			}
		}
		for name := range f.syntax.Scope.Objects {
			note(declared, name, i)
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				for _, name := range field.Names {
					fields[name.Name] = true
				}
			}
			return true
		})
	}
	uses := make([]map[int]bool, len(files))
	for i, f := range files {
		uses[i] = map[int]bool{}
		for _, id := range f.syntax.Unresolved { // declared in another file, or in none
			if at, known := declared[id.Name]; known && at != i && at != several {
				uses[i][at] = true
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && !fields[s.Sel.Name] {
				if at, known := called[s.Sel.Name]; known && at != i && at != several {
					uses[i][at] = true
				}
			}
			return true
		})
	}
	reach := make([]map[int]bool, len(files))
	for i := range files {
		reach[i] = map[int]bool{}
		for next := []int{i}; len(next) > 0; {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			for to := range uses[at] {
				if !reach[i][to] {
					reach[i][to] = true
					next = append(next, to)
				}
			}
		}
	}
	most := 0
	for i := range files {
		lines := 0
		for j, other := range files {
			if i == j || reach[i][j] && reach[j][i] {
				lines += other.lines
			}
		}
		if reach[i][i] {
			most = max(most, lines)
		}
	}
	return most
}

// several stands for the files of a name that more than one declares.
const several = -1
