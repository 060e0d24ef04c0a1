package arch

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// documents are the pages that say where things are.
var documents = []string{"AGENTS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"}

var (
	// quotedPath is a place in backticks, or what a line of an example begins with.
	quotedPath = regexp.MustCompile("(?:`|^ *)((?:internal|cmd|db|dev|docs|ci|deploy|e2e|api|guard|web)/[\\w./-]*\\w)")
	// quotedFile is a file whose folder the line has named before.
	quotedFile = regexp.MustCompile("`((?:\\w+/)*\\w+\\.(?:go|sql))`")
)

// documented finds places that a document names and the repository does not have, and
// decisions that no document lists.
func documented(t *tree, bad report) {
	for _, doc := range documents {
		text, err := fs.ReadFile(t.fsys, doc)
		if err != nil {
			if doc != PictureFile { // which a law of its own misses
				bad(doc, 0, "is missing: it says where things are")
			}
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			t.placesOf(line, func(place string) {
				bad(doc, i+1, "names %s, which does not exist", place)
			})
		}
	}
	listed, _ := fs.ReadFile(t.fsys, PictureFile)
	decisions, _ := fs.Glob(t.fsys, "docs/adr/*.md")
	for _, decision := range decisions {
		if !strings.Contains(string(listed), "("+decision+")") {
			bad(decision, 0, "is not in the list of %s", PictureFile)
		}
	}
}

// placesOf reports the places that a line names and that do not exist, from the root or
// from another place of the line.
func (t *tree) placesOf(line string, missing func(string)) {
	var dirs, rest []string
	for _, m := range quotedPath.FindAllStringSubmatch(line, -1) {
		if t.exists(m[1]) {
			dirs = append(dirs, m[1], path.Dir(m[1]))
		} else {
			rest = append(rest, m[1])
		}
	}
	if len(dirs) > 0 {
		for _, m := range quotedFile.FindAllStringSubmatch(line, -1) {
			rest = append(rest, m[1])
		}
	}
	for _, place := range rest {
		if !slices.ContainsFunc(append(dirs, "."), func(dir string) bool { return t.exists(path.Join(dir, place)) }) {
			missing(place)
		}
	}
}
