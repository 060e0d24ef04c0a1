package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// messageLines is how much of an error fits between the lines of a tree.
	messageLines = 4
	// leastText is the room that a text needs to be readable, deep in a tree.
	leastText = 24
)

// message writes why a span failed, below it.
func (s Style) message(out io.Writer, r row, l layout, whole bool) {
	branches := indent(r.below, l.most()+1, "⋯")
	lines := wrap(clean(r.Message), s.textWidth(branches, 0))
	if len(lines) > messageLines && !whole {
		lines = lines[:messageLines]
		lines[messageLines-1] += " …"
	}
	for _, line := range lines {
		fmt.Fprintln(out, s.paint(dim, branches)+s.paint(red, line))
	}
}

// payload writes what went in or came out of a span, below it.
func (s Style) payload(out io.Writer, r row, l layout, name string, value jsontext.Value) {
	text := payloadText(value)
	if text == "" {
		return
	}
	branches := indent(r.below, l.most()+1, "⋯")
	const tab = 4
	name = Left(name, tab)
	for _, line := range wrap(text, s.textWidth(branches, tab)) {
		fmt.Fprintln(out, strings.TrimRight(s.paint(dim, branches+name)+line, " "))
		name = strings.Repeat(" ", tab)
	}
}

// textWidth is the room of a text behind branches, zero if there is no limit.
func (s Style) textWidth(branches string, tab int) int {
	if s.Width == 0 {
		return 0
	}
	return max(leastText, s.Width-Columns(branches)-tab)
}

// payloadText is a payload for a reader: a text as it is, messages as a
// conversation, anything else as indented JSON.
func payloadText(value jsontext.Value) string {
	if len(value) == 0 || value.Kind() == 'n' {
		return ""
	}
	var text string
	if value.Kind() == '"' && json.Unmarshal(value, &text) == nil {
		return clean(text)
	}
	if text, ok := conversation(value); ok {
		return clean(text)
	}
	value = value.Clone()
	_ = value.Indent(jsontext.WithIndent("  ")) // what is no JSON stays as it is
	return clean(string(value))
}

// message is a turn of a conversation with a model. One that says more than
// this is shown as JSON: nothing of a payload is left out.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Parts   []struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	} `json:"parts"`
	FinishReason string `json:"finish_reason"`
}

// conversation reads a list of messages that are nothing but text.
func conversation(value jsontext.Value) (text string, ok bool) {
	var turns []message
	if value.Kind() != '[' || json.Unmarshal(value, &turns, json.RejectUnknownMembers(true)) != nil {
		return "", false
	}
	var b strings.Builder
	for _, m := range turns {
		if m.Role == "" {
			return "", false
		}
		b.WriteString(m.Role + ": " + m.Content)
		for _, p := range m.Parts {
			if p.Type != "text" {
				return "", false
			}
			b.WriteString(p.Content)
		}
		if m.FinishReason != "" && m.FinishReason != "stop" {
			b.WriteString(" (" + m.FinishReason + ")")
		}
		b.WriteByte('\n')
	}
	return b.String(), true
}

// JSON makes a JSON document safe on a terminal without changing what it says:
// the control characters that JSON lets stand are written as escapes.
func JSON(value jsontext.Value) string {
	if !strings.ContainsFunc(string(value), c1) {
		return string(value)
	}
	var b strings.Builder
	for _, r := range string(value) {
		if c1(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func c1(r rune) bool { return r >= 0x7f && r < 0xa0 }
