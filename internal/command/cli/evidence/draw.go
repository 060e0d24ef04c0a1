package evidence

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/command/terminal"
)

// Options say what the reader's terminal can show.
type Options struct {
	// Width is the number of columns, 80 if it is zero.
	Width int
	Color bool
}

const (
	usualWidth = 80
	leastWidth = 40 // below it lines are longer than the terminal is wide
	leastLabel = 12 // the room that a title needs to say something
	mostStatus = 16
	narrow     = 60 // below it durations are left out
	lessStatus = 9  // and the words of a status are cut to this
	gap        = 2
)

// The colors, as the terminal's own palette has them.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// drawing is a timeline being drawn.
type drawing struct {
	out   *bufio.Writer
	color bool
	width int
	// The columns of an entry. One that no entry fills is not there.
	label, status, offset, took int
}

// line is an entry with its texts.
type line struct {
	*Entry
	branch
	status, offset, took string
}

// Draw draws a timeline: each entry with how it stands, how long after the start it
// happened and how long it took; below an action its five marks and a line for each
// thing that is missing; and in the end what the whole trace lacks.
func Draw(w io.Writer, t Timeline, opts Options) error {
	d := &drawing{out: bufio.NewWriter(w), color: opts.Color, width: opts.Width}
	if d.width <= 0 {
		d.width = usualWidth
	}
	d.width = max(d.width, leastWidth)
	if len(t.Entries) == 0 {
		fmt.Fprintln(d.out, "No evidence yet.")
	} else {
		d.head(t)
		d.body(t)
	}
	if len(t.Missing) > 0 {
		fmt.Fprintln(d.out)
	}
	for _, m := range t.Missing {
		d.paragraph("", "! ", m, yellow)
	}
	return d.out.Flush()
}

