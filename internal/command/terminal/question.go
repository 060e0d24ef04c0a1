package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Question is something that a person is asked about.
type Question struct {
	Head  string // what it is, and how far the person is
	Parts []Part
}

// Part is a part of a question, such as the answer of a model. A question with one
// part needs no name for it.
type Part struct {
	Name  string
	Value jsontext.Value
}

// partIndent is how far a part is moved to the right of its name.
const partIndent = "  "

// Question draws a question. Nothing of it is cut: who answers has to read it all.
func (s Style) Question(w io.Writer, q Question) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out)
	s.paragraph(out, bold, "── ", q.Head)
	for _, p := range q.Parts {
		fmt.Fprintln(out)
		indent := ""
		if p.Name != "" {
			fmt.Fprintln(out, s.paint(cyan, oneLine(p.Name)))
			indent = partIndent
		}
		text := payloadText(p.Value)
		if text == "" {
			text = none
		}
		for _, line := range wrap(text, s.textWidth(indent, 0)) {
			fmt.Fprintln(out, strings.TrimRight(indent+line, " "))
		}
	}
	fmt.Fprintln(out)
	return out.Flush()
}

// Choice is a key and what it stands for.
type Choice struct{ Key, Text string }

// Choices draws the keys that a person can press: on one line where they have room,
// else one a line.
func (s Style) Choices(w io.Writer, name string, all []Choice) error {
	out := bufio.NewWriter(w)
	if name != "" {
		s.paragraph(out, bold, "", name)
	}
	wide, plain := len(partIndent), make([]string, len(all))
	for i, c := range all {
		plain[i] = oneLine(c.Text)
		wide += Columns(c.Key) + 1 + Columns(plain[i]) + gap
	}
	if s.Width == 0 || wide <= s.Width {
		line := make([]string, len(all))
		for i, c := range all {
			line[i] = s.paint(green, c.Key) + " " + plain[i]
		}
		fmt.Fprintln(out, partIndent+strings.Join(line, strings.Repeat(" ", gap)))
		return out.Flush()
	}
	for i, c := range all {
		s.labelled(out, partIndent+c.Key+" ", plain[i], 0)
	}
	return out.Flush()
}

// Say draws a text that says what happened, or what to do.
func (s Style) Say(w io.Writer, text string) error {
	out := bufio.NewWriter(w)
	s.paragraph(out, dim, "", text)
	return out.Flush()
}
