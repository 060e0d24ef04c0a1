package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// clean makes a text from elsewhere safe on a terminal: control characters
// become the pictures that Unicode has of them, and those that turn the
// direction of writing the sign of a character that cannot be shown. Line feeds
// stay; tabs become spaces.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if !strings.ContainsFunc(text, unsafe) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString("    ")
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		case unsafe(r):
			b.WriteRune('�')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// oneLine is a clean text without line feeds, and with one space between words.
func oneLine(text string) string {
	text = clean(text)
	if strings.Contains(text, "\n") || strings.Contains(text, "  ") {
		text = strings.Join(strings.Fields(text), " ")
	}
	return text
}

// Text makes a text from elsewhere safe on a line of its own.
func Text(text string) string { return oneLine(text) }

// Columns is how much room a clean text takes.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut shortens a text to n columns, with an ellipsis where something is
// missing.
func Cut(text string, n int) string {
	if Columns(text) <= n {
		return text
	}
	if n < 1 {
		return ""
	}
	used := 0
	for i, r := range text {
		w := runeColumns(r)
		if used+w > n-1 {
			return text[:i] + "…"
		}
		used += w
	}
	return text
}

// Left pads a text on its right to n columns, and cuts it.
func Left(text string, n int) string {
	text = Cut(text, n)
	return text + strings.Repeat(" ", max(0, n-Columns(text)))
}

// Right pads a text on its left to n columns.
func Right(text string, n int) string {
	return strings.Repeat(" ", max(0, n-Columns(text))) + text
}

// wrap breaks a clean text into lines of at most n columns, between words where
// it can. With n of zero only its own line feeds break it.
func wrap(text string, n int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for n > 0 && Columns(line) > n {
			at := breakAt(line, n)
			lines = append(lines, strings.TrimRight(line[:at], " "))
			line = strings.TrimLeft(line[at:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// breakAt is where a line that is longer than n columns is broken: after the
// last space that fits, if that leaves more than half of the line, else in the
// middle of a word.
func breakAt(line string, n int) int {
	used, space := 0, 0
	for i, r := range line {
		w := runeColumns(r)
		if used+w > n && i > 0 {
			if space > 0 {
				return space
			}
			return i
		}
		used += w
		if r == ' ' && used > n/2 {
			space = i + 1
		}
	}
	return len(line)
}
