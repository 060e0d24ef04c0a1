package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// edges are the packages whose Register adds an operation.
var edges = []string{
	"github.com/assayhq/assay/internal/httpapi",
	"github.com/assayhq/assay/internal/httpapi/otlp",
}

// folder is one package's files, without tests.
type folder struct {
	dir   string
	fset  *token.FileSet
	files []*ast.File
}

// collect returns the hash of every registered handler below internal, by
// operation id. It reports every operation that it cannot read, not the first.
func collect(fsys fs.FS) (map[string]string, error) {
	folders, err := parse(fsys)
	if err != nil {
		return nil, err
	}
	hashes, seen := map[string]string{}, map[string]string{}
	var errs []error
	for _, f := range folders {
		for _, op := range f.operations() {
			id, hash, err := op.read()
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("%s: %w", op.at(), err))
			case seen[id] != "":
				errs = append(errs, fmt.Errorf("%s: operation %s is already registered at %s", op.at(), id, seen[id]))
			default:
				hashes[id], seen[id] = hash, op.at()
			}
		}
	}
	return hashes, errors.Join(errs...)
}

// parse reads the packages below internal, in the order of their folders.
func parse(fsys fs.FS) ([]*folder, error) {
	fset := token.NewFileSet()
	byDir := map[string]*folder{}
	err := fs.WalkDir(fsys, "internal", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		// Without comments in the tree there are none in the hash.
		file, err := parser.ParseFile(fset, p, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(p)
		if byDir[dir] == nil {
			byDir[dir] = &folder{dir: dir, fset: fset}
		}
		byDir[dir].files = append(byDir[dir].files, file)
		return nil
	})
	return slices.SortedFunc(maps.Values(byDir), func(a, b *folder) int { return strings.Compare(a.dir, b.dir) }), err
}

// operation is one call of Register, and the function that makes it.
type operation struct {
	in     *folder
	caller *ast.FuncDecl
	call   *ast.CallExpr
}

func (o operation) at() string { return o.in.fset.Position(o.call.Pos()).String() }

// operations finds the calls of Register in the package.
func (f *folder) operations() []operation {
	var found []operation
	for _, file := range f.files {
		names := map[string]bool{}
		for _, i := range file.Imports {
			target, _ := strconv.Unquote(i.Path.Value)
			switch {
			case !slices.Contains(edges, target):
			case i.Name != nil:
				names[i.Name.Name] = true
			default:
				names[path.Base(target)] = true
			}
		}
		inside := strings.HasSuffix(edges[0], "/"+f.dir)
		for _, d := range file.Decls {
			caller, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok && isRegister(call.Fun, names, inside) {
					found = append(found, operation{f, caller, call})
				}
				return true
			})
		}
	}
	return found
}

// isRegister recognises the Register of an edge that the file imports by one of
// the names, or is inside of, with or without type arguments.
func isRegister(fun ast.Expr, names map[string]bool, inside bool) bool {
	switch fun := fun.(type) {
	case *ast.IndexExpr:
		return isRegister(fun.X, names, inside)
	case *ast.IndexListExpr:
		return isRegister(fun.X, names, inside)
	case *ast.Ident:
		return inside && fun.Name == "Register"
	case *ast.SelectorExpr:
		x, ok := fun.X.(*ast.Ident)
		return ok && names[x.Name] && fun.Sel.Name == "Register"
	}
	return false
}

// read returns the operation's id and the hash of its handler.
func (o operation) read() (id, hash string, err error) {
	if len(o.call.Args) != 3 {
		return "", "", errors.New("the call does not give an edge, an Op and a handler")
	}
	if id, err = o.in.operationID(o.call.Args[1]); err != nil {
		return "", "", err
	}
	handler, err := o.in.handler(o.call.Args[2], o.caller)
	if err != nil {
		return "", "", fmt.Errorf("operation %s: %w", id, err)
	}
	hash, err = digest(handler)
	return id, hash, err
}

// digest hashes a declaration's canonical text. The file set is empty, so the
// printer knows no line of the original and lays every equal tree out alike.
func digest(decl *ast.FuncDecl) (string, error) {
	sum := sha256.New()
	if err := printer.Fprint(sum, token.NewFileSet(), decl); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
