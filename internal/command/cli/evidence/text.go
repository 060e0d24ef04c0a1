package evidence

import (
	"bytes"
	"strings"

	"github.com/assayhq/assay/internal/command/terminal"
)

func spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

// wrap makes a text from elsewhere safe, and breaks it into lines of n columns.
func wrap(text string, n int) []string {
	var b bytes.Buffer
	if err := (terminal.Style{Width: n}).Say(&b, text); err != nil {
		return nil // a buffer takes everything
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
