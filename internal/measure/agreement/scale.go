package agreement

import (
	"fmt"

	"github.com/assayhq/assay/internal/measure/stat"
)

// maxLabels is the largest number of labels of a scale. A rubric with more is
// a list of values, and agreement on it is a matter of numbers.
const maxLabels = 100

// Scale is what raters choose from. It comes from the rubric and not from the
// data: a label that nobody used is still a label.
type Scale struct {
	Labels  []string
	Ordered bool // labels run from one end to the other, and near ones differ less
	// Positive is the label that true and false positives refer to, for a scale
	// of two. Empty leaves them out.
	Positive string
}

// Index returns the place of each label.
func (s Scale) Index() (map[string]int, error) {
	if len(s.Labels) < 2 || len(s.Labels) > maxLabels {
		return nil, malformed("a scale of %d labels must have between 2 and %d", len(s.Labels), maxLabels)
	}
	at := make(map[string]int, len(s.Labels))
	for i, label := range s.Labels {
		if _, twice := at[label]; twice || label == "" {
			return nil, malformed("label %q is empty or stands twice on the scale", label)
		}
		at[label] = i
	}
	if _, ok := at[s.Positive]; s.Positive != "" && (!ok || len(s.Labels) != 2) {
		return nil, malformed("positive label %q must be one of two", s.Positive)
	}
	return at, nil
}

// malformed says what is wrong with an input.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", stat.ErrInput, fmt.Errorf(format, args...))
}
