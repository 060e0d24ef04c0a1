package terminal

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// Comparison is how a candidate run differs from a baseline run.
type Comparison struct {
	Name                string
	Baseline, Candidate string // ids of the runs
	Level               float64
	Margin              *float64 // as a share of a metric's range
	// Reasons say why the runs cannot be compared; none if they can.
	Reasons     []string
	Figures     []Compared
	Items       Changes
	Regressions []Regression
	// Resolution says how small a difference the items can show.
	Resolution string
	// Remarks qualify figures, one a line.
	Remarks []string
	Links   []string
}

// Compared is one figure of both runs. Delta is candidate minus baseline.
type Compared struct {
	Name                string
	Baseline, Candidate *float64
	Delta, Lower, Upper *float64
	// Verdict is improved, regressed, unchanged, no worse or inconclusive.
	Verdict string
	// Role is exploratory or descriptive; empty if the verdict was to be decided.
	Role string
	// Reason says why there is nothing to say about the difference.
	Reason string
}

// says is the verdict, with what it is worth.
func (f Compared) says(sign string) string {
	text := sign + " " + oneLine(f.Verdict)
	if f.Role != "" {
		text += " (" + oneLine(f.Role) + ")"
	}
	return text
}

// Changes counts items by what became of them.
type Changes struct {
	Improved, Regressed, Unchanged, Changed, OnlyBaseline, OnlyCandidate int
}

// Regression is an item that the candidate does worse.
type Regression struct {
	Item                string
	By                  string // what the figures are: overall or pass_rate
	Baseline, Candidate *float64
	// Scores are the metrics that fell.
	Scores []Fall
}

// Fall is a metric of an item that became worse.
type Fall struct {
	Metric              string
	Baseline, Candidate *float64
}

// legend says what a verdict means. The margin is put in where there is a verb.
var legend = []struct{ verdict, says string }{
	{"improved", "the whole interval is on the better side"},
	{"regressed", "the whole interval is on the worse side"},
	{"unchanged", "the difference is shown to be smaller than the margin of %s"},
	{"no worse", "a loss of %s or more is ruled out"},
	{"inconclusive", "these items show neither a difference nor its absence"},
}

// Comparison draws how two runs differ.
func (s Style) Comparison(w io.Writer, c Comparison) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s%s\n", s.paint(bold, oneLine(c.Name)), s.paint(dim, fmt.Sprintf(" · run %s → run %s", oneLine(c.Baseline), oneLine(c.Candidate))))
	for _, r := range c.Reasons {
		s.paragraph(out, yellow, "! ", "not comparable: "+oneLine(r))
	}
	fmt.Fprintln(out)
	rows := make([][]cell, len(c.Figures))
	seen := map[string]bool{}
	for i, f := range c.Figures {
		seen[f.Verdict] = true
		sign, colour := f.mark()
		digits := f.digits()
		interval := none
		if f.Lower != nil || f.Upper != nil {
			interval = fmt.Sprintf("[%s, %s]", signed(f.Lower, digits), signed(f.Upper, digits))
		}
		rows[i] = []cell{
			{oneLine(f.Name), ""},
			{figure(f.Baseline, digits, false), ""},
			{figure(f.Candidate, digits, false), ""},
			{signed(f.Delta, digits), bold},
			{interval, ""},
			{f.says(sign), colour},
		}
	}
	s.table(out, []field{
		{head: "METRIC"},
		{head: "BEFORE", right: true},
		{head: "AFTER", right: true},
		{head: "CHANGE", right: true},
		{head: intervalHead(c.Level)},
		{head: "VERDICT"},
	}, rows)
	fmt.Fprintln(out)
	for _, l := range legend {
		if !seen[l.verdict] {
			continue
		}
		text := l.says
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, margin(c.Margin))
		}
		s.paragraph(out, dim, l.verdict+": ", text)
	}
	for _, f := range c.Figures {
		if f.Reason != "" {
			s.paragraph(out, yellow, "! ", f.Name+": "+f.Reason)
		}
	}
	for _, r := range c.Remarks {
		s.paragraph(out, yellow, "! ", r)
	}
	s.changes(out, c)
	for _, l := range c.Links {
		fmt.Fprintln(out, s.paint(dim, oneLine(l)))
	}
	return out.Flush()
}

// margin is a share of a range, in words.
func margin(m *float64) string {
	if m == nil {
		return "nothing"
	}
	return fmt.Sprintf("%g", *m)
}

func (f Compared) mark() (sign, colour string) {
	switch f.Verdict {
	case "improved":
		return "▲", green
	case "regressed":
		return "▼", red
	case "unchanged", "no worse":
		return "=", cyan
	}
	return "?", yellow
}

// digits are enough for the interval of the difference to show, and the side of
// zero that it is on.
func (f Compared) digits() int {
	value, half := 0.0, 0.0
	for _, x := range []*float64{f.Baseline, f.Candidate} {
		if x != nil {
			value = math.Max(value, math.Abs(*x))
		}
	}
	if f.Lower != nil && f.Upper != nil {
		half = (*f.Upper - *f.Lower) / 2
	}
	return apart(decimals(value, half), false, 0, f.Lower, f.Upper)
}

// signed is a difference, with its sign.
func signed(x *float64, digits int) string {
	text := figure(x, digits, false)
	if x != nil && *x > 0 {
		return "+" + text
	}
	return text
}

func (s Style) changes(out io.Writer, c Comparison) {
	facts := []string{many(c.Items.Improved, "item") + " better", grouped(c.Items.Regressed) + " worse", grouped(c.Items.Unchanged) + " unchanged"}
	for _, f := range []struct {
		n    int
		says string
	}{{c.Items.Changed, "with changed content"}, {c.Items.OnlyBaseline, "only in run " + oneLine(c.Baseline)}, {c.Items.OnlyCandidate, "only in run " + oneLine(c.Candidate)}} {
		if f.n > 0 {
			facts = append(facts, grouped(f.n)+" "+f.says)
		}
	}
	fmt.Fprintln(out)
	for _, line := range s.flow(facts) {
		fmt.Fprintln(out, line)
	}
	if c.Resolution != "" {
		s.paragraph(out, "", "", c.Resolution)
	}
	if len(c.Regressions) > 0 {
		fmt.Fprintln(out)
		rows := make([][]cell, len(c.Regressions))
		for i, r := range c.Regressions {
			var falls []string
			for _, f := range r.Scores {
				if short(f.Baseline) != short(f.Candidate) {
					falls = append(falls, oneLine(f.Metric)+" "+arrow(f.Baseline, f.Candidate))
				}
			}
			rows[i] = []cell{{oneLine(r.Item), ""}, {oneLine(r.By) + " " + arrow(r.Baseline, r.Candidate), red}, {strings.Join(falls, ", "), ""}}
		}
		s.table(out, []field{{head: "WORST ITEMS"}, {head: "CHANGE"}, {head: "METRICS"}}, rows)
	}
	if len(c.Links) > 0 {
		fmt.Fprintln(out)
	}
}

// arrow is from one figure to another, in as few digits as tell them apart.
func arrow(from, to *float64) string { return short(from) + "→" + short(to) }

func short(x *float64) string {
	if x == nil {
		return none
	}
	return fmt.Sprintf("%.3g", *x)
}
