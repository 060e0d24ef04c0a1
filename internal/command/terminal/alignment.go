package terminal

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// Alignment is how well a judge agrees with people.
type Alignment struct {
	Name    string // of the judge
	Kind    string // its version, and what was compared
	Verdict string // aligned, misaligned or insufficient_data
	Settle  string // what the verdict means, and how many labels are missing
	Labels  []string
	// Confusion counts answers; rows are people's labels, columns the judge's.
	Confusion [][]int
	Level     float64 // of the intervals
	Measures  []Measure
	Facts     []Fact
	// Disagreements are answers that people and the judge see differently.
	Disagreements []Disagreement
	Notes         []string
}

// Measure is a figure of agreement. Outcome is empty if nothing depends on it.
type Measure struct {
	Estimate
	Needs   *float64
	Outcome string
}

// Disagreement is an answer with what people and the judge say about it.
type Disagreement struct{ Item, People, Judge, Reason string }

// The width of drawings in the tables of an alignment.
const (
	cellBar  = 10
	gaugeBar = 24
)

// Alignment draws how well a judge agrees with people.
func (s Style) Alignment(w io.Writer, a Alignment) error {
	out := bufio.NewWriter(w)
	sign, colour := outcomeMark(a.Verdict)
	head := sign + " " + strings.ReplaceAll(a.Verdict, "_", " ")
	name := oneLine(a.Name)
	fmt.Fprintf(out, "%s  %s%s\n", s.paint(colour, head), s.paint(bold, name), s.paint(dim, s.cut(" · "+oneLine(a.Kind), Columns(head)+2+Columns(name))))
	s.paragraph(out, "", "", a.Settle)
	if len(a.Confusion) > 0 {
		fmt.Fprintln(out)
		s.confusion(out, a)
	}
	if len(a.Measures) > 0 {
		fmt.Fprintln(out)
		s.measures(out, a)
	}
	if len(a.Facts) > 0 {
		fmt.Fprintln(out)
		s.facts(out, a.Facts)
	}
	if len(a.Disagreements) > 0 {
		fmt.Fprintln(out)
		rows := make([][]cell, len(a.Disagreements))
		for i, d := range a.Disagreements {
			rows[i] = []cell{{oneLine(d.Item), ""}, {oneLine(d.People), ""}, {oneLine(d.Judge), ""}, {s.lastCell(oneLine(d.Reason)), dim}}
		}
		s.table(out, []field{{head: "DISAGREEMENT", whole: true}, {head: "PEOPLE"}, {head: "JUDGE"}, {head: "THE JUDGE'S REASONING"}}, rows)
	}
	s.notes(out, a.Notes)
	return out.Flush()
}

// lastCell keeps a long text from making a line without end where nothing is cut.
func (s Style) lastCell(text string) string {
	if s.Width > 0 {
		return text
	}
	return Cut(text, usualWidth)
}

// facts writes names and what there is to say, below each other.
func (s Style) facts(out io.Writer, all []Fact) {
	wide := 0
	for _, f := range all {
		wide = max(wide, Columns(f.Name))
	}
	for _, f := range all {
		s.labelled(out, Left(f.Name, wide)+strings.Repeat(" ", gap), f.Value, 0)
	}
}

// confusion draws the matrix: how often each pair of labels occurs, with bars that
// are shares of their row.
func (s Style) confusion(out io.Writer, a Alignment) {
	fields := []field{{head: "PEOPLE SAY", whole: true}}
	for _, l := range a.Labels {
		fields = append(fields, field{head: "JUDGE: " + Cut(oneLine(l), 16)})
	}
	fields = append(fields, field{head: "ALL", right: true})
	digits, bar := 1, cellBar
	for _, row := range a.Confusion {
		for _, n := range row {
			digits = max(digits, len(grouped(n)))
		}
	}
	if s.Width > 0 && len(a.Labels) > 2 {
		bar = max(0, min(bar, (s.Width-24)/len(a.Labels)-digits-gap-1))
	}
	var rows [][]cell
	for i, counts := range a.Confusion {
		total := 0
		for _, n := range counts {
			total += n
		}
		cells := []cell{{Cut(oneLine(a.Labels[i]), 16), ""}}
		for j, n := range counts {
			colour := red
			if i == j {
				colour = green
			}
			if n == 0 {
				colour = dim
			}
			cells = append(cells, cell{Right(grouped(n), digits) + " " + blocks(n, total, bar), colour})
		}
		rows = append(rows, append(cells, cell{grouped(total), ""}))
	}
	s.table(out, fields, rows)
}

