package arch

import (
	"cmp"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// clickhouseDomains keep volume: spans, outcomes of runs, scores and, for usage,
// keys.
var clickhouseDomains = []string{"internal/agent/evidence", "internal/evaluation/result", "internal/telemetry/score", "internal/telemetry/trace", "internal/tenancy", "internal/tenancy/erasure"}

// domainOf returns the folder of the domain that a folder belongs to, or "". A domain is
// the package of an area's door, or a package behind it.
func domainOf(dir string) string {
	d, ok := behind(dir)
	if !ok || !d.area || matchesAny(pure, dir) {
		return ""
	}
	root := "internal/" + d.name
	name, _, _ := strings.Cut(strings.TrimPrefix(dir, root+"/"), "/")
	if dir == root || name == "internal" {
		return root
	}
	return root + "/" + name
}

// generatedQueries reports whether a folder is a domain's generated query
// package: it is the store's private part, and the compiler keeps it so.
func generatedQueries(dir string) bool {
	d := domainOf(dir)
	return d != "" && dir == d+"/internal/db"
}

// layerRule reserves some imports for the files of one layer.
type layerRule struct {
	files   []string // beginnings of file names
	dirs    []string // packages that belong to the layer as a whole
	imports []string // import paths; everything below them counts too
	ours    []string // folders from the root; {domain} is the file's own
}

var layers = [...]layerRule{
	{
		files:   []string{"http"},
		imports: []string{"github.com/danielgtaylor/huma", "github.com/go-chi/chi"},
		ours:    []string{"internal/httpapi", "internal/resource"},
	},
	{
		files:   []string{"http", "outbound"},
		imports: []string{"net/http"},
	},
	{
		files:   []string{"store"},
		dirs:    []string{"internal/agent/evidence/internal/statedb", "internal/agent/evidence/internal/streamdb", "internal/telemetry/trace/internal/actdb", "internal/telemetry/trace/internal/sealed", "internal/telemetry/trace/internal/spandb"},
		imports: []string{"github.com/jackc/pgx", "github.com/ClickHouse", "database/sql"},
		ours:    []string{"internal/platform/clickhouse", "{domain}/internal/db"},
	},
	{
		files:   []string{"workflow", "activity"},
		imports: []string{"go.temporal.io"},
	},
}

// layer checks one layer rule. Tests are free: they may look at a domain from
// any side.
func layer(rule layerRule) func(*tree, report) {
	return func(t *tree, bad report) {
		for _, f := range t.files {
			domain := domainOf(f.dir)
			if domain == "" || f.test || generatedQueries(f.dir) || hasPrefix(f.name, rule.files) || slices.Contains(rule.dirs, f.dir) {
				continue
			}
			for _, i := range f.imports {
				if rule.reserves(i, domain) && (!generatedQueries(i.ours) || !isRow(f)) {
					bad(f.path, i.line, "imports %s, which only %s may", i.path, rule.name())
				}
			}
		}
	}
}

// isRow reports whether the file declares a noun that is its row: type View db.View. What HTTP
// shows of it stands elsewhere.
func isRow(f *file) bool {
	if strings.HasPrefix(f.name, "http") {
		return false
	}
	for _, d := range f.syntax.Decls {
		types, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range types.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if row, ok := spec.Type.(*ast.SelectorExpr); ok && isName(row.X, "db") {
				return true
			}
		}
	}
	return false
}

// name is what belongs to the layer.
func (r layerRule) name() string {
	var parts []string
	for _, f := range r.files {
		parts = append(parts, f+"*.go")
	}
	return strings.Join(append(parts, r.dirs...), " and ")
}

func (r layerRule) reserves(i imported, domain string) bool {
	for _, p := range r.imports {
		if matches(p+"/...", i.path) {
			return true
		}
	}
	for _, p := range r.ours {
		if matches(strings.ReplaceAll(p, "{domain}", domain)+"/...", i.ours) {
			return true
		}
	}
	return false
}

