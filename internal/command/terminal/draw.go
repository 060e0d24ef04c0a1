package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// row is a span as it is drawn.
type row struct {
	*node
	branches []string // of its own line
	below    []string // of the lines that belong to it
	took     string
	flow     string
	cost     string
}

// rows puts the tree into the order of its lines.
func rows(roots []*node) []row {
	var out []row
	var visit func(n *node, branches, below []string)
	visit = func(n *node, branches, below []string) {
		r := row{node: n, branches: branches, below: with(below, "   "), flow: n.Tokens.flow(), cost: cost(n.Cost), took: "…"}
		if len(n.kids) > 0 {
			r.below = with(below, "│  ")
		}
		if !n.End.IsZero() {
			r.took = duration(n.End.Sub(n.Start))
		}
		out = append(out, r)
		for i, kid := range n.kids {
			if i < len(n.kids)-1 {
				visit(kid, with(below, "├─ "), with(below, "│  "))
			} else {
				visit(kid, with(below, "└─ "), with(below, "   "))
			}
		}
	}
	for _, root := range roots {
		visit(root, nil, nil)
	}
	return out
}

// with is the list and one more, without touching the list.
func with(list []string, more string) []string { return append(list[:len(list):len(list)], more) }

// layout is how wide the columns of a tree are; a column that no span fills is
// not there.
type layout struct {
	label, bar, took, flow, cost int
}

const (
	gap      = 2
	leastBar = 8  // a bar that still shows before and after
	mostBar  = 48 // beyond it an eye loses the line
)

// lay fits the columns into the width.
func (s Style) lay(all []row) layout {
	var l layout
	for _, r := range all {
		l.took = max(l.took, Columns(r.took))
		l.flow = max(l.flow, Columns(r.flow))
		l.cost = max(l.cost, Columns(r.cost))
		name, detail := r.words()
		need := 3*len(r.branches) + Columns(r.sign()) + Columns(name)
		if detail != "" {
			need += gap + Columns(detail)
		}
		l.label = max(l.label, need)
	}
	if s.Width == 0 {
		l.bar = mostBar / 2
		return l
	}
	room := s.Width
	for _, c := range []int{l.took, l.flow, l.cost} {
		if c > 0 {
			room -= gap + c
		}
	}
	l.label = max(leastName, min(l.label, room-gap-max(leastBar, room/4)))
	l.bar = max(leastBar, min(mostBar, room-gap-l.label))
	return l
}

// sign marks a span that failed or is open.
func (r row) sign() string {
	switch {
	case r.Failed:
		return "✗ "
	case r.End.IsZero():
		return "▸ "
	}
	return ""
}

// words are the span's name, and what is said beside it.
func (r row) words() (name, detail string) {
	if name = oneLine(r.Name); name == "" {
		name = "(unnamed)"
	}
	var parts []string
	for _, text := range []string{r.note, oneLine(r.Model), oneLine(r.Tool)} {
		if text != "" && !strings.Contains(name, text) {
			parts = append(parts, text)
		}
	}
	return name, strings.Join(parts, " · ")
}

// colour is the colour of the span's bar.
func (r row) colour() string {
	switch {
	case r.Failed:
		return red
	case r.Type == "model_call" || r.Type == "embedding" || r.Type == "rerank" || r.Model != "":
		return cyan
	case r.Type == "tool_call" || r.Type == "retrieval" || r.Type == "code_execution" || r.Tool != "":
		return yellow
	case r.Type == "agent_invocation" || r.Type == "handoff" || r.Type == "workflow" || r.Type == "plan":
		return magenta
	}
	return blue
}

// tree draws the spans.
func (s Style) tree(out io.Writer, t Trace, payload bool) {
	if len(t.Spans) == 0 {
		fmt.Fprintln(out, "No spans yet.")
		return
	}
	all := rows(arrange(t.Spans))
	l := s.lay(all)
	span := bounds(t)
	for _, r := range all {
		var line strings.Builder
		line.WriteString(s.label(r, l) + strings.Repeat(" ", gap) + s.paint(r.colour(), span.bar(r.Start, r.End, l.bar)))
		for _, c := range []struct {
			text  string
			width int
		}{{r.took, l.took}, {r.flow, l.flow}, {r.cost, l.cost}} {
			if c.width > 0 {
				line.WriteString(strings.Repeat(" ", gap) + Right(c.text, c.width))
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
		if r.Failed && strings.TrimSpace(r.Message) != "" {
			s.message(out, r, l, payload)
		}
		if payload {
			s.payload(out, r, l, "in", r.Input)
			s.payload(out, r, l, "out", r.Output)
		}
	}
}

// label draws the branches, the sign, the name and what is said beside it.
func (s Style) label(r row, l layout) string {
	branches := indent(r.branches, l.most(), "⋯"+strconv.Itoa(len(r.branches)))
	name, detail := r.words()
	sign := r.sign()
	left := l.label - Columns(branches) - Columns(sign)
	name = Cut(name, left)
	left -= Columns(name)
	text := s.paint(dim, branches)
	switch {
	case r.Failed:
		text += s.paint(red, sign+name)
	case len(r.branches) == 0:
		text += s.paint(cyan, sign) + s.paint(bold, name)
	default:
		text += s.paint(cyan, sign) + name
	}
	if detail != "" && left >= gap+min(Columns(detail), 4) {
		colour := dim
		if r.note != "" {
			colour = yellow
		}
		detail = Cut(detail, left-gap)
		left -= gap + Columns(detail)
		text += strings.Repeat(" ", gap) + s.paint(colour, detail)
	}
	return text + strings.Repeat(" ", max(0, left))
}

// most is how many branches fit beside a name.
func (l layout) most() int { return max(3, l.label/2/3) }

// indent joins branches. Deep in a tree only the last ones fit, and a sign in
// the room of two stands for the others.
func indent(branches []string, most int, sign string) string {
	if len(branches) > most {
		return Left(sign, 6) + strings.Join(branches[len(branches)-most+2:], "")
	}
	return strings.Join(branches, "")
}

// period is the time of a trace.
type period struct{ from, to time.Time }

// bounds is from the first start to the last end, whatever clocks they are
// from.
func bounds(t Trace) period {
	var p period
	for _, s := range t.Spans {
		if !s.Start.IsZero() && (p.from.IsZero() || s.Start.Before(p.from)) {
			p.from = s.Start
		}
		for _, at := range []time.Time{s.Start, s.End} {
			if at.After(p.to) {
				p.to = at
			}
		}
	}
	return p
}

// bar draws the part of the period that a span took, in half columns. Nothing
// is too short to be seen; an open span lasts until the end and is drawn
// lighter.
func (p period) bar(start, end time.Time, width int) string {
	open := end.IsZero()
	if open {
		end = p.to
	}
	whole := p.to.Sub(p.from).Seconds()
	halves := 2 * width
	from, to := 0, halves
	if whole > 0 {
		from = min(halves-1, max(0, int(start.Sub(p.from).Seconds()/whole*float64(halves))))
		to = min(halves, max(from+1, int(end.Sub(p.from).Seconds()/whole*float64(halves)+0.999)))
	}
	var b strings.Builder
	for i := 0; i < halves; i += 2 {
		first, second := from <= i && i < to, from <= i+1 && i+1 < to
		switch {
		case (first || second) && open:
			b.WriteString("░")
		case first && second:
			b.WriteString("█")
		case first:
			b.WriteString("▌")
		case second:
			b.WriteString("▐")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}
