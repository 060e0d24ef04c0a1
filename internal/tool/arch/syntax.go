package arch

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// outboundDirs may build an outbound HTTP client. The engines of a developer's
// machine and the proofs are no part of the product, and the command line asks
// its own process for its health. The client of a user's commands runs on the
// user's machine and connects to the one address that the user gives, which may
// well be private; no server imports it, for it stands behind a door below theirs. The
// same holds for the guard in an agent.
var outboundDirs = []string{
	"internal/platform/egress/...", "internal/test/...",
	"internal/app/commands.go", "internal/command/client/client.go", "guard", "cmd/...", "dev/...",
}

// dialers are the names that connect, or build something that connects. A
// pointer to one of the types is somebody else's client and is fine.
var dialers = map[string][]string{
	"net/http":          {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net/http/httputil": {"ReverseProxy", "NewSingleHostReverseProxy", "NewClientConn", "NewProxyClientConn"},
}

// sockets are the names that connect without HTTP. A platform package may use
// them to reach its engine, at an address that the operator configures.
var sockets = map[string][]string{
	"net":        {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer"},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer", "Client"},
	"net/rpc":    {"Dial", "DialHTTP", "DialHTTPPath"},
	"net/smtp":   {"Dial", "SendMail", "NewClient"},
}

// clients are libraries that bring a client of their own.
var clients = []string{
	"golang.org/x/net/http2", "golang.org/x/net/websocket", "github.com/gorilla/websocket/...", "github.com/coder/websocket/...",
	"github.com/go-resty/resty/...", "resty.dev/...", "github.com/hashicorp/go-retryablehttp/...", "github.com/valyala/fasthttp/...",
	"github.com/quic-go/quic-go/...", "github.com/imroc/req/...",
}

func outbound(t *tree, bad report) {
	for _, f := range t.files {
		if f.test || matchesAny(outboundDirs, f.dir) || matchesAny(outboundDirs, f.path) {
			continue
		}
		libraries := []map[string][]string{dialers, sockets}
		if matches("internal/platform/...", f.dir) {
			libraries = libraries[:1]
		}
		for _, library := range libraries {
			for name, names := range library {
				for _, m := range t.mentions(f, name, names) {
					bad(f.path, m.line, "uses %s; take a client from internal/platform/egress", m.name)
				}
			}
		}
		for _, i := range f.imports {
			if matchesAny(clients, i.path) {
				bad(f.path, i.line, "imports %s, which brings its own client; take one from internal/platform/egress", i.path)
			}
		}
		for _, m := range t.disarmed(f) {
			bad(f.path, m.line, "replaces %s of a client, and with it the rules of internal/platform/egress", m.name)
		}
	}
}

// disarmed finds assignments to the fields of a client that carry the rules. A
// client without a transport uses the standard library's, which has none.
func (t *tree) disarmed(f *file) []mention {
	var found []mention
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, left := range assign.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && (s.Sel.Name == "Transport" || s.Sel.Name == "CheckRedirect") {
				found = append(found, mention{s.Sel.Name, t.line(s.Pos())})
			}
		}
		return true
	})
	return found
}

// clockDirs may read the clock of the machine.
var clockDirs = []string{"internal/platform/...", "internal/app/...", "internal/command/cli", "internal/test/...", "internal/httpapi", "guard", "cmd/...", "dev/..."}

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

// unversioned cuts the major version off an import path, which is not part of
// the package's name.
var unversioned = regexp.MustCompile(`/v[0-9]+$`)

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
			local = path.Base(unversioned.ReplaceAllString(library, ""))
		}
	}
	if local == "" || local == "_" {
		return nil
	}
	var found []mention
	inspect := func(s *ast.SelectorExpr) {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, s.Sel.Name) {
			found = append(found, mention{library + "." + s.Sel.Name, t.line(s.Pos())})
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			// The elements of a list of pointers may be written without their
			// type, and are values then.
			if pointee := elementPointee(n.Type); pointee != nil {
				inspect(pointee)
			}
		case *ast.StarExpr:
			pointee, ok := n.X.(*ast.SelectorExpr)
			return !ok || strings.HasPrefix(pointee.Sel.Name, "Default")
		case *ast.SelectorExpr:
			inspect(n)
		}
		return true
	})
	return found
}

// elementPointee returns pkg.Name for the type of a list or map of *pkg.Name.
func elementPointee(e ast.Expr) *ast.SelectorExpr {
	var element ast.Expr
	switch e := e.(type) {
	case *ast.ArrayType:
		element = e.Elt
	case *ast.MapType:
		element = e.Value
	}
	if star, ok := element.(*ast.StarExpr); ok {
		if pointee, ok := star.X.(*ast.SelectorExpr); ok {
			return pointee
		}
	}
	return nil
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
