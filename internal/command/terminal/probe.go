package terminal

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// Probe is what experiments with a judge showed.
type Probe struct {
	Name   string // of the judge
	Kind   string // its version, and what was judged
	Margin float64
	// Problem says why the probe did not come to its end.
	Problem  string
	Findings []Finding
	Attacks  *Attacks
	Notes    []string
}

// Finding is the difference that one thing makes.
type Finding struct {
	Estimate
	Verdict string // unbiased, biased or insufficient_data
}

// Attacks are what became of the attacks on a judge.
type Attacks struct {
	All    int
	Became []Fate
}

// Fate is what became of some attacks.
type Fate struct {
	Name string
	N    int
	Bad  bool // for whoever relies on the judge
}

// Probe draws what experiments with a judge showed.
func (s Style) Probe(w io.Writer, p Probe) error {
	out := bufio.NewWriter(w)
	name := oneLine(p.Name)
	fmt.Fprintf(out, "%s%s\n", s.paint(bold, name), s.paint(dim, s.cut(" · "+oneLine(p.Kind), Columns(name))))
	if p.Problem != "" {
		s.paragraph(out, red, "", p.Problem)
	}
	if len(p.Findings) > 0 {
		fmt.Fprintln(out)
		s.findings(out, p)
	}
	if a := p.Attacks; a != nil && a.All > 0 {
		fmt.Fprintln(out)
		rows := make([][]cell, len(a.Became))
		for i, f := range a.Became {
			colour := green
			if f.Bad {
				colour = red
			}
			rows[i] = []cell{{oneLine(f.Name), ""}, {grouped(f.N), bold}, {strings.Repeat("█", bars(f.N, a.All, gaugeBar)), colour}}
		}
		s.table(out, []field{{head: "ATTACKS"}, {head: grouped(a.All), right: true}, {head: ""}}, rows)
	}
	s.notes(out, p.Notes)
	return out.Flush()
}

// bars is how long a bar for n of all is. What there is has at least one.
func bars(n, all, width int) int {
	if n == 0 {
		return 0
	}
	return max(1, int(math.Round(float64(n)/float64(all)*float64(width))))
}

// findings draws differences on one line, with the margin on both sides of zero.
func (s Style) findings(out io.Writer, p Probe) {
	reach := 2 * p.Margin
	for _, f := range p.Findings {
		for _, end := range []*float64{f.Lower, f.Upper, f.Value} {
			if end != nil {
				reach = max(reach, math.Abs(*end))
			}
		}
	}
	rows := make([][]cell, len(p.Findings))
	for i, f := range p.Findings {
		sign, colour := "?", yellow
		switch f.Verdict {
		case "unbiased":
			sign, colour = "✓", green
		case "biased":
			sign, colour = "✗", red
		}
		value, interval := f.texts()
		rows[i] = []cell{
			{oneLine(f.Name), ""}, {value, bold}, {interval, ""}, {balance(f.Estimate, p.Margin, reach), colour}, {sign + " " + strings.ReplaceAll(f.Verdict, "_", " "), colour},
		}
	}
	s.table(out, []field{{head: "WHAT VARIES", whole: true}, {head: "EFFECT", right: true}, {head: intervalHead(0.95)}, {head: Left("-", balanceBar-1) + "+"}, {head: ""}}, rows)
}

// balanceBar is the width of a difference's drawing: odd, so that zero has a place.
const balanceBar = 15

// balance draws a difference and its interval between -reach and reach, with bars at
// zero and at both margins.
func balance(e Estimate, margin, reach float64) string {
	at := func(x float64) int {
		return min(balanceBar-1, max(0, int(math.Round((x/reach+1)/2*(balanceBar-1)))))
	}
	marks := []rune(strings.Repeat("·", balanceBar))
	if e.Lower != nil && e.Upper != nil {
		for i := at(*e.Lower); i <= at(*e.Upper); i++ {
			marks[i] = '━'
		}
	}
	marks[at(-margin)], marks[at(margin)], marks[at(0)] = '┃', '┃', '│'
	if e.Value != nil {
		marks[at(*e.Value)] = '●'
	}
	return string(marks)
}
