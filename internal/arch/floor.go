package arch

import (
	"maps"
	"slices"
	"strings"
)

// floor is a set of packages with what each of them may import of ours, beside
// itself and its own subfolders.
type floor struct {
	law   string // the law that its arrows are reported under
	group string // its box in the picture; empty if the picture leaves it out
	dirs  []string
	may   []string
}

var leaves = []string{"internal/fault", "internal/price", "internal/principal", "internal/request", "internal/schema", "internal/stat", "db", "web"}

// floors lists every floor, from the street to the cellar. The composition
// root, testkit and cmd may import anything; who may import the first two has
// laws of its own.
func floors() []floor {
	all := []floor{
		{"", "cmd", []string{"cmd/..."}, []string{"..."}},
		{"", "app", []string{"internal/app/..."}, []string{"..."}},
		// What the commands of a user are made of asks a server and is no part of one.
		{"commands", "app", []string{"internal/cli", "internal/cli/annotate", "internal/cli/approval", "internal/cli/completion", "internal/cli/evidence", "internal/cli/origin", "internal/cli/shown"}, []string{"internal/cli/annotate", "internal/cli/approval", "internal/cli/completion", "internal/cli/evidence", "internal/cli/origin", "internal/cli/shown", "internal/client/...", "internal/terminal", "internal/fault", "internal/gate", "internal/labelfile", "internal/stat"}},
		{"commands", "app", []string{"internal/client/api"}, nil}, // generated from the document alone
		{"commands", "", []string{"guard"}, nil},                  // agents of users import it
		{"commands", "app", []string{"internal/client"}, []string{"internal/fault", "internal/labelfile"}},
		{"commands", "app", []string{"internal/client/itemfile"}, []string{"internal/fault"}},
		{"commands", "app", []string{"internal/terminal"}, []string{"internal/fault"}},
		{"", "", []string{"internal/testkit/...", "internal/test/..."}, []string{"..."}},
		// Proofs and benches try the whole, from outside and from within.
		{"", "", []string{"internal/prove/...", "internal/bench/..."}, []string{"..."}},
		// A test's database is made from our migrations, so test support of the
		// stores may reach them.
		{"platform", "", []string{"internal/platform/postgres/postgrestest", "internal/platform/clickhouse/clickhousetest"}, []string{"internal/fault", "internal/principal", "internal/platform/...", "db"}},
		{"edge", "edge", []string{"internal/httpapi/..."}, []string{"internal/fault", "internal/principal", "internal/request", "internal/httpapi/..."}},
		{"change", "record", []string{"internal/change/..."}, []string{"internal/fault", "internal/principal", "internal/request", "internal/platform/..."}},
		{"notary", "record", []string{"internal/notary/..."}, []string{"internal/fault", "internal/principal", "internal/platform/...", "internal/change"}},
		{"platform", "platform", []string{"internal/platform/..."}, []string{"internal/fault", "internal/principal", "internal/platform/..."}},
		{"leaves", "leaves", leaves, nil},
		{"leaves", "", []string{"internal/stat/oracle"}, nil}, // for tests of the statistics
		// Leaves of a second kind: pure decisions and pure text.
		{"leaves", "leaves", []string{"internal/agreement"}, []string{"internal/stat/..."}},
		{"leaves", "leaves", []string{"internal/correction"}, []string{"internal/stat/..."}},
		{"leaves", "leaves", []string{"internal/consensus"}, []string{"internal/agreement", "internal/stat/..."}},
		{"leaves", "leaves", []string{"internal/gate"}, []string{"internal/fault", "internal/stat"}},
		{"leaves", "leaves", []string{"internal/label"}, []string{"internal/fault"}},
		{"leaves", "leaves", []string{"internal/labelfile"}, nil},
		{"leaves", "leaves", []string{"internal/metric"}, []string{"internal/schema"}},
		{"leaves", "leaves", []string{"internal/redact"}, []string{"internal/schema"}},
		{"leaves", "leaves", []string{"internal/span/..."}, []string{"internal/fault"}},
		{"leaves", "leaves", []string{"internal/state"}, []string{"internal/fault"}},
		{"leaves", "leaves", []string{"internal/report"}, []string{"internal/agreement", "internal/consensus", "internal/correction", "internal/metric", "internal/stat"}},
		// A generator may read the schema that our migrations make.
		{"tools", "", []string{"internal/arch/...", "internal/gen/..."}, []string{"internal/arch/...", "internal/gen/...", "internal/platform/...", "db"}},
		{"tools", "", []string{"dev/..."}, []string{"dev/..."}},
	}
	below := slices.Concat(leaves, []string{"internal/agreement", "internal/consensus", "internal/correction", "internal/gate", "internal/label", "internal/labelfile", "internal/metric", "internal/redact", "internal/report", "internal/span/...", "internal/state", "internal/httpapi/...", "internal/change", "internal/notary", "internal/platform/..."})
	for _, name := range slices.Sorted(maps.Keys(Domains)) {
		may := slices.Clone(below)
		for _, d := range Domains[name] {
			may = append(may, "internal/"+d)
		}
		all = append(all, floor{"domain-order", "domains", []string{"internal/" + name + "/..."}, may})
	}
	return all
}

// floorOf returns the floor of a folder.
func floorOf(dir string) (floor, bool) {
	for _, f := range floors() {
		if matchesAny(f.dirs, dir) {
			return f, true
		}
	}
	return floor{}, false
}

// allows reports whether a file in dir, on this floor, may import target.
func (f floor) allows(dir, target string) bool {
	if slices.Contains(f.may, "...") || matches(dir+"/...", target) || matchesAny(f.may, target) {
		return true
	}
	// Subfolders of one domain are one domain; the same holds for a package
	// and the commands below it.
	d := domainOf(dir)
	return d != "" && d == domainOf(target)
}

// floorLaw checks the floors that report under the law. Tests are bound too:
// a test that reaches up would hide that the package needs what is above it.
func floorLaw(law string) func(*tree, report) {
	return func(t *tree, bad report) {
		for _, f := range t.files {
			on, ok := floorOf(f.dir)
			if !ok || on.law != law {
				continue
			}
			for _, i := range f.imports {
				if i.ours == "" || guarded(i.ours) || on.allows(f.dir, i.ours) {
					continue
				}
				bad(f.path, i.line, "%s may not import %s; it may import %s", f.dir, i.ours, list(on.may))
			}
		}
	}
}

// guarded packages have a law about their importers instead.
func guarded(dir string) bool {
	return matches("internal/app/...", dir) || matches("internal/testkit/...", dir) || matches("internal/bench/...", dir)
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
		if _, ok := floorOf(f.dir); ok || seen[f.dir] {
			continue
		}
		seen[f.dir] = true
		bad(f.path, 0, "package %s has no place in the table of floors", f.dir)
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
