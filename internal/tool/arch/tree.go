package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Module is the import path of the repository's root.
const Module = "github.com/assayhq/assay"

// tree is the repository as the laws see it: parsed Go files, the named
// queries below internal, and the names of everything else.
type tree struct {
	fsys    fs.FS
	fset    *token.FileSet
	files   []*file
	queries []query
}

// file is one parsed Go file.
type file struct {
	path    string // from the root, with slashes
	dir     string
	name    string // last element of path
	test    bool
	gen     bool // carries the generated-code header
	lines   int
	syntax  *ast.File
	imports []imported
}

// imported is one import of a file.
type imported struct {
	path  string // as written
	ours  string // folder from the root; empty for a library
	alias string // local name; empty if it is the package's own
	line  int
}

// report adds a violation of the law being checked.
type report func(file string, line int, format string, args ...any)

// load parses every Go file below the root of fsys. Hidden folders, testdata
// and installed packages are not part of the tree. A file that does not parse
// is an error: a law that cannot read a file cannot vouch for it.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{fsys: fsys, fset: token.NewFileSet()}
	var broken []error
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(p):
			return fs.SkipDir
		case d.IsDir():
		case strings.HasSuffix(p, ".go"):
			f, err := t.parse(p)
			if err != nil {
				broken = append(broken, err)
				return nil
			}
			t.files = append(t.files, f)
		case strings.HasSuffix(p, ".sql") && strings.HasPrefix(p, "internal/"):
			src, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			t.queries = append(t.queries, parseQueries(p, string(src))...)
		}
		return nil
	})
	return t, errors.Join(append(broken, err)...)
}

func skipped(dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "node_modules" || base == "vendor" {
		return true
	}
	return dir != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}

func (t *tree) parse(p string) (*file, error) {
	src, err := fs.ReadFile(t.fsys, p)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(t.fset, p, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	f := &file{
		path:   p,
		dir:    path.Dir(p),
		name:   path.Base(p),
		test:   strings.HasSuffix(p, "_test.go"),
		gen:    ast.IsGenerated(syntax),
		lines:  strings.Count(string(src), "\n"),
		syntax: syntax,
	}
	for _, spec := range syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", p, spec.Path.Value, err)
		}
		i := imported{path: name, line: t.line(spec.Pos())}
		if ours, ok := strings.CutPrefix(name, Module+"/"); ok {
			i.ours = ours
		}
		if spec.Name != nil {
			i.alias = spec.Name.Name
		}
		f.imports = append(f.imports, i)
	}
	return f, nil
}

func (t *tree) line(p token.Pos) int { return t.fset.Position(p).Line }

// exists reports whether the tree has a file of that path.
func (t *tree) exists(p string) bool {
	_, err := fs.Stat(t.fsys, p)
	return err == nil
}

// matches reports whether a slash path is the pattern, or lies below it if the
// pattern ends in "/...".
func matches(pattern, p string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return p == below || strings.HasPrefix(p, below+"/")
	}
	return p == pattern
}

func matchesAny(patterns []string, p string) bool {
	for _, pattern := range patterns {
		if matches(pattern, p) {
			return true
		}
	}
	return false
}
