package metric

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

func num(f float64) *float64 { return &f }

// share is the definition of a metric that is a share of 1.
func share(d Definition) Definition {
	d.Low, d.High, d.Better, d.Overall = num(0), num(1), Higher, true
	if d.Kind == "" {
		d.Kind = Numeric
	}
	return d
}

func exactMatch() spec {
	return spec{
		Definition: share(Definition{
			Name: "exact_match", Kind: Binary,
			Summary:    "1 if the output equals the expected output.",
			Needs:      []Need{NeedOutput, NeedExpectedOutput},
			Abstains:   "The item has no output or no expected output.",
			Parameters: []Parameter{whitespaceParameter(whitespaceTrim), caseParameter, pathParameter, expectedPathParameter, expectedParameter},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			return func(l *look) Score { return scoreExact(l, s) }, checkPaths(s)
		},
	}
}

func scoreExact(l *look, s settings) Score {
	output, expected, instead, ok := l.sides(s)
	if !ok {
		return instead
	}
	_, textOutput := output.(string)
	_, textExpected := expected.(string)
	if textOutput != textExpected { // one is text and the other is not
		if same, err := l.sameJSON(output, expected); err != nil {
			return unread("output", err)
		} else if same {
			return Scored(1, "")
		}
	}
	if !textOutput && !textExpected {
		if same, err := l.sameJSON(output, expected); err != nil {
			return unread("output", err)
		} else if !same {
			return Scored(0, "The output is another JSON value than what is expected.")
		}
		return Scored(1, "")
	}
	n := normal{s.text("whitespace"), s.text("case")}
	a, errA := l.textual(output, n)
	b, errB := l.textual(expected, n)
	if err := errors.Join(errA, errB); err != nil {
		return unread("output", err)
	}
	if a == b {
		return Scored(1, "")
	}
	return Scored(0, differ(a, b))
}

// sameJSON compares two values, of which one may be JSON inside a text.
func (l *look) sameJSON(a, b any) (bool, error) {
	for _, v := range []*any{&a, &b} {
		text, isText := (*v).(string)
		if !isText {
			continue
		}
		inner, err := l.Decode([]byte(text))
		switch {
		case errors.Is(err, schema.ErrNotJSON):
			return false, nil
		case err != nil:
			return false, err
		}
		*v = inner
	}
	return equal(a, b), nil
}

// differ shows two texts where they part.
func differ(a, b string) string {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	from := max(0, same-20)
	for from > 0 && from < len(a) && a[from]&0xC0 == 0x80 { // the middle of a character
		from--
	}
	lead := ""
	if from > 0 {
		lead = "…"
	}
	return fmt.Sprintf("The output has %s where %s is expected.", excerpt(lead+a[from:]), excerpt(lead+b[from:]))
}

const (
	modeAll  = "all"
	modeAny  = "any"
	modeNone = "none"
)

func contains() spec {
	return spec{
		Definition: share(Definition{
			Name: "contains", Kind: Binary,
			Summary:  "1 if the output contains all of the texts that it should, or any, or none.",
			Needs:    []Need{NeedOutput, NeedExpectedOutput},
			Abstains: "The item has no output, or nothing says which texts to look for.",
			Parameters: []Parameter{
				{Name: "values", Type: Strings, MaxItems: 100, MaxLength: 10_000, Summary: "The texts to look for. Without them it is the expected output: a text, or a list of texts."},
				{Name: "mode", Type: String, Enum: []string{modeAll, modeAny, modeNone}, Default: jsontext.Value(`"all"`), Summary: "How many of the texts the output has to contain."},
				whitespaceParameter(whitespaceExact), caseParameter, pathParameter, expectedPathParameter,
			},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			return func(l *look) Score { return scoreContains(l, s) }, checkPaths(s)
		},
	}
}

func scoreContains(l *look, s settings) Score {
	values := s.texts("values")
	if values == nil {
		expected, instead, ok := l.expectation(s)
		if !ok {
			return instead
		}
		if values = listed(expected); len(values) == 0 {
			return Missing(ReasonBadExpectation, "The expected output is empty, and every output contains the empty text.")
		}
	}
	output, instead, ok := l.part(s)
	if !ok {
		return instead
	}
	n := normal{s.text("whitespace"), s.text("case")}
	text, err := l.textual(output, n)
	if err != nil {
		return unread("output", err)
	}
	var found, missing []string
	for _, v := range values {
		v, err := n.apply(&l.work, v)
		if err != nil || !l.Spend(costScan*int64(len(text)+len(v))) {
			return tooCostly()
		}
		if strings.Contains(text, v) {
			found = append(found, v)
		} else {
			missing = append(missing, v)
		}
	}
	switch s.text("mode") {
	case modeAny:
		return binary(len(found) > 0, told(len(found) == 0, "The output contains none of ", missing))
	case modeNone:
		return binary(len(found) == 0, told(len(found) > 0, "The output contains ", found))
	default:
		return binary(len(missing) == 0, told(len(missing) > 0, "The output does not contain ", missing))
	}
}

// listed returns the texts of an expected output: each element of a list, or
// the one that it is. Empty ones are left out.
func listed(expected any) []string {
	list, ok := expected.([]any)
	if !ok || isConversation(list) {
		list = []any{expected}
	}
	var out []string
	for _, e := range list {
		if text := textOf(e); strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	return out
}

func told(worth bool, lead string, values []string) string {
	if !worth {
		return ""
	}
	const shown = 3
	quoted := make([]string, 0, shown)
	for _, v := range values[:min(shown, len(values))] {
		quoted = append(quoted, excerpt(v))
	}
	text := lead + strings.Join(quoted, ", ")
	if more := len(values) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "."
}

func regexMatch() spec {
	return spec{
		Definition: share(Definition{
			Name: "regex_match", Kind: Binary,
			Summary:  "1 if a regular expression matches the output.",
			Needs:    []Need{NeedOutput},
			Abstains: "The item has no output, or neither the parameters nor the item give a pattern.",
			Parameters: []Parameter{
				{Name: "pattern", Type: String, MaxLength: schema.MaxPattern, Summary: "A regular expression of the RE2 syntax."},
				{Name: "mode", Type: String, Enum: []string{"search", "full"}, Default: jsontext.Value(`"search"`), Summary: "Whether the expression may match anywhere, or has to match the whole text."},
				caseParameter, pathParameter,
			},
		}),
		build: func(r *Registry, s settings) (scorer, []Problem) {
			problems := checkPaths(s)
			if !s.has("pattern") {
				return func(*look) Score {
					return Missing(ReasonNotConfigured, "Neither the parameters nor the item give a pattern.")
				}, problems
			}
			p, err := r.pattern(s)
			if err != nil {
				problems = append(problems, Problem{"pattern", "pattern", err.Error()})
			}
			return func(l *look) Score { return scoreRegex(l, s, p) }, problems
		},
	}
}

// pattern compiles the pattern of settings, or remembers it.
func (r *Registry) pattern(s settings) (*schema.Pattern, error) {
	text := s.text("pattern")
	flags := ""
	if s.text("case") == caseInsensitive {
		flags = "(?i)"
	}
	if s.text("mode") == "full" {
		// Alone first: two halves of an expression may make sense only inside
		// the brackets.
		if _, err := r.patterns.get(text, schema.CompilePattern); err != nil {
			return nil, err
		}
		text = `\A(?:` + text + `)\z`
	}
	return r.patterns.get(flags+text, schema.CompilePattern)
}

func scoreRegex(l *look, s settings, p *schema.Pattern) Score {
	output, instead, ok := l.part(s)
	if !ok {
		return instead
	}
	text, err := l.text(output)
	if err != nil {
		return tooCostly()
	}
	matched, err := p.Matches(&l.Work, text)
	switch {
	case err != nil:
		return tooCostly()
	case matched:
		return Scored(1, "")
	default:
		return Scored(0, "The output does not match "+excerpt(s.text("pattern"))+".")
	}
}
