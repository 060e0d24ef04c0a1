package arch

import (
	"go/ast"
	"path"
)

// makers are the calls that put an operation or an activity into a process, each
// with the only folder that makes them: that is where accounts are opened.
var makers = []struct{ library, name, dir string }{
	{"github.com/danielgtaylor/huma/v2", "Register", "internal/httpapi"},
	{"go.temporal.io/sdk/worker", "New", "internal/platform/temporal"},
}

// budget finds operations and activities that would draw from nobody's account.
func budget(t *tree, bad report) {
	for _, f := range t.files {
		if f.test {
			continue
		}
		for _, m := range makers {
			if f.dir == m.dir {
				continue
			}
			for _, use := range t.mentions(f, m.library, []string{m.name}) {
				bad(f.path, use.line, "uses %s; %s does it with an account of the organization that causes the work", use.name, m.dir)
			}
		}
		for _, d := range f.syntax.Decls {
			activity, ok := d.(*ast.FuncDecl)
			if !ok || !isActivity(activity) {
				continue
			}
			if !t.namesOrg(f, activityInput(activity)) {
				bad(f.path, t.line(activity.Pos()), "activity %s has no input with a field Org, so its work is in nobody's budget", activity.Name.Name)
			}
		}
	}
}

// isActivity reports whether a function is a method that Temporal calls.
func isActivity(f *ast.FuncDecl) bool {
	if f.Recv == nil || !f.Name.IsExported() {
		return false
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, ok := of.(*ast.Ident)
	return ok && name.Name == "Activities"
}

// activityInput is the type of what follows the context, or nil.
func activityInput(f *ast.FuncDecl) ast.Expr {
	var types []ast.Expr
	for _, p := range f.Type.Params.List {
		for range max(1, len(p.Names)) {
			types = append(types, p.Type)
		}
	}
	if len(types) < 2 {
		return nil
	}
	return types[1]
}

// namesOrg reports whether a struct has a field Org, of its own or of a struct
// that it embeds.
func (t *tree) namesOrg(f *file, of ast.Expr) bool {
	dir, name := f.dir, ""
	switch of := of.(type) {
	case *ast.Ident:
		name = of.Name
	case *ast.SelectorExpr:
		name = of.Sel.Name
		pkg, _ := of.X.(*ast.Ident)
		for _, i := range f.imports {
			if pkg != nil && i.ours != "" && (i.alias == pkg.Name || i.alias == "" && path.Base(i.ours) == pkg.Name) {
				dir = i.ours
			}
		}
	}
	for _, other := range t.files {
		if other.dir != dir || other.test {
			continue
		}
		fields, ok := structFields(other, name)
		if !ok {
			continue
		}
		for _, field := range fields {
			for _, n := range field.Names {
				if n.Name == "Org" {
					return true
				}
			}
			if len(field.Names) == 0 && t.namesOrg(other, field.Type) {
				return true
			}
		}
	}
	return false
}

// structFields are the fields of a struct that the file declares.
func structFields(f *file, name string) ([]*ast.Field, bool) {
	if name == "" {
		return nil, false
	}
	for _, d := range f.syntax.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				continue
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				return st.Fields.List, true
			}
		}
	}
	return nil, false
}
