package arch

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// PictureFile holds the picture of the arrows, between two markers.
const PictureFile = "ARCHITECTURE.md"

const (
	pictureBegin = "<!-- arrows:begin -->"
	pictureEnd   = "<!-- arrows:end -->"
)

// blank is what a repository without the file starts from.
const blank = "# Architecture\n\n" + pictureBegin + "\n" + pictureEnd + "\n"

// Redraw returns the text of the picture's file with the picture of the tree
// in it. A file that is missing starts as a heading and the markers.
func Redraw(fsys fs.FS) (string, error) {
	t, err := load(fsys)
	if err != nil {
		return "", err
	}
	text := blank
	if t.exists(PictureFile) {
		b, err := fs.ReadFile(fsys, PictureFile)
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	before, _, after, err := split(text)
	if err != nil {
		return "", err
	}
	return before + pictureBegin + "\n" + t.draw() + pictureEnd + after, nil
}

// split cuts the text around the markers.
func split(text string) (before, inside, after string, err error) {
	before, rest, ok := strings.Cut(text, pictureBegin)
	if ok {
		inside, after, ok = strings.Cut(rest, pictureEnd)
	}
	if !ok {
		return "", "", "", fmt.Errorf("%s has no lines %s and %s", PictureFile, pictureBegin, pictureEnd)
	}
	return before, inside, after, nil
}

func picture(t *tree, bad report) {
	b, err := fs.ReadFile(t.fsys, PictureFile)
	if err != nil {
		bad(PictureFile, 0, "is missing: run make gen")
		return
	}
	_, inside, _, err := split(string(b))
	if err != nil {
		bad(PictureFile, 0, "%v", err)
		return
	}
	if strings.TrimSpace(inside) != strings.TrimSpace(t.draw()) {
		bad(PictureFile, 0, "does not show the real imports: run make gen")
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
