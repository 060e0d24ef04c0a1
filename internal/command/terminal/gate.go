package terminal

import (
	"bufio"
	"fmt"
	"io"
)

// Gate is what a gate says: of each requirement and as a whole.
type Gate struct {
	Name, Run, Baseline string // Baseline may be empty
	Verdict             string // PASS, FAIL or INCONCLUSIVE
	Summary             string
	Requirements        []Requirement
	Notes               []string
}

// Requirement is one requirement of a gate and what became of it.
type Requirement struct {
	Text    string
	Verdict string
	// Because says why; Help what would settle it.
	Because, Help string
}

// Gate draws a gate.
func (s Style) Gate(w io.Writer, g Gate) error {
	out := bufio.NewWriter(w)
	runs := ""
	if g.Run != "" {
		runs = " · run " + oneLine(g.Run)
	}
	if g.Baseline != "" {
		runs += " against run " + oneLine(g.Baseline)
	}
	if name := oneLine(g.Name); name != "" {
		fmt.Fprintf(out, "%s%s\n\n", s.paint(bold, name), s.paint(dim, runs))
	}
	const verdicts = len("INCONCLUSIVE")
	for _, r := range g.Requirements {
		sign, colour := verdictMark(r.Verdict)
		head := sign + " " + Left(r.Verdict, verdicts) + "  "
		fmt.Fprintln(out, s.paint(colour, head)+s.paint(bold, s.cut(oneLine(r.Text), Columns(head))))
		indent := Left("", Columns(head))
		s.paragraph(out, "", indent, r.Because)
		if r.Help != "" {
			s.paragraph(out, dim, indent, r.Help)
		}
	}
	if len(g.Requirements) > 0 {
		fmt.Fprintln(out)
	}
	sign, colour := verdictMark(g.Verdict)
	s.paragraph(out, colour, sign+" "+g.Verdict+": ", g.Summary)
	for _, n := range g.Notes {
		s.paragraph(out, dim, "", n)
	}
	return out.Flush()
}

// cut shortens a text to what is left of the line.
func (s Style) cut(text string, used int) string {
	if s.Width == 0 {
		return text
	}
	return Cut(text, max(leastName, s.Width-used))
}

func verdictMark(verdict string) (sign, colour string) {
	switch verdict {
	case "PASS":
		return "✓", green
	case "FAIL":
		return "✗", red
	}
	return "?", yellow
}
