package arch

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// outboundDirs may build an outbound HTTP client. The engines of a developer's
// machine and the proofs are no part of the product, and the command line asks
// its own process for its health.
var outboundDirs = []string{"internal/platform/egress/...", "internal/testkit/...", "internal/prove/...", "internal/app", "cmd/...", "dev/..."}

// dialers are the names that connect, or build something that connects. A
// pointer to one of the types is somebody else's client and is fine.
var dialers = map[string][]string{
	"net/http":          {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net/http/httputil": {"ReverseProxy", "NewSingleHostReverseProxy"},
}

func outbound(t *tree, bad report) {
	for _, f := range t.files {
		if f.test || matchesAny(outboundDirs, f.dir) {
			continue
		}
		for library, names := range dialers {
			for _, m := range t.mentions(f, library, names) {
				bad(f.path, m.line, "uses %s; take a client from internal/platform/egress", m.name)
			}
		}
	}
}

// clockDirs may read the clock of the machine.
var clockDirs = []string{"internal/platform/...", "internal/app/...", "internal/testkit/...", "internal/prove/...", "internal/httpapi", "cmd/...", "dev/..."}

func clock(t *tree, bad report) {
	for _, f := range t.files {
		if f.test || matchesAny(clockDirs, f.dir) {
			continue
		}
		for _, m := range t.mentions(f, "time", []string{"Now", "Since", "Until"}) {
			bad(f.path, m.line, "uses %s; take the clock from the caller", m.name)
		}
	}
}

type mention struct {
	name string
	line int
}

// mentions finds the uses of a library's names in a file, whatever the library
// is called there. A pointer type *pkg.Name is not a use of Name, but a copy of
// what a variable points to is. A dot import would hide every use, so it is one.
func (t *tree) mentions(f *file, library string, names []string) []mention {
	local := ""
	for _, i := range f.imports {
		if i.path != library {
			continue
		}
		if i.alias == "." {
			return []mention{{"a dot import of " + library, i.line}}
		}
		local = i.alias
		if local == "" {
			local = path.Base(library)
		}
	}
	if local == "" || local == "_" {
		return nil
	}
	var found []mention
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			pointee, ok := n.X.(*ast.SelectorExpr)
			return !ok || strings.HasPrefix(pointee.Sel.Name, "Default")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, n.Sel.Name) {
				found = append(found, mention{library + "." + n.Sel.Name, t.line(n.Pos())})
			}
		}
		return true
	})
	return found
}

// emptyNames say nothing about what a package is about.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "types", "models", "shared", "misc"}

func names(t *tree, bad report) {
	for _, f := range t.files {
		name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		if slices.Contains(emptyNames, name) || slices.Contains(emptyNames, path.Base(f.dir)) {
			bad(f.path, t.line(f.syntax.Name.Pos()), "package %s in %s: the name says nothing", name, f.dir)
		}
	}
}

const (
	maxLines     = 600
	maxTestLines = 900 // tables of cases are long and read one row at a time
)

func size(t *tree, bad report) {
	for _, f := range t.files {
		limit := maxLines
		if f.test {
			limit = maxTestLines
		}
		if !f.gen && f.lines > limit {
			bad(f.path, 0, "has %d lines, more than %d: look for the second noun", f.lines, limit)
		}
	}
}
