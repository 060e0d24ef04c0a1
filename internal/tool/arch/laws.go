package arch

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// Violation is one place that breaks one law.
type Violation struct {
	Law     string
	File    string
	Line    int // zero if the whole file or a missing file is meant
	Message string
}

// String reads like a compiler's message, so that editors can jump to it.
func (v Violation) String() string {
	if v.Line == 0 {
		return fmt.Sprintf("%s: %s [%s]", v.File, v.Message, v.Law)
	}
	return fmt.Sprintf("%s:%d: %s [%s]", v.File, v.Line, v.Message, v.Law)
}

// Law is one rule with its name and its reason.
type Law struct {
	Name  string
	Says  string
	check func(*tree, report)
}

// Laws returns every law.
func Laws() []Law {
	return []Law{
		{"layer-http", "in a domain only http*.go speaks HTTP, so that rules can be called without a request", layer(layers[0])},
		{"layer-outbound", "in a domain only http*.go and outbound*.go know net/http, so that requests made are found as easily as requests answered", layer(layers[1])},
		{"http-service", "http*.go asks its own service, and neither its store nor the service of another area, so that a rule has every caller and not only HTTP", httpService},
		{"inbound", "http*.go of a domain answers requests and makes none", inbound},
		{"layer-store", "in a domain only store*.go and the packages that are a store speak to a database driver, so that every query is found in one place; a noun that is its row calls the generated queries", layer(layers[2])},
		{"layer-workflow", "in a domain only workflow*.go and activity*.go speak Temporal, so that rules stay plain functions", layer(layers[3])},
		{"clickhouse", "only evidence, trace, result, score, tenancy and erasure use ClickHouse; everyone else asks them", clickhouse},
		{"doors", "a package imports what stands behind its own door and those above it, so that every arrow points one way", doorLaw},
		{"framework", "only the edge reaches below the framework that it is built on, so that what needs the connection is built once", framework},
		{"placed", "every package stands behind a door, so that none escapes the laws", placed},
		{"app", "only cmd and what tries the whole import the composition root", importers("internal/app", "cmd/...", "internal/test/...")},
		{"testkit", "only tests import testkit", importers("internal/test/testkit", "internal/test/testkit/...")},
		{"client-tests", "tests that boot the application stand below internal/test, so that no package is built once more for another's tests", clientTest},
		{"boots", "tests share applications: an organization of its own is all that most of them need", boots},
		{"timing", "a test does not depend on how fast the machine is", timing},
		{"bench", "only tests and proofs import what benches measure with", importers("internal/test/bench", "internal/test/bench/...", "internal/test/prove/...")},
		{"outbound", "platform/egress builds the only HTTP client that a server goes out with, so that its address rules hold everywhere", outbound},
		{"budget", "every operation and every activity draws on the account of the organization that causes it, so that none can take what others need", budget},
		{"clock", "the time is handed in, so that a test can set it", clock},
		{"names", "a package is named after what it is about", names},
		{"size", "a file fits in a reader's head: 600 lines, a test file 900", size},
		{"knots", "files of a package that all need each other have 1,500 lines together, so that a change needs a part of the package", knots},
		{"methods", "a type has 40 methods: more are several types in one", methods},
		{"functions", "a function has 80 lines, so that it fits on a screen", functions},
		{"columns", "a line has 140 columns, so that two files fit beside each other", columns},
		{"query-org", "every query of PostgreSQL names org_id or says why it sees all organizations, and every statement of ClickHouse names it after each table", queryOrg},
		{"query-doc", "every query says in a sentence what it answers", queryDoc},
		{"query-insert", "every INSERT lists org_id", queryInsert},
		{"later", "a statement that is sent later has no answer, so that nobody reads one that is always empty", later},
		{"domain-doc", "every domain explains itself in doc.go", domainDoc},
		{"domain-page", "every domain with operations has a page under docs", domainPage},
		{"reasons", "every reason of an error is in " + reasonsPage + ", which says what to do about it", reasons},
		{"documents", "what the documents name exists, and every decision is listed", documented},
		{"events", "a kind of event is a variable of its area's events.go, or beside the row that it happens to, spelled as all others, so that the catalogue has it", events},
		{"kinds", "the names of kinds of evidence and of their fields are generated, so that a misspelt one does not compile", kindNames},
		{"picture", "the picture in " + PictureFile + " shows the real imports", drawn(PictureFile)},
		{"event-page", EventPage + " lists the events that there are", drawn(EventPage)},
	}
}

// Check applies every law to the tree below fsys and returns what breaks them,
// in the order of files and lines.
func Check(fsys fs.FS) ([]Violation, error) {
	t, err := load(fsys)
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, law := range Laws() {
		law.check(t, func(file string, line int, format string, args ...any) {
			found = append(found, Violation{law.Name, file, line, fmt.Sprintf(format, args...)})
		})
	}
	slices.SortStableFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return found, nil
}