// paint colors a text that is already padded.
func (d *drawing) paint(color, text string) string {
	if !d.color || color == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// head says how much there is, and when it was.
func (d *drawing) head(t Timeline) {
	facts := []string{plural(len(t.Entries), "record")}
	actions, missing := 0, len(t.Missing)
	for _, e := range t.Entries {
		if e.Action != nil {
			actions++
			missing += len(e.Action.Missing)
		}
	}
	if actions > 0 {
		facts = append(facts, plural(actions, "action"))
	}
	if missing > 0 {
		facts = append(facts, d.paint(yellow, strconv.Itoa(missing)+" missing"))
	}
	fmt.Fprintln(d.out, strings.Join(facts, " · "))
	if !t.Start.IsZero() {
		fmt.Fprintln(d.out, d.paint(dim, t.Start.UTC().Format("2006-01-02 15:04:05.000 MST")+", took "+terminal.Took(t.End.Sub(t.Start))))
	}
	fmt.Fprintln(d.out)
}

// body draws the entries.
func (d *drawing) body(t Timeline) {
	lines := make([]line, len(t.Entries))
	most := mostStatus
	if d.width < narrow {
		most = lessStatus
	}
	places := branches(t.Entries, max(3, d.width/4/step))
	for i := range lines {
		e := &t.Entries[i]
		lines[i] = line{Entry: e, branch: places[i], status: terminal.Text(e.Status), offset: offset(t.Start, e.At)}
		if d.width >= narrow {
			lines[i].took = took(e)
		}
		d.status = max(d.status, min(most, terminal.Columns(lines[i].status)))
		d.offset = max(d.offset, terminal.Columns(lines[i].offset))
		d.took = max(d.took, terminal.Columns(lines[i].took))
	}
	d.label = d.width
	for _, c := range []int{d.status, d.offset, d.took} {
		if c > 0 {
			d.label -= gap + c
		}
	}
	for _, l := range lines {
		d.entry(l)
		if l.Action != nil {
			d.action(l)
		}
	}
}

// entry draws the line of an entry.
func (d *drawing) entry(l line) {
	text := d.paint(dim, l.own) + d.words(l, max(leastLabel, d.label-terminal.Columns(l.own)))
	for _, c := range []struct {
		text, color string
		width       int
	}{{l.status, statusColor(l.status), d.status}, {l.offset, dim, d.offset}, {l.took, "", d.took}} {
		if c.width > 0 {
			text += spaces(gap) + d.paint(c.color, terminal.Right(terminal.Cut(c.text, c.width), c.width))
		}
	}
	d.write(text)
}

// write writes a line without the spaces at its end.
func (d *drawing) write(text string) { fmt.Fprintln(d.out, strings.TrimRight(text, " ")) }

// words are what an entry is, its title, its id and what there is to say about it, in
// exactly so many columns. The summary gives way first, then the title.
func (d *drawing) words(l line, room int) string {
	tag, title, id := l.names()
	if terminal.Columns(tag)+terminal.Columns(id)+leastTitle > room {
		tag = ""
	}
	title = terminal.Cut(title, max(1, room-terminal.Columns(tag)-terminal.Columns(id)))
	color := ""
	if l.depth == 0 {
		color = bold
	}
	text := d.paint(dim, tag) + d.paint(color, title) + d.paint(dim, id)
	room -= terminal.Columns(tag) + terminal.Columns(title) + terminal.Columns(id)
	if summary := terminal.Text(l.Summary); summary != "" && room >= gap+min(terminal.Columns(summary), leastSummary) {
		summary = terminal.Cut(summary, room-gap)
		text += spaces(gap) + d.paint(dim, summary)
		room -= gap + terminal.Columns(summary)
	}
	return text + spaces(room)
}

const (
	leastTitle   = 8 // a title in less room is worth more than what it is a title of
	leastSummary = 6 // a summary in less room says nothing
)

// tags are what the kinds are called in front of a title. Steps and decisions need no
// name.
var tags = map[string]string{
	"primitive-step-runs": "", "policy-decisions": "", "tool-invocation-evidence": "tool", "approvals": "approval", "side-effect-ledger": "effect",
	"failures": "failure", "eval-explanations": "explanation", "raw-events": "event",
}

// names are what an entry is, its title and its id, with the spaces between them.
func (l line) names() (tag, title, id string) {
	tag, known := tags[l.Resource]
	if !known {
		tag = terminal.Text(l.Resource)
	}
	if title = terminal.Text(l.Title); title == "" {
		title = "(unnamed)"
	}
	if tag = terminal.Cut(tag, leastLabel); tag != "" {
		tag += " "
	}
	if l.ID > 0 {
		id = " #" + strconv.FormatInt(l.ID, 10)
	}
	return tag, title, id
}

// statusColor is the color of a word that says how something stands.
func statusColor(word string) string {
	for color, words := range map[string][]string{
		green:  {"succeeded", "allow", "approved", "consumed", "verified", "normalized", "completed"},
		red:    {"failed", "deny", "denied", "rejected", "conflicting", "not_applied", "compensation_failed", "invalid", "open"},
		yellow: {"timed_out", "unknown", "expired", "cancelled", "revoked", "unmapped", "partially_normalized", "require_approval"},
		cyan:   {"running", "waiting", "pending", "awaiting_approval", "requested", "dispatched"},
	} {
		if slices.Contains(words, word) {
			return color
		}
	}
	return ""
}

// offset is how long after the start something happened.
func offset(start, at time.Time) string {
	after := at.Sub(start)
	switch {
	case start.IsZero() || at.IsZero():
		return ""
	case after < 0:
		return "-" // two clocks
	case after < time.Minute:
		return fmt.Sprintf("+%.1fs", after.Truncate(100*time.Millisecond).Seconds())
	}
	return "+" + terminal.Took(after)
}

// took is how long something took, and an ellipsis while it goes on.
func took(e *Entry) string {
	switch {
	case e.EndedAt != nil:
		return terminal.Took(e.EndedAt.Sub(e.At))
	case statusColor(e.Status) == cyan:
		return "…"
	}
	return ""
}

// plural is a number and what it counts.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return terminal.Number(n) + " " + noun + "s"
}
