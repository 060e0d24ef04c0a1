package arch

import (
	"regexp"
	"slices"
	"strings"
)

// query is one named statement of a query file.
type query struct {
	file    string
	line    int
	name    string
	kind    string // what the caller gets: one, many, exec…
	doc     bool   // a sentence follows the name
	allOrgs string // why it may see every organization
	text    string // the statement without comments and quoted text
}

var (
	nameLine    = regexp.MustCompile(`^--\s*name:\s*(\w+)\s+:(\w+)\s*$`)
	anyNameLine = regexp.MustCompile(`^--\s*name:`)
	allOrgsLine = regexp.MustCompile(`^--\s*all orgs:\s*(\S.*)?$`)
	orgColumn   = regexp.MustCompile(`(?i)\borg_id\b`)
	insertInto  = regexp.MustCompile(`(?is)\binsert\s+into\s+([\w."]+)(?:\s+as\s+\w+)?\s*(?:\(([^)]*)\))?`)
	unspoken    = regexp.MustCompile(`(?s)'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/`)
)

// parseQueries cuts a query file at its name lines. What a query says about
// itself stands between its name and its statement. A line that means to name
// a query and cannot be read gives a query without a name.
func parseQueries(file, src string) []query {
	var all []query
	leading := false
	for n, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		if anyNameLine.MatchString(line) {
			q := query{file: file, line: n + 1}
			if m := nameLine.FindStringSubmatch(line); m != nil {
				q.name, q.kind = m[1], m[2]
			}
			all, leading = append(all, q), true
			continue
		}
		if len(all) == 0 {
			continue
		}
		q := &all[len(all)-1]
		q.text += line + "\n"
		leading = leading && strings.HasPrefix(line, "--")
		if !leading {
			continue
		}
		if m := allOrgsLine.FindStringSubmatch(line); m != nil {
			q.allOrgs = m[1]
		} else if strings.Trim(line, "- ") != "" {
			q.doc = true
		}
	}
	for i := range all {
		all[i].text = unspoken.ReplaceAllString(all[i].text, " ")
	}
	return all
}

func queryOrg(t *tree, bad report) {
	for _, q := range t.queries {
		if q.allOrgs == "" && !orgColumn.MatchString(q.text) {
			bad(q.file, q.line, "query %s names no org_id; name it or write `-- all orgs: <why>`", q.name)
		}
	}
	statementOrg(t, bad)
}

func queryDoc(t *tree, bad report) {
	for _, q := range t.queries {
		if q.name == "" {
			bad(q.file, q.line, "the line names no query; write `-- name: Name :kind`")
		} else if !q.doc {
			bad(q.file, q.line, "query %s has no sentence that says what it answers", q.name)
		}
	}
}

func queryInsert(t *tree, bad report) {
	for _, q := range t.queries {
		if q.allOrgs != "" {
			continue
		}
		for _, m := range insertInto.FindAllStringSubmatch(q.text, -1) {
			columns := strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(", \t\n\"", r) })
			column := "org_id"
			if m[1] == "organizations" {
				column = "id" // an organization's own row is the one that org_id refers to
			}
			if !slices.Contains(columns, column) {
				bad(q.file, q.line, "query %s inserts into %s without %s in its column list", q.name, m[1], column)
			}
		}
	}
}