func hasPrefix(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(name, b) })
}

// inbound checks that http*.go of a domain answers requests and makes none. A
// file that makes requests is named outbound*.go.
func inbound(t *tree, bad report) {
	for _, f := range t.files {
		if domainOf(f.dir) == "" || f.test || !strings.HasPrefix(f.name, "http") {
			continue
		}
		for _, i := range f.imports {
			if matches("internal/platform/egress/...", i.ours) || matches("internal/platform/llm/...", i.ours) {
				bad(f.path, i.line, "imports %s; move the call to outbound*.go", i.path)
			}
		}
	}
}

// answering are the methods of another area's service that http*.go may call: those that name people, and those that
// register a part of the area.
var answering = []string{"Actors", "ActorsTx", "RegisterHTTP"}

// httpService finds what http*.go asks of a store, of a database or of another area's service by itself.
func httpService(t *tree, bad report) {
	others := t.otherServices()
	for _, f := range t.files {
		if domainOf(f.dir) == "" || f.test || !strings.HasPrefix(f.name, "http") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := s.X.(*ast.Ident); ok && (s.Sel.Name == "store" || s.Sel.Name == "db") {
				bad(f.path, t.line(s.Pos()), "asks %s.%s: make it a method of the service that takes plain values", of.Name, s.Sel.Name)
			}
			field, ok := s.X.(*ast.SelectorExpr)
			if ok && slices.Contains(others[f.dir], field.Sel.Name) && !slices.Contains(answering, s.Sel.Name) {
				bad(f.path, t.line(s.Pos()), "asks %s.%s of another area: let the service ask it", field.Sel.Name, s.Sel.Name)
			}
			return true
		})
	}
}

// otherServices are the fields of each folder's Service that are services of others: traces *trace.Service.
func (t *tree) otherServices() map[string][]string {
	found := map[string][]string{}
	for _, f := range t.files {
		fields, _ := structFields(f, "Service")
		for _, field := range fields {
			star, ok := field.Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			if of, ok := star.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Service" {
				for _, name := range field.Names {
					found[f.dir] = append(found[f.dir], name.Name)
				}
			}
		}
	}
	return found
}

func clickhouse(t *tree, bad report) {
	for _, f := range t.files {
		domain := domainOf(f.dir)
		if domain == "" || f.test || slices.Contains(clickhouseDomains, domain) {
			continue
		}
		for _, i := range f.imports {
			if matches("internal/platform/clickhouse/...", i.ours) || matches("github.com/ClickHouse/...", i.path) {
				bad(f.path, i.line, "%s imports %s; ask %s instead", domain, i.path, strings.Join(clickhouseDomains, ", "))
			}
		}
	}
}

func domainDoc(t *tree, bad report) {
	for _, dir := range t.domainDirs() {
		if p := dir + "/doc.go"; !t.exists(p) {
			bad(p, 0, "is missing: say what the area is, its states and its words")
		}
	}
}

// pages are the pages of domains that people look for under another word.
var pages = map[string]string{
	"internal/evaluation/gate":  "gates",
	"internal/judging/probe":    "judge-bias",
	"internal/judging/rule":     "judge-rules",
	"internal/judging/watch":    "judge-drift",
	"internal/review/annotator": "annotator-agreement",
}

func domainPage(t *tree, bad report) {
	for _, dir := range t.domainDirs() {
		page := "docs/" + cmp.Or(pages[dir], path.Base(dir)) + ".md"
		if t.exists(dir+"/http.go") && !t.exists(page) {
			bad(page, 0, "is missing: %s/http.go has operations that a user must find", dir)
		}
	}
}

// domainDirs returns the folders of the domains that have code.
func (t *tree) domainDirs() []string {
	var dirs []string
	for _, f := range t.files {
		if f.dir == domainOf(f.dir) && !slices.Contains(dirs, f.dir) {
			dirs = append(dirs, f.dir)
		}
	}
	return dirs
}
