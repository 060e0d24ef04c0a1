package terminal

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Run is a run of an evaluation that has ended, or that was just started.
type Run struct {
	Name, ID string
	Status   string
	// Problem is why it failed.
	Problem                                 string
	Items, Passed, Failed, Errored, Skipped int
	Took                                    *time.Duration
	Cost                                    *float64
	Facts                                   []Fact
	Estimates                               []Estimate
	Level                                   float64 // of the intervals
	// Resolution says how small a difference the items can show.
	Resolution string
	Notes      []Note
	// Links say where to look further, one a line.
	Links []string
}

// Note is something that happened in a run.
type Note struct {
	At      time.Time // in the zone that is shown
	Level   string    // info, warning or error
	Message string
}

// Run draws how a run ended.
func (s Style) Run(w io.Writer, r Run) error {
	out := bufio.NewWriter(w)
	sign, colour := mark(r.Status, false, 0)
	if r.Status == "cancelled" {
		sign, colour = "◌", yellow
	}
	fmt.Fprintf(out, "%s  %s%s\n", s.paint(colour, sign+" "+oneLine(r.Status)), s.paint(bold, oneLine(r.Name)), s.paint(dim, " · run "+oneLine(r.ID)))
	if r.Problem != "" {
		s.paragraph(out, red, "", r.Problem)
	}
	for _, line := range s.flow(r.facts()) {
		fmt.Fprintln(out, line)
	}
	if len(r.Estimates) > 0 {
		fmt.Fprintln(out)
		s.estimates(out, r)
	}
	s.remarks(out, r)
	if len(r.Links) > 0 {
		fmt.Fprintln(out)
		for _, l := range r.Links {
			fmt.Fprintln(out, s.paint(dim, oneLine(l)))
		}
	}
	return out.Flush()
}

func (r Run) facts() []string {
	var facts []string
	if r.Items+r.Skipped > 0 {
		failed := grouped(r.Failed) + " failed"
		if r.Errored > 0 {
			failed += fmt.Sprintf(" (%s without a score)", grouped(r.Errored))
		}
		facts = append(facts, many(r.Items, "item"), grouped(r.Passed)+" passed", failed)
		if r.Skipped > 0 {
			facts = append(facts, grouped(r.Skipped)+" skipped")
		}
	}
	if r.Took != nil {
		facts = append(facts, "took "+duration(*r.Took))
	}
	if c := cost(r.Cost); c != "" && r.Status != "running" {
		facts = append(facts, "cost "+c)
	}
	for _, f := range r.Facts {
		if f.Value != "" {
			facts = append(facts, f.Name+" "+oneLine(f.Value))
		}
	}
	return facts
}

// many is a number, with commas, and what it counts.
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

func (s Style) estimates(out io.Writer, r Run) {
	rows := make([][]cell, len(r.Estimates))
	for i, e := range r.Estimates {
		value, interval := e.texts()
		rows[i] = []cell{{oneLine(e.Name), ""}, {value, bold}, {interval, ""}, {grouped(e.N), ""}, {oneLine(e.Status), e.statusColour()}}
	}
	s.table(out, []field{{head: "METRIC"}, {head: "MEAN", right: true}, {head: intervalHead(r.Level)}, {head: "N", right: true}, {head: "STATUS"}}, rows)
}

func intervalHead(level float64) string {
	if level <= 0 {
		return "INTERVAL"
	}
	return fmt.Sprintf("%g%% INTERVAL", 100*level)
}

// remarks writes what qualifies the figures: warnings of estimates, what the
// items can show, and what happened on the way.
func (s Style) remarks(out io.Writer, r Run) {
	var order []string
	names := map[string][]string{}
	for _, e := range r.Estimates {
		for _, text := range e.Warnings {
			if names[text] == nil {
				order = append(order, text)
			}
			names[text] = append(names[text], oneLine(e.Name))
		}
	}
	if r.Resolution != "" || len(order)+len(r.Notes) > 0 {
		fmt.Fprintln(out)
	}
	if r.Resolution != "" {
		s.paragraph(out, "", "", r.Resolution)
	}
	for _, text := range order {
		s.paragraph(out, yellow, "! ", strings.Join(slices.Compact(names[text]), ", ")+": "+text)
	}
	for _, n := range r.Notes {
		colour := ""
		switch n.Level {
		case "warning":
			colour = yellow
		case "error":
			colour = red
		}
		s.paragraph(out, colour, n.At.Format("15:04:05")+" ", oneLine(n.Message))
	}
}
