package evidence

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/assayhq/assay/internal/command/terminal"
)

// columns is how much room a safe text takes.
func columns(text string) (n int) {
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

// cut shortens a text to n columns, with an ellipsis where something is missing.
func cut(text string, n int) string {
	if columns(text) <= n {
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

// left pads a text on its right to n columns, and cuts it.
func left(text string, n int) string {
	text = cut(text, n)
	return text + spaces(n-columns(text))
}

// right pads a text on its left to n columns, and cuts it.
func right(text string, n int) string {
	text = cut(text, n)
	return spaces(n-columns(text)) + text
}

func spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

// wrap makes a text from elsewhere safe, and breaks it into lines of n columns.
func wrap(text string, n int) []string {
	var b bytes.Buffer
	if err := (terminal.Style{Width: n}).Say(&b, text); err != nil {
		return nil // a buffer takes everything
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
