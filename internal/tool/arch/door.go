package arch

import (
	"slices"
	"strings"
)

// door is a folder of internal: what is behind it, and what its packages may import of
// ours beside what they share the door with.
type door struct {
	name string
	says string
	may  []string // empty: whatever stands behind the doors above
	area bool     // its packages are areas of the product: they have operations, stores and work
}

// doors lists the doors of internal. A package imports what stands behind its own door and
// behind those above it, never below.
func doors() []door {
	core, platform := "internal/core/...", "internal/platform/..."
	return []door{
		{name: "core", says: "words that everything shares: faults, callers, requests, states, schemas of values", may: []string{}},
		{name: "platform", says: "the engines and the outside world: databases, Temporal, object storage, models, settings, secrets", may: []string{core}},
		{name: "httpapi", says: "the HTTP edge, without any area: checks of requests, pages, errors, limits, OTLP", may: []string{core}},
		{name: "measure", says: "statistics and metrics, computed from plain values", may: []string{core}},
		{name: "change", says: "one transaction for an effect, its idempotency, its audit entry and its events", may: []string{core, platform}},
		{name: "resource", says: "what the operations on most nouns share: pages, and to get, create, change and delete", may: []string{core, platform, "internal/httpapi/...", "internal/change/..."}},
		{name: "tenancy", says: "organizations, members, keys, views, limits, usage; prices, redaction, erasure", area: true},
		{name: "dataset", says: "datasets, their items and frozen versions", area: true},
		{name: "telemetry", says: "spans and traces from OTLP, conversations, scores", area: true},
		{name: "judging", says: "model providers, judges, what they judge by themselves, their biases and their drift", area: true},
		{name: "evaluation", says: "evaluations, runs and their results, comparisons, reports and gates", area: true},
		{name: "agent", says: "evidence of what agents did, approvals, policies", area: true},
		{name: "review", says: "people: annotation tasks, labels, agreement of annotators, adjudication", area: true},
		{name: "command", says: "the commands of a user, and the client that they use", may: []string{"internal/core/fault", "internal/measure/requirement", "internal/measure/stat", "internal/review/labelfile"}},
		{name: "app", says: "puts a process together from all of it", may: []string{"..."}},
		{name: "test", says: "tests through the client, proofs, benches, and the kit that they share", may: []string{"..."}},
		{name: "tool", says: "generators, and the laws of this repository", may: []string{platform, "db", kindDir}},
	}
}

// pure are packages behind the door of an area that compute from plain values, so that a
// command, a test or an agent can use them without a store.
var pure = []string{"internal/review/label", "internal/review/labelfile", "internal/telemetry/span/...", "internal/tenancy/price", "internal/tenancy/redact"}

// outside are the packages that stand beside internal, and what they may import of ours.
var outside = []struct {
	dir string
	may []string
}{
	{"cmd/...", []string{"..."}},
	{"db", nil},
	{"dev/...", []string{"dev/..."}},
	{"guard", nil}, // agents of users import it
}

// behind returns the door that a folder stands behind.
func behind(dir string) (door, bool) {
	name := doorOf(dir)
	i := slices.IndexFunc(doors(), func(d door) bool { return d.name == name })
	if i < 0 {
		return door{}, false
	}
	return doors()[i], true
}

func doorOf(dir string) string {
	rest, ok := strings.CutPrefix(dir, "internal/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// mayImport returns what a folder may import of ours; ok is false if the folder has no place.
func mayImport(dir string) (may []string, ok bool) {
	for _, o := range outside {
		if matches(o.dir, dir) {
			return o.may, true
		}
	}
	d, ok := behind(dir)
	switch {
	case !ok:
		return nil, false
	case matchesAny(pure, dir):
		return []string{"internal/core/...", dir + "/..."}, true
	case matches("internal/platform/postgres/postgrestest", dir), matches("internal/platform/clickhouse/clickhousetest", dir):
		may = []string{"db"} // a test's database is made from our migrations
	}
	may = append(may, "internal/"+d.name+"/...")
	if d.may != nil {
		return append(may, d.may...), true
	}
	may = append(may, "db")
	for _, above := range doors() {
		if above.name == d.name {
			break
		}
		may = append(may, "internal/"+above.name+"/...")
	}
	return may, true
}

// doorLaw checks what each package imports of ours. Tests are bound too: a test that
// reaches below would hide that the package needs what is there.
func doorLaw(t *tree, bad report) {
	for _, f := range t.files {
		may, ok := mayImport(f.dir)
		if !ok || slices.Contains(may, "...") {
			continue
		}
		for _, i := range f.imports {
			if i.ours != "" && !guarded(i.ours) && !matchesAny(may, i.ours) {
				bad(f.path, i.line, "%s may not import %s; it may import %s", f.dir, i.ours, list(may))
			}
		}
	}
}

// guarded packages have a law about their importers instead.
func guarded(dir string) bool {
	return matches("internal/app/...", dir) || matches("internal/test/...", dir)
}

func list(patterns []string) string {
	if len(patterns) == 0 {
		return "nothing of ours"
	}
	return strings.Join(patterns, ", ")
}

func placed(t *tree, bad report) {
	seen := map[string]bool{}
	for _, f := range t.files {
		if _, ok := mayImport(f.dir); ok || seen[f.dir] {
			continue
		}
		seen[f.dir] = true
		bad(f.path, 0, "package %s stands behind no door: internal/tool/arch lists them", f.dir)
	}
}

// importers is a law that only the given folders, the package itself and, for
// testkit and bench, tests import a package.
func importers(target string, from ...string) func(*tree, report) {
	return func(t *tree, bad report) {
		for _, f := range t.files {
			if matches(target+"/...", f.dir) || matchesAny(from, f.dir) || f.test && target != "internal/app" {
				continue
			}
			for _, i := range f.imports {
				if matches(target+"/...", i.ours) {
					bad(f.path, i.line, "imports %s, which only %s may", i.ours, list(from))
				}
			}
		}
	}
}

// framework keeps what lies below the HTTP framework inside the edge.
func framework(t *tree, bad report) {
	for _, f := range t.files {
		if matches("internal/httpapi/...", f.dir) {
			continue
		}
		for _, i := range f.imports {
			if matches("github.com/danielgtaylor/huma/v2/adapters/...", i.path) || matches("github.com/go-chi/chi/...", i.path) {
				bad(f.path, i.line, "imports %s; use a type of internal/httpapi such as Stream or Events", i.path)
			}
		}
	}
}
