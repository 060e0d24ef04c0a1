package terminal

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Event is a trace that has begun or ended.
type Event struct {
	At         time.Time // in the zone that is shown
	Status     string
	AutoClosed bool
	Name       string
	Source     string // the agent or the service
	ID         string
	// Duration is nil while the trace is running.
	Duration *time.Duration
	Tokens   int64
	Cost     *float64
	Errors   int
}

// column is one part of a line.
type column struct {
	name   string
	width  int
	text   string
	colour string
	right  bool
}

// leastName is the room that a name needs to say something.
const leastName = 12

// sacrifice is the order in which a narrow terminal loses columns, each when
// the name has less room than this. The id stays: it is what the next command
// is given.
var sacrifice = []struct {
	column string
	room   int
}{{"source", 2 * leastName}, {"tokens", leastName}, {"cost", leastName}, {"time", leastName}, {"duration", leastName}}

// Line draws an event on one line: when, how it stands and how many spans
// failed, its name, how long it took, tokens, cost, who did it, and its id.
func (s Style) Line(e Event) string {
	sign, colour := mark(e.Status, e.AutoClosed, e.Errors)
	switch {
	case e.Errors > 999:
		sign += "1k+"
	case e.Errors > 0:
		sign += strconv.Itoa(e.Errors)
	}
	took := "…"
	if e.Duration != nil {
		took = duration(*e.Duration)
	}
	tokens := ""
	if e.Tokens > 0 {
		tokens = count(e.Tokens)
	}
	name := oneLine(e.Name)
	if name == "" {
		name = "(unnamed)"
	}
	parts := []column{
		{"time", 8, e.At.Format("15:04:05"), dim, false},
		{"mark", 4, sign, colour, false},
		{"name", 0, name, "", false},
		{"duration", 6, took, "", true},
		{"tokens", 5, tokens, "", true},
		{"cost", 7, cost(e.Cost), "", true},
		{"source", 16, oneLine(e.Source), dim, false},
		{"id", 32, oneLine(e.ID), dim, false},
	}
	at := slices.IndexFunc(parts, func(c column) bool { return c.name == "name" })
	if s.Width == 0 {
		parts[at].width = max(32, Columns(name))
		for i := range parts {
			parts[i].width = max(parts[i].width, Columns(parts[i].text))
		}
	} else {
		parts = s.fit(parts)
	}
	var b strings.Builder
	for i, c := range parts {
		text := Left(c.text, c.width)
		if c.right {
			text = Right(c.text, c.width)
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s.paint(c.colour, text))
	}
	return strings.TrimRight(b.String(), " ")
}

// fit drops columns until the name has room, and gives it what is left.
func (s Style) fit(parts []column) []column {
	for _, next := range sacrifice {
		if s.room(parts) < next.room {
			parts = slices.DeleteFunc(parts, func(c column) bool { return c.name == next.column })
		}
	}
	at := slices.IndexFunc(parts, func(c column) bool { return c.name == "name" })
	parts[at].width = max(s.room(parts), leastName)
	return parts
}

// room is what the other columns and the spaces between leave for the name.
func (s Style) room(parts []column) int {
	room := s.Width - (len(parts) - 1)
	for _, c := range parts {
		room -= c.width
	}
	return room
}