// blocks draws a part of a whole. What is there is never too small to be seen.
func blocks(part, whole, width int) string {
	if part == 0 || whole == 0 || width == 0 {
		return strings.Repeat(" ", width)
	}
	halves := max(1, int(math.Round(2*float64(width)*float64(part)/float64(whole))))
	return Left(strings.Repeat("█", halves/2)+strings.Repeat("▌", halves%2), width)
}

func (s Style) measures(out io.Writer, a Alignment) {
	rows := make([][]cell, len(a.Measures))
	for i, m := range a.Measures {
		sign, colour := outcomeMark(m.Outcome)
		needs := ""
		if m.Outcome == "" {
			sign, colour = "", ""
		}
		if m.Needs != nil {
			m.Bar = m.Needs
			needs = fmt.Sprintf("≥ %.3g", *m.Needs)
		}
		value, interval := m.texts()
		rows[i] = []cell{{oneLine(m.Name), ""}, {value, bold}, {interval, ""}, {gauge(m.Estimate, m.Needs, gaugeBar), colour}, {needs, ""}, {sign, colour}}
	}
	s.table(out, []field{{head: "AGREEMENT"}, {head: "VALUE", right: true}, {head: intervalHead(a.Level)}, {head: Left("0", gaugeBar-1) + "1"}, {head: "NEEDS"}, {head: ""}}, rows)
}

// gauge draws a figure and its interval on the line from 0 to 1, with the bar that
// the whole interval has to reach.
func gauge(e Estimate, needs *float64, width int) string {
	at := func(x float64) int { return min(width-1, max(0, int(math.Floor(x*float64(width))))) }
	marks := []rune(strings.Repeat("·", width))
	if e.Lower != nil && e.Upper != nil {
		for i := at(*e.Lower); i <= at(*e.Upper); i++ {
			marks[i] = '━'
		}
	}
	if needs != nil {
		marks[at(*needs)] = '┃'
	}
	if e.Value != nil {
		marks[at(*e.Value)] = '●'
	}
	return string(marks)
}

func outcomeMark(outcome string) (sign, colour string) {
	switch outcome {
	case "aligned":
		return "✓", green
	case "misaligned":
		return "✗", red
	}
	return "?", yellow
}

// Judgement is what a judge said about one answer.
type Judgement struct {
	Name, Kind string // of the judge; its version and the result
	Status     string // completed, abstained or failed
	Passed     bool
	Label      string
	Criteria   []Criterion
	Facts      []Fact
	// Problem says why there is no score.
	Problem   string
	Reasoning string
}

// Criterion is the rating of one criterion, between 0 and 1.
type Criterion struct {
	Name, Label string
	Score       float64
}

// Judgement draws what a judge said.
func (s Style) Judgement(w io.Writer, j Judgement) error {
	out := bufio.NewWriter(w)
	head, colour := "✗ fail", red
	switch {
	case j.Status == "failed":
		head = "✗ failed"
	case j.Status == "abstained":
		head, colour = "? abstained", yellow
	case j.Passed:
		head, colour = "✓ pass", green
	}
	if l := oneLine(j.Label); l != "" && !strings.HasSuffix(head, " "+l) {
		head += " (" + l + ")"
	}
	fmt.Fprintf(out, "%s  %s%s\n", s.paint(colour, head), s.paint(bold, oneLine(j.Name)), s.paint(dim, " · "+oneLine(j.Kind)))
	if j.Problem != "" {
		s.paragraph(out, colour, "", j.Problem)
	}
	if len(j.Criteria) > 0 {
		fmt.Fprintln(out)
		rows := make([][]cell, len(j.Criteria))
		for i, c := range j.Criteria {
			rows[i] = []cell{{oneLine(c.Name), ""}, {oneLine(c.Label), ""}, {Score(&c.Score), bold}, {gauge(Estimate{Value: &c.Score}, nil, gaugeBar), ""}}
		}
		s.table(out, []field{{head: "CRITERION"}, {head: "RATING"}, {head: "SCORE", right: true}, {head: Left("0", gaugeBar-1) + "1"}}, rows)
	}
	fmt.Fprintln(out)
	facts := j.Facts
	if j.Reasoning != "" {
		facts = append(facts[:len(facts):len(facts)], Fact{Name: "reasoning", Value: j.Reasoning})
	}
	s.facts(out, facts)
	return out.Flush()
}
