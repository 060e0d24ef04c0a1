package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Checks are what was looked at, one a line.
type Checks struct {
	Lines   []CheckLine
	Summary string
}

// CheckLine is one check.
type CheckLine struct {
	Name string
	// State is ok, problem or skipped.
	State string
	Text  string
}

// Checks draws checks.
func (s Style) Checks(w io.Writer, c Checks) error {
	out := bufio.NewWriter(w)
	wide := 0
	for _, l := range c.Lines {
		wide = max(wide, Columns(oneLine(l.Name)))
	}
	for _, l := range c.Lines {
		sign, colour := "✓", green
		switch l.State {
		case "problem":
			sign, colour = "✗", red
		case "skipped":
			sign, colour = "–", yellow
		}
		head := sign + " " + Left(oneLine(l.Name), wide) + "  "
		width := 0
		if s.Width > 0 {
			width = max(leastText, s.Width-Columns(head))
		}
		for i, line := range wrap(oneLine(l.Text), width) {
			if i > 0 {
				head = strings.Repeat(" ", Columns(head))
			}
			fmt.Fprintln(out, strings.TrimRight(s.paint(colour, head)+line, " "))
		}
	}
	fmt.Fprintf(out, "\n%s\n", oneLine(c.Summary))
	return out.Flush()
}
