package arch

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// PictureFile holds the picture of the arrows, and EventPage the tables of events, each
// between two markers.
const (
	PictureFile = "ARCHITECTURE.md"
	EventPage   = "docs/event-types.md"
)

// drawing is a part of a page that is made from the tree.
type drawing struct {
	page, begin, end string
	draw             func(*tree) string
}

var drawings = map[string]drawing{
	PictureFile: {PictureFile, "<!-- arrows:begin -->", "<!-- arrows:end -->", (*tree).draw},
	EventPage:   {EventPage, "<!-- events:begin -->", "<!-- events:end -->", (*tree).drawEvents},
}

// Redraw returns the text of a page with what it shows of the tree in it. A page that is
// missing starts as the markers.
func Redraw(fsys fs.FS, page string) (string, error) {
	t, err := load(fsys)
	if err != nil {
		return "", err
	}
	d := drawings[page]
	text := d.begin + "\n" + d.end + "\n"
	if t.exists(page) {
		b, err := fs.ReadFile(fsys, page)
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	before, _, after, err := d.split(text)
	if err != nil {
		return "", err
	}
	return before + d.begin + "\n" + d.draw(t) + d.end + after, nil
}

// split cuts the text around the markers.
func (d drawing) split(text string) (before, inside, after string, err error) {
	before, rest, ok := strings.Cut(text, d.begin)
	if ok {
		inside, after, ok = strings.Cut(rest, d.end)
	}
	if !ok {
		return "", "", "", fmt.Errorf("%s has no lines %s and %s", d.page, d.begin, d.end)
	}
	return before, inside, after, nil
}

// drawn is the law that a page shows the tree as it is.
func drawn(page string) func(*tree, report) {
	return func(t *tree, bad report) {
		d := drawings[page]
		b, err := fs.ReadFile(t.fsys, page)
		if err != nil {
			bad(page, 0, "is missing: run make gen")
			return
		}
		_, inside, _, err := d.split(string(b))
		if err != nil {
			bad(page, 0, "%v", err)
			return
		}
		if strings.TrimSpace(inside) != strings.TrimSpace(d.draw(t)) {
			bad(page, 0, "does not show what there is: run make gen")
		}
	}
}

// draw returns the list of the doors and the Mermaid picture of their arrows. An arrow that
// a longer way already implies is left out: with them all, nobody could follow a single one.
func (t *tree) draw() string {
	packages, arrows := t.arrows()
	var b strings.Builder
	b.WriteString("\n| Behind `internal/` | What is there | Packages |\n|---|---|---|\n")
	for _, d := range doors() {
		if packages[d.name] != nil {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.name, d.says, strings.Join(slices.Sorted(maps.Keys(packages[d.name])), ", "))
		}
	}
	b.WriteString("\n```mermaid\nflowchart TD\n")
	for _, from := range slices.Sorted(maps.Keys(arrows)) {
		for _, to := range slices.Sorted(maps.Keys(arrows[from])) {
			if !implied(arrows, from, to) {
				fmt.Fprintf(&b, "  %s --> %s\n", id(from), id(to))
			}
		}
	}
	b.WriteString("```\n\n")
	return b.String()
}

type set map[string]bool

// arrows returns the packages behind each door, and which door's packages import another's.
// What the product is not made of, its tests and its tools, has packages but no arrows.
func (t *tree) arrows() (packages, to map[string]set) {
	packages, to = map[string]set{}, map[string]set{}
	add := func(m map[string]set, key, value string) {
		if m[key] == nil {
			m[key] = set{}
		}
		m[key][value] = true
	}
	for _, f := range t.files {
		from := doorOf(f.dir)
		if from == "" {
			continue
		}
		if packages[from] == nil {
			packages[from] = set{}
		}
		if name, _, _ := strings.Cut(strings.TrimPrefix(f.dir, "internal/"+from+"/"), "/"); f.dir != "internal/"+from && name != "internal" {
			add(packages, from, name)
		}
		if f.test || from == "test" || from == "tool" {
			continue
		}
		for _, i := range f.imports {
			if target := doorOf(i.ours); target != "" && target != from {
				add(to, from, target)
			}
		}
	}
	return packages, to
}

// implied reports whether another import of from leads to the target.
func implied(arrows map[string]set, from, target string) bool {
	seen := set{from: true}
	var reaches func(string) bool
	reaches = func(n string) bool {
		if n == target {
			return true
		}
		if seen[n] {
			return false
		}
		seen[n] = true
		for next := range arrows[n] {
			if reaches(next) {
				return true
			}
		}
		return false
	}
	for next := range arrows[from] {
		if next != target && reaches(next) {
			return true
		}
	}
	return false
}

// id is a node's name in the picture's source; Mermaid reads some bare words as its own.
func id(door string) string { return "door_" + door + "[" + door + "]" }
