// Package suite tells which packages a step of the checks tests, and where the
// time of the checks went.
package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Packages whose presence in a test binary says what kind of test it is. One that
// is renamed is an error: otherwise its rule would match nothing from then on.
const (
	application = "internal/app"             // the whole application
	lowest      = "internal/tenancy"         // the area that all others stand on
	engines     = "internal/platform/devenv" // the only place that knows the engines' addresses
)

// Benches, which have this test, and proofs that are written as tests have steps
// of their own.
const benchmark = "TestBench"

var proofs = []string{"internal/test/prove/access", "internal/test/prove/correction"}

// A Package has tests.
type Package struct {
	Path  string
	Above bool // its tests link the areas of the product, or all of it: building those with the race detector takes minutes
	Whole bool // its tests link the whole application: they take longest
	World bool // its tests reach engines or start other programs, so the cache of test results knows too little
	Share bool // its code or its tests share memory between goroutines
	Bench bool
	Proof bool
}

// Select returns the paths of the packages of a kind. A kind without packages is an error: what is meant to be tested is then not.
//
//	pure     tests whose results Go may take from its cache
//	world    all others
//	raced    those of both that share memory and link no area of the product, but for the lowest
//	all      pure and world: neither benches nor proofs
//	bench    benches
func Select(packages []Package, kind string) ([]string, error) {
	match := map[string]func(Package) bool{
		"pure":  func(p Package) bool { return !p.World },
		"world": func(p Package) bool { return p.World },
		"raced": func(p Package) bool { return p.Share && !p.Above },
		"all":   func(Package) bool { return true },
		"bench": func(p Package) bool { return p.Bench },
	}[kind]
	if match == nil {
		return nil, fmt.Errorf("no packages are called %q; there are: pure, world, raced, all, bench", kind)
	}
	var paths []string
	for _, p := range packages {
		if match(p) && !p.Proof && p.Bench == (kind == "bench") {
			paths = append(paths, p.Path)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no package is %s", kind)
	}
	return paths, nil
}

// listed is what `go list -test` says of a package, or of the binary of its tests.
type listed struct {
	ImportPath, Dir, ForTest           string
	Deps, Imports                      []string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// Module returns the path of the module in a folder.
func Module(ctx context.Context, root string) (string, error) {
	out, err := goList(ctx, root, "-m")
	return strings.TrimSpace(out), err
}

// Load returns the packages of the module in a folder that have tests.
func Load(ctx context.Context, root string) (packages []Package, err error) {
	module, err := Module(ctx, root)
	if err != nil {
		return nil, err
	}
	out, err := goList(ctx, root, "-test", "-json=ImportPath,Dir,ForTest,Deps,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	if err != nil {
		return nil, err
	}
	all := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var l listed
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		all[l.ImportPath] = l
	}
	for _, name := range append([]string{application, lowest, engines}, proofs...) {
		if _, ok := all[module+"/"+name]; !ok {
			return nil, fmt.Errorf("there is no package %s any more: say in dev/internal/suite which one does its work", name)
		}
	}
	for path, binary := range all {
		path, isTest := strings.CutSuffix(path, ".test")
		if !isTest {
			continue
		}
		p := Package{Path: path, Proof: slices.Contains(proofs, strings.TrimPrefix(path, module+"/"))}
		for _, dep := range binary.Deps {
			plain, _, _ := strings.Cut(dep, " ")
			p.Whole = p.Whole || plain == module+"/"+application
			p.Above = p.Above || plain == module+"/"+application || plain == module+"/"+lowest && path != plain
			p.World = p.World || plain == module+"/"+engines || strings.HasPrefix(plain, module+"/") && runsPrograms(all[dep])
		}
		if err := p.read(all[path]); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	// What takes longest begins first, so that nothing is waited for alone at the end.
	slices.SortFunc(packages, func(a, b Package) int {
		if a.Whole != b.Whole {
			return map[bool]int{true: -1, false: 1}[a.Whole]
		}
		return strings.Compare(a.Path, b.Path)
	})
	return packages, nil
}

func goList(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

// runsPrograms tells whether a package may start other programs, among them `go
// list`: Go's cache of test results knows nothing of the files that those read.
func runsPrograms(l listed) bool {
	return slices.ContainsFunc(l.Imports, func(path string) bool {
		return path == "os/exec" || path == "golang.org/x/tools/go/packages"
	})
}

// read looks through the files of a package and its tests.
func (p *Package) read(l listed) error {
	for _, name := range slices.Concat(l.GoFiles, l.TestGoFiles, l.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.Share = p.Share || shares(file)
		if strings.HasSuffix(name, "_test.go") {
			p.Bench = p.Bench || slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
				f, ok := d.(*ast.FuncDecl)
				return ok && f.Recv == nil && f.Name.Name == benchmark
			})
		}
	}
	return nil
}

// shares tells whether a file starts goroutines, or uses what goroutines share
// memory with.
func shares(file *ast.File) bool {
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, "`\"")
		if path == "sync" || strings.HasPrefix(path, "sync/") || strings.HasPrefix(path, "golang.org/x/sync/") {
			return true
		}
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}
