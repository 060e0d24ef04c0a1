package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
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
	if name := fault.Nearest(r.Figure, all); name != "" {
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
