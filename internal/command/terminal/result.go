package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Item is what became of one item of a run.
type Item struct {
	ID, Status string
	// Scores are texts such as "exact_match 0".
	Scores                  []string
	Input, Output, Expected jsontext.Value
	// Problem is why the output is missing.
	Problem string
	// Remarks are what metrics say about their scores.
	Remarks []string
}

// Items are results of a run.
type Items struct {
	Name, Run string
	// Total is how many there are, of which some are shown; Noun is what they are.
	Total int
	Noun  string
	Items []Item
	Empty string
	Notes []string
}

// itemLines is how much of a payload is shown, unless it is asked for whole.
const itemLines = 2

// Items draws results, each with what went in, came out and was expected.
func (s Style) Items(w io.Writer, t Items, whole bool) error {
	out := bufio.NewWriter(w)
	facts := " · run " + oneLine(t.Run) + " · " + many(t.Total, t.Noun)
	fmt.Fprintf(out, "%s%s\n", s.paint(bold, s.cut(oneLine(t.Name), Columns(facts))), s.paint(dim, facts))
	if len(t.Items) == 0 && t.Empty != "" {
		fmt.Fprintln(out)
		s.paragraph(out, "", "", t.Empty)
	}
	most := itemLines
	if whole {
		most = 0
	}
	for _, i := range t.Items {
		fmt.Fprintln(out)
		sign, colour := itemMark(i.Status)
		head := sign + " item " + oneLine(i.ID)
		text := strings.Join(i.Scores, ", ")
		if i.Status != "passed" && i.Status != "failed" {
			text = strings.TrimSuffix(oneLine(i.Status)+", "+text, ", ")
		}
		fmt.Fprintln(out, s.paint(colour, head)+"  "+s.cut(text, Columns(head)+2))
		for _, part := range []struct {
			name  string
			value string
		}{
			{"input", payloadText(i.Input)},
			{"output", payloadText(i.Output)},
			{"expected", payloadText(i.Expected)},
			{"error", i.Problem},
			{"remark", strings.Join(i.Remarks, " ")},
		} {
			text := part.value
			if !whole {
				text = oneLine(text)
			}
			if text != "" {
				s.labelled(out, "  "+Left(part.name, len("expected"))+"  ", text, most)
			}
		}
	}
	s.notes(out, t.Notes)
	return out.Flush()
}

// ItemText is an item on one line, for a log or a report.
func ItemText(i Item) string {
	const most = 120
	parts := []string{strings.Join(i.Scores, ", ")}
	for _, part := range []struct {
		name  string
		value string
	}{{"input", payloadText(i.Input)}, {"output", payloadText(i.Output)}, {"expected", payloadText(i.Expected)}, {"error", i.Problem}} {
		if text := oneLine(part.value); text != "" {
			parts = append(parts, part.name+": "+Cut(text, most))
		}
	}
	return strings.TrimPrefix(strings.Join(parts, "\n"), "\n")
}

func itemMark(status string) (sign, colour string) {
	switch status {
	case "passed":
		return "✓", green
	case "skipped":
		return "◌", yellow
	case "errored":
		return "!", red
	}
	return "✗", red
}
