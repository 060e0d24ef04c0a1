package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Redraws reports whether lines that were written can be drawn over: the writer
// is a terminal that knows how to move its cursor.
func Redraws(w io.Writer, environ []string) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	for _, kv := range environ {
		if kv == "TERM=dumb" {
			return false
		}
	}
	_, isTerminal := size(f)
	return isTerminal
}

// Live is a block of lines at the end of a terminal that is drawn over itself.
// A block is written at once and over the one before, line by line, so that
// nothing is empty in between. Nobody else writes to the terminal meanwhile.
type Live struct {
	w     io.Writer
	lines []string
}

// NewLive begins a block where the cursor is.
func NewLive(w io.Writer) *Live { return &Live{w: w} }

// Draw shows the lines in place of those before. None of them may be wider than
// the terminal.
func (l *Live) Draw(lines []string) { l.draw("", lines) }

// Above writes a text that stays, above the block.
func (l *Live) Above(text string) { l.draw(text, l.lines) }

func (l *Live) draw(above string, lines []string) {
	var b strings.Builder
	if n := len(l.lines); n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", n)
	}
	if above != "" {
		// It may wrap over more lines than the block has.
		b.WriteString("\r\x1b[J" + clean(above) + "\n")
	}
	for _, line := range lines {
		b.WriteString("\r" + line + "\x1b[K\n")
	}
	if len(lines) < len(l.lines) {
		b.WriteString("\x1b[J")
	}
	l.lines = lines
	_, _ = io.WriteString(l.w, b.String()) // a terminal that is gone shows nothing
}
