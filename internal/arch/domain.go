package arch

import (
	"path"
	"slices"
	"strings"
)

// Domains lists every domain with the domains that it may import. A domain
// that must tell a higher one something writes a row; the higher one reads it.
var Domains = map[string][]string{
	"tenancy":      nil,
	"provider":     {"tenancy"},
	"dataset":      {"tenancy"},
	"webhook":      {"tenancy"},
	"trace":        {"tenancy", "dataset", "score"},
	"result":       nil,
	"artifact":     {"result"},
	"figure":       {"result"},
	"plan":         {"dataset", "provider", "result"},
	"score":        nil,
	"judge":        {"tenancy", "dataset", "provider", "score", "trace"},
	"probe":        {"tenancy", "dataset", "judge", "provider"},
	"watch":        {"tenancy", "dataset", "judge", "provider"},
	"rule":         {"tenancy", "judge", "provider", "score", "trace"},
	"evaluation":   {"tenancy", "artifact", "dataset", "figure", "judge", "plan", "provider", "result", "score", "trace"},
	"decision":     {"tenancy", "evaluation", "figure"},
	"annotation":   {"tenancy", "dataset", "evaluation", "plan", "result", "score", "trace"},
	"panel":        {"tenancy", "annotation"},
	"evidence":     {"tenancy", "score", "trace"},
	"approval":     {"tenancy", "evidence"},
	"policy":       {"tenancy", "approval", "evidence"},
	"arena":        {"tenancy", "judge", "provider", "score"},
	"adjudication": {"tenancy", "annotation", "dataset", "evaluation", "judge", "panel", "score", "trace"},
	"release":      {"tenancy", "arena", "decision", "evaluation", "evidence", "score"},
	"erasure":      {"tenancy"},
	"handoff":      {"tenancy", "evidence", "trace"},
}

// clickhouseDomains keep volume: spans, outcomes of runs, scores and, for usage,
// keys.
var clickhouseDomains = []string{"trace", "result", "score", "evidence", "tenancy", "erasure"}

// domainOf returns the domain that a folder belongs to, or "".
func domainOf(dir string) string {
	rest, ok := strings.CutPrefix(dir, "internal/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if _, ok := Domains[name]; !ok {
		return ""
	}
	return name
}

// generatedQueries reports whether a folder is a domain's generated query
// package: it is the store's private part, and the compiler keeps it so.
func generatedQueries(dir string) bool {
	d := domainOf(dir)
	return d != "" && dir == path.Join("internal", d, "internal/db")
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
		ours:    []string{"internal/httpapi"},
	},
	{
		files:   []string{"http", "outbound"},
		imports: []string{"net/http"},
	},
	{
		files:   []string{"store"},
		dirs:    []string{"internal/evidence/internal/statedb", "internal/evidence/internal/streamdb", "internal/trace/internal/actdb", "internal/trace/internal/sealed", "internal/trace/internal/spandb"},
		imports: []string{"github.com/jackc/pgx", "github.com/ClickHouse", "database/sql"},
		ours:    []string{"internal/platform/clickhouse", "internal/{domain}/internal/db"},
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
				if rule.reserves(i, domain) {
					bad(f.path, i.line, "imports %s, which only %s may", i.path, rule.name())
				}
			}
		}
	}
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

func domainPage(t *tree, bad report) {
	for _, dir := range t.domainDirs() {
		page := "docs/" + path.Base(dir) + ".md"
		if t.exists(dir+"/http.go") && !t.exists(page) {
			bad(page, 0, "is missing: %s/http.go has operations that a user must find", dir)
		}
	}
}

// domainDirs returns the folders of the domains that have code.
func (t *tree) domainDirs() []string {
	var dirs []string
	for _, f := range t.files {
		if d := domainOf(f.dir); d != "" && f.dir == "internal/"+d && !slices.Contains(dirs, f.dir) {
			dirs = append(dirs, f.dir)
		}
	}
	return dirs
}
