package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Trace is a trace with its spans.
type Trace struct {
	ID         string
	Ref        int64 // the trace's number, zero if it has none
	Name       string
	Status     string
	AutoClosed bool
	Start      time.Time // in the zone that is shown
	// Duration is nil while the trace is running.
	Duration *time.Duration
	Facts    []Fact
	Tags     []string
	Tokens   Tokens
	Cost     *float64
	// SpanCount is how many spans the trace has, which may be more than Spans.
	SpanCount, ErrorCount int
	Truncated             bool
	Spans                 []Span
}

// Fact is one thing that is known of a trace. One without a value is not shown.
type Fact struct{ Name, Value string }

// Trace draws a trace: its totals, and the tree of its spans with the time that
// each took of the whole. With payload it also writes what went in and came out
// of each span.
func (s Style) Trace(w io.Writer, t Trace, now time.Time, payload bool) error {
	out := bufio.NewWriter(w)
	s.head(out, t, now)
	fmt.Fprintln(out)
	s.tree(out, t, payload)
	if t.Truncated {
		fmt.Fprintf(out, "\n%s\n", s.paint(yellow, fmt.Sprintf("Showing the first %d of %s.", len(t.Spans), plural(t.SpanCount, "span"))))
	}
	return out.Flush()
}

func (s Style) head(out io.Writer, t Trace, now time.Time) {
	name := oneLine(t.Name)
	if name == "" {
		name = "(unnamed)"
	}
	sign, colour := mark(t.Status, t.AutoClosed, t.ErrorCount)
	status := sign + " " + oneLine(t.Status)
	if t.AutoClosed {
		status += " (closed for inactivity)"
	}
	fmt.Fprintf(out, "%s  %s\n", s.paint(bold, name), s.paint(colour, status))
	id := oneLine(t.ID)
	if t.Ref > 0 {
		id += fmt.Sprintf("  #%d", t.Ref)
	}
	fmt.Fprintln(out, s.paint(dim, id))
	when := t.Start.Format("2006-01-02 15:04:05.000 MST") + ", " + ago(now, t.Start)
	if t.Duration != nil {
		when += ", took " + duration(*t.Duration)
	}
	fmt.Fprintln(out, when)
	var facts []string
	for _, f := range t.Facts {
		if f.Value != "" {
			facts = append(facts, f.Name+" "+oneLine(f.Value))
		}
	}
	if len(t.Tags) > 0 {
		facts = append(facts, "tags "+oneLine(strings.Join(t.Tags, ", ")))
	}
	for _, line := range s.flow(facts) {
		fmt.Fprintln(out, line)
	}
	totals := plural(t.SpanCount, "span")
	if t.ErrorCount > 0 {
		totals += ", " + s.paint(red, plural(t.ErrorCount, "error"))
	}
	if flow := t.Tokens.flow(); flow != "" {
		totals += " · " + flow + " tokens"
	}
	if c := cost(t.Cost); c != "" {
		totals += " · " + c
	}
	fmt.Fprintln(out, totals)
}

// flow joins facts with dots, in lines that fit.
func (s Style) flow(facts []string) []string {
	var lines []string
	for _, f := range facts {
		last := len(lines) - 1
		switch {
		case last < 0, s.Width > 0 && Columns(lines[last])+3+Columns(f) > s.Width:
			lines = append(lines, f)
		default:
			lines[last] += " · " + f
		}
	}
	return lines
}
