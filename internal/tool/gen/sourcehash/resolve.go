package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// standard are the methods of resource.Routes, which make an Op.
var standard = []string{"List", "Create", "Get", "Update", "Delete"}

// operationID reads the ID of an Op that is written in place, of the Op embedded
// in it, or of one that is made by a method of resource.Routes: a string, or a
// constant of the package.
func (f *folder) operationID(op ast.Expr) (string, error) {
	if call, ok := op.(*ast.CallExpr); ok && len(call.Args) == 2 {
		routes, ok := call.Fun.(*ast.SelectorExpr)
		id, known := f.text(call.Args[0])
		if ok && known && id != "" && slices.Contains(standard, routes.Sel.Name) {
			return id, nil
		}
	}
	literal, ok := op.(*ast.CompositeLit)
	if !ok {
		return "", errors.New("the Op is not written in place")
	}
	for _, e := range literal.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return "", errors.New("the Op has fields without names")
		}
		name, ok := field.Key.(*ast.Ident)
		if ok && name.Name == "Op" {
			return f.operationID(field.Value)
		}
		if !ok || name.Name != "ID" {
			continue
		}
		if id, ok := f.text(field.Value); ok && id != "" {
			return id, nil
		}
		return "", errors.New("the ID of the Op is neither a string nor a constant of the package")
	}
	return "", errors.New("the Op has no ID")
}

// text returns the value of a string literal or of a constant that is one.
func (f *folder) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		for _, file := range f.files {
			for _, d := range file.Decls {
				if value := constant(d, e.Name); value != nil {
					return f.text(value)
				}
			}
		}
	}
	return "", false
}

// constant returns the value that a declaration gives to the named constant.
func constant(d ast.Decl, name string) *ast.BasicLit {
	group, ok := d.(*ast.GenDecl)
	if !ok || group.Tok != token.CONST {
		return nil
	}
	for _, s := range group.Specs {
		spec := s.(*ast.ValueSpec)
		for i, n := range spec.Names {
			if n.Name == name && i < len(spec.Values) {
				value, _ := spec.Values[i].(*ast.BasicLit)
				return value
			}
		}
	}
	return nil
}

// handler finds the declaration of a handler: a method value x.name, or a
// function of the package.
func (f *folder) handler(e ast.Expr, caller *ast.FuncDecl) (*ast.FuncDecl, error) {
	switch e := e.(type) {
	case *ast.Ident:
		return one(f.functions(e.Name, func(d *ast.FuncDecl) bool { return d.Recv == nil }), e.Name)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			break
		}
		owner := typeOf(x.Name, caller)
		return one(f.functions(e.Sel.Name, func(d *ast.FuncDecl) bool {
			return d.Recv != nil && (owner == "" || typeName(d.Recv.List[0].Type) == owner)
		}), x.Name+"."+e.Sel.Name)
	}
	return nil, errors.New("the handler is neither a method nor a function of the package")
}

func one(found []*ast.FuncDecl, name string) (*ast.FuncDecl, error) {
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("the package declares no handler %s", name)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("the package declares %d handlers that %s could be", len(found), name)
}

func (f *folder) functions(name string, fits func(*ast.FuncDecl) bool) []*ast.FuncDecl {
	var found []*ast.FuncDecl
	for _, file := range f.files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name && fits(fn) {
				found = append(found, fn)
			}
		}
	}
	return found
}

// typeOf returns the name of the type that a receiver or parameter of the
// calling function has, or "" if the variable is neither.
func typeOf(variable string, caller *ast.FuncDecl) string {
	if caller == nil {
		return ""
	}
	fields := caller.Type.Params.List
	if caller.Recv != nil {
		fields = append(fields[:len(fields):len(fields)], caller.Recv.List...)
	}
	for _, field := range fields {
		for _, n := range field.Names {
			if n.Name == variable {
				return typeName(field.Type)
			}
		}
	}
	return ""
}

// typeName returns the name of a type of this package, through a pointer and
// type parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
