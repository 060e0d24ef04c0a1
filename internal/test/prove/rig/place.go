package rig

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// declaration is a part of a file of the product.
type declaration struct {
	file       string
	source     string // of the whole file
	begin, end int
}

func (d declaration) text() string { return d.source[d.begin:d.end] }

// with is the file with another text for the declaration.
func (d declaration) with(text string) string { return d.source[:d.begin] + text + d.source[d.end:] }

// find returns the declaration that is named "folder.Name" or "folder.Type.Method". The
// folder is the end of a path below root, so that a package may move.
func find(root, in string, read func(file string) (string, error)) (declaration, error) {
	cut := strings.LastIndex(in, "/") + 1
	at := strings.Index(in[cut:], ".")
	if at < 0 {
		return declaration{}, fmt.Errorf("%q names no declaration of a package", in)
	}
	folder, name := in[:cut+at], in[cut+at+1:]
	var found []declaration
	err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
		dir := filepath.ToSlash(filepath.Dir(file))
		if err != nil || !strings.HasSuffix(dir, "/"+folder) || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		source, err := read(file)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range tree.Decls {
			if declares(d, name) {
				found = append(found, declaration{file, source, set.Position(d.Pos()).Offset, set.Position(d.End()).Offset})
			}
		}
		return nil
	})
	if err != nil {
		return declaration{}, err
	}
	if len(found) != 1 {
		return declaration{}, fmt.Errorf("%s is %d times below %s", in, len(found), root)
	}
	return found[0], nil
}

// declares reports whether a declaration is the one of a name.
func declares(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Recv == nil && d.Name.Name == name || d.Recv != nil && receiver(d.Recv.List[0].Type)+"."+d.Name.Name == name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].Name == name {
				return true
			}
		}
	}
	return false
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
