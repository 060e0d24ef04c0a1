package metric

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func numericTolerance() spec {
	return spec{
		Definition: share(Definition{
			Name: "numeric_tolerance", Kind: Binary,
			Summary:  "1 if the number in the output is near enough to the expected one.",
			Needs:    []Need{NeedOutput, NeedExpectedOutput},
			Abstains: "The item has no output or no expected output, or the expected output has no number.",
			Parameters: []Parameter{
				{Name: "absolute", Type: Number, Minimum: num(0), Default: jsontext.Value(`0`), Summary: "How far the numbers may be apart."},
				{Name: "relative", Type: Number, Minimum: num(0), Maximum: num(1), Default: jsontext.Value(`0.000001`), Summary: "How far they may be apart as a share of the expected number. The larger of both counts."},
				{Name: "find", Type: String, Enum: []string{"last", "first", "only"}, Default: jsontext.Value(`"last"`), Summary: "Which number of a text counts; `only` asks that there is no other."},
				pathParameter, expectedPathParameter, expectedParameter,
			},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			return func(l *look) Score { return scoreNumber(l, s) }, checkPaths(s)
		},
	}
}

func scoreNumber(l *look, s settings) Score {
	output, expected, instead, ok := l.sides(s)
	if !ok {
		return instead
	}
	want, problem := l.numberIn(expected, s.text("find"))
	if problem != nil {
		return problem.score(ReasonBadExpectation, "expected output")
	}
	got, problem := l.numberIn(output, s.text("find"))
	if problem != nil {
		if problem.costly {
			return tooCostly()
		}
		return Scored(0, "The output has "+problem.what+".")
	}
	apart := math.Abs(got - want) // infinite if they are that far apart
	allowed := max(s.number("absolute"), s.number("relative")*math.Abs(want))
	if apart <= allowed {
		return Scored(1, "")
	}
	return Scored(0, fmt.Sprintf("%v is not within %v of %v.", got, allowed, want))
}

// noNumber is why a value gives no number.
type noNumber struct {
	what   string
	costly bool
}

func (n *noNumber) score(reason Reason, part string) Score {
	if n.costly {
		return tooCostly()
	}
	return Missing(reason, "The "+part+" has "+n.what+".")
}

// numberIn reads a JSON number, or the number in a text.
func (l *look) numberIn(v any, find string) (float64, *noNumber) {
	if n, ok := v.(json.Number); ok {
		return finite(string(n))
	}
	text, err := l.text(v)
	if err != nil || !l.Spend(50*int64(len(text))) {
		return 0, &noNumber{costly: true}
	}
	found, count := "", 0
	for number := range numbers(text) {
		found = number
		if count++; find == "first" {
			break
		}
	}
	switch {
	case count == 0:
		return 0, &noNumber{what: "no number"}
	case find == "only" && count > 1:
		return 0, &noNumber{what: "more than one number"}
	}
	return finite(found)
}

// numbers finds the numbers of a text as people write them: a sign, a currency,
// digits with or without commas between thousands, a fraction, an exponent.
// Digits inside a word (B12, x_1) and between several dots (1.2.3) are none.
func numbers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var before [2]rune // the two characters before this one
		for at := 0; at < len(text); {
			c, size := utf8.DecodeRuneInString(text[at:])
			rest := text[at:]
			switch {
			case c == '_' || unicode.IsLetter(c):
				size = word(rest)
			case isDigit(rest, 0) || c == '.' && isDigit(rest, 1):
				var number string
				if number, size = digits(rest); number != "" && !yield(sign(before)+number) {
					return
				}
			}
			last, _ := utf8.DecodeLastRuneInString(rest[:size])
			before[0], before[1] = before[1], last
			at += size
		}
	}
}

func isDigit(text string, at int) bool { return at < len(text) && text[at] >= '0' && text[at] <= '9' }

// word returns how long the word is that a text begins with.
func word(text string) int {
	for i, c := range text {
		joins := c == '.' && i+1 < len(text) && text[i+1] != '.' && text[i+1] > ' '
		if c != '_' && !joins && !unicode.IsLetter(c) && !unicode.IsNumber(c) && !unicode.IsMark(c) {
			return i
		}
	}
	return len(text)
}

// digits returns the number that a text begins with, written for ParseFloat, and
// its length in the text. It is empty for digits between several dots.
func digits(text string) (number string, size int) {
	whole := run(text)
	at := whole
	if whole >= 1 && whole <= 3 {
		for at+3 < len(text) && text[at] == ',' && run(text[at+1:]) == 3 {
			at += 4
		}
	}
	if at+1 < len(text) && text[at] == '.' && isDigit(text, at+1) {
		at += 1 + run(text[at+1:])
		for dotted := false; ; dotted = true {
			if at+1 >= len(text) || text[at] != '.' || !isDigit(text, at+1) {
				if dotted {
					return "", at
				}
				break
			}
			at += 1 + run(text[at+1:])
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		from := at + 1
		if from < len(text) && (text[from] == '-' || text[from] == '+') {
			from++
		}
		if n := run(text[min(from, len(text)):]); n > 0 {
			at = from + n
		}
	}
	return strings.ReplaceAll(text[:at], ",", ""), at
}

// run returns how many digits a text begins with.
func run(text string) int {
	n := 0
	for isDigit(text, n) {
		n++
	}
	return n
}

// sign looks at what stands before a number, or before its currency. The dash of
// a range or a date, which follows a digit or a letter, is no sign.
func sign(before [2]rune) string {
	mark, outer := before[1], before[0]
	if unicode.Is(unicode.Sc, mark) {
		mark, outer = outer, ' '
	}
	if (mark == '-' || mark == '−') && !unicode.IsLetter(outer) && !unicode.IsNumber(outer) {
		return "-"
	}
	return ""
}

func finite(text string) (float64, *noNumber) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return 0, &noNumber{what: "a number that is too large"}
	}
	return f, nil
}
