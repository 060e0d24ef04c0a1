package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// changes has one file for each change of the interface. A file lists the
// operations that it explains, so that two branches that change different
// operations write different files, and two that change the same operation
// cannot both be right about its hash.
const (
	changes = "api/changes"
	heading = "\nOperations:\n"
	removed = "removed"
)

var (
	changeName = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}-[a-z0-9]+(-[a-z0-9]+)*\.md$`)
	changeLine = regexp.MustCompile(`^    ([A-Z]+ /\S*) ([0-9a-f]{16}|removed)$`)
)

// change is one file: its text, and the operations that it explains with the
// hashes that they have after it.
type change struct {
	name       string
	text       string
	operations map[string]string
}

// breaks reports whether the change says that it breaks clients.
func (c change) breaks() bool { return strings.Contains(c.text, "\n**Breaking** ") }

// readChanges reads every change, oldest first.
func readChanges() ([]change, error) {
	entries, err := os.ReadDir(changes)
	if err != nil {
		return nil, err
	}
	var all []change
	var problems []error
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(changes, e.Name()))
		if err != nil {
			return nil, err
		}
		c, err := parseChange(e.Name(), string(text))
		problems = append(problems, err)
		all = append(all, c)
	}
	return all, errors.Join(problems...)
}

func parseChange(name, text string) (change, error) {
	c := change{name: name, text: text, operations: map[string]string{}}
	if !changeName.MatchString(name) {
		return c, fmt.Errorf("%s/%s: name the file by date and a few words: 2026-11-15-saved-views.md", changes, name)
	}
	title, list, _ := strings.Cut(text, heading)
	head, prose, _ := strings.Cut(title, "\n")
	if !strings.HasPrefix(head, "# ") || strings.TrimSpace(prose) == "" {
		return c, fmt.Errorf("%s/%s: begin with a title and a description of the change", changes, name)
	}
	for _, line := range lines(list) {
		m := changeLine.FindStringSubmatch(line)
		if m == nil {
			return c, fmt.Errorf("%s/%s: %q is not an indented operation with its hash", changes, name, line)
		}
		c.operations[m[1]] = m[2]
	}
	return c, nil
}

// newest says for each operation which change explains it last.
func newest(all []change) map[string]change {
	out := map[string]change{}
	for _, c := range all {
		for op := range c.operations {
			out[op] = c
		}
	}
	return out
}

// unexplained lists the operations of a document that differ from what the
// changes record, as lines of a change.
func unexplained(doc []byte, all []change) ([]string, error) {
	now, err := hashes(doc)
	if err != nil {
		return nil, err
	}
	last := newest(all)
	for op := range last {
		if now[op] == "" {
			now[op] = removed
		}
	}
	var out []string
	for _, op := range slices.Sorted(maps.Keys(now)) {
		if last[op].operations[op] != now[op] {
			out = append(out, op+" "+now[op])
		}
	}
	return out, nil
}

// explained fails unless the changes record every operation as it is.
func explained(doc []byte, all []change) error {
	open, err := unexplained(doc, all)
	if err != nil || len(open) == 0 {
		return err
	}
	last := newest(all)
	var hints []string
	for _, line := range open {
		op := line[:strings.LastIndexByte(line, ' ')]
		if c, ok := last[op]; ok {
			line += ", last explained in " + c.name
		}
		hints = append(hints, line)
	}
	return fmt.Errorf("operations have changed that no file of %s explains:\n  %s\nRun `go run ./internal/tool/gen/contract -explain DATE-A-FEW-WORDS` and describe the change in the file that it writes", changes, strings.Join(hints, "\n  "))
}

// argued fails for a change that breaks clients without a Breaking paragraph.
func argued(broken []breach, c change) error {
	var list []string
	for _, b := range broken {
		if _, ok := c.operations[b.operation]; ok {
			list = append(list, b.operation+": "+b.text)
		}
	}
	if len(list) == 0 || c.breaks() {
		return nil
	}
	return fmt.Errorf("%s/%s breaks clients:\n  %s\nTake the change back, or add a **Breaking** paragraph that says what clients have to do", changes, c.name, strings.Join(list, "\n  "))
}

// explain writes the change with this name, such as 2026-11-15-saved-views: a
// new file to describe the change in, or the list of an existing file brought
// up to date.
func explain(doc []byte, all []change, name string) error {
	name = strings.TrimSuffix(name, ".md") + ".md"
	if !changeName.MatchString(name) {
		return fmt.Errorf("%q is not a date and a few words in lower case, joined by -", name)
	}
	slug := strings.TrimSuffix(name[len("2026-11-15-"):], ".md")
	text := "# " + strings.ToUpper(slug[:1]) + strings.ReplaceAll(slug[1:], "-", " ") + "\n"
	if i := slices.IndexFunc(all, func(c change) bool { return c.name == name }); i >= 0 {
		text = all[i].text
		all = slices.Delete(slices.Clone(all), i, i+1)
	}
	open, err := unexplained(doc, all)
	if err != nil {
		return err
	}
	prose, _, _ := strings.Cut(text, heading)
	prose = strings.TrimRight(prose, "\n") + "\n"
	if strings.Count(prose, "\n") == 1 {
		added, err := additions(doc, newest(all))
		if err != nil {
			return err
		}
		prose += added
	}
	if len(open) > 0 {
		prose += heading + "\n    " + strings.Join(open, "\n    ") + "\n"
	}
	return os.WriteFile(filepath.Join(changes, name), []byte(prose), 0o644)
}

// additions describe the operations that no change has listed before: all that
// there is to say about a change that only adds.
func additions(doc []byte, known map[string]change) (string, error) {
	var d openAPI
	if err := json.Unmarshal(doc, &d); err != nil {
		return "", fmt.Errorf("read %s: %w", document, err)
	}
	var added []string
	for path, item := range d.Paths {
		for method, op := range item {
			name := strings.ToUpper(method) + " " + path
			if _, ok := known[name]; !ok {
				added = append(added, "* `"+name+"`: "+op.Summary)
			}
		}
	}
	if len(added) == 0 {
		return "", nil
	}
	slices.Sort(added)
	return "\nNew operations:\n\n" + strings.Join(added, "\n") + "\n", nil
}

// hashes are the contract hashes of a document, shortened, by operation.
func hashes(doc []byte) (map[string]string, error) {
	var d openAPI
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, fmt.Errorf("read %s: %w", document, err)
	}
	out := map[string]string{}
	for path, item := range d.Paths {
		for method, op := range item {
			hash := strings.TrimPrefix(op.Hash, "sha256:")
			if len(hash) < 16 {
				return nil, fmt.Errorf("%s: %s %s has no contract hash", document, method, path)
			}
			out[strings.ToUpper(method)+" "+path] = hash[:16]
		}
	}
	return out, nil
}
