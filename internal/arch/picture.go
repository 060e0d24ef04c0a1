package arch

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
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

// groups are the boxes of the picture, from the street to the cellar.
var groups = []string{"cmd", "app", "domains", "edge", "record", "platform", "leaves"}

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

// draw returns the Mermaid picture. An arrow that a longer way already implies
// is left out: with them all, nobody could follow a single one.
func (t *tree) draw() string {
	members, arrows := t.arrows()
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, g := range groups {
		nodes := slices.Sorted(maps.Keys(members[g]))
		if len(nodes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  subgraph floor_%s[\"%s\"]\n", g, g)
		for _, n := range nodes {
			fmt.Fprintf(&b, "    %s[\"%s\"]\n", id(n), label(n))
		}
		b.WriteString("  end\n")
	}
	for _, from := range slices.Sorted(maps.Keys(arrows)) {
		for _, to := range slices.Sorted(maps.Keys(arrows[from])) {
			if !implied(arrows, from, to) {
				fmt.Fprintf(&b, "  %s --> %s\n", id(from), id(to))
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

type set map[string]bool

// arrows returns the product's packages per group, and who imports whom. Tests,
// test support and tools are not the product.
func (t *tree) arrows() (members, to map[string]set) {
	members, to = map[string]set{}, map[string]set{}
	for _, f := range t.files {
		on, ok := floorOf(f.dir)
		if !ok || f.test || on.group == "" {
			continue
		}
		from := node(f.dir)
		if members[on.group] == nil {
			members[on.group] = set{}
		}
		members[on.group][from] = true
		for _, i := range f.imports {
			target, ok := floorOf(i.ours)
			if !ok || target.group == "" || node(i.ours) == from {
				continue
			}
			if to[from] == nil {
				to[from] = set{}
			}
			to[from][node(i.ours)] = true
		}
	}
	return members, to
}

// node folds a domain's own subfolders, and the private ones of any package,
// into the package.
func node(dir string) string {
	if d := domainOf(dir); d != "" {
		return "internal/" + d
	}
	outer, _, _ := strings.Cut(dir, "/internal/")
	return outer
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

func label(dir string) string { return strings.TrimPrefix(dir, "internal/") }

// id is a node's name in the picture's source; Mermaid reads slashes and some
// bare words as its own.
func id(dir string) string {
	return "p_" + strings.ReplaceAll(path.Clean(label(dir)), "/", "_")
}
