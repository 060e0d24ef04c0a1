// Package terminal draws what the commands of a user show: the line of a trace
// that has arrived, a trace as the tree of its spans, a run as it goes on and
// as it ended, two runs beside each other, and what a gate says.
//
// Names, messages and payloads were written by applications, models and their
// users. Nothing of them reaches the terminal that could move its cursor, set
// its title or turn the order of its letters.
package terminal

import (
	"io"
	"os"
	"strconv"
	"strings"
)

// Style is what the reader's terminal can show.
type Style struct {
	Colour bool
	// Width is the number of columns. With zero nobody looks at the output as
	// it is written, and nothing is cut or wrapped.
	Width int
}

const (
	usualWidth = 80
	leastWidth = 40 // below it lines are longer than the terminal is wide
)

// Detect finds the style of a writer. Colours are for terminals only, and not
// if NO_COLOR is set or TERM is dumb. The width is the terminal's, else that
// of COLUMNS.
func Detect(w io.Writer, environ []string) Style {
	env := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	said, err := strconv.Atoi(env["COLUMNS"])
	if err != nil || said < 1 {
		said = 0
	}
	columns, isTerminal := 0, false
	if f, ok := w.(*os.File); ok {
		columns, isTerminal = size(f)
	}
	if columns == 0 {
		columns = said
	}
	if columns == 0 && isTerminal {
		columns = usualWidth
	}
	if columns > 0 {
		columns = max(columns, leastWidth)
	}
	return Style{Colour: isTerminal && env["NO_COLOR"] == "" && env["TERM"] != "dumb", Width: columns}
}

// The colours, as the terminal's own palette has them.
const (
	bold    = "1"
	dim     = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	blue    = "34"
	magenta = "35"
	cyan    = "36"
)

// paint colours a text that is already padded.
func (s Style) paint(colour, text string) string {
	if !s.Colour || colour == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// mark is one column for how a trace stands, and its colour.
func mark(status string, autoClosed bool, errors int) (sign, colour string) {
	switch {
	case status == "running":
		return "▸", cyan
	case status == "failed":
		return "✗", red
	case autoClosed:
		return "◌", dim
	case status == "completed" && errors > 0:
		return "✓", yellow
	case status == "completed":
		return "✓", green
	}
	return "•", dim
}
