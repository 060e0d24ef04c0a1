package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/command/terminal"
)

// sign is one column for the state of a mark, and its color.
func sign(state string) (string, string) {
	switch state {
	case "done":
		return "●", green
	case "denied", "failed":
		return "✗", red
	case "missing":
		return "○", yellow
	case "waiting":
		return "◌", cyan
	case "not_needed":
		return "–", dim
	}
	return "?", yellow
}

// action draws the marks of an action, what there is to know about them, and what is
// missing.
func (d *drawing) action(l line) {
	d.marks(l)
	for _, m := range l.Action.Marks {
		text := m.Stage + ": " + m.Note
		if m.Note != "" && m.State != "missing" && m.State != "not_needed" && !slices.Contains(l.Action.Missing, text) {
			d.paragraph(l.below, "· ", text, dim)
		}
	}
	for _, m := range l.Action.Missing {
		d.paragraph(l.below, "! ", m, yellow)
	}
}

// marks draws the marks on one line where they have room, else on several.
func (d *drawing) marks(l line) {
	text, used := d.paint(dim, l.below), terminal.Columns(l.below)
	begin := used
	for _, m := range l.Action.Marks {
		s, color := sign(m.State)
		stage := terminal.Cut(terminal.Text(m.Stage), leastLabel)
		need := terminal.Columns(s) + 1 + terminal.Columns(stage)
		switch {
		case used == begin:
		case used+gap+need > d.width:
			d.write(text)
			text, used = d.paint(dim, l.below), begin
		default:
			text += spaces(gap)
			used += gap
		}
		if m.State == "not_needed" {
			text += d.paint(dim, s+" "+stage)
		} else {
			text += d.paint(color, s) + " " + stage
		}
		used += need
	}
	if used > begin {
		d.write(text)
	}
}

// paragraph writes a text in lines that fit, after a sign and below its first line.
func (d *drawing) paragraph(before, sign, text, color string) {
	room := d.width - terminal.Columns(before) - terminal.Columns(sign)
	for i, part := range wrap(text, room) {
		if i > 0 {
			sign = spaces(terminal.Columns(sign))
		}
		fmt.Fprintln(d.out, d.paint(dim, before)+d.paint(color, strings.TrimRight(sign+part, " ")))
	}
}
