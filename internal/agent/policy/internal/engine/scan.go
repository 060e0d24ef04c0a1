package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is what is wrong with a policy's text, and where. Lines and columns count
// from 1, columns in characters.
type Problem struct {
	Line    int
	Column  int
	Message string
}

// String reads like a compiler's message.
func (p Problem) String() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message) }

// token is a word, a text, a number or an operator.
type token struct {
	text         string
	line, column int
}

func (t token) problem(format string, args ...any) Problem {
	return Problem{Line: t.line, Column: t.column, Message: fmt.Sprintf(format, args...)}
}

func (t token) word() bool { return t.text != "" && (letter(t.text[0]) || t.text[0] == '_') }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// tokens splits a text in the way of Cedar. It only needs to see the structure: what is
// not Cedar at all is found by the parser.
func tokens(text string) []token {
	var out []token
	line, column := 1, 1
	for len(text) > 0 {
		n := width(text)
		if piece := text[:n]; strings.TrimSpace(piece) != "" && !strings.HasPrefix(piece, "//") {
			out = append(out, token{text: piece, line: line, column: column})
		}
		if lines := strings.Count(text[:n], "\n"); lines > 0 {
			line += lines
			column = 1 + utf8.RuneCountInString(text[strings.LastIndexByte(text[:n], '\n')+1:n])
		} else {
			column += utf8.RuneCountInString(text[:n])
		}
		text = text[n:]
	}
	return out
}

// pairs are the operators of two characters.
var pairs = []string{"==", "!=", "<=", ">=", "&&", "||", "::"}

// width is the length of the first piece of a text: a token, a comment or a blank.
func width(text string) int {
	c := text[0]
	switch {
	case strings.HasPrefix(text, "//"):
		return until(text, func(c byte) bool { return c == '\n' || c == '\r' })
	case c == '"':
		return quoted(text)
	case letter(c) || c == '_':
		return until(text, func(c byte) bool { return !letter(c) && !digit(c) && c != '_' })
	case digit(c):
		return until(text, func(c byte) bool { return !digit(c) })
	case len(text) > 1 && slices.Contains(pairs, text[:2]):
		return 2
	default:
		_, n := utf8.DecodeRuneInString(text)
		return n
	}
}

func until(text string, end func(byte) bool) int {
	for i := range len(text) {
		if end(text[i]) {
			return i
		}
	}
	return len(text)
}

func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// outline is where the statements of a text and their annotations are.
type outline struct {
	tokens     []token
	statements []span
}

// span is a statement.
type span struct {
	start       token
	annotations map[string]token
}

// outlined finds statements and annotations, and refuses what would be expensive to
// parse: Cedar's own parser has no bounds.
func outlined(text string) (outline, *Problem) {
	o := outline{tokens: tokens(text)}
	var depth depths
	open := false
	for i, t := range o.tokens {
		if !open {
			o.statements = append(o.statements, span{start: t, annotations: map[string]token{}})
			open, depth = true, depths{}
		}
		if p := depth.see(t); p != nil {
			return o, p
		}
		if t.text == ";" && depth.brackets == 0 {
			open = false
		}
		if t.text == "@" && depth.brackets == 0 && i+1 < len(o.tokens) {
			o.statements[len(o.statements)-1].annotations[o.tokens[i+1].text] = t
		}
	}
	return o, nil
}

// depths count how deep a statement nests.
type depths struct{ brackets, ifs, signs, path int }

func (d *depths) see(t token) *Problem {
	refused := func(what string, limit int) *Problem {
		p := t.problem("this is too deep: at most %d %s", limit, what)
		return &p
	}
	if t.text == "!" || t.text == "-" {
		d.signs++
	} else {
		d.signs = 0
	}
	switch {
	case t.text == ".":
		d.path++
	case !t.word():
		d.path = 0
	}
	switch t.text {
	case "(", "[", "{":
		d.brackets++
	case ")", "]", "}":
		d.brackets--
	case "if":
		d.ifs++
	}
	switch {
	case d.brackets > maxNesting:
		return refused("brackets inside each other", maxNesting)
	case d.ifs > maxNesting:
		return refused("ifs in a statement", maxNesting)
	case d.signs > maxUnary:
		return refused("signs in a row", maxUnary)
	case d.path > maxPath:
		return refused("attributes in a row", maxPath)
	}
	return nil
}
