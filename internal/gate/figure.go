package gate

import (
	"fmt"
	"slices"
	"strings"
)

// CheckFigure refuses a requirement for a figure that no run of the evaluation
// has: a misspelt name must not wait for a figure that never comes. Metrics are
// the names that the evaluation has.
func (r Requirement) CheckFigure(metrics []string) error {
	all := []string{PassRate, Overall}
	for _, name := range metrics {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if slices.Contains(all, r.Figure) {
		return nil
	}
	if name := Nearest(r.Figure, all); name != "" {
		return fmt.Errorf("%q: the evaluation has no metric %q: did you mean %s?", r.Text, r.Figure, name)
	}
	return fmt.Errorf("%q: the evaluation has no metric %q: use %s", r.Text, r.Figure, list(all))
}

// list joins names as a sentence does.
func list(names []string) string {
	const most = 8
	last := "or " + names[len(names)-1]
	if len(names) > most {
		names, last = names[:most], "another of its metrics"
	} else {
		names = names[:len(names)-1]
	}
	return strings.Join(names, ", ") + " " + last
}

// Nearest is the name that was probably meant, empty if none is near. Case,
// underscores and hyphens do not count.
func Nearest(name string, all []string) string {
	name = letters(name)
	nearest, best := "", max(1, len(name)/3)+1
	for _, one := range all {
		if d := edits(name, letters(one)); d < best {
			nearest, best = one, d
		}
	}
	return nearest
}

var noLetters = strings.NewReplacer("_", "", "-", "", " ", "")

func letters(name string) string { return noLetters.Replace(strings.ToLower(name)) }

// edits counts the letters to add, remove or replace between two names.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
