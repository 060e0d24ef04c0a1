package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// List is a list of things, one a line.
type List struct {
	Heads []string
	// Right are the columns that are aligned at their right end.
	Right map[int]bool
	// Whole says that the first column is never cut: one has to type it.
	Whole bool
	Rows  [][]string
	// Empty says what to do if there are no rows.
	Empty string
	Notes []string
}

// List draws a list. The first column gives way when the terminal is narrow, so
// it should be a name; the last one after it.
func (s Style) List(w io.Writer, l List) error {
	out := bufio.NewWriter(w)
	if len(l.Rows) == 0 {
		s.paragraph(out, "", "", l.Empty)
		return out.Flush()
	}
	fields := make([]field, len(l.Heads))
	for i, head := range l.Heads {
		fields[i] = field{head: head, right: l.Right[i], whole: l.Whole && i == 0}
	}
	rows := make([][]cell, len(l.Rows))
	for i, r := range l.Rows {
		rows[i] = make([]cell, len(r))
		for j, text := range r {
			if text = oneLine(text); text == "" {
				text = none
			}
			rows[i][j] = cell{text, wordColour(text)}
		}
	}
	s.table(out, fields, rows)
	s.notes(out, l.Notes)
	return out.Flush()
}

// wordColour is the colour of a word that says how something stands.
func wordColour(word string) string {
	switch word {
	case "PASS", "completed", "passed", "active", "ok":
		return green
	case "FAIL", "failed", "errored", "invalid", "problem":
		return red
	case "INCONCLUSIVE", "cancelled", "skipped", "check":
		return yellow
	case "running":
		return cyan
	}
	return ""
}

func (s Style) notes(out io.Writer, notes []string) {
	if len(notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, n := range notes {
		s.paragraph(out, dim, "", n)
	}
}

// Sheet is what there is to say about one thing.
type Sheet struct {
	Name, Kind string // Kind is what it is, and its id
	Facts      []Fact
	Notes      []string
}

// Sheet draws a sheet, with the values below each other.
func (s Style) Sheet(w io.Writer, t Sheet) error {
	out := bufio.NewWriter(w)
	kind := " · " + oneLine(t.Kind)
	fmt.Fprintf(out, "%s%s\n", s.paint(bold, s.cut(oneLine(t.Name), Columns(kind))), s.paint(dim, kind))
	wide := 0
	for _, f := range t.Facts {
		if f.Value != "" {
			wide = max(wide, Columns(f.Name))
		}
	}
	for _, f := range t.Facts {
		if f.Value != "" {
			s.labelled(out, Left(f.Name, wide)+strings.Repeat(" ", gap), f.Value, 0)
		}
	}
	s.notes(out, t.Notes)
	return out.Flush()
}

// labelled writes a text after its label, in as many lines as it needs, or as
// are given.
func (s Style) labelled(out io.Writer, label, text string, most int) {
	width := 0
	if s.Width > 0 {
		width = max(leastText, s.Width-Columns(label))
	}
	lines := wrap(clean(text), width)
	if most > 0 && len(lines) > most {
		lines = lines[:most]
		if last := &lines[most-1]; width > 0 {
			*last = Cut(*last+" …", width)
		} else {
			*last += " …"
		}
	}
	for i, line := range lines {
		if i > 0 {
			label = strings.Repeat(" ", Columns(label))
		}
		fmt.Fprintln(out, strings.TrimRight(s.paint(dim, label)+line, " "))
	}
}

// Moment is a time for a reader, in the zone of this machine.
func Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Took is a duration for a reader.
func Took(d time.Duration) string { return duration(d) }

// Cost is an amount of US dollars for a reader, empty if it is not known.
func Cost(usd *float64) string { return cost(usd) }

// Score is a score for a reader.
func Score(x *float64) string {
	if x == nil {
		return none
	}
	return figure(x, decimals(*x, 0), false)
}

// Rate is a share of one, in per cent for a reader.
func Rate(x *float64) string {
	if x == nil {
		return none
	}
	return figure(x, 1, true)
}
